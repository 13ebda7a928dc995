// jig/ops/parallel.hpp: the sharing rule over an exhaustive grid, and runners that are not thread pools.
#include "jig/ops/parallel.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace jig;

TEST_CASE("split: ten items in grains of four over two workers") {
  static_assert(split(10, 4, 0, 2).begin == 0 && split(10, 4, 0, 2).end == 8);
  static_assert(split(10, 4, 1, 2).begin == 8 && split(10, 4, 1, 2).end == 10);
  static_assert(split(10, 4, 3, 4).empty());
}

TEST_CASE("split: parts are contiguous, aligned to the grain, balanced and cover everything") {
  for (u64 n = 0; n < 40; ++n)
    for (u64 grain = 0; grain < 9; ++grain)
      for (u32 count = 1; count < 9; ++count) {
        const u64 g = grain ? grain : 1;
        u64 next = 0, least = n, most = 0;
        for (u32 i = 0; i < count; ++i) {
          const range r = split(n, grain, i, count);
          CHECK(r.begin <= r.end);
          CHECK(r.begin == next);
          if (!r.empty()) CHECK(r.begin % g == 0);
          const u64 grains = (r.size() + g - 1) / g;
          least = grains < least ? grains : least;
          most = grains > most ? grains : most;
          next = r.end;
        }
        CHECK(next == n);
        if (n > 0) CHECK(most <= least + 1);
      }
}

TEST_CASE("split: sizes near 2^64 do not wrap") {
  const u64 n = ~u64{0};
  u64 next = 0;
  for (u32 i = 0; i < 7; ++i) {
    const range r = split(n, 1000, i, 7);
    CHECK(r.begin == next);
    CHECK(r.end > r.begin);
    next = r.end;
  }
  CHECK(next == n);
}

TEST_CASE("parallel: the default handle calls once, on the caller, as 0 of 1") {
  int calls = 0;
  parallel{}.run([&](u32 index, u32 count) {
    ++calls;
    CHECK(index == 0);
    CHECK(count == 1);
  });
  CHECK(calls == 1);
}

TEST_CASE("parallel: a runner passes every index to the function, const functions included") {
  std::vector<u32> seen;
  parallel p;
  p.threads = 3;
  p.self = &seen;
  p.run_fn = [](void* self, parallel::task t, void* context) {
    static_cast<std::vector<u32>*>(self)->push_back(99);
    for (u32 i = 0; i < 3; ++i) t(context, i, 3);
  };
  const auto f = [&](u32 index, u32) { seen.push_back(index); };
  p.run(f);
  CHECK(seen == std::vector<u32>{99, 0, 1, 2});
}

TEST_CASE("parallel: for_rows covers the rows once and wakes nobody for one grain") {
  int runs = 0;
  parallel p;
  p.threads = 4;
  p.self = &runs;
  p.run_fn = [](void* self, parallel::task t, void* context) {
    ++*static_cast<int*>(self);
    for (u32 i = 0; i < 4; ++i) t(context, i, 4);
  };
  std::vector<int> hits(103);
  p.for_rows(hits.size(), 8, [&](u64 begin, u64 end) {
    for (u64 i = begin; i < end; ++i) ++hits[i];
  });
  for (int h : hits) CHECK(h == 1);
  CHECK(runs == 1);
  p.for_rows(8, 8, [&](u64 begin, u64 end) { CHECK((begin == 0 && end == 8)); });
  p.for_rows(0, 8, [&](u64, u64) { FAIL("no rows, no call"); });
  CHECK(runs == 1);
}
