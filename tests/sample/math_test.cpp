// jig/sample/detail/math.hpp: accuracy against the C library, and recorded bits that every platform must give.
#include "jig/sample/detail/math.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace jig;
using namespace jig::sample;

TEST_CASE("exp: known values") {
  static_assert(detail::exp_nonpositive(0.0f) == 1.0f);
  static_assert(detail::exp_nonpositive(-0.0f) == 1.0f);
  static_assert(detail::exp_nonpositive(-1.0f) == 0x1.78b564p-2f);
  static_assert(detail::exp_nonpositive(-0x1.62e43p-1f) == 0.5f);
  static_assert(detail::exp_nonpositive(-1e-30f) == 1.0f);
  static_assert(detail::exp_nonpositive(1.0f) == 1.0f);
  static_assert(detail::exp_nonpositive(-90.0f) == 0.0f);
  static_assert(detail::exp_nonpositive(-std::numeric_limits<f32>::infinity()) == 0.0f);
  CHECK(detail::exp_nonpositive(std::numeric_limits<f32>::quiet_NaN()) == 0.0f);
}

TEST_CASE("exp: within 0.52 units in the last place of the exact value, falling") {
  f64 worst = 0;
  f32 before = 1;
  for (u32 bits = 0x80000000u; bits < 0xc2b00000u; bits += 10007) {  // from -0 to -88
    const f32 x = std::bit_cast<f32>(bits), got = detail::exp_nonpositive(x);
    CHECK_MESSAGE(got <= before, x);
    before = got;
    const f64 exact = std::exp(static_cast<f64>(x));
    if (exact < 0x1.00001p-126) {  // about the limit: 0 or the smallest normal number
      CHECK_MESSAGE((got == 0 || got <= 0x1.00001p-126f), x);
      continue;
    }
    int exponent;
    std::frexp(exact, &exponent);
    const f64 off = std::fabs(static_cast<f64>(got) - exact) / std::ldexp(1.0, exponent - 24);
    worst = off > worst ? off : worst;
  }
  CAPTURE(worst);
  CHECK(worst < 0.52);
  CHECK(worst > 0.49);  // otherwise the measure is broken
}

TEST_CASE("log: within 4e-16 relative of the C library, special values") {
  constexpr f64 infinity = std::numeric_limits<f64>::infinity();
  CHECK(detail::log(1.0f) == 0.0);
  CHECK(detail::log(0.0f) == -infinity);
  CHECK(detail::log(-1.0f) == -infinity);
  CHECK(detail::log(std::numeric_limits<f32>::quiet_NaN()) == -infinity);
  CHECK(detail::log(std::numeric_limits<f32>::infinity()) == infinity);
  f64 worst = 0;
  for (u32 bits = 1; bits < 0x7f800000u; bits += 20011) {
    const f32 x = std::bit_cast<f32>(bits);
    const f64 exact = std::log(static_cast<f64>(x));
    if (exact == 0) continue;
    const f64 off = std::fabs(detail::log(x) / exact - 1);
    worst = off > worst ? off : worst;
  }
  for (u32 bits = 0x3f700000u; bits < 0x3f900000u; bits += 7) {  // around 1 cancellation would show
    const f32 x = std::bit_cast<f32>(bits);
    if (x == 1.0f) continue;
    const f64 off = std::fabs(detail::log(x) / std::log(static_cast<f64>(x)) - 1);
    worst = off > worst ? off : worst;
  }
  CAPTURE(worst);
  CHECK(worst < 0x1p-50);
}

TEST_CASE("mul_high: agrees with products that can be seen") {
  static_assert(detail::mul_high(~u64{0}, ~u64{0}) == ~u64{0} - 1);
  static_assert(detail::mul_high(u64{1} << 32, u64{1} << 32) == 1);
  static_assert(detail::mul_high(u64{1} << 63, 6) == 3);
  static_assert(detail::mul_high(0xffffffffu, 0xffffffffu) == 0);
  static_assert(detail::mul_high(0xffffffff00000001u, 0x00000001ffffffffu) == 0x1fffffffdu);
}
