#include "fixture.hpp"
#include "jig/backend/cpu/wide/activations.hpp"

using namespace cpu_test;

namespace {

/// Prepares x on a table and by the format's own encoder; both must give the same bytes.
template <class A>
void check_encoder(const cpu::kernel_table& t, std::vector<f32> x) {
  const usize blocks = x.size() / A::size;
  std::vector<u8> got(blocks * sizeof(A)), want(blocks * sizeof(A));
  t.prepare({}, A::id, view(x, 1, static_cast<u32>(x.size())), got.data());
  for (usize k = 0; k < blocks; ++k)
    A::encode(std::span<const f32, A::size>(x.data() + k * A::size, A::size), reinterpret_cast<A*>(want.data())[k]);
  CHECK_MESSAGE(got == want, std::string(t.isa), " ", std::string(A::name));
}

template <class A>
void check_all(const cpu::kernel_table& t) {
  for (u64 seed = 0; seed < 20; ++seed) check_encoder<A>(t, random_floats(4 * A::size, seed, seed < 10 ? 1.0f : 1e-3f));
  std::vector<f32> x(A::size, 0.0f);
  check_encoder<A>(t, x);
  // halves: codes at k + 0.5 exactly, where rounding rules differ
  for (usize i = 0; i < A::size; ++i) x[i] = static_cast<f32>(static_cast<int>(i % 255) - 127) + (i % 2 ? 0.5f : 0.0f);
  x[0] = 127.0f;
  check_encoder<A>(t, x);
  // equal magnitudes of both signs: the first decides; both orders
  for (f32 sign : {1.0f, -1.0f}) {
    for (usize i = 0; i < A::size; ++i) x[i] = 0.01f * static_cast<f32>(i % 7);
    x[9] = 3.0f * sign, x[20] = -3.0f * sign;
    check_encoder<A>(t, x);
  }
  x[5] = 1e-42f;
  check_encoder<A>(t, x);
  for (f32& v : x) v = 1e-41f;  // the inverse overflows
  check_encoder<A>(t, x);
  x[3] = INFINITY;
  check_encoder<A>(t, x);
  x[3] = NAN;
  check_encoder<A>(t, x);
  x[0] = NAN, x[7] = -INFINITY;
  check_encoder<A>(t, x);
}

}  // namespace

TEST_CASE("prepare: every table writes the bytes of the formats' own encoders") {
  for (const auto* t : tables()) {
    check_all<q8_0>(*t);
    check_all<q8_1>(*t);
    check_all<q8_k>(*t);
  }
}

TEST_CASE("prepare: rows are encoded where they belong, on any number of threads") {
  std::vector<f32> x = random_floats(37 * 512, 3);
  for (const auto* t : tables()) {
    std::vector<u8> one(cpu::kernel_sizes<all_quants>::prepared_bytes(q8_k::id, 37, 512)), three(one.size());
    t->prepare({}, q8_k::id, view(x, 37, 512), one.data());
    fake_threads threads{3};
    t->prepare(threads, q8_k::id, view(x, 37, 512), three.data());
    CHECK(one == three);
    q8_k last;
    q8_k::encode(std::span<const f32, 256>(x.data() + 36 * 512 + 256, 256), last);
    CHECK(std::memcmp(&last, one.data() + 73 * sizeof(q8_k), sizeof last) == 0);
  }
}

template <class A>
void check_widened(const std::vector<f32>& x, u32 rows, u32 cols) {
  for (const auto* t : tables()) {
    std::vector<u8> all(cpu::kernel_sizes<all_quants>::prepared_bytes(A::id, rows, cols));
    std::vector<f32> copy = x;
    t->prepare({}, A::id, view(copy, rows, cols), all.data());
    const A* blocks = reinterpret_cast<const A*>(all.data());
    const auto* groups =
        reinterpret_cast<const cpu::wide_group*>(all.data() + cpu::wide_offset(A::id, rows, cols));
    if (groups[0].scale == 0.0f) continue;  // this set has no wide products
    for (u32 g = 0; g < rows * cols / 32; ++g) {
      const A& b = blocks[g * 32 / A::size];
      i32 sum[2] = {0, 0};
      for (u32 i = 0; i < 32; ++i) {
        REQUIRE(groups[g].codes[i] == b.qs[g * 32 % A::size + i]);
        sum[i / 16] += b.qs[g * 32 % A::size + i];
      }
      const f32 unit = A::size == 256 ? 1.0f : f32(b.d);
      CHECK(groups[g].scale == f32(b.d));
      CHECK(groups[g].bias == -128 * (sum[0] + sum[1]));
      CHECK(groups[g].biases[1] == -128 * sum[1]);
      CHECK(groups[g].sum == unit * static_cast<f32>(sum[0] + sum[1]));
      CHECK(groups[g].sums[0] == unit * static_cast<f32>(sum[0]));
    }
  }
}

TEST_CASE("prepare: many rows are laid out for wide products, too") {
  check_widened<q8_0>(random_floats(33 * 96, 4), 33, 96);
  check_widened<q8_1>(random_floats(32 * 64, 5), 32, 64);
  check_widened<q8_k>(random_floats(40 * 512, 6), 40, 512);
}
