#pragma once
// A progress bar as text: what to write to a terminal, and when. It never writes itself.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "jig/core/types.hpp"

namespace jig::host {

/// Bytes for people: three digits and a binary unit, "3.79 MiB".
inline std::string readable_bytes(u64 bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  usize unit = 0;
  f64 n = static_cast<f64>(bytes);
  while (n >= 999.5 && unit + 1 < std::size(units)) n /= 1024.0, ++unit;
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.{}f} {}", n, n < 9.995 ? 2 : n < 99.95 ? 1 : 0, units[unit]);
}

/// One line "label [######----]  60%  1.20 GiB"; `width` characters of bar.
inline std::string bar_line(std::string_view label, u64 done, u64 total, u32 width = 32) {
  const f64 part = total == 0 ? 1.0 : std::clamp(static_cast<f64>(done) / static_cast<f64>(total), 0.0, 1.0);
  const usize filled = static_cast<usize>(part * width);
  return fmt::format("{} [{}{}] {:3.0f}%  {}", label, std::string(filled, '#'), std::string(width - filled, '-'),
                     part * 100.0, readable_bytes(total));
}

/// Decides when a bar is worth drawing: not for work that ends soon, and not more often than the eye sees.
class progress_bar {
 public:
  using clock = std::chrono::steady_clock;

  explicit progress_bar(std::string label, clock::time_point now = clock::now())
      : label_(std::move(label)), next_(now + patience) {}

  /// The text to write now, often empty. Begins with a carriage return and erases the rest of the line.
  std::string update(u64 done, u64 total, clock::time_point now = clock::now()) {
    if (now < next_ && !(drawn_ && done >= total)) return {};
    next_ = now + pause;
    drawn_ = true;
    return fmt::format("\r{}{}", bar_line(label_, done, total), erase);
  }
  /// The text that removes the bar, empty if it was never drawn.
  std::string finish() {
    return std::exchange(drawn_, false) ? fmt::format("\r{}", erase) : std::string();
  }

 private:
  static constexpr auto patience = std::chrono::milliseconds(300);
  static constexpr auto pause = std::chrono::milliseconds(80);
  static constexpr const char* erase = "\x1b[K";
  std::string label_;
  clock::time_point next_;
  bool drawn_ = false;
};

}  // namespace jig::host
