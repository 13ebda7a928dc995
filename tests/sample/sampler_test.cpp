// chain, sampler, params, names: composition, run-time order, and draws that are the same on every platform.
#include "jig/sample/sampler.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "jig/host/random_seed.hpp"

using namespace jig;
using namespace jig::sample;

namespace {

/// Logits from integers only, so that every platform makes the same: eighths from -8 to 8.
std::vector<f32> made_logits(u32 seed, usize n) {
  pcg32 g(seed);
  std::vector<f32> v(n);
  for (f32& x : v) x = static_cast<f32>(static_cast<i32>(g.next() % 4097) - 2048) / 256.0f;
  return v;
}

/// Counts what it is told; for accept and reset.
struct listener {
  i32 sum = 0;
  void apply(candidates&) const noexcept {}
  void accept(i32 id) noexcept { sum += id; }
  void reset() noexcept { sum = 0; }
};

}  // namespace

TEST_CASE("defaults: the field's values") {
  constexpr params p = defaults();
  CHECK(p.top_k == 40);
  CHECK(p.top_p == 0.95f);
  CHECK(p.min_p == 0.05f);
  CHECK(p.temp == 0.8f);
  CHECK(p.min_keep == 0);
  CHECK(p.seed == 0xffffffffu);
}

TEST_CASE("chain: members in order, nested chains, accept and reset reach those that have them") {
  chain inner{temperature{0.5f}, listener{}};
  chain outer{top_k{3}, inner, dist<pcg32>{1}};
  outer.accept(5);
  outer.accept(7);
  CHECK(outer.get<1>().get<1>().sum == 12);
  outer.reset();
  CHECK(outer.get<1>().get<1>().sum == 0);
  const auto logits = made_logits(1, 64);
  std::vector<candidate> memory(64);
  const auto id = pick(outer, logits, memory);
  REQUIRE(id);
  bool among = false;
  for (usize i = 0; i < 3; ++i) among = among || memory[i].id == *id;
  CHECK(among);
}

TEST_CASE("pick: errors instead of a wrong token") {
  chain without_draw{top_k{3}};
  std::vector<candidate> memory(4);
  CHECK(pick(without_draw, std::vector<f32>{1, 2}, memory).error().code == errc::bad_argument);
  sampler s;
  CHECK(s.pick(std::vector<f32>(5), memory).error().code == errc::buffer_too_small);
  CHECK(s.pick({}, memory).error().code == errc::bad_argument);
}

TEST_CASE("sampler: draws as the chain of the same types") {
  auto p = defaults();
  p.seed = 42;
  sampler s(p);
  chain c{top_k{40}, top_p{0.95f, 0}, min_p{0.05f, 0}, temperature{0.8f}, dist<mt19937>{42}};
  std::vector<candidate> memory(500);
  for (u32 i = 0; i < 50; ++i) {
    const auto logits = made_logits(i, 500);
    const auto a = s.pick(logits, memory), b = pick(c, logits, memory);
    REQUIRE((a && b));
    CHECK(*a == *b);
  }
}

TEST_CASE("sampler: names choose steps and their order; mistakes change nothing") {
  sampler s;
  CHECK(s.steps_count() == builtin::size);
  CHECK(s.step_name(0) == "top_n_sigma");
  CHECK(s.step_name(builtin::size - 1) == "temperature");
  REQUIRE(s.order_by_names("Temp;MIN-P;topk"));
  REQUIRE(s.steps_count() == 3);
  CHECK(s.step_name(0) == "temperature");
  CHECK(s.step_name(1) == "min_p");
  CHECK(s.step_name(2) == "top_k");
  CHECK(s.step_name(3).empty());
  for (const char* wrong : {"top_k;tfs_z", "top_k;;temp", " top_k", "greedy"}) {
    CAPTURE(wrong);
    CHECK(s.order_by_names(wrong).error().code == errc::bad_argument);
  }
  CHECK(s.order_by_names("top_k;tfs_z").error().name() == "tfs_z");
  CHECK(s.steps_count() == 3);
  REQUIRE(s.order_by_names("top_k;"));  // one separator may follow the last name
  CHECK(s.steps_count() == 1);
  REQUIRE(s.order_by_letters("tkp"));
  CHECK(s.step_name(2) == "top_p");
  CHECK(s.order_by_letters("tz").error().name() == "z");
  REQUIRE(s.order_by_names(""));
  CHECK(s.steps_count() == 0);
  CHECK(s.order_by_letters(std::string(33, 'k')).error().code == errc::buffer_too_small);
}

TEST_CASE("sampler: the order matters") {
  // With top_k first two tokens are left; with the empty order all can be drawn.
  auto p = defaults();
  p.top_k = 1;
  p.seed = 1;
  sampler s(p);
  const auto logits = made_logits(3, 100);
  std::vector<candidate> memory(100);
  REQUIRE(s.order_by_names("top_k"));
  const i32 best = *s.pick(logits, memory);
  REQUIRE(s.order_by_names(""));
  bool other = false;
  for (int i = 0; i < 200 && !other; ++i) other = *s.pick(logits, memory) != best;
  CHECK(other);
}

TEST_CASE("sampler: temperature 0 is greedy whatever the seed; same seed, same tokens; reset repeats") {
  std::vector<candidate> memory(300);
  auto p = defaults();
  p.temp = 0;
  for (u32 seed : {1u, 2u, 3u}) {
    p.seed = seed;
    sampler s(p);
    chain g{greedy{}};
    const auto logits = made_logits(seed, 300);
    CHECK(*s.pick(logits, memory) == *pick(g, logits, memory));
  }
  p = defaults();
  p.temp = 2;
  p.seed = 5;
  sampler a(p), b(p);
  p.seed = 6;
  sampler c(p);
  std::vector<i32> x, y, z, again;
  for (u32 i = 0; i < 30; ++i) {
    const auto logits = made_logits(i, 300);
    x.push_back(*a.pick(logits, memory));
    y.push_back(*b.pick(logits, memory));
    z.push_back(*c.pick(logits, memory));
  }
  a.reset();
  for (u32 i = 0; i < 30; ++i) again.push_back(*a.pick(made_logits(i, 300), memory));
  CHECK(x == y);
  CHECK(x != z);
  CHECK(x == again);
}

TEST_CASE("sampler: works at compile time up to the draw") {
  constexpr i32 id = [] {
    candidate memory[4] = {};
    const f32 logits[4] = {1, 9, 2, 3};
    chain c{top_k{2}, temperature{0.5f}, top_p{0.9f, 0}, dist<pcg32>{7}};
    return *pick(c, logits, memory);
  }();
  static_assert(id == 1);
  CHECK(id == 1);
}

TEST_CASE("random seed: a given one stays, the special one is replaced") {
  CHECK(host::resolve_seed(7) == 7);
  CHECK(host::resolve_seed(random_seed) != random_seed);
}
