// The float kernels of every table against the double-precision reference kernels.

#include "fixture.hpp"

#include "jig/backend/cpu/math.hpp"
#include "jig/backend/cpu/rope.hpp"
#include "jig/ops/reference.hpp"

using namespace cpu_test;

namespace {

const reference_kernels<> truth;
const u32 widths[] = {1, 3, 8, 15, 16, 17, 31, 64, 67, 288, 1000};

/// Runs f on a copy of x for the table and for the reference; returns both.
template <class F>
std::pair<std::vector<f32>, std::vector<f32>> both(const cpu::kernel_table& t, const std::vector<f32>& x, F&& f) {
  std::vector<f32> got = x, want = x;
  f(cpu::dispatched_kernels<>(t), got);
  f(truth, want);
  return {got, want};
}

}  // namespace

TEST_CASE("exp: relative error below 3e-7 from -87 to 88, clamped beyond, NaN stays") {
  f64 worst = 0.0;
  for (f64 x = -87.0; x <= 88.0; x += 0.00137) {
    const f64 want = std::exp(f64(f32(x)));
    worst = std::fmax(worst, std::fabs(f64(cpu::exp(cpu::one_float(f32(x))).v) - want) / want);
  }
  CHECK(worst < 3e-7);
  CHECK(cpu::exp(cpu::one_float(0.0f)).v == 1.0f);
  CHECK(cpu::exp(cpu::one_float(-INFINITY)).v < 2e-38f);
  CHECK(cpu::exp(cpu::one_float(INFINITY)).v > 1e38f);
  CHECK(std::isnan(cpu::exp(cpu::one_float(NAN)).v));
}

TEST_CASE("tanh: relative error below 1e-6 everywhere, also near zero") {
  f64 worst = 0.0;
  for (f64 x = 1e-6; x < 20.0; x *= 1.0007)
    for (f64 sign : {-1.0, 1.0}) {
      const f64 want = std::tanh(f64(f32(sign * x)));
      worst = std::fmax(worst, std::fabs((f64(cpu::tanh(cpu::one_float(f32(sign * x))).v) - want) / want));
    }
  CHECK(worst < 1e-6);
  CHECK(cpu::tanh(cpu::one_float(1e30f)).v == 1.0f);
  CHECK(cpu::tanh(cpu::one_float(-1e30f)).v == -1.0f);
}

TEST_CASE("cos_sin: absolute error below 1.5e-7 in every quadrant and after a million turns") {
  f64 worst = 0.0;
  for (f64 turns : {0.0, 1.0, -3.0, 1e6, 159154.0})
    for (f64 x = -1.0; x <= 1.0; x += 0.00117) {
      f32 c, s;
      cpu::detail::cos_sin(turns + x, c, s);
      const f64 angle = 6.283185307179586 * (turns + x - std::floor(turns + x));
      worst = std::fmax(worst, std::fmax(std::fabs(f64(c) - std::cos(angle)), std::fabs(f64(s) - std::sin(angle))));
    }
  CHECK(worst < 1.5e-7);
}

TEST_CASE("elementwise: add, scale, softcap and the activations match the reference for every width") {
  for (const auto* t : tables())
    for (u32 n : widths) {
      const std::vector<f32> x = random_floats(3 * n, n, 12.0f);
      std::vector<f32> y = random_floats(3 * n, n + 1, 3.0f);
      const mat b = view(y, 3, n);
      auto check = [&](f64 bound, auto&& f) {
        const auto [got, want] = both(*t, x, [&](const auto& k, std::vector<f32>& v) { f(k, view(v, 3, n)); });
        CHECK_MESSAGE(worst_relative(got, want, 1e-6) < bound, std::string(t->isa), " width ", n);
      };
      check(1e-5, [&](const auto& k, const mat& v) { k.add({}, v, b, 0.3f); });  // sums may cancel
      check(1e-7, [&](const auto& k, const mat& v) { k.scale({}, v, 0.3f); });
      check(1.5e-6, [&](const auto& k, const mat& v) { k.softcap({}, v, 5.0f); });
      using enum activation;
      for (activation act : {silu, gelu, relu, relu_sqr, activation::exp}) {
        const f64 bound = act == gelu ? 1e-5 : 1e-6;
        check(bound, [&](const auto& k, const mat& v) { k.activate({}, act, v); });
        check(bound, [&](const auto& k, const mat& v) { k.gated({}, act, v, b); });
      }
      check(1e-9, [&](const auto& k, const mat& v) { k.activate({}, none, v); });
      activation_args root = signed_sqrt;
      root.eps = 0.5f;
      check(1e-7, [&](const auto& k, const mat& v) { k.activate({}, root, v); });
    }
}

TEST_CASE("activate: the signed root of the hand vector") {
  activation_args root = activation::signed_sqrt;
  root.eps = 1e-6f;
  for (const auto* t : tables()) {
    std::vector<f32> v = {4.0f, -9.0f, 0.0f, 1e-9f, -1e-9f, 1.0f};
    t->activate({}, root, view(v, 2, 3));
    CHECK(worst_relative(v, {2.0f, -3.0f, 0.0f, 1e-3f, -1e-3f, 1.0f}, 1e-9) < 1e-6);
    CHECK(v[2] == 0.0f);
  }
}

TEST_CASE("elementwise: columns of a wider matrix leave their neighbours alone, on any number of threads") {
  for (const auto* t : tables()) {
    std::vector<f32> one = random_floats(400 * 120, 5), y = random_floats(400 * 120, 6);
    const std::vector<f32> before = one;
    std::vector<f32> three = one;
    const mat b = mat{y.data(), 400, 120, 120}.columns(7, 101);
    t->gated({}, activation::silu, view(one, 400, 120).columns(5, 101), b);
    fake_threads threads{3};
    t->gated(threads, activation::silu, view(three, 400, 120).columns(5, 101), b);
    CHECK(same_bits(one, three));
    usize touched = 0, missed = 0;
    for (usize i = 0; i < one.size(); ++i) {
      const bool inside = i % 120 >= 5 && i % 120 < 106;
      touched += !inside && one[i] != before[i];
      missed += inside && one[i] == before[i];
    }
    CHECK(touched == 0);
    CHECK(missed == 0);
  }
}

TEST_CASE("norm: every kind matches the reference, by rows and by groups, in place, with every shape of weights") {
  for (const auto* t : tables())
    for (u32 n : widths)
      for (norm_kind kind : {norm_kind::rms, norm_kind::layer, norm_kind::l2})
        for (u32 group : {n, 2 * n}) {
          const u32 groups = 2 * n / group;
          const std::vector<f32> x = random_floats(2 * 2 * n, n, 4.0f), w = random_floats(2 * n, 2),
                                 b = random_floats(group, 3);
          const auto floats = [](const std::vector<f32>& v, u32 cols, u32 rows) {
            return weight{reinterpret_cast<const u8*>(v.data()), 0, cols, rows, 1};
          };
          const weight none{}, row = floats(w, group, 1), rows = floats(w, group, groups),
                       factors = floats(w, 1, groups), bias = floats(b, group, 1);
          const norm_args cases[] = {{kind, 1e-5f, group, none, none}, {kind, 1e-5f, group, row, none},
                                     {kind, 1e-5f, group, row, bias},  {kind, 1e-5f, group, rows, none},
                                     {kind, 1e-5f, group, factors, none}};
          for (const norm_args& a : cases) {
            const auto [got, want] = both(*t, x, [&](const auto& k, std::vector<f32>& v) {
              k.norm({}, a, view(v, 2, 2 * n), view(v, 2, 2 * n));
            });
            CHECK_MESSAGE(worst_relative(got, want, 1.0) < 5e-6, std::string(t->isa), " ", n, " of ", group);
          }
        }
}

TEST_CASE("norm: into another matrix; a long row keeps its precision; zeros stay zeros") {
  for (const auto* t : tables()) {
    std::vector<f32> x = random_floats(65536, 9), got(x.size()), want(x.size());
    const norm_args a{norm_kind::rms, 1e-6f, 0, {}, {}};
    t->norm({}, a, view(x, 1, 65536), view(got, 1, 65536));
    truth.norm({}, a, view(x, 1, 65536), view(want, 1, 65536));
    CHECK(worst_relative(got, want, 1e-3) < 2e-5);
    std::vector<f32> zeros(64, 0.0f), out(64, 1.0f);
    t->norm({}, a, view(zeros, 1, 64), view(out, 1, 64));
    CHECK(out == zeros);
  }
}

TEST_CASE("rope: table and rotation match the reference: scaling, YaRN, factors, both kinds, partial heads") {
  const std::vector<f32> factors = random_floats(64, 1);
  std::vector<f32> positive(64);
  for (usize i = 0; i < 64; ++i) positive[i] = 2.0f + factors[i];
  const u32 position[] = {0, 1, 77, 4095, 131071, 1000000};
  for (const auto* t : tables())
    for (u32 n_rot : {2u, 6u, 32u, 48u, 128u})
      for (int variant = 0; variant < 4; ++variant) {
        rope_args a;
        a.n_rot = n_rot;
        a.freq_base = variant == 1 ? 500000.0f : 10000.0f;
        if (variant == 1) a.factors = {reinterpret_cast<const u8*>(positive.data()), 0, n_rot / 2, 1, 1};
        if (variant == 2) a.freq_scale = 0.25f;
        if (variant == 3) a.freq_scale = 0.0625f, a.ext_factor = 1.0f, a.n_ctx_orig = 4096, a.attn_factor = 1.1f;
        std::vector<f32> got(6 * n_rot), want(got);
        t->rope_table({}, a, position, view(got, 6, n_rot));
        truth.rope_table({}, a, position, view(want, 6, n_rot));
        CHECK_MESSAGE(worst_relative(got, want, 1.0) < 4e-7, std::string(t->isa), " n_rot ", n_rot, " variant ",
                      variant);

        const std::vector<f32> x = random_floats(6 * 3 * (n_rot + 5), n_rot);
        for (rope_kind kind : {rope_kind::norm, rope_kind::neox}) {
          const auto [r, w] = both(*t, x, [&](const auto& k, std::vector<f32>& v) {
            k.rope({}, kind, view(want, 6, n_rot), 3, view(v, 6, 3 * (n_rot + 5)));
          });
          CHECK(worst_relative(r, w, 1.0) < 3e-7);
        }
      }
}

TEST_CASE("route: the same experts as the reference, ties to the lower id, weights to 1e-6") {
  for (const auto* t : tables())
    for (u32 n : {1u, 2u, 8u, 128u})
      for (u32 used : {1u, 2u, 8u}) {
        if (used > n) continue;
        std::vector<f32> logits = random_floats(5 * n, n, 6.0f);
        if (n >= 8)
          for (u32 e = 0; e < n; ++e) logits[e] = e % 3 == 0 ? 2.0f : 1.0f;
        for (bool normalize : {false, true}) {
          const route_args a{.n_expert = n, .n_used = used, .normalize = normalize, .scale = 1.5f};
          std::vector<i32> ids(5 * used), want_ids(5 * used);
          std::vector<f32> w(5 * used), want(5 * used);
          t->route({}, a, view(logits, 5, n), ids.data(), view(w, 5, used));
          truth.route({}, a, view(logits, 5, n), want_ids.data(), view(want, 5, used));
          CHECK(ids == want_ids);
          CHECK(worst_relative(w, want, 1e-30) < 1e-6 + n * 6e-8);
        }
      }
}

TEST_CASE("route: NaN and infinite logits still give distinct experts in range") {
  for (const auto* t : tables())
    for (f32 bad : {NAN, INFINITY, -INFINITY}) {
      std::vector<f32> logits(8, bad), w(4);
      logits[5] = 1.0f;
      i32 ids[4];
      t->route({}, {.n_expert = 8, .n_used = 4}, view(logits, 1, 8), ids, view(w, 1, 4));
      for (int i = 0; i < 4; ++i) {
        CHECK(ids[i] >= 0);
        CHECK(ids[i] < 8);
        for (int j = 0; j < i; ++j) CHECK(ids[i] != ids[j]);
      }
    }
}

TEST_CASE("combine, gather and average match the reference") {
  for (const auto* t : tables())
    for (u32 n : widths) {
      std::vector<f32> y = random_floats(3 * 4 * n, n), w = random_floats(12, 2), got(3 * n), want(3 * n);
      t->combine({}, view(y, 12, n), view(w, 3, 4), view(got, 3, n));
      truth.combine({}, view(y, 12, n), view(w, 3, 4), view(want, 3, n));
      CHECK(worst_relative(got, want, 1.0) < 1e-6);
      const u32 rows[] = {11, 0, 4};
      t->gather({}, view(y, 12, n), rows, view(got, 3, n));
      truth.gather({}, view(y, 12, n), rows, view(want, 3, n));
      CHECK(got == want);
      const u32 group[] = {0, 1, 0, 2, 2, 0, 1, 1, 0, 0, 2, 1}, first[] = {0, 1, 3};
      t->average({}, view(y, 12, n), group, first, view(got, 3, n));
      truth.average({}, view(y, 12, n), group, first, view(want, 3, n));
      CHECK(worst_relative(got, want, 1.0) < 1e-6);
    }
}

TEST_CASE("sinkhorn: the reference's weights, on any number of threads") {
  for (const auto* t : tables())
    for (u32 n : {1u, 2u, 4u, 16u})
      for (u32 rows : {1u, 70u}) {
        std::vector<f32> scores = random_floats(rows * n * n, 8, 5.0f);
        const auto run = [&](const auto& k, const parallel& p) {
          std::vector<f32> out(rows * n * n);
          k.sinkhorn(p, {n, 20, 1e-6f}, view(scores, rows, n * n), view(out, rows, n * n));
          return out;
        };
        const std::vector<f32> want = run(truth, {});
        fake_threads threads{3};
        const std::vector<f32> got = run(cpu::dispatched_kernels<>(*t), {});
        CHECK(worst_relative(got, want, 1e-6) < 2e-7);
        CHECK(same_bits(run(cpu::dispatched_kernels<>(*t), threads), got));
      }
}
