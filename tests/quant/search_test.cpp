// Encoders that search: errors of rows beside those of the recorded encodings, and input that is no use.

#include "jig/quant/search/encode.hpp"

#include <algorithm>

#include "jig/quant/rows.hpp"
#include "support.hpp"

using namespace quant_test;

namespace {

using searched = type_list<q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs>;
constexpr usize columns = 512, rows = 6;

/// Root of the mean square error of a row of blocks; weighted if there is an importance.
template <class T>
f64 row_error(const T* blocks, const f32* x, const f32* importance) {
  f32 values[columns];
  decode_row(blocks, columns / T::size, values);
  f64 sum = 0.0, weights = 0.0;
  for (usize i = 0; i < columns; ++i) {
    const f64 w = importance ? importance[i] : 1.0, rest = f64(values[i]) - f64(x[i]);
    sum += w * rest * rest, weights += w;
  }
  return std::sqrt(sum / weights);
}

template <class T>
std::vector<T> encoded(std::span<const f32> x, const f32* importance) {
  std::vector<T> blocks(x.size() / T::size);
  for (usize k = 0; k < blocks.size(); ++k)
    search::encode(std::span<const f32, T::size>(x.data() + k * T::size, T::size),
                   importance ? importance + k * T::size % columns : nullptr, blocks[k]);
  return blocks;
}

}  // namespace

TEST_CASE("searched encodings: no row's error is more than 3% above the recorded one, with and without importance") {
  const std::vector<f32> x = read_f32(data + "input.f32"), importance = read_f32(data + "imatrix.f32");
  REQUIRE(x.size() == rows * columns);
  REQUIRE(importance.size() == columns);
  each<searched>([&]<class T>(type_tag<T>) {
    for (const bool weighted : {false, true}) {
      const f32* const w = weighted ? importance.data() : nullptr;
      const auto recorded = read_blocks<T>(data + T::name + (weighted ? ".imat.bin" : ".quant.bin"));
      REQUIRE(recorded.size() == rows * columns / T::size);
      const std::vector<T> ours = encoded<T>(x, w);
      for (usize r = 0; r < rows; ++r) {
        const usize at = r * columns / T::size;
        const f64 theirs = row_error(&recorded[at], &x[r * columns], w);
        CHECK_MESSAGE(row_error(&ours[at], &x[r * columns], w) <= 1.03 * theirs, std::string(T::name), " row ", r);
      }
    }
  });
}

TEST_CASE("searched encodings: importance moves errors away from the columns that matter") {
  rng r(7);
  std::normal_distribution<f32> normal;
  std::vector<f32> x(columns), importance(columns, 1.0f);
  for (f32& v : x) v = normal(r);
  for (usize i = 0; i < columns; i += 4) importance[i] = 100.0f;
  each<searched>([&]<class T>(type_tag<T>) {
    const f64 plain = row_error(encoded<T>(x, nullptr).data(), x.data(), importance.data());
    CHECK(row_error(encoded<T>(x, importance.data()).data(), x.data(), importance.data()) < 0.95 * plain);
  });
}

TEST_CASE("searched encodings: zeros, huge and tiny values, infinities and NaN give blocks with finite values") {
  const f32 inf = std::numeric_limits<f32>::infinity(), nan = std::numeric_limits<f32>::quiet_NaN();
  each<searched>([&]<class T>(type_tag<T>) {
    for (const f32 odd : {0.0f, -0.0f, 1e-40f, 1e-20f, 3e4f, 1e10f, 3e38f, -3e38f, inf, -inf, nan}) {
      std::vector<f32> x(T::size, odd);
      for (const bool all : {true, false}) {
        if (!all)
          for (usize i = 0; i < x.size(); i += 3) x[i] = 0.25f * static_cast<f32>(i % 7);
        const std::vector<T> blocks = encoded<T>(x, nullptr);
        f32 values[T::size];
        T::decode(blocks[0], values);
        CHECK(std::all_of(values, values + T::size, [](f32 v) { return std::isfinite(v); }));
        if (all && odd == 0.0f) CHECK(std::all_of(values, values + T::size, [](f32 v) { return v == 0.0f; }));
      }
    }
  });
}
