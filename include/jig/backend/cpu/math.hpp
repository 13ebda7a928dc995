#pragma once
// exp, tanh and the activation functions on float vectors (or single floats), without libm.
//
// exp: x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor polynomial of degree 7 (remainder below 6e-9), times 2^n.
// ln 2 is split in two so that n ln 2 is exact where it matters (W. J. Cody, W. Waite: Software Manual for the
// Elementary Functions, 1980).

#include "jig/backend/cpu/simd.hpp"
#include "jig/ops/args.hpp"

namespace jig::cpu {

/// The polynomial with these coefficients, the highest power's first.
template <class V, class... C>
V polynomial(const V& x, f32 highest, C... rest) noexcept {
  V p(highest);
  ((p = madd(p, x, V(rest))), ...);
  return p;
}

/// e^x. Relative error below 3e-7 for x in [-87, 88]; outside of it the value at the near end. NaN stays NaN.
template <class V>
V exp(V x) noexcept {
  x = choose(x > V(88.0f), V(88.0f), choose(V(-87.0f) > x, V(-87.0f), x));
  const V n = round_even(x * V(1.44269504f));
  V r = madd(n, V(-0x1.62e4p-1f), x);  // the upper 15 bits of ln 2
  r = madd(n, V(-0x1.7f7d1cp-20f), r);
  const V p = polynomial(r, 1.0f / 5040.0f, 1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f);
  return p * power_of_two(choose(n >= V(-126.0f), n, V(-126.0f)));  // n may be NaN, which no integer is
}

/// tanh x. Relative error below 1e-6. Near zero by its Taylor polynomial, as 1 - 2 / (e^2x + 1) cancels there.
template <class V>
V tanh(V x) noexcept {
  const V s = x * x;
  const V p = polynomial(s, 62.0f / 2835.0f, -17.0f / 315.0f, 2.0f / 15.0f, -1.0f / 3.0f);
  const V near = madd(p * s, x, x);
  const V far = V(1.0f) - V(2.0f) / (exp(x + x) + V(1.0f));
  return choose(s > V(0.0625f), far, near);
}

/// 1 / (1 + e^-x). Relative error below 5e-7 for x > -87.
template <class V>
V sigmoid(V x) noexcept { return V(1.0f) / (V(1.0f) + exp(V(0.0f) - x)); }

/// act(x): see `activation`. Relative error below 1e-6 for |x| < 30 (gelu: of its tanh form; 1e-5 where it is below
/// 1e-3 of x).
template <activation Act, class V>
V activate(V x) noexcept {
  if constexpr (Act == activation::silu) {
    return x * sigmoid(x);
  } else if constexpr (Act == activation::gelu) {
    // 0.5 (1 + tanh u) = sigmoid(2u)
    return x * sigmoid(x * madd(x * x, V(2.0f * 0.79788456f * 0.044715f), V(2.0f * 0.79788456f)));
  } else if constexpr (Act == activation::relu) {
    return choose(x > V(0.0f), x, V(0.0f));
  } else if constexpr (Act == activation::relu_sqr) {
    return choose(x > V(0.0f), x * x, V(0.0f));
  } else if constexpr (Act == activation::sigmoid) {
    return sigmoid(x);
  } else if constexpr (Act == activation::tanh) {
    return tanh(x);
  } else if constexpr (Act == activation::exp) {
    return exp(x);
  } else {
    static_assert(Act == activation::swiglu_oai, "the others are computed exactly, see elementwise.hpp");
    return x * sigmoid(x * V(1.702f));
  }
}

/// Calls f with an object whose `f(v)` is the activation function, so that the choice stands outside of loops; false
/// for the activations that have no vector form.
template <class F>
bool visit_activation(activation act, F&& f) noexcept {
  switch (act) {
    case activation::silu: return f([](auto v) { return activate<activation::silu>(v); }), true;
    case activation::gelu: return f([](auto v) { return activate<activation::gelu>(v); }), true;
    case activation::relu: return f([](auto v) { return activate<activation::relu>(v); }), true;
    case activation::relu_sqr: return f([](auto v) { return activate<activation::relu_sqr>(v); }), true;
    case activation::sigmoid: return f([](auto v) { return activate<activation::sigmoid>(v); }), true;
    case activation::tanh: return f([](auto v) { return activate<activation::tanh>(v); }), true;
    case activation::exp: return f([](auto v) { return activate<activation::exp>(v); }), true;
    case activation::swiglu_oai: return f([](auto v) { return activate<activation::swiglu_oai>(v); }), true;
    case activation::softplus:
    case activation::xielu:
    case activation::signed_sqrt:
    case activation::none: break;
  }
  return false;
}

}  // namespace jig::cpu
