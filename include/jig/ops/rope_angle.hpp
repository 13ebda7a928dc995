#pragma once
// The angles of rotary position encoding in double precision, for every kernel set: they are linear in the position,
// so fast kernels take the angle at position 1 and multiply.

#include <cmath>

#include "jig/ops/args.hpp"

namespace jig {

/// The angle of pair i (of n_rot/2) at a position, and the factor of its cosine and sine.
struct rope_angle {
  f64 theta, magnitude;
};

/// Linear, YaRN and frequency-factor scaling in one formula; plain rope where they are off.
inline rope_angle rope_angle_at(const rope_args& a, u32 pair, f64 position) noexcept {
  const f64 n = a.n_rot, base = a.freq_base;
  if (rotates_by_fourth(a, pair)) position = 0.0;
  f64 frequency = std::pow(base, -2.0 * pair / n);
  if (a.factors) frequency /= f64(a.factors.floats()[pair]);
  const f64 extrapolated = position * frequency, interpolated = extrapolated * f64(a.freq_scale);
  if (a.ext_factor == 0.0f) return {interpolated, f64(a.attn_factor)};
  // YaRN: high frequencies keep their angle, low ones are interpolated, a ramp lies between.
  auto turns_to_dim = [&](f64 turns) {
    return n * std::log(f64(a.n_ctx_orig) / (turns * 2.0 * 3.14159265358979323846)) / (2.0 * std::log(base));
  };
  f64 low = std::floor(turns_to_dim(f64(a.beta_fast))), high = std::ceil(turns_to_dim(f64(a.beta_slow)));
  low = low > 0.0 ? low : 0.0;
  high = high < n - 1.0 ? high : n - 1.0;
  const f64 width = high - low > 0.001 ? high - low : 0.001;
  f64 ramp = (f64(pair) - low) / width;
  ramp = 1.0 - (ramp < 0.0 ? 0.0 : ramp > 1.0 ? 1.0 : ramp);
  const f64 mix = ramp * f64(a.ext_factor);
  const f64 magnitude = f64(a.attn_factor) * (1.0 + 0.1 * std::log(1.0 / f64(a.freq_scale)));
  return {interpolated * (1.0 - mix) + extrapolated * mix, magnitude};
}

/// The base for a context that is `growth` times the original one, with dynamic scaling by `factor` (NTK-aware, as in
/// Hugging Face's transformers): low frequencies are stretched, the highest stays.
inline f32 dynamic_rope_base(f32 base, u32 n_rot, f64 factor, f64 growth) noexcept {
  if (n_rot <= 2 || growth <= 1.0) return base;
  const f64 stretch = factor * growth - (factor - 1.0);
  return static_cast<f32>(f64(base) * std::pow(stretch, f64(n_rot) / f64(n_rot - 2)));
}

}  // namespace jig
