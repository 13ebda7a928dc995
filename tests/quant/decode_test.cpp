#include "quant/oracle.hpp"

using namespace quant_test;

namespace {

/// A block whose bytes are zero but for those given as {offset, value}.
template <class T>
T block_of_bytes(std::initializer_list<std::pair<usize, u8>> set) {
  u8 raw[sizeof(T)] = {};
  for (auto [at, v] : set) raw[at] = v;
  T b;
  std::memcpy(&b, raw, sizeof b);
  return b;
}

template <class T>
std::vector<f32> decoded(const T& b) {
  return decode_all(std::vector<T>{b});
}

constexpr f32 first_value_of_a_constant_block() {
  q4_0 b{};
  b.d = 0.5f;
  for (u8& q : b.qs) q = 0xa3;
  f32 v[32] = {};
  q4_0::decode(b, v);
  return v[0] + 100 * v[16];
}
static_assert(first_value_of_a_constant_block() == 0.5f * (3 - 8) + 100 * 0.5f * (10 - 8));

}  // namespace

TEST_CASE("q4_0, q4_1, q5_0, q5_1: decode matches the hand-computed block") {
  // d = 2 (0x4000); byte 5 = 0x9c: value 5 has code 12, value 21 code 9
  auto v = decoded(block_of_bytes<q4_0>({{1, 0x40}, {2 + 5, 0x9c}}));
  CHECK(v[5] == 8);
  CHECK(v[21] == 2);
  CHECK(v[0] == -16);
  // m = -1 (0xbc00)
  v = decoded(block_of_bytes<q4_1>({{1, 0x40}, {3, 0xbc}, {4 + 5, 0x9c}}));
  CHECK(v[5] == 23);
  CHECK(v[21] == 17);
  CHECK(v[0] == -1);
  // fifth bit of value 21: bit 5 of byte 2 of qh
  v = decoded(block_of_bytes<q5_0>({{1, 0x40}, {2 + 2, 0x20}, {6 + 5, 0x9c}}));
  CHECK(v[5] == -8);
  CHECK(v[21] == 18);
  v = decoded(block_of_bytes<q5_1>({{1, 0x40}, {3, 0xbc}, {4 + 2, 0x20}, {8 + 5, 0x9c}}));
  CHECK(v[5] == 23);
  CHECK(v[21] == 49);
}

TEST_CASE("q8_0, q8_1, q8_K: decode matches the hand-computed block") {
  CHECK(decoded(block_of_bytes<q8_0>({{1, 0x40}, {2 + 31, 0x80}}))[31] == -256);
  CHECK(decoded(block_of_bytes<q8_1>({{1, 0x40}, {4 + 31, 0x7f}}))[31] == 254);
  CHECK(decoded(block_of_bytes<q8_k>({{3, 0xbf}, {4 + 255, 0xff}}))[255] == 0.5f);  // d = -0.5
}

TEST_CASE("q1_0, q2_0, mxfp4, nvfp4, iq4_nl: decode matches the hand-computed block") {
  auto v = decoded(block_of_bytes<q1_0>({{1, 0x40}, {2 + 15, 0x80}}));
  CHECK(v[127] == 2);
  CHECK(v[126] == -2);
  v = decoded(block_of_bytes<q2_0>({{1, 0x40}, {2 + 15, 0xc4}}));  // the last four: 0, 1, 0, 3
  CHECK(std::vector<f32>(v.end() - 4, v.end()) == std::vector<f32>{-2, 0, -2, 4});
  v = decoded(block_of_bytes<mxfp4>({{0, 128}, {1 + 3, 0x1f}}));  // scale 2: code 15 = -6, code 1 = 0.5
  CHECK(v[3] == -12);
  CHECK(v[19] == 1);
  CHECK(decoded(block_of_bytes<mxfp4>({{0, 0}, {1, 0x01}}))[0] == 0x1p-128f);  // an f32 subnormal
  v = decoded(block_of_bytes<nvfp4>({{2, 0x40}, {4 + 16 + 7, 0x72}}));  // sub-block 2: scale 2, codes 2 = 1, 7 = 6
  CHECK(v[32 + 7] == 2);
  CHECK(v[32 + 15] == 12);
  v = decoded(block_of_bytes<iq4_nl>({{1, 0x40}, {2, 0xf0}}));
  CHECK(v[0] == -254);
  CHECK(v[16] == 226);
}

TEST_CASE("q2_K to q6_K: decode matches the hand-computed block") {
  // value 200 = half 1, plane 2, lane 8
  auto v = decoded(block_of_bytes<q2_k>({{12, 0x35}, {16 + 40, 0x20}, {81, 0x40}, {83, 0x3c}}));  // sc 5, mn 3, q 2
  CHECK(v[200] == 2 * 5 * 2 - 3);
  CHECK(v[201] == -3);
  v = decoded(
      block_of_bytes<q3_k>({{8, 0x40}, {32 + 40, 0x20}, {96 + 4, 0x70}, {109, 0x40}}));  // sc 7 - 32, q 2 + 4 - 4
  CHECK(v[200] == 2 * (7 - 32) * 2);
  CHECK(v[201] == 2 * (7 - 32) * -4);
  // sub-block 6 (values 192..223): sc = 0x5 + 16 * 2, mn = 0x3 + 16 * 1; value 200 is in bytes 96..127, low nibble
  v = decoded(
      block_of_bytes<q4_k>({{1, 0x40}, {3, 0x3c}, {4 + 10, 0x35}, {4 + 2, 0x80}, {4 + 6, 0x40}, {16 + 104, 0x0b}}));
  CHECK(v[200] == 2 * 37 * 11 - 19);
  CHECK(v[199] == -19);
  v = decoded(block_of_bytes<q5_k>(
      {{1, 0x40}, {3, 0x3c}, {4 + 10, 0x35}, {4 + 2, 0x80}, {4 + 6, 0x40}, {16 + 8, 0x40}, {48 + 104, 0x0b}}));
  CHECK(v[200] == 2 * 37 * 27 - 19);
  // value 200: high nibble of ql[72], upper bits 2 of qh[40] at plane 2; scale -3
  v = decoded(block_of_bytes<q6_k>({{72, 0xb0}, {128 + 40, 0x20}, {192 + 12, 0xfd}, {209, 0x40}}));
  CHECK(v[200] == 2 * -3 * (11 + 32 - 32));
}

TEST_CASE("the codebook types: decode matches the hand-computed block") {
  // entry 1 of the grid is 0x0002: first magnitude 43, the others 8
  auto v = decoded(block_of_bytes<iq2_xxs>({{1, 0x40}, {2, 1}, {2 + 4, 0x01}, {2 + 7, 0x30}}));  // s = 3, sign index 1
  CHECK(v[0] == -2.0f * 7 / 8 * 43);
  CHECK(v[1] == 2.0f * 7 / 8 * 8);
  CHECK(v[7] == -2.0f * 7 / 8 * 8);                                         // parity makes the eighth negative
  v = decoded(block_of_bytes<iq2_xs>({{1, 0x40}, {3, 0x02}, {66, 0x03}}));  // index 0, sign index 1, s = 3
  CHECK(v[0] == -2.0f * 7 / 8 * 8);
  v = decoded(block_of_bytes<iq2_s>({{1, 0x40}, {34, 0x80}, {74, 0x03}}));
  CHECK(v[7] == -2.0f * 7 / 8 * 8);
  CHECK(v[6] == 2.0f * 7 / 8 * 8);
  v = decoded(block_of_bytes<iq3_xxs>({{1, 0x40}, {66 + 3, 0x30}}));
  CHECK(v[0] == 2.0f * 7 / 4 * 4);
  v = decoded(block_of_bytes<iq3_s>({{1, 0x40}, {74, 0x01}, {106, 0x03}}));
  CHECK(v[0] == -2.0f * 7);
  v = decoded(block_of_bytes<iq1_s>({{1, 0x40}, {35, 0xb0}}));  // index 0: all -1; s = 3, delta negative
  CHECK(v[0] == 2.0f * 7 * (-1 - 0.125f));
  // iq1_m: d = 2 = 0x4000 in the top nibbles; s of the first 16 = 3; group 1 has a negative delta
  v = decoded(block_of_bytes<iq1_m>({{32, 0x80}, {48, 0x03}, {55, 0x40}}));
  CHECK(v[0] == 2.0f * 7 * (-1 + 0.125f));
  CHECK(v[8] == 2.0f * 7 * (-1 - 0.125f));
  v = decoded(block_of_bytes<iq4_xs>({{1, 0x40}, {2, 0x02}, {4, 0x05}, {8, 0xf0}}));  // sc = 5 + 32 - 32
  CHECK(v[0] == 2.0f * 5 * -127);
  CHECK(v[16] == 2.0f * 5 * 113);
}

TEST_CASE("tq1_0, tq2_0: decode matches the hand-computed block") {
  // digits 2 0 1 2 1 -> T = 2*81 + 0 + 9 + 6 + 1 = 178 -> ceil(256 * 178 / 243) = 188
  auto v = decoded(block_of_bytes<tq1_0>({{3, 188}, {53, 0x40}}));
  CHECK(v[3] == 2);
  CHECK(v[35] == -2);
  CHECK(v[67] == 0);
  CHECK(v[99] == 2);
  CHECK(v[131] == 0);
  v = decoded(block_of_bytes<tq2_0>({{40, 0x30}, {65, 0x40}}));
  CHECK(v[200] == 4);
  CHECK(v[201] == -2);
}

TEST_CASE("every type: decode equals the formula per value on random blocks") {
  each<all_blocks>([]<class T>(type_tag<T>) {
    rng r(T::id + 1);
    const usize n = T::size == 1 ? 20000 : 2000;  // 2000 blocks meet every grid entry and every byte value
    for (usize k = 0; k < n; ++k) {
      const T b = random_block<T>(r);
      const auto v = decoded(b);
      usize wrong = 0;
      for (usize i = 0; i < T::size; ++i) wrong += !(v[i] == static_cast<f32>(oracle(b, i)));
      REQUIRE(wrong == 0);
    }
  });
}

TEST_CASE("coded types: codes, group scales and minima put together give the decoded values") {
  each<all_blocks>([]<class T>(type_tag<T>) {
    if constexpr (coded_block<T>) {
      using code = std::remove_cvref_t<decltype(T::codes(std::declval<const T&>())[0])>;
      CHECK((std::is_same_v<code, u8> || (std::is_same_v<code, i8> && T::bias == 0)));
      rng r(T::id + 100);
      for (usize k = 0; k < 50; ++k) {
        const T b = random_block<T>(r);
        const auto v = decoded(b);
        const auto& codes = T::codes(b);
        usize wrong = 0;
        for (usize i = 0; i < T::size; ++i) {
          const usize g = i / T::group;
          f64 w = f64{T::scale(b)} * group_scale(b, g) * (codes[i] - T::bias);
          if constexpr (has_min<T>) w -= f64{T::min(b)} * group_min(b, g);
          wrong += !(v[i] == static_cast<f32>(w));
        }
        REQUIRE(wrong == 0);
      }
    }
  });
}
