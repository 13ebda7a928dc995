#pragma once
// A picture of models as points: size in MiB to the right, divergence from the base model upwards, on a logarithmic
// scale. SVG, without scripts or fonts of its own.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "jig/core/types.hpp"

namespace jig::perplexity {

struct plot_point {
  std::string name;
  f64 mib = 0.0, kl = 0.0;
};

namespace detail {

/// Text as it may stand in XML.
inline std::string escaped(const std::string& s) {
  std::string out;
  for (const char c : s) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out;
}

/// A distance between marks that gives some five of them: 1, 2 or 5 times a power of ten.
inline f64 step_for(f64 range) {
  const f64 rough = range / 5.0, power = std::pow(10.0, std::floor(std::log10(rough))), first = rough / power;
  return power * (first < 1.5 ? 1.0 : first < 3.5 ? 2.0 : first < 7.5 ? 5.0 : 10.0);
}

}  // namespace detail

/// The picture of at least one point. Divergences of 0 and below are drawn at the bottom.
inline std::string plot(const std::vector<plot_point>& points) {
  constexpr f64 width = 800, height = 520, left = 80, right = 30, top = 40, bottom = 60, least_kl = 1e-7;
  const auto log_kl = [&](const plot_point& p) { return std::log10(std::max(p.kl, least_kl)); };
  f64 x0 = points[0].mib, x1 = x0, y0 = log_kl(points[0]), y1 = y0;
  for (const plot_point& p : points) {
    x0 = std::min(x0, p.mib), x1 = std::max(x1, p.mib);
    y0 = std::min(y0, log_kl(p)), y1 = std::max(y1, log_kl(p));
  }
  const f64 margin = std::max({(x1 - x0) * 0.15, x1 * 0.05, 1e-3});
  x0 = std::max(0.0, x0 - margin), x1 += margin;
  y0 = std::floor(y0 - 0.1), y1 = std::ceil(y1 + 0.1);
  const auto x = [&](f64 v) { return left + (v - x0) / (x1 - x0) * (width - left - right); };
  const auto y = [&](f64 v) { return height - bottom - (v - y0) / (y1 - y0) * (height - top - bottom); };

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height);
  const auto line = [&](f64 ax, f64 ay, f64 bx, f64 by) {
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ccc\"/>\n", ax, ay, bx,
                       by);
  };
  const auto label = [&](f64 ax, f64 ay, const char* anchor, const std::string& s) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", ax, ay, anchor,
                       detail::escaped(s));
  };
  const f64 step = detail::step_for(x1 - x0);
  for (f64 v = std::ceil(x0 / step) * step; v <= x1; v += step) {
    line(x(v), top, x(v), height - bottom);
    label(x(v), height - bottom + 18, "middle", fmt::format("{:g}", v));
  }
  for (f64 v = y0; v <= y1 + 0.5; v += 1.0) {
    line(left, y(v), width - right, y(v));
    label(left - 8, y(v) + 4, "end", fmt::format("{:g}", std::pow(10.0, v)));
  }
  label((left + width - right) / 2, height - 16, "middle", "size, MiB");
  label(left, top - 16, "start", "KL divergence from the base model");
  for (const plot_point& p : points) {
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#1769aa\"/>\n", x(p.mib), y(log_kl(p)));
    label(x(p.mib) + 7, y(log_kl(p)) - 6, "start", p.name);
  }
  return out + "</svg>\n";
}

}  // namespace jig::perplexity
