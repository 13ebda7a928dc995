#pragma once
// How far a model's predictions are from a base model's (base_logits.hpp): Kullback-Leibler divergence, agreement on
// the likeliest token, changes of the right token's probability.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "jig/host/perplexity.hpp"

namespace jig::host {

/// Statistics over all scored tokens.
class divergence {
 public:
  /// One token: ln p of the base model and logits of the other, [n_vocab] each; the token that follows.
  void add(std::span<const f32> base, std::span<const f32> logits, i32 next) {
    const f64 all = log_sum(logits);
    f64 kl = 0.0;
    for (usize i = 0; i < base.size(); ++i) {
      if (base[i] <= -16.0f) continue;  // unlikely enough, and the file knows nothing below
      const f64 p = std::exp(static_cast<f64>(base[i]));
      kl += p * (static_cast<f64>(base[i]) - (static_cast<f64>(logits[i]) - all));
    }
    const f64 ours = static_cast<f64>(logits[static_cast<usize>(next)]) - all;
    const f64 theirs = static_cast<f64>(base[static_cast<usize>(next)]);
    divergences_.push_back(kl);
    changes_.push_back(std::exp(ours) - std::exp(theirs));
    kl_.add(kl);
    loss_.add(-ours);
    base_loss_.add(-theirs);
    ratio_.add(theirs - ours);
    const auto top = [](std::span<const f32> row) { return std::max_element(row.begin(), row.end()) - row.begin(); };
    same_top_.add(top(base) == top(logits) ? 1.0 : 0.0);
    square_.add(changes_.back() * changes_.back());
  }

  const mean_of& kl() const noexcept { return kl_; }
  const mean_of& loss() const noexcept { return loss_; }
  const mean_of& base_loss() const noexcept { return base_loss_; }
  /// ln(perplexity / the base model's).
  const mean_of& log_ratio() const noexcept { return ratio_; }
  /// Part of the tokens on whose likeliest successor both agree.
  const mean_of& same_top() const noexcept { return same_top_; }
  /// Root of the mean square of changes_of_p.
  f64 rms_change() const noexcept { return std::sqrt(square_.mean()); }

  /// The value below which this part of the tokens lies, 0 to 1, interpolated; 0 without tokens.
  f64 kl_quantile(f64 part) const { return quantile(divergences_, part); }
  /// Of p(right token) minus the base model's.
  f64 change_quantile(f64 part) const { return quantile(changes_, part); }

 private:
  static f64 quantile(std::vector<f64> v, f64 part) {
    if (v.empty()) return 0.0;
    std::sort(v.begin(), v.end());
    const f64 at = std::clamp(part, 0.0, 1.0) * static_cast<f64>(v.size() - 1);
    const usize low = static_cast<usize>(at), high = std::min(low + 1, v.size() - 1);
    return v[low] + (at - static_cast<f64>(low)) * (v[high] - v[low]);
  }

  mean_of kl_, loss_, base_loss_, ratio_, same_top_, square_;
  std::vector<f64> divergences_, changes_;
};

}  // namespace jig::host
