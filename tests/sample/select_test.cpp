// jig/sample/detail/select.hpp and candidates.hpp: sorting against the standard library, ties, NaN, and the cost in
// comparisons.
#include "jig/sample/candidates.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace jig;
using namespace jig::sample;

namespace {

constexpr f32 infinity = std::numeric_limits<f32>::infinity();
constexpr f32 not_a_number = std::numeric_limits<f32>::quiet_NaN();

std::vector<candidate> make(const std::vector<f32>& logits) {
  std::vector<candidate> out;
  for (usize i = 0; i < logits.size(); ++i) out.push_back({static_cast<i32>(i), logits[i], 0});
  return out;
}

std::vector<i32> ids(std::span<const candidate> s) {
  std::vector<i32> out;
  for (const candidate& c : s) out.push_back(c.id);
  return out;
}

/// The same order by other means: NaN replaced, then the standard library's sort.
std::vector<i32> expected(std::vector<candidate> v) {
  for (candidate& c : v)
    if (std::isnan(c.logit)) c.logit = -infinity;
  std::sort(v.begin(), v.end(), [](const candidate& a, const candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  });
  return ids(v);
}

/// Logits of several kinds: smooth, many ties, rising, falling, equal, organ pipe, with infinities and NaN.
std::vector<f32> logits_of(int kind, usize n, std::mt19937& r) {
  std::vector<f32> v(n);
  for (usize i = 0; i < n; ++i) {
    const f32 x = static_cast<f32>(r()) / 1e9f;
    switch (kind) {
      case 0: v[i] = x; break;
      case 1: v[i] = static_cast<f32>(r() % 5); break;
      case 2: v[i] = static_cast<f32>(i); break;
      case 3: v[i] = -static_cast<f32>(i); break;
      case 4: v[i] = 1; break;
      case 5: v[i] = static_cast<f32>(std::min(i, n - i)); break;
      default: {
        const f32 choices[] = {not_a_number, -infinity, infinity, x, 0.0f, -0.0f};
        v[i] = choices[r() % 6];
      }
    }
  }
  return v;
}

/// A candidate whose comparisons are counted.
struct counted {
  i32 id;
  f32 logit;
  static inline u64 comparisons = 0;
  friend bool precedes(const counted& a, const counted& b) {
    ++comparisons;
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
  }
};

}  // namespace

TEST_CASE("precedes: higher logit, then lower id; NaN is as -infinity") {
  CHECK(precedes({5, 2.0f, 0}, {1, 1.0f, 0}));
  CHECK(precedes({1, 1.0f, 0}, {5, 1.0f, 0}));
  CHECK_FALSE(precedes({5, 1.0f, 0}, {1, 1.0f, 0}));
  CHECK(precedes({1, 0.0f, 0}, {2, -0.0f, 0}));
  CHECK(precedes({1, -0.0f, 0}, {2, 0.0f, 0}));
  CHECK(precedes({1, not_a_number, 0}, {2, -infinity, 0}));
  CHECK(precedes({1, -infinity, 0}, {2, not_a_number, 0}));
  CHECK(precedes({9, -1e38f, 0}, {2, not_a_number, 0}));
  CHECK_FALSE(precedes({2, not_a_number, 0}, {9, -1e38f, 0}));
}

TEST_CASE("sort: every kind of input and size comes out as std::sort has it") {
  std::mt19937 r(1);
  for (int kind = 0; kind < 7; ++kind)
    for (usize n : {0u, 1u, 2u, 3u, 15u, 16u, 17u, 18u, 40u, 100u, 1000u, 5000u}) {
      CAPTURE(kind);
      CAPTURE(n);
      const auto start = make(logits_of(kind, n, r));
      auto all = start;
      detail::sort_all(std::span(all));
      CHECK(ids(all) == expected(start));
      auto heap = start;
      detail::make_heap(std::span(heap));
      detail::sort_heap(std::span(heap));
      CHECK(ids(heap) == expected(start));
      auto impatient = start;
      detail::sort_all(std::span(impatient), 1);  // falls back to the heap at once
      CHECK(ids(impatient) == expected(start));
    }
}

TEST_CASE("sort_best: the first k are the best k in order, and nothing gets lost") {
  std::mt19937 r(2);
  for (int kind = 0; kind < 7; ++kind)
    for (usize n : {1u, 9u, 100u, 1000u})
      for (usize k : {0u, 1u, 2u, 7u, 40u, 124u, 125u, 999u, 1000u}) {
        if (k > n) continue;
        CAPTURE(kind);
        CAPTURE(n);
        CAPTURE(k);
        const auto start = make(logits_of(kind, n, r));
        auto best = start;
        detail::sort_best(std::span(best), k);
        auto want = expected(start);
        want.resize(k);
        CHECK(ids(std::span(best).first(k)) == want);
        auto left = ids(best);
        std::sort(left.begin(), left.end());
        CHECK(left == ids(start));
      }
}

TEST_CASE("sort_best: 40 of 152,000 takes about one comparison per candidate") {
  std::mt19937 r(3);
  std::vector<counted> v(152000);
  for (usize i = 0; i < v.size(); ++i) v[i] = {static_cast<i32>(i), static_cast<f32>(r())};
  counted::comparisons = 0;
  detail::sort_best(std::span(v), 40);
  CHECK(counted::comparisons > 0);
  CHECK(counted::comparisons < v.size() / 8);  // most candidates fail the comparison of logits alone
}

TEST_CASE("sort_all: stays near n log n on inputs made to spoil the pivots") {
  for (int kind : {1, 2, 3, 4, 5}) {
    CAPTURE(kind);
    std::mt19937 r(4);
    const auto logits = logits_of(kind, 20000, r);
    std::vector<counted> v;
    for (usize i = 0; i < logits.size(); ++i) v.push_back({static_cast<i32>(i), logits[i]});
    counted::comparisons = 0;
    detail::sort_all(std::span(v));
    CHECK(counted::comparisons < 20000u * 15 * 4);
  }
}

TEST_CASE("from_logits: ids in order, NaN becomes -infinity, sizes are checked") {
  const std::vector<f32> logits{1, not_a_number, 3};
  std::vector<candidate> memory(3);
  const auto c = from_logits(logits, memory);
  REQUIRE(c);
  CHECK(ids(c->items) == std::vector<i32>{0, 1, 2});
  CHECK(c->items[1].logit == -infinity);
  CHECK_FALSE(c->sorted);
  CHECK(c->id() == -1);
  CHECK(from_logits(logits, std::span(memory).first(2)).error().code == errc::buffer_too_small);
  CHECK(from_logits({}, memory).error().code == errc::bad_argument);
}

TEST_CASE("best: first of equal maxima, and the first if there is no number above -infinity") {
  auto v = make({1, 7, 3, 7});
  CHECK(candidates{v}.best() == 1);
  v = make({-infinity, not_a_number, -infinity});
  CHECK(candidates{v}.best() == 0);
  CHECK(candidates{v}.max_logit() == -infinity);
  v = make({not_a_number, -2});
  CHECK(candidates{v}.best() == 1);
}

TEST_CASE("softmax: hand-computed, and defined for infinities and NaN") {
  auto v = make({0, std::log(3.0f), -infinity, not_a_number});
  candidates c{v};
  softmax(c);
  CHECK(v[0].p == doctest::Approx(0.25).epsilon(1e-6));
  CHECK(v[1].p == doctest::Approx(0.75).epsilon(1e-6));
  CHECK(v[2].p == 0);
  CHECK(v[3].p == 0);
  v = make({infinity, 0, infinity});
  c = candidates{v};
  softmax(c);
  CHECK(v[0].p == 0.5f);
  CHECK(v[1].p == 0);
  CHECK(v[2].p == 0.5f);
  v = make({-infinity, not_a_number, -infinity});
  c = candidates{v};
  softmax(c);
  CHECK(v[0].p == 1);
  CHECK(v[1].p == 0);
  CHECK(v[2].p == 0);
}
