// Compressed attention of every table against the reference: rows of groups, attention to all of them and to some.

#include "attention_scene.hpp"

using namespace cpu_test;

namespace {

/// Two sequences whose cells have keys, rows of groups in place of values, and behind them what rows are made of.
struct groups_scene {
  u32 heads, tokens, page_tokens = 8;
  attend_args a;
  compress_args c;
  std::vector<u8> memory;
  std::vector<u32> pages_a{5, 0, 7, 2, 9, 11, 13, 15, 17, 19}, pages_b{1, 8, 3, 4, 6, 10, 12, 14, 16, 18};
  sequence_view sequences[2];
  std::vector<u32> cell, sequence;
  batch b;

  groups_scene(u32 type, u32 n_head, u32 dim, u32 group, bool overlaps, u32 past, u32 n) : heads(n_head), tokens(n) {
    a = {.n_head = heads, .n_head_kv = 1, .dim_k = dim, .dim_v = dim, .values_in_keys = true};
    a.scale = 1.0f / std::sqrt(static_cast<f32>(dim)), a.window = 5, a.group = group;
    const u64 row = kv_row_bytes(type, dim);
    c = {.group = group, .overlaps = overlaps, .dim = dim, .page_offset = page_tokens * 2 * row};
    const u64 page = page_tokens * (2 + 4) * row;
    memory.assign(20 * page, 0xee);
    b.memory = {memory.data(), page, page_tokens, type};
    sequences[0] = {pages_a.data(), past + n}, sequences[1] = {pages_b.data(), past + n};
    b.sequences = sequences;
    cells(0, past + n);
    attend_args both = a;
    both.values_in_keys = false;
    store(both, 3), store(c.inputs(), 5);
    cells(past, past + n);
  }

  std::vector<f32> compress(const auto& k, const parallel& p = {}) {
    std::vector<f32> out(b.n_tokens * c.dim, -7.0f);
    k.compress(p, c, b, view(out, b.n_tokens, c.dim));
    return out;
  }
  std::vector<f32> attend(const auto& k, const chosen_blocks& chosen, const parallel& p = {}) {
    std::vector<f32> q = random_floats(b.n_tokens * heads * a.dim_k, 77, 3.0f), out(q.size(), -7.0f);
    std::vector<u8> scratch(cpu::attend_scratch_bytes(a, p.threads) + 64, 0xcc);
    k.attend_compressed(p, a, b, view(q, b.n_tokens, heads * a.dim_k), chosen, scratch.data(),
                        view(out, b.n_tokens, heads * a.dim_k));
    for (usize i = scratch.size() - 64; i < scratch.size(); ++i) REQUIRE(scratch[i] == 0xcc);
    return out;
  }

 private:
  void cells(u32 from, u32 to) {
    cell.clear(), sequence.clear();
    for (u32 i = from; i < to; ++i)
      for (u32 s = 0; s < 2; ++s) cell.push_back(i), sequence.push_back(s);
    b.n_tokens = static_cast<u32>(cell.size());
    b.position = b.cell = cell.data(), b.sequence = sequence.data();
  }
  void store(const attend_args& to, u64 seed) {
    const u32 cols = to.n_head_kv * to.dim_k;
    std::vector<f32> k = random_floats(b.n_tokens * cols, seed, 2.0f);
    std::vector<f32> v = random_floats(b.n_tokens * cols, seed + 1, 4.0f);
    reference_kernels<>().store_kv({}, to, b, view(k, b.n_tokens, cols), view(v, b.n_tokens, cols));
  }
};

}  // namespace

TEST_CASE("compress: every table gives the reference's rows, for every element type, on any number of threads") {
  for (const auto* t : tables())
    for (u32 type : kv_type_ids)
      for (u32 dim : {64u, 40u, 7u})
        for (const auto& [group, overlaps] : {std::pair{4u, true}, {4u, false}, {1u, true}, {25u, false}})
          for (const auto& [past, n] : {std::pair{0u, 30u}, {47u, 5u}}) {
            groups_scene s(type, 2, dim, group, overlaps, past, n);
            const cpu::dispatched_kernels<> k(*t);
            const std::vector<f32> got = s.compress(k);
            CHECK(worst_relative(got, s.compress(reference_kernels<>()), 1.0) < 4e-6);
            fake_threads threads{3};
            CHECK(same_bits(s.compress(k, threads), got));
          }
}

TEST_CASE("attend_compressed: matches the reference over all rows of groups and over those chosen") {
  for (const auto* t : tables())
    for (u32 type : kv_type_ids)
      for (u32 dim : {64u, 40u})
        for (u32 group : {1u, 4u, 20u}) {
          groups_scene s(type, 6, dim, group, false, 33, 4);
          const cpu::dispatched_kernels<> k(*t);
          const std::vector<f32> all = s.attend(k, {});
          CHECK(worst_relative(all, s.attend(reference_kernels<>(), {}), 1.0) < 1.2e-5);  // values up to 4
          fake_threads threads{3};
          CHECK(same_bits(s.attend(k, {}, threads), all));
          std::vector<u32> words;  // every token sees the groups up to the third
          for (u32 i = 0; i < s.b.n_tokens; ++i) {
            const u32 n = std::min(3u, (s.cell[i] + 1) / group);
            for (u32 w : {n, 0u, 1u, 2u}) words.push_back(w);
          }
          const chosen_blocks chosen{words.data(), 1, 4, group};
          const std::vector<f32> some = s.attend(k, chosen);
          CHECK(worst_relative(some, s.attend(reference_kernels<>(), chosen), 1.0) < 4e-6);
          CHECK(same_bits(s.attend(k, chosen, threads), some));
          CHECK(same_bits(some, all) == (group == 20));
          for (usize i = 0; i < words.size(); i += 4) words[i] = 0;  // nothing but the window
          groups_scene window(type, 6, dim, 1000, false, 33, 4);
          CHECK(same_bits(s.attend(k, chosen), window.attend(k, {})));
        }
}

TEST_CASE("route_tokens: the table's experts with the reference's weights") {
  const std::vector<i32> table = {3, 0, 1, 2, 3, 3, 0, 2};
  const weight w{reinterpret_cast<const u8*>(table.data()), 26, 2, 4, 1};
  const i32 tokens[] = {2, 0, 3};
  std::vector<f32> logits = random_floats(3 * 4, 5, 3.0f);
  for (const auto* t : tables())
    for (const gating kind : {gating::softmax, gating::sigmoid, gating::softmax_chosen, gating::sqrt_softplus}) {
      const route_args a{.n_expert = 4, .n_used = 2, .kind = kind, .scale = 1.5f};
      std::vector<f32> got(6), want(6);
      i32 ids[6], want_ids[6];
      cpu::dispatched_kernels<>(*t).route_tokens({}, a, view(logits, 3, 4), w, tokens, ids, view(got, 3, 2));
      reference_kernels<>().route_tokens({}, a, view(logits, 3, 4), w, tokens, want_ids, view(want, 3, 2));
      for (u32 i = 0; i < 6; ++i) {
        CHECK(ids[i] == table[2 * static_cast<u32>(tokens[i / 2]) + i % 2]);
        CHECK(ids[i] == want_ids[i]);
      }
      CHECK(worst_relative(got, want, 1e-3) < 1e-6);
      for (u32 r = 0; r < 3; ++r) CHECK(got[2 * r] + got[2 * r + 1] == doctest::Approx(1.5f));
      CHECK(got[0] == doctest::Approx(got[1]));  // token 2 names one expert twice
    }
}
