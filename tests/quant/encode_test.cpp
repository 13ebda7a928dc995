#include "jig/quant/detail/encode.hpp"

#include "quant/support.hpp"

using namespace quant_test;

namespace {

template <class T>
T encoded(const std::vector<f32>& x) {
  return encode_all<T>(x)[0];
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
std::vector<f32> block_with(std::initializer_list<std::pair<usize, f32>> set) {
  std::vector<f32> x(T::size);
  for (auto [i, v] : set) x[i] = v;
  return x;
}

/// The largest error of one value, relative to the largest magnitude (or to the range, with a minimum), that a
/// correct encoder makes; f16 scales and one code of saturation included.
template <class T>
f32 error_bound() {
  const auto is = [](std::string_view n) { return n == T::name; };
  if (is("f32")) return 0;
  if (is("f16")) return 0x1p-11f;
  if (is("bf16")) return 0x1p-8f;
  if (is("q8_0") || is("q8_1") || is("q8_K")) return 0.5f / 127 + 1e-3f;
  if (is("q4_0")) return 1.0f / 8 + 1e-3f;  // the far side saturates one code short
  if (is("q5_0")) return 1.0f / 16 + 1e-3f;
  if (is("q4_1")) return 0.5f / 15 + 1e-3f;
  if (is("q5_1")) return 0.5f / 31 + 1e-3f;
  if (is("mxfp4")) return 0.25f + 1e-3f;  // up to 8 of a range of 6; else the gap between 4 and 6
  if (is("nvfp4")) return 1.0f / 6 + 7e-2f;
  if (is("q2_0") || is("tq1_0") || is("tq2_0")) return 0.5f + 1e-3f;
  return 1;  // q1_0
}

}  // namespace

TEST_CASE("round_away, round_even: agree with the C library on and around every half") {
  for (int i = -300; i <= 300; ++i) {
    for (f32 v : {i / 2.0f, std::nextafter(i / 2.0f, -1e9f), std::nextafter(i / 2.0f, 1e9f)}) {
      CHECK(detail::round_away(v) == static_cast<i32>(std::round(v)));
      CHECK(detail::round_even(v) == static_cast<i32>(std::nearbyint(v)));
    }
  }
}

TEST_CASE("bounded: keeps numbers, cuts infinities and makes NaN a number") {
  const f32 inf = std::numeric_limits<f32>::infinity(), nan = std::numeric_limits<f32>::quiet_NaN();
  CHECK(detail::bounded(3.5f, 8) == 3.5f);
  CHECK(detail::bounded(inf, 8) == 8);
  CHECK(detail::bounded(-inf, 8) == -8);
  CHECK(detail::bounded(nan, 8) == -8);
}

TEST_CASE("q4_0: encode matches the hand-computed block") {
  // the extreme -4 becomes code 0 with d = 0.5; 3.75 -> 7.5 + 8.5 = 16, cut to 15; 1 -> 2 + 8.5 = 10
  const auto b = encoded<q4_0>(block_with<q4_0>({{0, -4}, {1, 3.75f}, {16, 1}}));
  CHECK(f32(b.d) == 0.5f);
  CHECK(b.qs[0] == 0xa0);
  CHECK(b.qs[1] == 0x8f);
  CHECK(b.qs[2] == 0x88);
  CHECK(f32(encoded<q4_0>(block_with<q4_0>({{3, 4}, {5, -4}})).d) == -0.5f);  // the first of a tie decides
}

TEST_CASE("q8_0, q8_1, q8_K: encode matches the hand-computed block") {
  // d = 1: halves go away from zero in Q8_0, to even in Q8_K
  const auto a = encoded<q8_0>(block_with<q8_0>({{0, 127}, {1, 2.5f}, {2, -2.5f}, {3, -0.5f}}));
  CHECK(f32(a.d) == 1);
  CHECK(std::vector<int>(a.qs, a.qs + 5) == std::vector<int>{127, 3, -3, -1, 0});
  const auto s = encoded<q8_1>(block_with<q8_1>({{0, 127}, {1, 2.5f}}));
  CHECK(f32(s.s) == 130);
  const auto k = encoded<q8_k>(block_with<q8_k>({{0, 127}, {1, 2.5f}, {2, -3.5f}, {255, -0.5f}}));
  CHECK(f32(k.d) == -1);
  CHECK(std::vector<int>(k.qs, k.qs + 4) == std::vector<int>{-127, -2, 4, 0});
  CHECK(q8_k::sum(k, 0) == -125);
  CHECK(q8_k::sum(k, 15) == 0);
}

TEST_CASE("mxfp4, nvfp4: scales and ties match the format page") {
  // 6 -> e = 2 - 2 + 127; 2.5 lies between codes 4 (2) and 5 (3): the lower one; 100 of a smaller block saturates
  const auto b = encoded<mxfp4>(block_with<mxfp4>({{0, 6}, {1, 2.5f}, {2, -2.5f}, {3, -0.2f}}));
  CHECK(b.e == 127);
  CHECK((b.qs[0] & 15) == 7);
  CHECK((b.qs[1] & 15) == 4);
  CHECK((b.qs[2] & 15) == 12);
  CHECK((b.qs[3] & 15) == 0);
  CHECK((encoded<mxfp4>(block_with<mxfp4>({{0, 7.9f}})).qs[0] & 15) == 7);
  CHECK(encoded<mxfp4>(block_with<mxfp4>({{0, 1e-44f}})).e == 0);
  CHECK(nvfp4::to_ue4m3(1.0f) == 0x38);
  CHECK(nvfp4::to_ue4m3(1.0625f) == 0x39);  // half up
  CHECK(nvfp4::to_ue4m3(1.99f) == 0x40);    // the carry reaches the exponent
  CHECK(nvfp4::to_ue4m3(0x1p-9f) == 1);
  CHECK(nvfp4::to_ue4m3(0x1.ffp-7f) == 7);
  CHECK(nvfp4::to_ue4m3(0x1p-11f) == 0);
  CHECK(nvfp4::to_ue4m3(247.9f) == 0x77);
  CHECK(nvfp4::to_ue4m3(248.0f) == 0x7e);
  CHECK(nvfp4::to_ue4m3(1e9f) == 0x7e);
}

TEST_CASE("mxfp4: its scale is floor(log2) of the largest magnitude, at and below every power of two") {
  for (int e = -120; e < 127; ++e) {
    const f32 power = std::ldexp(1.0f, e);
    CHECK(encoded<mxfp4>(block_with<mxfp4>({{3, power}})).e == e - 2 + 127);
    CHECK(encoded<mxfp4>(block_with<mxfp4>({{3, std::nextafter(power, 0.0f)}})).e == e - 3 + 127);
  }
}

TEST_CASE("tq1_0: every combination of five digits survives") {
  std::vector<f32> x(256);
  for (int number = 0; number < 243; ++number) {
    int rest = number;
    for (usize n = 5; n-- > 0; rest /= 3) x[32 * n + 7] = f32(rest % 3 - 1);
    x[255] = 1;  // keeps d = 1
    CHECK(decode_all(encode_all<tq1_0>(x)) == x);
  }
}

TEST_CASE("every encoder: the error stays within half a step, and encoding decoded values is stable") {
  each<all_blocks>([]<class T>(type_tag<T>) {
    if constexpr (encodable<T>) {
      rng r(T::id);
      for (f32 scale : {0.1f, 1.0f, 300.0f}) {
        const auto x = random_values(r, 64 * 256, scale);
        const auto blocks = encode_all<T>(x);
        const auto v = decode_all(blocks);
        for (usize k = 0; k < x.size(); k += T::size) {
          const std::span<const f32> in(x.data() + k, T::size);
          const auto [low, high] = detail::range(in);
          const f32 unit = has_min<T> ? high - low : detail::max_magnitude(in);
          for (usize i = 0; i < T::size; ++i) REQUIRE(std::fabs(v[k + i] - in[i]) <= error_bound<T>() * unit + 4e-8f);
        }
        if constexpr (T::size == 1) CHECK(same_bytes(encode_all<T>(v), blocks));
      }
    }
  });
}

TEST_CASE("every encoder: zeros give zeros, NaN and infinity give some block and no undefined behaviour") {
  const f32 inf = std::numeric_limits<f32>::infinity(), nan = std::numeric_limits<f32>::quiet_NaN();
  const f32 tiny = std::numeric_limits<f32>::denorm_min(), huge = std::numeric_limits<f32>::max();
  each<all_blocks>([&]<class T>(type_tag<T>) {
    if constexpr (encodable<T>) {
      const std::vector<f32> zeros(T::size);
      for (f32 v : decode_all(encode_all<T>(zeros))) CHECK(v == 0);
      rng r(T::id);
      for (int round = 0; round < 200; ++round) {
        auto x = random_values(r, T::size, round % 2 ? huge / 8 : tiny * 50);
        const f32 odd[] = {inf, -inf, nan, tiny, -tiny, huge, -huge, -0.0f};
        for (int k = 0; k < 3; ++k) x[r() % T::size] = odd[r() % 8];
        const auto b = encode_all<T>(x);
        if constexpr (requires { requires std::is_same_v<decltype(b[0].qs), i8[T::size]>; }) {
          for (i8 q : b[0].qs) CHECK(q != -128);
        }
      }
    }
  });
}
