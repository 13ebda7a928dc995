// backend/cpu/recurrence.hpp: every table against the reference, on any number of threads, whatever the batches.
#include <doctest/doctest.h>

#include "cpu/fixture.hpp"
#include "jig/backend/cpu/dispatch_backend.hpp"
#include "jig/ops/reference.hpp"

using namespace jig;
using namespace cpu_test;

namespace {

/// Tokens of two sequences in turn, with random states behind a gap that nobody may touch.
struct scene {
  static constexpr u32 n = 9;
  static constexpr u64 gap = 5;
  explicit scene(u64 floats) : stride(floats + 2 * gap), initial(random_floats(2 * stride, 3)) {
    for (u32 t = 0; t < n; ++t) sequence.push_back(t % 3 == 0);
  }
  /// out and states after f(batch, out), together.
  template <class F>
  std::vector<f32> run(u32 cols, F&& f) const {
    std::vector<f32> out(n * cols), states = initial;
    batch b;
    b.n_tokens = n;
    b.sequence = sequence.data();
    b.states = {states.data(), stride};
    f(b, view(out, n, cols));
    out.insert(out.end(), states.begin(), states.end());
    return out;
  }

  u64 stride;
  std::vector<f32> initial;
  std::vector<u32> sequence;
};

struct scan_case {
  const char* name;
  scan_args args;
  bool per_key;   // decay of each key column
  bool separate;  // erase and write of their own
  bool rated;
};

weight numbers(const std::vector<f32>& v, u32 cols) {
  return {reinterpret_cast<const u8*>(v.data()), 0, cols, static_cast<u32>(v.size()) / cols, 1};
}

}  // namespace

TEST_CASE("conv: taps, gaps between them, odd widths and no weights match the reference; so do the states alone") {
  for (const auto* t : tables())
    for (u32 cols : {1u, 7u, 130u})
      for (u32 taps : {2u, 3u, 4u})
        for (const auto& [dilation, weighed] : {std::pair{1u, true}, {1u, false}, {3u, true}, {2u, false}}) {
          const scene s(u64{taps - 1} * dilation * cols);
          std::vector<f32> x = random_floats(scene::n * cols, 4);
          const std::vector<f32> w = random_floats(u64{taps} * cols, 5);
          conv_args a{taps, scene::gap, {}, dilation};
          if (weighed) a.w = numbers(w, taps);
          const auto on = [&](const auto& k, const parallel& p) {
            return s.run(cols, [&](const batch& b, const mat& out) { k.conv(p, a, b, view(x, scene::n, cols), out); });
          };
          const std::vector<f32> want = on(reference_kernels<>(), {});
          const cpu::dispatched_kernels<> k(*t);
          const std::vector<f32> got = on(k, {});
          CHECK_MESSAGE(worst_relative(got, want, 1.0) < 1e-6, std::string(t->isa), " taps ", taps, " cols ", cols);
          fake_threads threads{3};
          CHECK(same_bits(on(k, threads), got));
          for (u64 i = 0; i < scene::gap; ++i)
            CHECK(got[scene::n * cols + s.stride - 1 - i] == s.initial[s.stride - 1 - i]);
        }
}

TEST_CASE("conv: with gaps it is one of more taps, those between being zero") {
  const u32 cols = 5, taps = 3, dilation = 3, all = (taps - 1) * dilation + 1;
  const scene s(u64{all - 1} * cols);
  std::vector<f32> x = random_floats(scene::n * cols, 4), w = random_floats(taps * cols, 5), wide(all * cols, 0.0f);
  for (u32 c = 0; c < cols; ++c)
    for (u32 j = 0; j < taps; ++j) wide[c * all + j * dilation] = w[c * taps + j];
  const auto with = [&](const conv_args& a) {
    const auto f = [&](const batch& b, const mat& out) {
      reference_kernels<>().conv({}, a, b, view(x, scene::n, cols), out);
    };
    return s.run(cols, f);
  };
  CHECK(worst_relative(with({taps, scene::gap, numbers(w, taps), dilation}),
                       with({all, scene::gap, numbers(wide, all)}), 1.0) < 1e-12);
}

TEST_CASE("scan: every form of the recurrence matches the reference, states included, on any number of threads") {
  const std::vector<f32> bonus = random_floats(6 * 33, 20);
  std::vector<f32> rates = random_floats(6 * 33, 21), one_rate = random_floats(6, 22);
  for (f32& r : rates) r = -1.5f + r;
  for (f32& r : one_rate) r = -1.5f + r;
  const weight u = numbers(bonus, 33), per_key = numbers(rates, 33), per_head = numbers(one_rate, 1);
  const auto before = scan_erase::before_decay, after = scan_erase::after_decay;
  const auto shape = [](u32 n_head_k, u32 dim_v) {
    return scan_args{.n_head = 6, .n_head_k = n_head_k, .dim_k = 33, .dim_v = dim_v};
  };
  scan_case cases[] = {{"mamba", shape(1, 1), false, false, false},       {"mamba2", shape(2, 5), false, false, false},
                       {"linear", shape(6, 4), true, false, false},       {"rwkv6", shape(6, 33), true, false, false},
                       {"rwkv7", shape(6, 33), true, true, false},        {"delta", shape(3, 9), false, false, true},
                       {"tiled delta", shape(2, 80), true, false, true}};
  cases[0].args.log_decay = per_key, cases[1].args.log_decay = per_head, cases[2].args.scale = 0.3f;
  cases[3].args.bonus = u, cases[4].args.erase = before, cases[5].args.erase = after, cases[6].args.erase = after;
  cases[6].args.tiled = true;
  for (const scan_case& c : cases) {
    scan_args a = c.args;
    a.state_offset = scene::gap;
    const u32 keys = a.n_head_k * a.dim_k, values = a.n_head * a.dim_v, decays = a.n_head * (c.per_key ? a.dim_k : 1);
    const scene s(u64{values} * a.dim_k);
    std::vector<f32> q = random_floats(scene::n * keys, 6), k = random_floats(scene::n * keys, 7, 0.3f),
                     v = random_floats(scene::n * values, 8), decay = random_floats(scene::n * decays, 9),
                     rate = random_floats(scene::n * a.n_head, 10), erase = random_floats(scene::n * keys, 11, 0.3f),
                     write = random_floats(scene::n * keys, 12, 0.3f);
    for (f32& d : decay) d = 0.5f + 0.45f * d;
    scan_inputs in{view(q, scene::n, keys), view(k, scene::n, keys), view(v, scene::n, values),
                   view(decay, scene::n, decays)};
    if (c.rated) in.rate = view(rate, scene::n, a.n_head);
    if (c.separate) in.erase = view(erase, scene::n, keys), in.write = view(write, scene::n, keys);
    const auto on = [&](const auto& kernels, const parallel& p) {
      return s.run(values, [&](const batch& b, const mat& out) { kernels.scan(p, a, b, in, out); });
    };
    const std::vector<f32> want = on(reference_kernels<>(), {});
    CHECK(worst_relative(want, std::vector<f32>(want.size(), 0.0f), 1.0) > 0.1);
    for (const auto* t : tables()) {
      const cpu::dispatched_kernels<> fast(*t);
      const std::vector<f32> got = on(fast, {});
      CHECK_MESSAGE(worst_relative(got, want, 1.0) < 1e-5, std::string(t->isa), " ", c.name);
      fake_threads threads{4};
      CHECK(same_bits(on(fast, threads), got));
    }
  }
}

TEST_CASE("dot_groups: sums by group match the reference") {
  for (const auto* t : tables())
    for (u32 width : {1u, 13u, 64u}) {
      std::vector<f32> a = random_floats(5 * 3 * width, 1), b = random_floats(5 * 3 * width, 2), got(15), want(15);
      t->dot_groups({}, view(a, 5, 3 * width), view(b, 5, 3 * width), view(got, 5, 3));
      reference_kernels<>().dot_groups({}, view(a, 5, 3 * width), view(b, 5, 3 * width), view(want, 5, 3));
      CHECK(worst_relative(got, want, 1.0) < 1e-6);
    }
}
