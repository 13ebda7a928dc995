#pragma once
// Encoding of activation rows to the partner formats of the weights, with vectors for Q8_0 and Q8_K.
// The bytes equal those of the formats' own encoders on every input, infinities and NaNs included.

#include "jig/backend/cpu/simd.hpp"
#include "jig/quant/q8_0.hpp"
#include "jig/quant/q8_1.hpp"
#include "jig/quant/q8_k.hpp"
#include "jig/quant/rows.hpp"

namespace jig::cpu {

/// Q8_0, see q8_0::encode.
template <class V>
void encode_block(const f32* x, q8_0& b) noexcept {
  V most(0.0f);
  for (usize i = 0; i < 32; i += V::size) {
    const V v = load<V>(x + i);
    most = larger(larger(v, V(0.0f) - v), most);
  }
  const f32 d = largest(most) / 127.0f;
  const V inverse(jig::detail::inverse(d));
  i32 codes[32];
  for (usize i = 0; i < 32; i += V::size) {
    const V v = bounded(load<V>(x + i) * inverse, 127.0f), w = whole(v), rest = v - w;
    const V zero(0.0f), one(1.0f);
    store_codes(codes + i, w + choose(rest >= V(0.5f), one, zero) - choose(V(-0.5f) >= rest, one, zero));
  }
  b.d = d;
  for (usize i = 0; i < 32; ++i) b.qs[i] = static_cast<i8>(codes[i]);
}

/// Q8_K, see q8_k::encode.
template <class V>
void encode_block(const f32* x, q8_k& b) noexcept {
  V most(0.0f), least(0.0f);
  for (usize i = 0; i < 256; i += V::size) {
    const V v = load<V>(x + i);
    most = larger(v, most);
    least = larger(V(0.0f) - v, least);
  }
  const f32 up = largest(most), down = largest(least);
  // on a tie the first of the two decides: the plain search knows
  const f32 extreme = up > down ? up : up < down ? -down : jig::detail::signed_extreme(std::span<const f32>(x, 256));
  const f32 factor = extreme != 0 ? -127.0f / extreme : 0.0f;
  b.d = jig::detail::inverse(factor);
  i32 codes[256];
  for (usize i = 0; i < 256; i += V::size)
    store_codes(codes + i, round_even(bounded(load<V>(x + i) * V(factor), 127.0f)));
  for (usize i = 0; i < 256; ++i) b.qs[i] = static_cast<i8>(codes[i]);
  for (usize k = 0; k < 16; ++k) {
    i32 sum = 0;
    for (usize i = 16 * k; i < 16 * k + 16; ++i) sum += codes[i];
    b.bsums[k] = static_cast<u16>(sum);
  }
}

/// Any format: its own encoder. x: [n * A::size] -> n blocks.
template <class V, class A>
void encode_blocks(const f32* x, usize n, A* blocks) noexcept {
  if constexpr (V::size == 1 || (A::id != q8_0::id && A::id != q8_k::id)) {
    encode_row(x, n, blocks);
  } else {
    for (usize k = 0; k < n; ++k) encode_block<V>(x + k * A::size, blocks[k]);
  }
}

}  // namespace jig::cpu
