// backend/cpu against the kit and the reference: logits, thread counts, and every named intermediate value.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "arch/kit.hpp"
#include "arch/runner.hpp"
#include "jig/backend/cpu/kernels.hpp"
#include "jig/host/pool.hpp"
#include "jig/ops/trace.hpp"

using namespace jig;

namespace {

using rows = std::vector<std::vector<f32>>;

std::vector<f64> flat(const rows& r) {
  std::vector<f64> all;
  for (const auto& row : r) all.insert(all.end(), row.begin(), row.end());
  return all;
}

template <class F>
void for_each_kit_model(F&& f) {
  for (const auto& entry : std::filesystem::directory_iterator(JIG_TEST_DATA "/archs")) {
    const kit::json d = kit::load(entry.path().string());
    CAPTURE(d["name"].get<std::string>());
    f(d, kit::materialize(d), d["tokens"].template get<std::vector<i32>>());
  }
}

/// All intermediate values of one forward pass over the tokens, by name and layer.
template <class K>
std::map<std::string, std::vector<f64>> traced(const test_model& m, const std::vector<i32>& tokens) {
  std::map<std::string, std::vector<f64>> seen;
  auto watch = [&](std::string_view name, u32 layer, const mat& v) {
    auto& all = seen[std::string(name) + "-" + std::to_string(layer)];
    for (u32 r = 0; r < v.rows; ++r) all.insert(all.end(), v.row(r), v.row(r) + v.cols);
  };
  const auto n = static_cast<u32>(tokens.size());
  std::visit(
      [&](const auto& bound) {
        const session_config config{.context = n, .batch = n, .outputs = n, .page_tokens = n, .kv_type = 0};
        const session_plan plan = plan_session<K>(bound, config);
        std::vector<u8> activations(plan.activation_bytes + 64), kv(plan.kv_bytes);
        std::vector<u32> index(n), zero(n, 0);
        for (u32 i = 0; i < n; ++i) index[i] = i;
        const sequence_view sequence{zero.data(), n};
        batch b{.n_tokens = n, .n_outputs = n, .tokens = tokens.data(), .position = index.data(), .cell = index.data(),
                .sequence = zero.data(), .output_rows = index.data(), .sequences = &sequence};
        b.memory = {kv.data(), plan.page_bytes, n, 0};
        K k;
        u8* memory = reinterpret_cast<u8*>(round_up(reinterpret_cast<u64>(activations.data()), 64));
        executor<K, trace<decltype(watch)>> x(k, memory, plan.activation_bytes, {}, {watch});
        { const value logits = std::remove_cvref_t<decltype(bound)>::architecture::forward(x, bound, b); }
        REQUIRE(x.ok());
      },
      m.bound);
  return seen;
}

}  // namespace

TEST_CASE("cpu: the kit's logits in f32, NMSE below 1e-6") {
  for_each_kit_model([](const kit::json& d, const std::vector<u8>& file, const std::vector<i32>& tokens) {
    const test_model m(file);
    basic_test_session<cpu::kernels<>> s(m);
    const rows logits = s.decode(0, tokens);
    const auto last = d["logits"]["last"].get<std::vector<f64>>();
    CHECK(kit::nmse(last, flat({logits.back()})) < 1e-6);
  });
}

TEST_CASE("cpu: results do not depend on the number of threads, bit for bit, nor on how tokens are batched") {
  for_each_kit_model([](const kit::json&, const std::vector<u8>& file, const std::vector<i32>& tokens) {
    const test_model m(file);
    basic_test_session<cpu::kernels<>> alone(m);
    const rows want = alone.decode(0, tokens);
    for (u32 threads : {2u, 3u}) {
      host::pool pool({.threads = threads});
      basic_test_session<cpu::kernels<>> s(m, 1, 0, {}, pool.handle());
      CHECK(s.decode(0, tokens) == want);
    }
    basic_test_session<cpu::kernels<>> single(m);
    rows one_by_one;
    for (i32 token : tokens) one_by_one.push_back(single.decode(0, {token})[0]);
    CHECK(kit::nmse(flat(want), flat(one_by_one)) < 1e-9);
  });
}

TEST_CASE("trace: every named value of the cpu run agrees with the reference's") {
  for_each_kit_model([](const kit::json&, const std::vector<u8>& file, const std::vector<i32>& tokens) {
    const test_model m(file);
    const auto want = traced<reference_kernels<>>(m, tokens), got = traced<cpu::kernels<>>(m, tokens);
    CHECK(want.size() > 20);
    REQUIRE(want.size() == got.size());
    for (const auto& [name, values] : want) {
      CAPTURE(name);
      REQUIRE(got.contains(name));
      CHECK(kit::nmse(values, got.at(name)) < 1e-6);
    }
  });
}
