#include "fixture.hpp"

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
    std::vector<u8> one(37 * 2 * sizeof(q8_k)), three(one.size());
    t->prepare({}, q8_k::id, view(x, 37, 512), one.data());
    fake_threads threads{3};
    t->prepare(threads, q8_k::id, view(x, 37, 512), three.data());
    CHECK(one == three);
    q8_k last;
    q8_k::encode(std::span<const f32, 256>(x.data() + 36 * 512 + 256, 256), last);
    CHECK(std::memcmp(&last, one.data() + 73 * sizeof(q8_k), sizeof last) == 0);
  }
}
