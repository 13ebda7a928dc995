// Attention of every table against the double-precision reference, over paged memory in every element type.

#include "attention_scene.hpp"

using namespace cpu_test;

namespace {
using scene = attention_scene;
const auto& types = kv_type_ids;
}  // namespace

TEST_CASE("attend: matches the reference for every element type, head layout, window and cap") {
  struct shape {
    u32 heads, heads_kv, dim_k, dim_v, past, tokens;
  };
  for (const auto* t : tables())
    for (u32 type : types)
      for (shape s : {shape{1, 1, 8, 8, 0, 1}, shape{4, 2, 64, 64, 20, 3}, shape{6, 2, 40, 24, 33, 5},
                      shape{8, 1, 128, 64, 16, 1}, shape{3, 3, 5, 67, 70, 2}, shape{2, 2, 16, 16, 0, 40},
                      shape{5, 1, 23, 33, 9, 19}}) {
        scene c(type, s.heads, s.heads_kv, s.dim_k, s.dim_v, s.past, s.tokens, s.past == 20);
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
        scene c(type, 6, 2, 24, 16, 40, 5, causal);
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
      scene c(type, 8, 4, 64, 64, 40, 12, false);
      for (u32 window : {0u, 7u, 30u}) {
        c.a.window = window;
        const cpu::dispatched_kernels<> k(*t);
        const std::vector<f32> one = c.run(k);
        for (u32 count : {2u, 3u}) {
          fake_threads threads{count};
          CHECK(same_bits(c.run(k, threads), one));
        }
        // Each number of tokens cuts the batch into other tiles.
        const u32 all = c.b.n_tokens, row = c.a.n_head * c.a.dim_v;
        for (u32 n = 1; n < all; n += n < 3 ? 1 : 3) {
          c.b.n_tokens = n;
          const std::vector<f32> first = c.run(k);
          CHECK(std::memcmp(first.data(), one.data(), n * row * sizeof(f32)) == 0);
        }
        c.b.n_tokens = all;
      }
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

TEST_CASE("load_keys: what was stored, or the mean of the last keys, of as many as there are") {
  for (const auto* t : tables())
    for (u32 type : kv_type_ids)
      for (u32 past : {0u, 1u, 9u}) {
        attention_scene c(type, 4, 2, 40, 24, past, 3);
        const u32 cols = 2 * 40;
        const auto load = [&](const batch& b, u32 n) {
          std::vector<f32> out(b.n_tokens * cols, -7.0f);
          t->load_keys({}, c.a, b, n, view(out, b.n_tokens, cols));
          return out;
        };
        for (u32 n : {1u, 2u, 4u}) {
          const std::vector<f32> got = load(c.b, n);
          for (u32 i = 0; i < c.b.n_tokens; ++i) {
            const u32 own = c.b.cell[i], seen = std::min(n, own + 1);
            std::vector<f64> sum(cols);
            for (u32 cell = own + 1 - seen; cell <= own; ++cell) {
              batch one = c.b;
              one.n_tokens = 1, one.cell = &cell, one.sequence = c.b.sequence + i;
              const std::vector<f32> key = load(one, 1);
              for (u32 j = 0; j < cols; ++j) sum[j] += f64(key[j]);
            }
            for (u32 j = 0; j < cols; ++j)
              CHECK(std::abs(f64(got[i * cols + j]) - sum[j] / seen) < (n == 1 ? 1e-12 : 1e-6));
          }
        }
      }
}
