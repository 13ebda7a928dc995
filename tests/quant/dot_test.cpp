#include "jig/quant/dot.hpp"

#include "quant/support.hpp"

using namespace quant_test;

namespace {

/// Dot product of the decoded values in f64, and the sum of magnitudes. With Q8_1 the minimum meets the block's
/// stored sum instead of its values: that is the definition, so the oracle does the same.
template <class W, class A>
std::pair<f64, f64> naive_dot(const std::vector<W>& w, const std::vector<A>& a) {
  const auto ws = decode_all(w);
  const auto as = decode_all(a);
  f64 sum = 0, magnitude = 0;
  for (usize i = 0; i < ws.size(); ++i) {
    f64 product = f64{ws[i]} * as[i];
    if constexpr (has_min<W> && std::is_same_v<A, q8_1>) {
      const f64 q = W::codes(w[i / 32])[i % 32], y = f64{as[i]};
      product = f64{W::scale(w[i / 32])} * q * y - f64{W::min(w[i / 32])} * f32(a[i / 32].s) / 32;
      magnitude += std::fabs(f64{W::scale(w[i / 32])} * q * y);
    }
    sum += product;
    magnitude += std::fabs(product);
  }
  return {sum, magnitude};
}

template <class W, class A>
void check_dot(const std::vector<W>& w, const std::vector<A>& a) {
  const auto [want, unit] = naive_dot(w, a);
  const f64 got = dot(w.data(), a.data(), w.size());
  CAPTURE(got);
  CAPTURE(want);
  REQUIRE(std::fabs(got - want) <= 5e-6 * unit + 1e-12);
}

template <class A>
std::vector<A> random_activations(rng& r, usize values) {
  auto x = random_values(r, values);
  for (usize i = 0; i < values / 32; ++i) x[r() % values] *= 5;  // outliers
  return encode_all<A>(x);
}

constexpr f32 constexpr_dot() {
  q8_0 w{}, a{};
  w.d = 0.5f, a.d = 2.0f;
  for (int i = 0; i < 32; ++i) w.qs[i] = static_cast<i8>(i - 16), a.qs[i] = static_cast<i8>(i);
  return dot(&w, &a, 1);
}
static_assert(constexpr_dot() == 31 * 32 * 63 / 6 - 16 * 496);

}  // namespace

TEST_CASE("dot: matches the hand-computed blocks") {
  q8_0 a{};
  a.d = 0.5f;
  a.qs[0] = 100, a.qs[31] = -3;
  q4_0 w{};
  w.d = 2;
  w.qs[0] = 0x0f, w.qs[15] = 0xf0;  // values 0 and 31: 7; all others -8, so 1..15 and 16..30
  CHECK(dot(&w, &a, 1) == 2 * 0.5f * (7 * 100 + 7 * -3));

  q8_k k{};
  k.d = 0.25f;
  k.qs[200] = -100;
  k.bsums[12] = static_cast<u16>(-100);
  q4_k v{};
  v.d = 2, v.dmin = 1;
  v.scales[10] = 0x35, v.scales[2] = 0x80, v.scales[6] = 0x40;  // group 6: scale 37, minimum 19
  v.qs[104] = 0x0b;
  CHECK(dot(&v, &k, 1) == 0.25f * (2 * 37 * 11 * -100 - 19 * -100));
}

TEST_CASE("dot: an empty row gives zero") {
  each<all_quants>([]<class W>(type_tag<W>) {
    CHECK(dot<W>(nullptr, nullptr, 0) == 0);
    CHECK(dot_f32<W>(nullptr, nullptr, 0) == 0);
  });
}

TEST_CASE("every weight type: dot agrees with f64 on random rows of any length") {
  each<all_quants>([]<class W>(type_tag<W>) {
    rng r(W::id + 7);
    for (usize n : {1, 2, 3, 7, 16, 33}) {
      for (int round = 0; round < 20; ++round) {
        std::vector<W> w;
        for (usize k = 0; k < n; ++k) w.push_back(random_block<W>(r));
        check_dot(w, random_activations<typename W::dot_with>(r, n * W::size));
      }
    }
  });
}

TEST_CASE("every weight type: extreme codes do not overflow") {
  each<all_quants>([]<class W>(type_tag<W>) {
    using A = typename W::dot_with;
    if constexpr (coded_block<W>) {
      for (int byte : {0x00, 0x7f, 0x80, 0xff}) {
        for (int code : {-128, 127}) {
          W w;
          std::memset(&w, byte, sizeof w);
          std::vector<A> a(W::size / A::size);
          for (A& block : a) {
            std::memset(&block, 0, sizeof block);
            std::memset(block.qs, code, sizeof block.qs);
            block.d = 1.0f;
            if constexpr (std::is_same_v<A, q8_1>) block.s = 32.0f * static_cast<f32>(code);
            if constexpr (std::is_same_v<A, q8_k>) {
              for (auto& s : block.bsums) s = static_cast<u16>(16 * code);
            }
          }
          f32 v[1];
          if constexpr (requires { w.d.bytes; }) w.d = 1.0f;
          if constexpr (requires { w.m.bytes; }) w.m = 1.0f;
          if constexpr (requires { w.dmin.bytes; }) w.dmin = 1.0f;
          if constexpr (requires { w.e; }) w.e = 127;
          v[0] = W::scale(w);
          if (std::isfinite(v[0])) check_dot(std::vector<W>{w}, a);
        }
      }
    }
  });
}

TEST_CASE("every block type: dot_f32 agrees with f64 on unrounded activations") {
  each<all_blocks>([]<class W>(type_tag<W>) {
    rng r(W::id + 9);
    for (usize n : {1, 2, 5, 16, 41}) {
      std::vector<W> w;
      for (usize k = 0; k < n; ++k) w.push_back(random_block<W>(r));
      const auto x = random_values(r, n * W::size);
      const auto values = decode_all(w);
      f64 sum = 0, unit = 0;
      for (usize i = 0; i < x.size(); ++i) sum += f64{values[i]} * x[i], unit += std::fabs(f64{values[i]} * x[i]);
      CHECK(std::fabs(dot_f32(w.data(), x.data(), n) - sum) <= 5e-6 * unit + 1e-12);
    }
  });
}
