// Attention of every table against the double-precision reference, over paged memory in every element type.

#include "fixture.hpp"

#include "jig/ops/reference.hpp"

using namespace cpu_test;

namespace {

/// A batch of two sequences with scattered pages, whose cells before the batch are filled with random keys and values.
struct scene {
  attend_args a;
  u32 page_tokens = 8;
  std::vector<u8> memory;
  std::vector<u32> pages_a{5, 0, 7, 2, 9, 11, 13, 15, 17, 19}, pages_b{1, 8, 3, 4, 6, 10, 12, 14, 16, 18};
  sequence_view sequences[2];
  std::vector<u32> position, cell, sequence;
  batch b;

  scene(u32 type, u32 heads, u32 heads_kv, u32 dim_k, u32 dim_v, u32 past, u32 tokens) {
    a.n_head = heads, a.n_head_kv = heads_kv, a.dim_k = dim_k, a.dim_v = dim_v;
    a.scale = 1.0f / std::sqrt(static_cast<f32>(dim_k));
    const u64 layer = page_tokens * kv_token_bytes(type, heads_kv, dim_k, dim_v);
    a.page_offset = layer;  // the second of two layers
    b.memory = {nullptr, 2 * layer, page_tokens, type};
    memory.assign(20 * 2 * layer, 0xee);
    b.memory.data = memory.data();
    b.sequences = sequences;
    // all cells of both sequences first, then a batch with tokens of both in turn
    fill(0, past + tokens), fill(1, past + tokens);
    start();
    for (u32 i = 0; i < tokens; ++i)
      for (u32 s = 0; s < 2; ++s) push(s, past + i);
    finish(past + tokens);
  }

  std::vector<f32> run(const auto& k, const parallel& p = {}) {
    std::vector<f32> q = random_floats(b.n_tokens * a.n_head * a.dim_k, 77, 3.0f);
    std::vector<f32> out(b.n_tokens * a.n_head * a.dim_v, -7.0f);
    std::vector<u8> scratch(cpu::attend_scratch_bytes(a, p.threads) + 64, 0xcc);
    k.attend(p, a, b, view(q, b.n_tokens, a.n_head * a.dim_k), scratch.data(),
             view(out, b.n_tokens, a.n_head * a.dim_v));
    for (usize i = scratch.size() - 64; i < scratch.size(); ++i) REQUIRE(scratch[i] == 0xcc);
    return out;
  }

 private:
  void start() { position.clear(), cell.clear(), sequence.clear(); }
  void push(u32 s, u32 at) { position.push_back(at), cell.push_back(at), sequence.push_back(s); }
  void finish(u32 length) {
    sequences[0] = {pages_a.data(), length};
    sequences[1] = {pages_b.data(), length};
    b.n_tokens = static_cast<u32>(cell.size());
    b.position = position.data(), b.cell = cell.data(), b.sequence = sequence.data();
  }
  void fill(u32 s, u32 n) {
    start();
    for (u32 i = 0; i < n; ++i) push(s, i);
    finish(n);
    std::vector<f32> k = random_floats(n * a.n_head_kv * a.dim_k, 5 + s),
                     v = random_floats(n * a.n_head_kv * a.dim_v, 7 + s);
    reference_kernels<>().store_kv({}, a, b, view(k, n, a.n_head_kv * a.dim_k), view(v, n, a.n_head_kv * a.dim_v));
  }
};

const u32 types[] = {f32_block::id, f16_block::id, bf16_block::id, q8_0::id};

}  // namespace

TEST_CASE("attend: matches the reference for every element type, head layout, window and cap") {
  struct shape {
    u32 heads, heads_kv, dim_k, dim_v, past, tokens;
  };
  for (const auto* t : tables())
    for (u32 type : types)
      for (shape s : {shape{1, 1, 8, 8, 0, 1}, shape{4, 2, 64, 64, 20, 3}, shape{6, 2, 40, 24, 33, 5},
                      shape{8, 1, 128, 64, 16, 1}, shape{3, 3, 5, 67, 70, 2}, shape{2, 2, 16, 16, 0, 40}}) {
        scene c(type, s.heads, s.heads_kv, s.dim_k, s.dim_v, s.past, s.tokens);
        for (u32 window : {0u, 1u, 17u})
          for (f32 cap : {0.0f, 2.0f})
            for (bool causal : {true, false}) {
              c.a.window = window, c.a.softcap = cap, c.b.causal = causal;
              const std::vector<f32> got = c.run(cpu::dispatched_kernels<>(*t)), want = c.run(reference_kernels<>());
              CHECK_MESSAGE(worst_relative(got, want, 1.0) < 4e-6, std::string(t->isa), " type ", type, " dim ",
                            s.dim_k);
            }
      }
}

TEST_CASE("attend: biases by distance, a source, and attention to it match the reference") {
  std::vector<f32> biases = random_floats(6 * distance_columns, 31, 4.0f);
  for (const auto* t : tables())
    for (u32 type : types)
      for (bool causal : {true, false}) {
        scene c(type, 6, 2, 24, 16, 40, 5);
        c.b.causal = causal;
        c.a.distances = view(biases, 6, distance_columns);
        const std::vector<f32> plain = c.run(reference_kernels<>());
        CHECK(worst_relative(c.run(cpu::dispatched_kernels<>(*t)), plain, 1.0) < 4e-6);
        c.sequences[0].source = 7, c.sequences[1].source = 30;
        for (bool to_source : {true, false}) {
          c.a.to_source = to_source;
          const std::vector<f32> want = c.run(reference_kernels<>());
          CHECK(worst_relative(c.run(cpu::dispatched_kernels<>(*t)), want, 1.0) < 4e-6);
          CHECK((want != plain || (!causal && !to_source)));
        }
      }
}

TEST_CASE("attend: scores far apart and rising do not overflow") {
  for (const auto* t : tables()) {
    scene c(f32_block::id, 2, 1, 32, 32, 60, 2);
    for (f32 scale : {100.0f, 1e4f}) {
      c.a.scale = scale;
      // scores of up to 10^6: their own rounding moves the weights, so compare the winner only
      const std::vector<f32> got = c.run(cpu::dispatched_kernels<>(*t)), want = c.run(reference_kernels<>());
      CHECK(worst_relative(got, want, 1.0) < 1e-6 * (1.0 + scale * 32 * 3));
      for (f32 v : got) CHECK(std::isfinite(v));
    }
  }
}

TEST_CASE("attend: neither threads nor the other tokens of the batch change a bit") {
  for (const auto* t : tables())
    for (u32 type : types) {
      scene c(type, 8, 4, 64, 64, 40, 6);
      const cpu::dispatched_kernels<> k(*t);
      const std::vector<f32> one = c.run(k);
      for (u32 count : {2u, 3u}) {
        fake_threads threads{count};
        CHECK(same_bits(c.run(k, threads), one));
      }
      const u32 all = c.b.n_tokens, row = c.a.n_head * c.a.dim_v;
      c.b.n_tokens = 1;
      const std::vector<f32> first = c.run(k);
      CHECK(std::memcmp(first.data(), one.data(), row * sizeof(f32)) == 0);
      c.b.n_tokens = all;
    }
}

TEST_CASE("store_kv: writes what the reference writes, nothing else, on any number of threads") {
  for (const auto* t : tables())
    for (u32 type : types) {
      scene c(type, 4, 2, 40, 24, 10, 20);
      std::vector<f32> k = random_floats(c.b.n_tokens * 2 * 40, 91), v = random_floats(c.b.n_tokens * 2 * 24, 92);
      const mat km = view(k, c.b.n_tokens, 80), vm = view(v, c.b.n_tokens, 48);
      const std::vector<u8> before = c.memory;
      reference_kernels<>().store_kv({}, c.a, c.b, km, vm);
      const std::vector<u8> want = c.memory;
      CHECK(want != before);
      for (u32 count : {1u, 3u}) {
        std::memcpy(c.memory.data(), before.data(), before.size());
        fake_threads threads{count};
        t->store_kv(threads, c.a, c.b, km, vm);
        CHECK(c.memory == want);
      }
    }
}
