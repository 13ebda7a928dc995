// arch/blocks/: what is put together from operations, against its definition.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "jig/arch/blocks/attention_residuals.hpp"
#include "jig/arch/blocks/hyper_connections.hpp"
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

TEST_CASE("SwiGLU within limits: the gate is limited in front of its activation; without a limit nothing is") {
  on_reference([](runner& x) {
    const std::vector<f32> gate = {-30.0f, -1.0f, 0.0f, 0.5f, 4.0f, 1000.0f, 0.2f, 3.0f};
    const std::vector<f32> up = {2.0f, -1.0f, 5.0f, 0.25f, -100.0f, 3.0f, -0.7f, 0.9f};
    for (const f32 limit : {0.0f, 0.75f, 1.0f, 10.0f}) {
      const value g = filled(x, 2, gate), u = filled(x, 2, up);
      x.gated(g, u, limited_swiglu{limit});
      for (u32 i = 0; i < 8; ++i) {
        const f64 top = limit == 0.0f ? 1e9 : f64(limit), z = std::min(f64(gate[i]), top);
        const f64 want = z / (1.0 + std::exp(-z)) * std::clamp(f64(up[i]), -top, top);
        CHECK(f64(mat(g).data[i]) == doctest::Approx(want).epsilon(1e-6));
      }
    }
  });
}

TEST_CASE("hyper streams: copies at first, then each with its own part of what is added, then mixed") {
  on_reference([](runner& x) {
    const std::vector<f32> h = {1.0f, 2.0f, 3.0f, -1.0f, -2.0f, -3.0f};  // two tokens
    hyper_streams<runner> s(x, filled(x, 2, h), 2);
    const auto row = [&](u32 t) { return std::vector<f32>(s.all().row(t), s.all().row(t) + s.all().cols); };
    CHECK(row(0) == std::vector<f32>{1, 2, 3, 1, 2, 3});
    CHECK(row(1) == std::vector<f32>{-1, -2, -3, -1, -2, -3});
    s.add(filled(x, 2, {1, 0, 0, 0, 1, 0}), filled(x, 2, {1, 2, 3, -1}));
    CHECK(row(0) == std::vector<f32>{2, 2, 3, 3, 2, 3});
    CHECK(row(1) == std::vector<f32>{-1, 1, -3, -1, -3, -3});
    const value sum = s.sum(filled(x, 2, {1, -1, 0, 2}));
    CHECK(std::vector<f32>(mat(sum).data, mat(sum).data + 6) == std::vector<f32>{-1, 0, 0, -2, -6, -6});
    s.mix(filled(x, 2, {0, 1, 1, 0, 1, 1, 2, 0}));
    CHECK(row(0) == std::vector<f32>{3, 2, 3, 2, 2, 3});
    CHECK(row(1) == std::vector<f32>{-2, -2, -6, -2, 2, -6});
  });
}

TEST_CASE("sinkhorn: the hand vector; after many iterations all rows and columns sum up to one") {
  on_reference([](runner& x) {
    // exp: 1 3 / 2 2; rows divided: 1/4 3/4 / 1/2 1/2; columns: 1/3 3/5 / 2/3 2/5; rows: 5/14 9/14 / 5/8 3/8;
    // columns: 20/55 12/19 / 35/55 7/19. By targets then.
    const f32 two = std::log(2.0f), three = std::log(3.0f);
    const value once = x.sinkhorn(filled(x, 1, {100.0f, 100.0f + three, two, two}), {2, 1, 0.0f});
    const value twice = x.sinkhorn(filled(x, 1, {0.0f, three, two, two}), {2, 2, 0.0f});
    const f64 want_once[] = {1.0 / 3, 2.0 / 3, 3.0 / 5, 2.0 / 5};
    const f64 want_twice[] = {20.0 / 55, 35.0 / 55, 12.0 / 19, 7.0 / 19};
    for (u32 i = 0; i < 4; ++i) {
      CHECK(f64(mat(once).data[i]) == doctest::Approx(want_once[i]).epsilon(1e-5));
      CHECK(f64(mat(twice).data[i]) == doctest::Approx(want_twice[i]).epsilon(1e-5));
    }
    std::vector<f32> scores(2 * 9);
    for (u32 i = 0; i < 18; ++i) scores[i] = static_cast<f32>((i * 7) % 11) - 5.0f;
    const value m = x.sinkhorn(filled(x, 2, scores), {3, 200, 0.0f});
    for (u32 t = 0; t < 2; ++t)
      for (u32 i = 0; i < 3; ++i) {
        const f32* w = mat(m).row(t);
        CHECK(w[3 * i] + w[3 * i + 1] + w[3 * i + 2] == doctest::Approx(1.0f));
        CHECK(w[i] + w[3 + i] + w[6 + i] == doctest::Approx(1.0f));
      }
  });
}

TEST_CASE("hyper connections: what a branch reads and how it is written back, by the definition") {
  on_reference([](runner& x) {
    hparams hp;
    hp.n_streams = 2, hp.n_embd = 2, hp.norm_eps = 0.25f, hp.connection_eps = 0.125f, hp.sinkhorn_iterations = 1;
    le_f32 fn[4 * 8];  // a matrix is read as a file has it
    for (u32 i = 0; i < 32; ++i) fn[i] = static_cast<f32>((i * 5) % 7) / 4.0f - 0.75f;
    const std::vector<f32> scale = {0.5f, 2.0f, -1.0f}, base = {0.1f, -0.2f, 0.3f, 0.4f, 0.0f, 1.0f, -1.0f, 0.5f};
    const auto numbers = [](const std::vector<f32>& v, u32 cols) {
      return weight{reinterpret_cast<const u8*>(v.data()), 0, cols, static_cast<u32>(v.size()) / cols, 1};
    };
    const connection c{{{fn->bytes, f32_block::id, 4, 8, 1}, {}, {}}, numbers(scale, 3), numbers(base, 8)};
    hyper_streams<runner> s(x, filled(x, 1, {1.0f, -2.0f}), 2);
    s.add(filled(x, 1, {0.5f, 1.0f}), filled(x, 1, {1.0f, -1.0f}));
    const f64 h[4] = {1.5, -1.0, 0.5, -3.0};
    const f64 length = std::sqrt((1.5 * 1.5 + 1.0 + 0.25 + 9.0) / 4.0 + 0.25);
    f64 z[8] = {};
    for (u32 r = 0; r < 8; ++r) {
      for (u32 i = 0; i < 4; ++i) z[r] += f64(fn[4 * r + i]) * h[i] / length;
      z[r] = z[r] * f64(scale[r < 2 ? 0 : r < 4 ? 1 : 2]) + f64(base[r]);
    }
    const auto sigmoid = [](f64 v) { return 1.0 / (1.0 + std::exp(-v)); };
    stream_weights back;
    const value n = read_branch(x, hp, s, c, &back);
    for (u32 i = 0; i < 2; ++i)
      CHECK(f64(mat(n).data[i]) ==
            doctest::Approx((sigmoid(z[0]) + 0.125) * h[i] + (sigmoid(z[1]) + 0.125) * h[2 + i]));
    f64 m[2][2];
    for (u32 a = 0; a < 2; ++a)
      for (u32 b = 0; b < 2; ++b) m[a][b] = sigmoid(z[4 + 2 * a + b] - z[4 + 2 * a + 1 - b]) + 0.125;
    write_branch(s, filled(x, 1, {3.0f, 4.0f}), back);
    for (u32 to = 0; to < 2; ++to)
      for (u32 i = 0; i < 2; ++i) {
        const f64 sum = m[0][to] + m[1][to] + 0.125;
        const f64 part = 2.0 * sigmoid(z[2 + to]) * (i == 0 ? 3.0 : 4.0);
        const f64 want = (m[0][to] * h[i] + m[1][to] * h[2 + i]) / sum + part;
        CHECK(f64(s.all().row(0)[2 * to + i]) == doctest::Approx(want).epsilon(1e-5));
      }
  });
}
