// arch/blocks/: what is put together from operations, against its definition.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "jig/arch/blocks/attention_residuals.hpp"
#include "jig/ops/reference.hpp"

using namespace jig;

namespace {

using kernels = reference_kernels<>;
using runner = executor<kernels>;

/// Runs f on an executor with an arena of its own.
template <class F>
void on_reference(F&& f) {
  kernels k;
  alignas(64) static u8 arena[1 << 16];
  runner x(k, arena, sizeof arena);
  f(x);
  CHECK(x.ok());
}

value filled(runner& x, u32 rows, const std::vector<f32>& values) {
  value v = x.make(rows, static_cast<u32>(values.size()) / rows);
  std::copy(values.begin(), values.end(), mat(v).data);
  return v;
}

}  // namespace

TEST_CASE("softmax: by its definition, also of scores that are far apart or large") {
  on_reference([](runner& x) {
    const std::vector<f32> scores = {0.0f, 1.0f, -2.0f, 1000.0f, -1000.0f, 999.0f, -300.0f, -300.0f, -300.0f};
    const value v = filled(x, 3, scores);
    softmax(x, v);
    for (u32 t = 0; t < 3; ++t) {
      const f32* s = scores.data() + 3 * t;
      const f64 top = f64(std::max({s[0], s[1], s[2]}));
      f64 sum = 0.0;
      for (u32 c = 0; c < 3; ++c) sum += std::exp(f64(s[c]) - top);
      for (u32 c = 0; c < 3; ++c)
        CHECK(f64(mat(v).row(t)[c]) == doctest::Approx(std::exp(f64(s[c]) - top) / sum).epsilon(1e-4));
    }
  });
}

TEST_CASE("residual streams: one is read as it is, several by their scores") {
  on_reference([](runner& x) {
    const std::vector<f32> h = {3.0f, -4.0f, 1.0f, 2.0f}, w = {0.5f, -1.5f};
    const weight score = {reinterpret_cast<const u8*>(w.data()), 0, 2, 1, 1};
    residual_streams<runner> streams(x, filled(x, 2, h));
    const value alone = streams.mixed(score, 0.0f);
    for (u32 i = 0; i < 4; ++i) CHECK(mat(alone).data[i] == h[i]);

    streams.begin();
    const std::vector<f32> more = {1.0f, 0.0f, 0.0f, -2.0f};
    x.add(streams.last(), filled(x, 2, more));
    const value mixed = streams.mixed(score, 0.0f);
    const auto dot = [&](const f32* s) {
      const f64 rms = std::sqrt((f64(s[0]) * f64(s[0]) + f64(s[1]) * f64(s[1])) / 2.0);
      return (f64(s[0]) * f64(w[0]) + f64(s[1]) * f64(w[1])) / rms;
    };
    for (u32 t = 0; t < 2; ++t) {
      const f32 *a = h.data() + 2 * t, *b = more.data() + 2 * t;
      const f64 share = 1.0 / (1.0 + std::exp(dot(a) - dot(b)));
      for (u32 c = 0; c < 2; ++c)
        CHECK(f64(mat(mixed).row(t)[c]) == doctest::Approx(f64(a[c]) + share * (f64(b[c]) - f64(a[c]))).epsilon(1e-5));
    }
  });
}

TEST_CASE("SiTU: gates by its definition; without a limit of its own, up stays as it is") {
  on_reference([](runner& x) {
    const std::vector<f32> gate = {-30.0f, -1.0f, 0.0f, 0.5f, 4.0f, 1000.0f};
    const std::vector<f32> up = {2.0f, -1.0f, 5.0f, 100.0f, -100.0f, 3.0f};
    for (const f32 linear_beta : {0.0f, 25.0f}) {
      const value g = filled(x, 2, gate), u = filled(x, 2, up);
      x.gated(g, u, situ_args{4.0f, linear_beta});
      for (u32 i = 0; i < 6; ++i) {
        const f64 z = f64(gate[i]), v = f64(up[i]), b = f64(linear_beta);
        const f64 limited = b == 0.0 ? v : b * std::tanh(v / b);
        CHECK(f64(mat(g).data[i]) == doctest::Approx(4.0 * std::tanh(z / 4.0) / (1.0 + std::exp(-z)) * limited));
      }
    }
  });
}
