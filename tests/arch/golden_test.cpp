// arch/: every model of the kit against the reference logits; batches, chunks and sequences against each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "arch/half_attention.hpp"
#include "arch/kit.hpp"
#include "arch/runner.hpp"

using namespace jig;

namespace {

/// The kit's figures against logits of all positions: all of the last one, first8, argmax, max and sum of each. Ids
/// that the model suppresses are left out of all of them.
void compare(const kit::json& d, const std::vector<std::vector<f32>>& logits, f64 tolerance) {
  const kit::json& want = d["logits"];
  REQUIRE(logits.size() == d["tokens"].size());
  const std::vector<usize> shown = kit::shown_ids(d);
  std::vector<f64> last, first8, got8;
  for (usize i : shown) last.push_back(f64(logits.back()[i]));
  CHECK(kit::nmse(want["last"].get<std::vector<f64>>(), last) < tolerance);
  for (usize t = 0; t < logits.size(); ++t) {
    f64 top = -1e30, sum = 0.0, size = 0.0;
    for (usize i : shown) {
      const f64 v = f64(logits[t][i]);
      sum += v, size += std::abs(v), top = std::max(top, v);
    }
    const f64 slack = 20.0 * std::sqrt(tolerance) * (size / f64(shown.size()) + 1.0);
    CHECK(top == doctest::Approx(want["max"][t].get<f64>()).epsilon(1e-6).scale(slack * 1e6));
    CHECK(f64(logits[t][want["argmax"][t].get<usize>()]) > top - slack);
    CHECK(std::abs(sum - want["sum"][t].get<f64>()) < slack * f64(shown.size()));
    for (usize i = 0; i < 8; ++i) {
      first8.push_back(want["first8"][t][i]);
      got8.push_back(f64(logits[t][shown[i]]));
    }
  }
  CHECK(kit::nmse(first8, got8) < tolerance);
}

/// NMSE between two lists of logits, suppressed ones left out.
f64 difference(const std::vector<std::vector<f32>>& a, const std::vector<std::vector<f32>>& b) {
  std::vector<f64> x, y;
  for (const auto& row : a) kit::append(x, row);
  for (const auto& row : b) kit::append(y, row);
  return x.size() == y.size() ? kit::nmse(x, y) : 1.0;
}

}  // namespace

TEST_CASE("kit: the file written from a description has the recorded SHA-256") {
  for (const std::string& name : kit_models()) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    CHECK(kit::sha256_text(kit::materialize(d)) == d["sha256"].get<std::string>());
  }
}

TEST_CASE("architectures: the reference executor gives the kit's logits, whatever the batches") {
  const auto names = kit_models();
  for (const std::string& name : names) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    const std::vector<u8> file = kit::materialize(d);
    const auto tokens = d["tokens"].get<std::vector<i32>>();
    const auto n = static_cast<u32>(tokens.size());
    const auto all = run(file, {{tokens, {n}}})[0];
    const bool halves = d.value("flash_attention", false);  // the kit's own figures are no closer than f16 then
    compare(d, halves ? run(file, {{tokens, {n}}}, half_attention::table())[0] : all, d["tolerance"]);
    if (d["mode"] != "decoder") continue;  // tokens see the whole batch
    CHECK(difference(all, run(file, {{tokens, std::vector<u32>(n, 1)}})[0]) < 1e-10);
    CHECK(difference(all, run(file, {{tokens, {7, 1, 5, 3, 8}}})[0]) < 1e-10);
  }
}

TEST_CASE("architectures: two sequences interleaved in one batch give what each gives alone") {
  for (const std::string& name : kit_models()) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    if (d["mode"] != "decoder") continue;
    const std::vector<u8> file = kit::materialize(d);
    const auto a = d["tokens"].get<std::vector<i32>>();
    const std::vector<i32> b(a.rbegin(), a.rend() - 5);
    const auto both = run_interleaved(file, a, b);
    CHECK(difference(both[0], run(file, {{a, {static_cast<u32>(a.size())}}})[0]) < 1e-10);
    CHECK(difference(both[1], run(file, {{b, {static_cast<u32>(b.size())}}})[0]) < 1e-10);
  }
}

TEST_CASE("architectures: a sequence saved half-way goes on elsewhere as if nothing had happened") {
  for (const std::string& name : kit_models()) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    if (d["mode"] != "decoder") continue;
    const auto tokens = d["tokens"].get<std::vector<i32>>();
    const std::vector<u8> file = kit::materialize(d);
    const auto m = load_model(file);
    const std::vector<i32> first(tokens.begin(), tokens.begin() + 13), second(tokens.begin() + 13, tokens.end());
    test_session whole(m), s(m), other(m, reference_kernel_set(), 2);
    whole.decode(0, first);
    s.decode(0, first);
    const auto bytes = s.whole().save(first);
    REQUIRE(bytes);
    other.decode(0, {7, 8, 9});
    const auto ids = other.whole().restore(*bytes, 1);
    REQUIRE_MESSAGE(ids, host::to_string(ids.error()));
    CHECK(*ids == first);
    CHECK(difference(whole.decode(0, second), other.decode(1, second)) < 1e-10);
  }
}

TEST_CASE("architectures: truncating to a position and decoding again gives the same logits; forks are independent") {
  for (const std::string& name : kit_models()) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    if (d["mode"] != "decoder") continue;
    const auto tokens = d["tokens"].get<std::vector<i32>>();
    const std::vector<u8> bytes = kit::materialize(d);
    const auto m = load_model(bytes);
    test_session s(m, reference_kernel_set(), 3);
    auto whole = s.decode(0, {tokens.begin(), tokens.begin() + 9});
    REQUIRE(s->keep_state(0));
    for (auto& row : s.decode(0, {tokens.begin() + 9, tokens.end()})) whole.push_back(std::move(row));
    REQUIRE(s->fork(0, 1));
    if (s->nearest_length(0, 12) != 12) {  // recurrent: only lengths whose state was kept can be returned to
      CHECK(s->nearest_length(0, 12) == 9);
      const auto lost = s->truncate(0, 12);
      REQUIRE(!lost);
      CHECK((lost.error().code == errc::state_not_kept && lost.error().value == 9));
      CHECK(s->length(0) == tokens.size());
    }
    REQUIRE(s->truncate(0, 9));
    const auto again = s.decode(0, std::vector<i32>(tokens.begin() + 9, tokens.end()));
    CHECK(difference(again, {whole.begin() + 9, whole.end()}) < 1e-10);
    // The fork still has everything; continuing both differently must not mix them.
    const auto fork_next = s.decode(1, {5});
    const auto own_next = s.decode(0, {77});
    auto longer = tokens;
    longer.push_back(5);
    CHECK(difference({fork_next}, {run(bytes, {{longer, {25}}})[0].back()}) < 1e-10);
    longer.back() = 77;
    CHECK(difference({own_next}, {run(bytes, {{longer, {25}}})[0].back()}) < 1e-10);
  }
}
