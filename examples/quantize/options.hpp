#pragma once
// The command line of jig-quantize; names as llama-quantize's.

#include <regex>
#include <string>
#include <vector>

#include "jig/host/command_line.hpp"
#include "jig/host/mix.hpp"
#include "jig/host/pool.hpp"
#include "jig/quant/type_info.hpp"

namespace jig::quantize {

struct settings {
  std::string input, output, importance;
  std::optional<host::mix> mix;
  std::optional<u32> output_type, embedding_type;
  std::vector<std::pair<std::regex, u32>> tensor_types;
  u32 threads = 0;
  bool pure = false, leave_output = false, from_quantised = false, dry_run = false, help = false;
};

using row = host::option<settings>;
using text = std::string_view;

/// A block type by its name, or what is wrong.
inline std::string read_type(text name, std::optional<u32>& out) {
  const block_info* const info = find_block_info(name);
  if (info == nullptr || info->kind == block_kind::number) return fmt::format("unknown block type \"{}\"", name);
  out = info->id;
  return {};
}

/// "REGEX=TYPE"
inline std::string read_tensor_type(text v, std::vector<std::pair<std::regex, u32>>& out) {
  const usize at = v.rfind('=');
  if (at == v.npos || at == 0) return fmt::format("must be REGEX=TYPE, not \"{}\"", v);
  std::optional<u32> type;
  if (std::string wrong = read_type(v.substr(at + 1), type); !wrong.empty()) return wrong;
  try {
    out.emplace_back(std::regex(std::string(v.substr(0, at))), *type);
  } catch (const std::regex_error& e) {
    return fmt::format("\"{}\" is no regular expression: {}", v.substr(0, at), e.what());
  }
  return {};
}

inline std::string read_mix(text v, std::optional<host::mix>& out) {
  out = host::find_mix(v);
  if (out) return {};
  std::string all;
  for (const host::mix_info& m : host::mixes) all += fmt::format("{}{}", all.empty() ? "" : ", ", m.name);
  return fmt::format("must be one of {}, not \"{}\"", all, v);
}

inline constexpr row table[] = {
    {"-m, --model", "FILE", "the model to be quantised, or any part of a split one",
     [](settings& s, text v) -> std::string { s.input = v; return v.empty() ? "must name a file" : ""; }},
    {"-o, --output", "FILE", "the new file",
     [](settings& s, text v) -> std::string { s.output = v; return v.empty() ? "must name a file" : ""; }},
    {"--type, --mix", "MIX", "the mix of types, Q4_K_M for example",
     [](settings& s, text v) { return read_mix(v, s.mix); }},
    {"--imatrix", "FILE", "importance of columns, in the GGUF form of llama-imatrix",
     [](settings& s, text v) -> std::string { s.importance = v; return v.empty() ? "must name a file" : ""; }},
    {"--pure", "", "the mix's base type for every tensor",
     [](settings& s, text) -> std::string { s.pure = true; return ""; }},
    {"--leave-output-tensor", "", "output.weight keeps its type",
     [](settings& s, text) -> std::string { s.leave_output = true; return ""; }},
    {"--output-tensor-type", "TYPE", "type of output.weight",
     [](settings& s, text v) { return read_type(v, s.output_type); }},
    {"--token-embedding-type", "TYPE", "type of the embedding",
     [](settings& s, text v) { return read_type(v, s.embedding_type); }},
    {"--tensor-type", "REGEX=TYPE", "type of the tensors in whose name the expression is found; may be repeated",
     [](settings& s, text v) { return read_tensor_type(v, s.tensor_types); }},
    {"--allow-requantize", "", "accept a model that was quantised before",
     [](settings& s, text) -> std::string { s.from_quantised = true; return ""; }},
    {"--dry-run", "", "print types and sizes, and write nothing",
     [](settings& s, text) -> std::string { s.dry_run = true; return ""; }},
    {"-t, --threads", "N", "threads (default -1: the cores that this process may use)",
     [](settings& s, text v) {
       return v == "-1" ? std::string() : host::read_number<u32>(v, 1, host::pool::max_threads, s.threads);
     }},
    {"-h, --help", "", "print this help", [](settings& s, text) -> std::string { s.help = true; return ""; }},
};

/// What is missing in the settings, or an empty text.
inline std::string check(const settings& s) {
  if (s.input.empty()) return "-m: which model?";
  if (!s.mix) return "--type: which mix?";
  if (s.output.empty() && !s.dry_run) return "-o: which file?";
  return {};
}

}  // namespace jig::quantize
