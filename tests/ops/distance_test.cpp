// ops/distance.hpp: buckets of distances and the table that attention reads.
#include <doctest/doctest.h>

#include <vector>

#include "jig/ops/distance.hpp"

using namespace jig;

TEST_CASE("distance: columns go from far before the query to far behind it") {
  CHECK(distance_column(50, 50) == far_distance);
  CHECK(distance_column(49, 50) == far_distance - 1);
  CHECK(distance_column(53, 50) == far_distance + 3);
  CHECK(distance_column(0, 127) == 1);
  CHECK(distance_column(0, 128) == 0);
  CHECK(distance_column(0, 100000) == 0);
  CHECK(distance_column(128, 0) == 2 * far_distance);
  CHECK(distance_column(4000000000u, 0) == distance_columns - 1);
}

TEST_CASE("distance: T5's buckets are exact up to a half, then wider by a constant factor") {
  // 16 buckets to a side: one for each distance below 8, then eight that end at 128, each sqrt(2) times the one before.
  const u32 begins[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  for (u32 d = 0; d <= far_distance; ++d) {
    u32 want = 0;
    for (u32 i = 0; i < 16; ++i) want = begins[i] <= d ? i : want;
    CHECK(relative_bucket(far_distance - d, 32, false) == want);
    CHECK(relative_bucket(far_distance - d, 16, true) == want);
    if (d == 0) continue;
    CHECK(relative_bucket(far_distance + d, 32, false) == 16 + want);
    CHECK(relative_bucket(far_distance + d, 32, true) == 0);
  }
}

TEST_CASE("distance: every number of buckets that a file may ask for stays in range and never falls") {
  for (u32 n = 4; n <= far_distance; ++n)
    for (bool causal : {false, true}) {
      u32 before = 0;
      for (u32 d = 0; d <= far_distance; ++d) {
        const u32 bucket = relative_bucket(far_distance - d, n, causal);
        CHECK((bucket >= before && bucket < n));
        CHECK(relative_bucket(far_distance + d, n, causal) < n);
        before = bucket;
      }
    }
}

TEST_CASE("distance: a table has each head's bias at every distance") {
  std::vector<f32> weights(3 * 8), table(3 * distance_columns);
  for (usize i = 0; i < weights.size(); ++i) weights[i] = static_cast<f32>(i);
  const weight w{reinterpret_cast<const u8*>(weights.data()), 0, 3, 8, 1};
  const mat out{table.data(), 3, distance_columns, distance_columns};
  spread_biases(w, false, out);
  for (u32 h = 0; h < 3; ++h) {
    CHECK(out.row(h)[far_distance] == weights[h]);
    CHECK(out.row(h)[far_distance - 1] == weights[3 + h]);
    CHECK(out.row(h)[far_distance + 1] == weights[5 * 3 + h]);
    CHECK(out.row(h)[0] == weights[3 * 3 + h]);
    CHECK(out.row(h)[2 * far_distance] == weights[7 * 3 + h]);
  }
}
