#pragma once
// The options of jig-bench, spelt as llama-bench spells them: those that take lists may be given several values, split
// by commas or by repetition, and every combination is measured.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "jig/host/command_line.hpp"
#include "jig/host/pool.hpp"
#include "jig/host/synthetic.hpp"
#include "jig/ops/kv_rows.hpp"

namespace jig::bench {

enum class table_format : u8 { md, csv, json, jsonl };

/// A synthetic model: its shape, and the type of its matrices.
struct synthetic_name {
  const host::model_shape* shape;
  u32 type;
};

struct settings {
  std::vector<std::string> models;
  std::vector<synthetic_name> synthetic;
  std::string save;
  std::vector<u32> prompts, generated, depths, threads, batches, kv_types;
  std::vector<std::pair<u32, u32>> both;  ///< prompt and generation in one measurement
  u32 repetitions = 5;
  table_format format = table_format::md;
  bool warmup = true, ceilings = true, repack = true, profile = false, progress = false, help = false, version = false;
};

using row = host::option<settings>;
using text = std::string_view;

/// Calls f(part) for each part between commas; its first complaint is returned.
template <class F>
std::string each_part(text list, F&& f) {
  for (;;) {
    const usize comma = list.find(',');
    std::string wrong = f(list.substr(0, comma));
    if (!wrong.empty() || comma == list.npos) return wrong;
    list.remove_prefix(comma + 1);
  }
}

/// Whole numbers, added to those given before.
inline std::string read_list(text list, u32 least, u32 most, std::vector<u32>& out) {
  return each_part(list, [&](text part) {
    u32 n = 0;
    std::string wrong = host::read_number<u32>(part, least, most, n);
    if (wrong.empty()) out.push_back(n);
    return wrong;
  });
}

/// "512,128".
inline std::string read_pair(text v, std::vector<std::pair<u32, u32>>& out) {
  std::vector<u32> n;
  std::string wrong = read_list(v, 1, 1 << 20, n);
  if (wrong.empty() && n.size() != 2) wrong = fmt::format("must be two numbers, as 512,128, not \"{}\"", v);
  if (wrong.empty()) out.emplace_back(n[0], n[1]);
  return wrong;
}

/// Names of the types that fit `fits`, for messages.
template <class F>
std::string type_names(F&& fits) {
  std::string names;
  for (const block_info& info : block_infos)
    if (fits(info)) (names += names.empty() ? "" : ", ") += info.name;
  return names;
}

/// Element types of the key/value memory.
inline std::string read_kv_types(text list, std::vector<u32>& out) {
  const auto fits = [](const block_info& info) { return kv_row_bytes(info.id, 1) != 0; };
  return each_part(list, [&](text name) -> std::string {
    const block_info* info = find_block_info(name);
    if (info == nullptr || !fits(*info)) return fmt::format("must be one of {}, not \"{}\"", type_names(fits), name);
    out.push_back(info->id);
    return {};
  });
}

/// SHAPE:TYPE.
inline std::string read_synthetic(text list, std::vector<synthetic_name>& out) {
  return each_part(list, [&](text one) -> std::string {
    const usize colon = one.find(':');
    const host::model_shape* shape = host::find_model_shape(one.substr(0, colon));
    if (shape == nullptr) {
      std::string names;
      for (const host::model_shape& s : host::model_shapes) (names += names.empty() ? "" : ", ") += s.name;
      return fmt::format("must be SHAPE:TYPE with a shape of {}, not \"{}\"", names, one);
    }
    const auto fits = [](const block_info& info) { return info.kind == block_kind::weight; };
    const block_info* info = colon == one.npos ? nullptr : find_block_info(one.substr(colon + 1));
    if (info == nullptr || !fits(*info))
      return fmt::format("must be SHAPE:TYPE with a type of {}, not \"{}\"", type_names(fits), one);
    out.push_back({shape, info->id});
    return {};
  });
}

inline std::string read_format(text v, table_format& out) {
  constexpr text names[] = {"md", "csv", "json", "jsonl"};
  for (u8 i = 0; i < 4; ++i)
    if (v == names[i]) return out = static_cast<table_format>(i), "";
  return fmt::format("must be md, csv, json or jsonl, not \"{}\"", v);
}

inline constexpr row table[] = {
    {"-m, --model", "FILE", "GGUF model, or any part of a split one; may be repeated (default: the bundled one)",
     [](settings& s, text v) -> std::string {
       s.models.emplace_back(v);
       return v.empty() ? "must name a file" : "";
     }},
    {"--synthetic", "SHAPE:TYPE", "a model with random weights, as llama-1b:q4_0; made in memory",
     [](settings& s, text v) { return read_synthetic(v, s.synthetic); }},
    {"--save", "FILE", "write the synthetic model as GGUF and measure nothing",
     [](settings& s, text v) -> std::string {
       s.save = v;
       return v.empty() ? "must name a file" : "";
     }},
    {"-p, --n-prompt", "N,...", "tokens of prompts; 0: none (default 512)",
     [](settings& s, text v) { return read_list(v, 0, 1 << 20, s.prompts); }},
    {"-n, --n-gen", "N,...", "tokens to generate, one at a time; 0: none (default 128)",
     [](settings& s, text v) { return read_list(v, 0, 1 << 20, s.generated); }},
    {"-pg", "P,N", "a prompt and the generation behind it together; may be repeated",
     [](settings& s, text v) { return read_pair(v, s.both); }},
    {"-d, --n-depth", "N,...", "tokens of context that are there before the measurement (default 0)",
     [](settings& s, text v) { return read_list(v, 0, 1 << 20, s.depths); }},
    {"-b, --batch-size", "N,...", "prompt tokens computed together (default 512)",
     [](settings& s, text v) { return read_list(v, 1, 65536, s.batches); }},
    {"-ctk, --cache-type-k", "T,...", "element types of the key/value memory (default f16)",
     [](settings& s, text v) { return read_kv_types(v, s.kv_types); }},
    {"-t, --threads", "N,...", "threads (default: the cores that this process may use)",
     [](settings& s, text v) { return read_list(v, 1, host::pool::max_threads, s.threads); }},
    {"-r, --repetitions", "N", "measurements of each kind (default 5)",
     [](settings& s, text v) { return host::read_number<u32>(v, 1, 10000, s.repetitions); }},
    {"-o, --output", "FORMAT", "md, csv, json or jsonl (default md)",
     [](settings& s, text v) { return read_format(v, s.format); }},
    {"--profile", "", "also the share of each operation, on standard error",
     [](settings& s, text) -> std::string { s.profile = true; return ""; }},
    {"--no-repack", "", "leave the weights in the mapped file as they are",
     [](settings& s, text) -> std::string { s.repack = false; return ""; }},
    {"--no-ceilings", "", "do not measure what the machine can do at most",
     [](settings& s, text) -> std::string { s.ceilings = false; return ""; }},
    {"--no-warmup", "", "measure the first run, too",
     [](settings& s, text) -> std::string { s.warmup = false; return ""; }},
    {"--progress", "", "say on standard error what is being measured",
     [](settings& s, text) -> std::string { s.progress = true; return ""; }},
    {"-h, --help", "", "this text", [](settings& s, text) -> std::string { s.help = true; return ""; }},
    {"--version", "", "the version", [](settings& s, text) -> std::string { s.version = true; return ""; }},
};

/// Fills in the defaults. Returns what cannot be, or an empty text.
inline std::string check(settings& s) {
  const auto otherwise = [](std::vector<u32>& list, u32 n) { if (list.empty()) list.push_back(n); };
  if (!s.save.empty() && (s.synthetic.size() != 1 || !s.models.empty()))
    return "--save: needs exactly one --synthetic and no -m";
  if (s.both.empty() || !s.prompts.empty()) otherwise(s.prompts, 512);
  if (s.both.empty() || !s.generated.empty()) otherwise(s.generated, 128);
  otherwise(s.depths, 0), otherwise(s.threads, 0), otherwise(s.batches, 512), otherwise(s.kv_types, 1);
  u32 most = 0;
  for (const u32 n : s.prompts) most = std::max(most, n);
  for (const u32 n : s.generated) most = std::max(most, n);
  if (most == 0 && s.both.empty()) return "nothing to measure: -p, -n and -pg give no tokens";
  return {};
}

}  // namespace jig::bench
