// arch/: every model of the kit against the reference logits; batches, chunks and sequences against each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "arch/equal_cells.hpp"
#include "arch/half_attention.hpp"
#include "arch/kit.hpp"
#include "arch/late_ties.hpp"
#include "arch/runner.hpp"

using namespace jig;

namespace {

/// The kit's figures against logits of all positions: all of the last one, first8, argmax, max and sum of each. Ids
/// that the model suppresses are left out of all of them.
void compare(const kit::json& d, const std::vector<std::vector<f32>>& logits, f64 tolerance) {
  const kit::json& want = d["logits"];
  REQUIRE(logits.size() == kit::tokens(d).size());
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
  const std::vector<f64> x = flat(a), y = flat(b);
  return x.size() == y.size() ? kit::nmse(x, y) : 1.0;
}

/// 7, 1, 5, 3, 8 tokens, or as many of them as n tokens fill.
std::vector<u32> odd_chunks(u32 n) {
  std::vector<u32> sizes;
  for (u32 size : {7u, 1u, 5u, 3u, ~0u}) {
    if (n != 0) sizes.push_back(std::min(size, n));
    n -= std::min(size, n);
  }
  return sizes;
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
    const auto tokens = kit::tokens(d);
    const auto n = static_cast<u32>(tokens.size());
    const auto all = run(file, {{tokens, {n}}})[0];
    // Where the kit's own figures are no closer than f16, or depend on how equal cells were sorted.
    if (kit::in_halves(d)) compare(d, run(file, {{tokens, {n}}}, half_attention::table())[0], d["tolerance"]);
    else if (kit::late_ties(d)) compare(d, run(file, {{tokens, {n}}}, late_ties::table())[0], d["tolerance"]);
    else if (kit::sorted_ties(d)) compare(d, run(file, {{tokens, {n}}}, equal_cells::table())[0], d["tolerance"]);
    else compare(d, all, d["tolerance"]);
    if (!kit::causal(d)) continue;
    CHECK(difference(all, run(file, {{tokens, std::vector<u32>(n, 1)}})[0]) < 1e-10);
    CHECK(difference(all, run(file, {{tokens, odd_chunks(n)}})[0]) < 1e-10);
  }
}

TEST_CASE("architectures: two sequences interleaved in one batch give what each gives alone") {
  for (const std::string& name : kit_models()) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    if (!kit::causal(d)) continue;
    const std::vector<u8> file = kit::materialize(d);
    const auto a = kit::tokens(d);
    const std::vector<i32> b(a.rbegin(), a.rend() - 5);
    const auto both = run_interleaved(file, a, b);
    const auto alone = run(file, {{a, {static_cast<u32>(a.size())}}, {b, {static_cast<u32>(b.size())}}});
    CHECK(difference(both[0], alone[0]) < 1e-10);
    CHECK(difference(both[1], alone[1]) < 1e-10);
  }
}

TEST_CASE("architectures: a sequence saved half-way goes on elsewhere as if nothing had happened") {
  for (const std::string& name : kit_models()) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    if (!kit::causal(d)) continue;
    const auto tokens = kit::tokens(d);
    const std::vector<u8> file = kit::materialize(d);
    const auto m = load_model(file);
    const auto middle = tokens.begin() + static_cast<i32>(tokens.size()) / 2 + 1;
    const std::vector<i32> first(tokens.begin(), middle), second(middle, tokens.end());
    test_session whole(m), s(m), other(m, reference_kernel_set(), 2);
    whole.decode(0, first);
    s.decode(0, first);
    std::vector<i32> held = s.source();
    held.insert(held.end(), first.begin(), first.end());
    const auto bytes = s.whole().save(held);
    REQUIRE(bytes);
    other.decode(0, {7, 8, 9});
    const auto ids = other.whole().restore(*bytes, 1);
    REQUIRE_MESSAGE(ids, host::to_string(ids.error()));
    CHECK(*ids == held);
    CHECK(difference(whole.decode(0, second), other.decode(1, second)) < 1e-10);
  }
}

TEST_CASE("architectures: truncating to a position and decoding again gives the same logits; forks are independent") {
  for (const std::string& name : kit_models()) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    if (!kit::causal(d)) continue;
    const auto tokens = kit::tokens(d);
    const std::vector<u8> bytes = kit::materialize(d);
    const auto m = load_model(bytes);
    test_session s(m, reference_kernel_set(), 3);
    const i32 cut = static_cast<i32>(tokens.size()) * 3 / 8;
    const u32 length = s.length_of(static_cast<usize>(cut)), beyond = length + 3;
    auto whole = s.decode(0, {tokens.begin(), tokens.begin() + cut});
    REQUIRE(s->keep_state(0));
    for (auto& row : s.decode(0, {tokens.begin() + cut, tokens.end()})) whole.push_back(std::move(row));
    REQUIRE(s->fork(0, 1));
    if (s->nearest_length(0, beyond) != beyond) {  // recurrent: only lengths whose state was kept can be returned to
      CHECK(s->nearest_length(0, beyond) == length);
      const auto lost = s->truncate(0, beyond);
      REQUIRE(!lost);
      CHECK((lost.error().code == errc::state_not_kept && lost.error().value == length));
      CHECK(s->length(0) == tokens.size());
    }
    REQUIRE(s->truncate(0, length));
    const auto again = s.decode(0, std::vector<i32>(tokens.begin() + cut, tokens.end()));
    CHECK(difference(again, {whole.begin() + cut, whole.end()}) < 1e-10);
    // The fork still has everything; continuing both differently must not mix them.
    const auto fork_next = s.decode(1, {5});
    const auto own_next = s.decode(0, {77});
    auto longer = tokens;
    longer.push_back(5);
    const auto n = static_cast<u32>(longer.size());
    CHECK(difference({fork_next}, {run(bytes, {{longer, {n}}})[0].back()}) < 1e-10);
    longer.back() = 77;
    CHECK(difference({own_next}, {run(bytes, {{longer, {n}}})[0].back()}) < 1e-10);
  }
}

TEST_CASE("architectures: windowed layers that forget give the same logits in less memory") {
  usize windowed = 0;
  for (const std::string& name : kit_models()) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    if (!kit::causal(d)) continue;
    const std::vector<u8> bytes = kit::materialize(d);
    const auto m = load_model(bytes);
    test_session all(m, reference_kernel_set(), 1, 0, 1024), s(m, reference_kernel_set(), 3, 0, 1024, 0);
    if (s.whole().memory().plan.paged.window_page_bytes == 0) continue;
    ++windowed;
    std::vector<i32> tokens;
    for (int i = 0; i < 3; ++i) tokens.insert(tokens.end(), d["tokens"].begin(), d["tokens"].end());
    const auto part = [&](usize from, usize n) { return std::vector<i32>(&tokens[from], &tokens[from] + n); };
    std::vector<std::vector<f32>> want, got;
    const auto decode = [&](std::vector<std::vector<f32>>& to, test_session& where, const std::vector<i32>& ids) {
      for (auto& row : where.decode(0, ids)) to.push_back(std::move(row));
    };
    decode(want, all, part(0, 60)), decode(want, all, part(60, 12));
    usize at = 0;
    for (usize n : {1, 7, 30, 1, 1, 2, 18}) decode(got, s, part(at, n)), at += n;
    REQUIRE(s->fork(0, 1));
    CHECK(s->paged().first(0) > 0);
    // One token back must still do; far back must not, and changes nothing.
    const u32 gone = s->paged().first(0), window = s.whole().memory().plan.paged.window;
    const auto lost = s->truncate(0, gone + window - 2);
    REQUIRE(!lost);
    CHECK((lost.error().code == errc::state_not_kept && lost.error().value == 0 && s->length(0) == 60));
    REQUIRE(s->truncate(0, gone + window - 1));
    got.resize(gone + window - 1);
    decode(got, s, part(got.size(), 72 - got.size()));
    CHECK(difference(want, got) < 1e-10);
    // The fork has what it needs, here and in another session.
    const auto saved = s.whole().save({}, 1);
    REQUIRE(saved);
    test_session other(m, reference_kernel_set(), 2, 0, 1024, 5);
    REQUIRE(other.whole().restore(*saved, 1));
    const auto refused = all.whole().restore(*saved, 0);
    CHECK((!refused && refused.error().code == errc::bad_state));
    const std::vector<std::vector<f32>> rest(want.begin() + 60, want.end());
    CHECK(difference(rest, s.decode(1, part(60, 12))) < 1e-10);
    CHECK(difference(rest, other.decode(1, part(60, 12))) < 1e-10);
    const auto shifted = s.whole().shift(0, 4);
    CHECK((!shifted && (shifted.error().code == errc::state_not_kept || shifted.error().code == errc::not_supported)));
    REQUIRE(s->truncate(1, 0));
  }
  MESSAGE(windowed << " models have windowed layers");
}

TEST_CASE("architectures: a prompt that fails when windowed layers have forgotten the way back says why it failed") {
  const std::vector<u8> bytes = kit::materialize(kit::load(JIG_TEST_DATA "/archs/gemma3.json"));
  const auto m = load_model(bytes);
  test_session s(m, reference_kernel_set(), 1, 0, 4096, 0);
  std::vector<i32> prompt(140, 5);
  prompt.back() = 1 << 20;  // no token
  const std::vector<i32> start = {1, 2, 3};
  for (const bool forgets : {false, true}) {
    REQUIRE(s.whole().feed(start));
    const auto fed = s.whole().feed(std::span(prompt).last(forgets ? 140 : 2));
    CHECK((!fed && fed.error().code == errc::bad_token));
    CHECK(s->length(0) == (forgets ? 0 : 3));
    REQUIRE(s->truncate(0, 0));
  }
}

TEST_CASE("architectures: what windowed layers keep bounds their memory") {
  const std::vector<u8> bytes = kit::materialize(kit::load(JIG_TEST_DATA "/archs/gemma3.json"));
  const auto m = load_model(bytes);
  const auto kv = [&](u32 context, u32 kept) {
    return m.plan({.context = context, .batch = 32, .kept_window = kept}, 1)->plan.kv_bytes;
  };
  CHECK(kv(8192, ~0u) == 2 * kv(4096, ~0u));
  CHECK(kv(8192, 100) < kv(8192, ~0u) / 3);
  CHECK(kv(8192, 100) > kv(8192, 10));
  CHECK(kv(96, 100) == kv(96, ~0u));  // nothing to win
}

/// The kit's model with attention that adds nothing, so that what is remembered of a token depends on it and its place
/// alone.
kit::json without_attention(kit::json d) {
  for (auto& tensor : d["tensors"]) {
    const std::string name = tensor["name"];
    if (name.find("attn_output.") != name.npos || name.find("attn_o.") != name.npos) tensor["scale"] = 0;
  }
  return d;
}

/// All numbers that a session remembers of sequence 0, in f32.
std::vector<f64> remembered(test_session& s) {
  const auto bytes = s.whole().save();
  REQUIRE(bytes);
  std::vector<le_f32> values((bytes->size() - sizeof(saved_header)) / sizeof(le_f32));
  std::memcpy(values.data(), bytes->data() + sizeof(saved_header), values.size() * sizeof(le_f32));
  return {values.begin(), values.end()};
}

TEST_CASE("architectures: a context shift leaves keys and values as if the tokens had always stood there") {
  usize shifted = 0;
  for (const std::string& name : kit_models()) {
    CAPTURE(name);
    const kit::json d = without_attention(kit::load(JIG_TEST_DATA "/archs/" + name + ".json"));
    if (!kit::causal(d)) continue;
    const std::vector<u8> bytes = kit::materialize(d);
    const auto m = load_model(bytes);
    const std::vector<i32> tokens = kit::tokens(d);
    test_session s(m, reference_kernel_set(), 2), fresh(m, reference_kernel_set(), 2);
    s.decode(0, tokens);
    REQUIRE(s->fork(0, 1));
    const auto done = s.whole().shift(s.length_of(2), 5);
    CHECK(static_cast<bool>(done) == m.shifts());
    if (!done) {
      CHECK(done.error().code == errc::not_supported);
      CHECK(s->length(0) == s.length_of(tokens.size()));
      continue;
    }
    ++shifted;
    std::vector<i32> rest(tokens.begin(), tokens.begin() + 2);
    rest.insert(rest.end(), tokens.begin() + 7, tokens.end());
    fresh.decode(0, rest);
    CHECK(kit::nmse(remembered(fresh), remembered(s)) < 1e-10);
    // The fork, whose pages were shared, still has everything.
    REQUIRE(s->truncate(0, 0));
    REQUIRE(s->fork(1, 0));
    test_session whole(m, reference_kernel_set(), 2);
    whole.decode(0, tokens);
    CHECK(remembered(whole) == remembered(s));
  }
  MESSAGE(shifted << " models can shift");
}

TEST_CASE("architectures: a context shift of what is not there is a named error") {
  const std::vector<u8> bytes = kit::materialize(kit::load(JIG_TEST_DATA "/archs/llama.json"));
  const auto m = load_model(bytes);
  test_session s(m);
  s.decode(0, {1, 2, 3, 4, 5, 6});
  const auto code = [](const auto& r) { return r ? errc::ok : r.error().code; };
  CHECK(code(s.whole().shift(0, 7)) == errc::bad_argument);
  CHECK(code(s.whole().shift(7, 0)) == errc::bad_argument);
  CHECK(code(s.whole().shift(~0u, ~0u)) == errc::bad_argument);
  CHECK(code(s.whole().shift(0, 1, 1)) == errc::bad_sequence);
  CHECK(s->length(0) == 6);
  CHECK(code(s.whole().shift(6, 0)) == errc::ok);
  CHECK(code(s.whole().shift(0, 6)) == errc::ok);
  CHECK(s->length(0) == 0);
}

TEST_CASE("architectures: a decoder without a source, and what else cannot be done with one, is a named error") {
  const std::vector<u8> bytes = kit::materialize(kit::load(JIG_TEST_DATA "/archs/t5.json"));
  const auto m = load_model(bytes);
  test_session s(m, reference_kernel_set(), 2);
  const auto code = [](const auto& r) { return r ? errc::ok : r.error().code; };
  const auto early = s.whole().decode(std::vector<batch_item>{{1, 0, true}});
  CHECK((code(early) == errc::bad_argument && s->length(0) == 0));
  s.decode(0, {1, 2});
  CHECK(code(s.whole().encode(std::vector<batch_item>{{1, 1}, {2, 0}})) == errc::bad_sequence);
  CHECK(code(s.whole().encode(std::vector<batch_item>{{1, 1}, {-1, 1}})) == errc::bad_token);
  CHECK(s->length(1) == 0);
  CHECK(code(s->truncate(0, 5)) == errc::bad_argument);  // inside the source
  CHECK(s->length(0) == s.length_of(2));
  CHECK(code(s->truncate(0, s.length_of(0))) == errc::ok);
  CHECK(code(s->truncate(0, 0)) == errc::ok);
  CHECK(code(s.whole().decode(std::vector<batch_item>{{1, 0, true}})) == errc::bad_argument);
  const std::vector<u8> llama = kit::materialize(kit::load(JIG_TEST_DATA "/archs/llama.json"));
  const auto decoder = load_model(llama);
  CHECK(code(test_session(decoder).whole().encode(std::vector<batch_item>{{1, 0}})) == errc::not_supported);
}

TEST_CASE("generation: an encoder-decoder reads each prompt as a source of its own and begins with its start token") {
  kit::json d = kit::load(JIG_TEST_DATA "/archs/t5.json");
  std::vector<std::string> tokens = {"<pad>", "</s>", "<unk>", "\u2581"};
  for (int i = 4; i < 160; ++i) tokens.push_back(i < 30 ? std::string(1, char('a' + i - 4)) : "x" + std::to_string(i));
  std::vector<i32> types(160, 1);
  types[0] = types[1] = 3, types[2] = 2;
  kit::json& keys = d["metadata"];
  keys.back() = {"tokenizer.ggml.model", "str", "llama"};
  keys.push_back({"tokenizer.ggml.tokens", "[str]", tokens});
  keys.push_back({"tokenizer.ggml.scores", "[f32]", std::vector<f32>(160, 0.0f)});
  keys.push_back({"tokenizer.ggml.token_type", "[i32]", types});
  keys.push_back({"tokenizer.ggml.eos_token_id", "u32", 1});
  keys.push_back({"tokenizer.ggml.add_bos_token", "bool", false});
  keys.push_back({"tokenizer.ggml.add_eos_token", "bool", true});
  const std::vector<u8> bytes = kit::materialize(d);
  const auto m = load_model(bytes);

  const auto prompt = m.vocabulary().tokenize("abc de", {.add_special = true});
  REQUIRE(prompt);
  CHECK(prompt->back() == 1);
  test_session by_hand(m);
  std::vector<batch_item> source;
  for (i32 id : *prompt) source.push_back({id, 0});
  REQUIRE(by_hand.whole().encode(source));
  std::vector<i32> want;
  for (i32 next = 0; want.size() < 6;) {
    const auto row = by_hand.decode(0, {next})[0];
    next = static_cast<i32>(std::max_element(row.begin(), row.end()) - row.begin());
    want.push_back(next);
  }
  test_session s(m);
  sample::params greedy;
  greedy.temp = 0.0f;
  for (int round = 0; round < 2; ++round) {
    auto g = s.whole().generate("abc de", {.sampling = greedy, .max_tokens = 6});
    while (g.advance()) {
    }
    CHECK(std::vector<i32>(g.ids().begin(), g.ids().end()) == want);
  }
  auto other = s.whole().generate("edcba", {.sampling = greedy, .max_tokens = 6});
  while (other.advance()) {
  }
  CHECK(std::vector<i32>(other.ids().begin(), other.ids().end()) != want);
}

TEST_CASE("architectures: layers that predict further tokens are left out") {
  const kit::json d = kit::load(JIG_TEST_DATA "/archs/llama.json");
  kit::json longer = d;
  const u32 layers = 2;
  for (auto& entry : longer["metadata"])
    if (entry[0] == "llama.block_count") {
      REQUIRE(entry[2] == layers);
      entry[2] = layers + 1;
    }
  const auto add = [&](const char* name) {
    longer["tensors"].push_back({{"name", name}, {"shape", {128, 128}}, {"type", "f32"}, {"offset", 0}, {"scale", 1}});
  };
  add("blk.2.attn_norm.weight");
  add("blk.2.nextn.eh_proj.weight");
  const auto tokens = kit::tokens(d);
  longer["metadata"].push_back({"llama.nextn_predict_layers", "u32", 1});
  CHECK(run(kit::materialize(longer), {{tokens, {24}}}) == run(kit::materialize(d), {{tokens, {24}}}));
  add("blk.3.nextn.eh_proj.weight");
  const std::vector<u8> beyond = kit::materialize(longer);
  const auto m = host::try_load<host::compiled_model>(std::span(beyond), {.threads = 1});
  REQUIRE(!m);
  CHECK((m.error().code == errc::unexpected_tensor && m.error().name() == "blk.3.nextn.eh_proj.weight"));
}

TEST_CASE("rope: dynamic scaling is a larger base in sessions that may grow beyond the original context") {
  const kit::json plain = kit::load(JIG_TEST_DATA "/archs/llama.json");
  const auto with = [&](const std::vector<kit::json>& keys) {
    kit::json d = plain;
    for (const kit::json& key : keys) {
      auto& all = d["metadata"];
      all.erase(std::remove_if(all.begin(), all.end(), [&](const kit::json& k) { return k[0] == key[0]; }), all.end());
      all.push_back(key);
    }
    return kit::materialize(d);
  };
  const auto logits = [&](const std::vector<u8>& bytes, u32 context) {
    const auto m = load_model(bytes);
    test_session s(m, reference_kernel_set(), 1, 0, context);
    return s.decode(0, kit::tokens(plain));
  };
  const std::vector<u8> dynamic = with({{"llama.rope.scaling.type", "str", "dynamic"},
                                        {"llama.rope.scaling.factor", "f32", 2.0},
                                        {"llama.rope.scaling.original_context_length", "u32", 64},
                                        {"llama.rope.freq_base", "f32", 10000.0}});
  // 256 tokens are four times the original context: 2 * 4 - (2 - 1) = 7, to the power of n_rot / (n_rot - 2).
  const f64 n_rot = f64(load_model(dynamic).hp().n_rot), base = 10000.0 * std::pow(7.0, n_rot / (n_rot - 2.0));
  const auto stretched = logits(with({{"llama.rope.freq_base", "f32", base}}), 256);
  const auto unscaled = logits(with({{"llama.rope.freq_base", "f32", 10000.0}}), 256);
  CHECK(difference(logits(dynamic, 256), stretched) < 1e-12);
  CHECK(difference(logits(dynamic, 64), unscaled) < 1e-12);
  CHECK(difference(stretched, unscaled) > 1e-6);
  // What is remembered in one of these sessions is foreign to the other.
  const auto m = load_model(dynamic);
  test_session near(m, reference_kernel_set(), 1, 0, 64), far(m, reference_kernel_set(), 1, 0, 256);
  near.decode(0, kit::tokens(plain));
  const auto bytes = near.whole().save();
  REQUIRE(bytes);
  CHECK(!far.whole().restore(*bytes));
}
