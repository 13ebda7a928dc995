#pragma once
// Measurements as tables: Markdown, CSV and JSON with the columns and names of llama-bench, and what part of the
// machine's ceiling was reached.

#include <nlohmann/json.hpp>

#include "jig/host/progress.hpp"
#include "measure.hpp"

namespace jig::bench {

/// "llama q4_0".
inline std::string model_name(const measurement& r) {
  return fmt::format("{} {}", r.architecture, find_block_info(r.work.main_type)->name);
}

/// What the machine can do at most, as lines.
inline std::string shown(const ceilings& c) {
  std::string s =
      fmt::format("ceilings of {} thread{}: read {:.1f} GB/s", c.threads, c.threads == 1 ? "" : "s", c.read / 1e9);
  const auto add = [&](const char* kind, f64 ops, const char* how) {
    if (ops != 0.0) s += fmt::format(", {} {:.0f} Gop/s ({})", kind, ops / 1e9, how);
  };
  add("int8", c.int8, c.int8_name), add("bf16", c.bf16, c.bf16_name), add("f32", c.f32, c.f32_name);
  return s + "\n";
}

inline constexpr const char* md_head =
    "| model | size | params | isa | threads | batch | kv | test | t/s | of the ceiling |\n"
    "| --- | ---: | ---: | --- | ---: | ---: | --- | ---: | ---: | ---: |\n";

inline std::string md_row(const measurement& r) {
  const f64 mean = r.mean_speed();
  const f64 off = deviation(r.seconds.size(), mean, [&](usize i) { return r.speed(i); });
  const std::string part = r.least != 0.0 ? fmt::format("{:.1f}% {}", r.percent(), r.ceiling_name) : "";
  return fmt::format("| {} | {} | {:.2f} {} | {} | {} | {} | {} | {} | {:.2f} ± {:.2f} | {} |\n", model_name(r),
                     host::readable_bytes(static_cast<u64>(r.work.bytes)),
                     r.work.n_params >= 1e9 ? r.work.n_params / 1e9 : r.work.n_params / 1e6,
                     r.work.n_params >= 1e9 ? "B" : "M", r.isa, r.threads, r.batch, find_block_info(r.kv_type)->name,
                     r.kind.name(), mean, off, part);
}

/// One measurement with all that is known of it. Times in nanoseconds, as llama-bench gives them.
inline nlohmann::ordered_json json_of(const measurement& r) {
  const f64 mean = r.mean_speed(), mean_ns = 1e9 * r.mean_seconds();
  nlohmann::ordered_json j = {{"build", "jig " JIG_VERSION},
                              {"backends", "CPU"},
                              {"isa", r.isa},
                              {"model_filename", r.file},
                              {"model_type", model_name(r)},
                              {"model_size", static_cast<u64>(r.work.bytes)},
                              {"model_n_params", static_cast<u64>(r.work.n_params)},
                              {"n_batch", r.batch},
                              {"n_threads", r.threads},
                              {"type_k", find_block_info(r.kv_type)->name},
                              {"type_v", find_block_info(r.kv_type)->name},
                              {"n_prompt", r.kind.prompt},
                              {"n_gen", r.kind.generated},
                              {"n_depth", r.kind.depth},
                              {"test_time", r.time},
                              {"avg_ns", static_cast<u64>(mean_ns)},
                              {"stddev_ns", static_cast<u64>(deviation(r.seconds.size(), mean_ns,
                                                                       [&](usize i) { return 1e9 * r.seconds[i]; }))},
                              {"avg_ts", mean},
                              {"stddev_ts", deviation(r.seconds.size(), mean, [&](usize i) { return r.speed(i); })},
                              {"median_ts", r.median_speed()}};
  if (r.least != 0.0) j["ceiling"] = r.ceiling_name, j["percent_of_ceiling"] = r.percent();
  else j["ceiling"] = nullptr, j["percent_of_ceiling"] = nullptr;
  nlohmann::ordered_json ns = nlohmann::ordered_json::array(), ts = ns;
  for (usize i = 0; i < r.seconds.size(); ++i)
    ns.push_back(static_cast<u64>(1e9 * r.seconds[i])), ts.push_back(r.speed(i));
  j["samples_ns"] = std::move(ns), j["samples_ts"] = std::move(ts);
  return j;
}

/// A line of CSV: the names (head) or values of all but the samples, each in quotes.
inline std::string csv_line(const measurement& r, bool head) {
  std::string line;
  const nlohmann::ordered_json j = json_of(r);
  for (const auto& [name, value] : j.items()) {
    if (value.is_array()) continue;
    std::string cell = head ? name : value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
    for (usize at = 0; (at = cell.find('"', at)) != cell.npos; at += 2) cell.insert(at, 1, '"');
    line += fmt::format("{}{}{}{}", line.empty() ? "" : ",", head ? "" : "\"", cell, head ? "" : "\"");
  }
  return line + "\n";
}

/// Puts measurements out as they come.
class table_writer {
 public:
  explicit table_writer(table_format f) noexcept : format_(f) {}

  std::string add(const measurement& r) {
    const bool first = std::exchange(first_, false);
    switch (format_) {
      case table_format::md: return (first ? md_head : "") + md_row(r);
      case table_format::csv: return (first ? csv_line(r, true) : "") + csv_line(r, false);
      case table_format::json: return (first ? "[\n" : ",\n") + json_of(r).dump(2, ' ', false, replace);
      case table_format::jsonl: break;
    }
    return json_of(r).dump(-1, ' ', false, replace) + "\n";
  }
  std::string end() const { return format_ != table_format::json ? "" : first_ ? "[]\n" : "\n]\n"; }

 private:
  static constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;  // of names that are no UTF-8
  table_format format_;
  bool first_ = true;
};

}  // namespace jig::bench
