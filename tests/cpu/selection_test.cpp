// Sparse attention of every table: the choice of cells against the double-precision reference, entry by entry, and
// attention to what was chosen.

#include "attention_scene.hpp"

using namespace cpu_test;

namespace {

/// Whole numbers, so that scores are exact in f32, in every element type, and often equal. Every block of 32 has a
/// value of 127, which makes the scale of Q8_0 one.
std::vector<f32> whole_numbers(u32 rows, u32 dim, u64 seed, i32 limit, bool with_127) {
  random_source r{seed * 77 + 5};
  std::vector<f32> v(rows * dim);
  for (u32 i = 0; i < rows * dim; ++i) {
    v[i] = static_cast<f32>(static_cast<i32>(r.bits() >> 40) % (2 * limit + 1) - limit);
    if (with_127 && i % dim % 32 == 0) v[i] = v[i] < 0.0f ? -127.0f : 127.0f;
  }
  return v;
}

/// A batch that chooses, its lists in `words`.
struct choice {
  attention_scene c;
  select_args a;
  std::vector<f32> q, weights;
  std::vector<u32> words;
  chosen_blocks lists;

  choice(u32 type, select_args args, u32 past, u32 tokens) : c(type, 4, 2, 64, 48, past, tokens), a(args) {
    for (u32 s = 0; s < 2; ++s) {
      std::vector<f32> keys = whole_numbers(past + tokens, a.dim, 3 + s, 2, true);
      c.store_index(a, s, keys);
    }
    q = whole_numbers(c.b.n_tokens, a.n_head * a.dim, 9, 1, false);
    weights = whole_numbers(c.b.n_tokens, a.n_head, 10, 3, false);
    for (f32& w : weights) w = 0.25f * w + 1.0f;
    words.resize(u64{c.b.n_tokens} * a.lists() * (a.top_k + 1));
    lists = {words.data(), a.lists(), a.top_k + 1, a.block};
  }

  /// What the kernels choose; words past a list's end stay as they were.
  std::vector<u32> run(const auto& k, const parallel& p = {}, bool weighed = true) {
    std::fill(words.begin(), words.end(), 77u);
    std::vector<u8> scratch(select_scratch_bytes(a, p.threads) + 64, 0xcc);
    const mat w = weighed ? view(weights, c.b.n_tokens, a.n_head) : mat{};
    k.select(p, a, c.b, view(q, c.b.n_tokens, a.n_head * a.dim), w, scratch.data(), lists);
    for (usize i = scratch.size() - 64; i < scratch.size(); ++i) REQUIRE(scratch[i] == 0xcc);
    return words;
  }
};

const select_args forms[] = {{.n_head = 4, .dim = 64, .top_k = 8},
                             {.n_head = 24, .dim = 64, .top_k = 9},
                             {.n_head = 12, .dim = 96, .top_k = 4, .block = 5, .n_local = 1, .per_head = true},
                             {.n_head = 1, .dim = 40, .top_k = 1},
                             {.n_head = 3, .dim = 7, .top_k = 5, .block = 4, .n_local = 1},
                             {.n_head = 2, .dim = 32, .top_k = 3, .block = 4, .n_local = 1, .per_head = true},
                             {.n_head = 2, .dim = 96, .top_k = 6, .block = 3, .n_local = 2, .per_head = true},
                             {.n_head = 4, .dim = 64, .top_k = 3, .block = 4, .one_key = true},
                             {.n_head = 4, .dim = 64, .top_k = 11, .shared = 4},
                             {.n_head = 2, .dim = 40, .top_k = 7, .per_head = true, .shared = 3}};

}  // namespace

TEST_CASE("select: every table chooses what the reference does, for every element type, on any number of threads") {
  for (u32 type : kv_type_ids)
    for (const select_args& a : forms)
      for (const auto& [past, tokens] : {std::pair{0u, 1u}, {0u, 12u}, {37u, 3u}, {70u, 1u}}) {
        choice s(type, a, past, tokens);
        for (bool weighed : {true, false}) {
          const std::vector<u32> want = s.run(reference_kernels<>(), {}, weighed);
          for (const auto* t : tables()) {
            const cpu::dispatched_kernels<> k(*t);
            CHECK_MESSAGE(s.run(k, {}, weighed) == want, std::string(t->isa), " type ", type, " dim ", a.dim);
            fake_threads threads{3};
            CHECK(s.run(k, threads, weighed) == want);
          }
        }
      }
}

TEST_CASE("attend_chosen: matches the reference; all cells chosen are plain attention, bit for bit") {
  for (const auto* t : tables())
    for (u32 type : kv_type_ids)
      for (const select_args& a : forms) {
        const cpu::dispatched_kernels<> k(*t);
        choice s(type, a, 30, 4);
        s.run(k);
        const std::vector<f32> got = s.c.run(k, {}, &s.lists);
        CHECK(worst_relative(got, s.c.run(reference_kernels<>(), {}, &s.lists), 1.0) < 4e-6);
        CHECK(!same_bits(got, s.c.run(k)));
        fake_threads threads{3};
        CHECK(same_bits(s.c.run(k, threads, &s.lists), got));
        if (a.one_key) continue;  // incomplete blocks are not seen
        select_args all = a;
        all.top_k = 34;
        choice whole(type, all, 30, 4);
        whole.run(k);
        CHECK(same_bits(whole.c.run(k, {}, &whole.lists), whole.c.run(k)));
      }
}
