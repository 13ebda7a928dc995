#pragma once
// Results of jig-perplexity as text and JSON.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "jig/host/divergence.hpp"
#include "jig/host/progress.hpp"

namespace jig::perplexity {

/// What was measured of one model.
struct measured {
  std::string path;
  u64 bytes = 0;
  host::mean_of losses;
  std::optional<host::divergence> against_base = {};
};

/// A perplexity and its standard error.
inline std::pair<f64, f64> perplexity_of(const host::mean_of& losses) {
  const f64 ppl = std::exp(losses.mean());
  return {ppl, ppl * losses.error()};
}

inline constexpr std::pair<const char*, f64> quantiles[] = {
    {"maximum", 1.0}, {"99.9%", 0.999}, {"99%", 0.99}, {"95%", 0.95},   {"90%", 0.9},    {"median", 0.5},
    {"10%", 0.1},     {"5%", 0.05},     {"1%", 0.01},  {"0.1%", 0.001}, {"minimum", 0.0}};

inline std::string shown(const measured& m) {
  const auto [ppl, error] = perplexity_of(m.losses);
  std::string out = fmt::format("{}: {}\nperplexity          {:.4f} ± {:.4f} ({} tokens)\n", m.path,
                                host::readable_bytes(m.bytes), ppl, error, m.losses.count());
  if (!m.against_base) return out;
  const host::divergence& d = *m.against_base;
  const auto [base, base_error] = perplexity_of(d.base_loss());
  out += fmt::format("perplexity of base  {:.4f} ± {:.4f}\n", base, base_error);
  out += fmt::format("ln(ppl / base)      {:.6f} ± {:.6f}\n", d.log_ratio().mean(), d.log_ratio().error());
  out += fmt::format("KL divergence       {:.6f} ± {:.6f}\n", d.kl().mean(), d.kl().error());
  out +=
      fmt::format("same likeliest      {:.3f} ± {:.3f} %\n", 100.0 * d.same_top().mean(),
                  100.0 * d.same_top().error());
  out += fmt::format("RMS change of p     {:.3f} %\n\n{:<10} {:>12} {:>12}\n", 100.0 * d.rms_change(), "", "KL",
                     "change of p");
  for (const auto& [name, part] : quantiles)
    out += fmt::format("{:<10} {:>12.6f} {:>10.3f} %\n", name, d.kl_quantile(part), 100.0 * d.change_quantile(part));
  return out;
}

inline nlohmann::ordered_json shown_json(const measured& m) {
  const auto [ppl, error] = perplexity_of(m.losses);
  nlohmann::ordered_json j = {{"model", m.path},
                              {"bytes", m.bytes},
                              {"tokens", m.losses.count()},
                              {"perplexity", ppl},
                              {"perplexity_error", error}};
  if (!m.against_base) return j;
  const host::divergence& d = *m.against_base;
  j["base_perplexity"] = perplexity_of(d.base_loss()).first;
  j["log_ratio"] = d.log_ratio().mean();
  j["log_ratio_error"] = d.log_ratio().error();
  j["kl"] = d.kl().mean();
  j["kl_error"] = d.kl().error();
  j["same_top"] = d.same_top().mean();
  j["rms_change"] = d.rms_change();
  for (const auto& [name, part] : quantiles) j["kl_quantiles"][name] = d.kl_quantile(part);
  for (const auto& [name, part] : quantiles) j["change_quantiles"][name] = d.change_quantile(part);
  return j;
}

}  // namespace jig::perplexity
