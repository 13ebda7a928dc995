// The samplers one by one: hand vectors, a slow double-precision oracle, extremes of parameters and of logits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "jig/sample/all.hpp"
#include "jig/sample/chain.hpp"

using namespace jig;
using namespace jig::sample;

namespace {

constexpr f32 infinity = std::numeric_limits<f32>::infinity();
constexpr f32 not_a_number = std::numeric_limits<f32>::quiet_NaN();
using id_list = std::vector<i32>;

/// Candidates with their memory; ids are positions.
struct bag {
  std::vector<candidate> memory;
  candidates c;
  explicit bag(const std::vector<f32>& logits) : memory(logits.size()) {
    if (auto r = from_logits(logits, memory)) c = *r;
  }
  template <class S>
  bag& operator()(S&& s) {
    s.apply(c);
    return *this;
  }
  id_list ids() const {
    id_list out;
    for (const candidate& x : c.items) out.push_back(x.id);
    return out;
  }
  id_list id_set() const {
    id_list out = ids();
    std::sort(out.begin(), out.end());
    return out;
  }
};

std::vector<f64> oracle_softmax(const std::vector<f32>& logits) {
  const f64 top = *std::max_element(logits.begin(), logits.end());
  std::vector<f64> p;
  for (f32 l : logits) p.push_back(std::exp(l - top));
  const f64 sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (f64& x : p) x /= sum;
  return p;
}

/// Positions, likeliest first.
std::vector<usize> oracle_order(const std::vector<f32>& logits) {
  std::vector<usize> at(logits.size());
  std::iota(at.begin(), at.end(), usize{0});
  std::sort(at.begin(), at.end(),
            [&](usize a, usize b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  return at;
}

std::vector<f32> random_logits(usize n, f32 width, std::mt19937& r) {
  std::normal_distribution<f32> d(0, width);
  std::vector<f32> v(n);
  for (f32& x : v) x = d(r);
  return v;
}

const std::vector<f32> four{std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};

}  // namespace

TEST_CASE("greedy: selects the first maximum") {
  CHECK(bag({1, 5, 2, 5})(greedy{}).c.id() == 1);
  CHECK(bag({-infinity, not_a_number})(greedy{}).c.id() == 0);
  CHECK(bag({not_a_number, 3})(greedy{}).c.id() == 1);
  CHECK(bag({7})(greedy{}).c.id() == 0);
}

TEST_CASE("top_k: keeps the k best in order; off at 0 and below; k beyond n sorts") {
  CHECK(bag(four)(top_k{2}).ids() == id_list{1, 3});
  CHECK(bag(four)(top_k{1}).ids() == id_list{1});
  CHECK(bag(four)(top_k{0}).ids() == id_list{0, 1, 2, 3});
  CHECK(bag(four)(top_k{-5}).ids() == id_list{0, 1, 2, 3});
  CHECK(bag(four)(top_k{1000}).ids() == id_list{1, 3, 2, 0});
  CHECK(bag(four)(top_k{1000}).c.sorted);
  CHECK_FALSE(bag(four)(top_k{0}).c.sorted);
  CHECK(bag({2, 2, 2, 2})(top_k{3}).ids() == id_list{0, 1, 2});
}

TEST_CASE("top_p: the shortest prefix that reaches p, at least min_keep") {
  CHECK(bag(four)(top_p{0.39f, 0}).ids() == id_list{1});
  CHECK(bag(four)(top_p{0.41f, 0}).ids() == id_list{1, 3});
  CHECK(bag(four)(top_p{0.71f, 0}).ids() == id_list{1, 3, 2});
  CHECK(bag(four)(top_p{0.0f, 0}).ids() == id_list{1});
  CHECK(bag(four)(top_p{-1.0f, 0}).ids() == id_list{1});
  CHECK(bag(four)(top_p{1.0f, 0}).ids() == id_list{0, 1, 2, 3});
  CHECK(bag(four)(top_p{not_a_number, 0}).ids() == id_list{0, 1, 2, 3});
  CHECK(bag(four)(top_p{0.1f, 3}).ids() == id_list{1, 3, 2});
  CHECK(bag(four)(top_p{0.1f, 99}).ids() == id_list{1, 3, 2, 0});
}

TEST_CASE("min_p: at least p times the likeliest; unsorted candidates keep their order") {
  CHECK(bag(four)(min_p{0.4f, 0}).ids() == id_list{1, 2, 3});
  CHECK(bag(four)(min_p{0.6f, 0}).ids() == id_list{1, 3});
  CHECK(bag(four)(min_p{1.0f, 0}).ids() == id_list{1});
  CHECK(bag(four)(min_p{2.0f, 0}).ids() == id_list{1});
  CHECK(bag(four)(min_p{0.0f, 0}).ids() == id_list{0, 1, 2, 3});
  CHECK(bag(four)(min_p{not_a_number, 0}).ids() == id_list{0, 1, 2, 3});
  CHECK(bag(four)(min_p{0.6f, 3}).ids() == id_list{1, 3, 2});
  CHECK(bag(four)(min_p{0.6f, 99}).ids() == id_list{1, 3, 2, 0});
  CHECK(bag(four)(top_k{4})(min_p{0.4f, 0}).ids() == id_list{1, 3, 2});
  CHECK(bag({0, 0, 0})(min_p{1.0f, 0}).ids() == id_list{0, 1, 2});
}

TEST_CASE("top_n_sigma: masks what lies n deviations below the highest; off at 0 and below") {
  // Mean 0, deviation sqrt(5), highest 3; infinities and NaN do not count.
  const std::vector<f32> logits{3, -1, 1, -3, -infinity, not_a_number};
  const auto left = [&](f32 n) {
    bag b(logits);
    b(top_n_sigma{n});
    CHECK(b.c.size() == 6);
    id_list out;
    for (const candidate& x : b.c.items)
      if (x.logit > -infinity) out.push_back(x.id);
    return out;
  };
  const f64 deviation = std::sqrt(5.0);
  CHECK(left(static_cast<f32>(1.99 / deviation)) == id_list{0});
  CHECK(left(static_cast<f32>(2.01 / deviation)) == id_list{0, 2});
  CHECK(left(static_cast<f32>(4.01 / deviation)) == id_list{0, 1, 2});
  CHECK(left(100) == id_list{0, 1, 2, 3});
  CHECK(left(0) == id_list{0, 1, 2, 3});
  CHECK(left(not_a_number) == id_list{0, 1, 2, 3});
  CHECK(bag({5})(top_n_sigma{1}).c.items[0].logit == 5);
  CHECK(bag({-infinity, -infinity})(top_n_sigma{1}).c.items[0].logit == -infinity);
  CHECK(bag({1, infinity, 1})(top_n_sigma{1}).c.items[1].logit == infinity);
}

TEST_CASE("temperature: divides; 0 and below leave the first maximum alone") {
  bag b({1, -2, 4});
  b(temperature{2});
  CHECK(b.c.items[0].logit == 0.5f);
  CHECK(b.c.items[1].logit == -1.0f);
  CHECK(b.c.items[2].logit == 2.0f);
  for (f32 t : {0.0f, -1.0f, not_a_number}) {
    bag g({1, 4, -2, 4});
    g(temperature{t});
    CHECK(g.c.items[0].logit == -infinity);
    CHECK(g.c.items[1].logit == 4.0f);
    CHECK(g.c.items[2].logit == -infinity);
    CHECK(g.c.items[3].logit == -infinity);
  }
  bag same({1, 4});
  same(temperature{1});
  CHECK(same.c.items[1].logit == 4.0f);
}

TEST_CASE("temperature: a huge one makes all tokens equally likely, a tiny one the best certain") {
  bag flat({1, 50, -30, 2});
  flat(temperature{1e30f});
  softmax(flat.c);
  for (const candidate& x : flat.c.items) CHECK(x.p == doctest::Approx(0.25));
  bag endless({1, infinity, -infinity, 2});
  endless(temperature{infinity});
  CHECK(endless.c.items[0].logit == 0);
  CHECK(endless.c.items[1].logit == infinity);
  CHECK(endless.c.items[2].logit == -infinity);
  bag sharp({1, 50, -30, 2});
  CHECK(sharp(temperature{1e-40f})(dist<>{1}).c.id() == 1);
  CHECK(bag({-7, -5, -6})(temperature{1e-40f})(dist<>{1}).c.id() == 1);
}

TEST_CASE("top_p and min_p: as the double-precision oracle on random logits, sorted before or not") {
  std::mt19937 r(7);
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    const usize n = 1 + r() % 2000;
    const auto logits = random_logits(n, round % 3 == 0 ? 0.1f : round % 3 == 1 ? 1.0f : 5.0f, r);
    const f32 p = static_cast<f32>(r() % 1000) / 1000.0f;
    const usize min_keep = r() % 4 == 0 ? r() % 50 : 0;
    const auto prob = oracle_softmax(logits);
    const auto order = oracle_order(logits);

    f64 sum = 0, nearest = 1;
    usize keep = n;
    for (usize i = 0; i < n; ++i) {
      sum += prob[order[i]];
      nearest = std::min(nearest, std::fabs(sum - static_cast<f64>(p)));
      if (sum >= static_cast<f64>(p) && i + 1 >= min_keep && keep == n) keep = i + 1;
    }
    if (nearest > 1e-6) {  // a sum that close to p may be rounded either way
      ++compared;
      const id_list want(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(keep));
      CHECK(bag(logits)(top_p{p, min_keep}).ids() == want);
      CHECK(bag(logits)(top_k{1 << 30})(top_p{p, min_keep}).ids() == want);
    }

    id_list want;
    for (usize i = 0; i < n; ++i)
      if (prob[order[i]] >= static_cast<f64>(p) * prob[order[0]] || i < min_keep)
        want.push_back(static_cast<i32>(order[i]));
    std::sort(want.begin(), want.end());
    bag unsorted(logits), sorted(logits);
    CHECK(unsorted(min_p{p, min_keep}).id_set() == want);
    CHECK(sorted(top_k{1 << 30})(min_p{p, min_keep}).id_set() == want);
  }
  CHECK(compared > 200);
}

TEST_CASE("dist: draws with the frequencies of softmax") {
  std::vector<int> hits(4);
  dist<pcg32> d(3);
  const int rounds = 40000;
  for (int i = 0; i < rounds; ++i) ++hits[static_cast<usize>(bag(four)(d).c.id())];
  for (usize i = 0; i < 4; ++i) {
    const f64 p = std::exp(static_cast<f64>(four[i])), sigma = std::sqrt(p * (1 - p) / rounds);
    CHECK(std::fabs(hits[i] / static_cast<f64>(rounds) - p) < 4 * sigma);
  }
}

TEST_CASE("dist: the walk by hand, at both ends of the random numbers") {
  struct zero {
    constexpr explicit zero(u32) {}
    constexpr u32 next() noexcept { return 0; }
  };
  struct top {
    constexpr explicit top(u32) {}
    constexpr u32 next() noexcept { return 0xffffffffu; }
  };
  // Tokens of probability 0 are not selected, even where the random number is exactly 0 or next to 1.
  CHECK(bag({-infinity, -infinity, 1, 2, -infinity})(dist<zero>{0}).c.id() == 2);
  CHECK(bag({-infinity, -infinity, 1, 2, -infinity})(dist<top>{0}).c.id() == 3);
  bag b(four);
  b(dist<top>{0});
  CHECK(b.c.id() == 3);
  CHECK(b.c.items[1].p == doctest::Approx(0.4));
}

TEST_CASE("dist: one number is drawn even for a single candidate, and reset starts again") {
  dist<mt19937> a(9), b(9);
  bag{four}(a);
  bag({1})(b);
  id_list x, y;
  for (int i = 0; i < 50; ++i) {
    x.push_back(bag(four)(a).c.id());
    y.push_back(bag(four)(b).c.id());
  }
  CHECK(x == y);
  b.reset();
  bag{four}(b);
  y.clear();
  for (int i = 0; i < 50; ++i) y.push_back(bag(four)(b).c.id());
  CHECK(x == y);
}

TEST_CASE("all samplers: no candidates, one candidate, and logits without any number") {
  const auto every = [](bag& b) {
    b(top_n_sigma{2})(top_k{40})(top_p{0.9f, 0})(min_p{0.1f, 0})(temperature{0.7f})(dist<>{5});
  };
  bag none({});
  none(greedy{});
  every(none);
  CHECK(none.c.id() == -1);
  bag one({-3});
  every(one);
  CHECK(one.c.id() == 0);
  CHECK(one.c.items[0].p == 1);
  for (f32 v : {-infinity, not_a_number}) {
    bag hopeless(std::vector<f32>(100, v));
    every(hopeless);
    CHECK(hopeless.c.id() == 0);
  }
  bag infinite({1, infinity, 3, infinity});
  every(infinite);
  CHECK((infinite.c.id() == 1 || infinite.c.id() == 3));
}

TEST_CASE("all samplers: NaN and infinities anywhere neither crash nor hang nor win") {
  std::mt19937 r(11);
  for (int round = 0; round < 500; ++round) {
    auto logits = random_logits(1 + r() % 300, 3, r);
    bool number = false;
    for (f32& x : logits) {
      if (r() % 3 == 0) x = r() % 2 ? not_a_number : -infinity;
      number = number || x > -infinity;
    }
    bag b(logits);
    // Written around from_logits, which would have replaced the NaN.
    for (usize i = 0; i < logits.size(); ++i) b.memory[i].logit = logits[i];
    const top_k k{static_cast<i32>(r() % 50)};
    const top_p p{static_cast<f32>(r() % 11) / 10.0f, r() % 3};
    const min_p m{static_cast<f32>(r() % 11) / 10.0f, r() % 3};
    const temperature t{static_cast<f32>(r() % 5) / 2.0f};
    const top_n_sigma n{static_cast<f32>(r() % 4) / 2.0f};
    if (round % 2) b(n)(t)(m)(p)(k)(dist<>{static_cast<u32>(round)});
    else b(k)(p)(n)(m)(t)(dist<>{static_cast<u32>(round)});
    REQUIRE(b.c.id() >= 0);
    if (number) CHECK(logits[static_cast<usize>(b.c.id())] > -infinity);
  }
}
