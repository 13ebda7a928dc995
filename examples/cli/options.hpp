#pragma once
// The options of jig-cli: one row each, spelt as llama-cli spells them.

#include <cstdlib>
#include <optional>
#include <string>

#include "jig/host/command_line.hpp"
#include "jig/host/generation.hpp"
#include "jig/quant/type_info.hpp"

namespace jig::cli {

struct settings {
  std::string model;  ///< empty: the demo model
  std::optional<std::string> prompt, file;
  host::session_options session;
  bool repack = true;               ///< see host::load_options
  u32 threads = 0;                  ///< 0: as many as the machine has cores for this process
  u32 max_tokens = ~u32{0};
  sample::params sampling;
  std::optional<u32> type_k, type_v;
  std::optional<bool> escapes;  ///< not given: in -p, not in -f
  bool context_shift = false;
  u32 keep = 0;  ///< ~0: the whole prompt
  bool show_prompt = true, plan = false, json = false, help = false, version = false;
};

using row = host::option<settings>;
using text = std::string_view;

/// A key/value type by name. Returns what is wrong, or an empty text.
inline std::string read_kv_type(text name, std::optional<u32>& out) {
  const block_info* info = find_block_info(name);
  if (info == nullptr || kv_row_bytes(info->id, 1) == 0)
    return fmt::format("must be f32, f16, bf16 or q8_0, not \"{}\"", name);
  out = info->id;
  return {};
}

/// A count that llama-cli also takes as a negative number, with the meaning of "no limit" or "choose".
inline std::string read_count(text v, i64 least, u32 most, u32 for_negative, u32& out) {
  i64 n = 0;
  const std::string wrong = host::read_number<i64>(v, least, most, n);
  if (wrong.empty()) out = n < 0 ? for_negative : static_cast<u32>(n);
  return wrong;
}

inline constexpr row table[] = {
    {"-m, --model", "FILE", "GGUF model, or any part of a split one (default: the bundled demo model)",
     [](settings& s, text v) -> std::string {
       s.model = v;
       return v.empty() ? "must name a file" : "";
     }},
    {"-p, --prompt", "TEXT", "the text to continue",
     [](settings& s, text v) -> std::string { s.prompt = v; return ""; }},
    {"-f, --file", "FILE", "take the prompt from a file; - is standard input",
     [](settings& s, text v) -> std::string { s.file = v; return ""; }},
    {"-n, --predict, --n-predict", "N", "tokens to generate (default -1: until the text ends or the context is full)",
     [](settings& s, text v) { return read_count(v, -2, 0x7fffffff, ~u32{0}, s.max_tokens); }},
    {"-c, --ctx-size", "N", "tokens of context (default 0: what the model was trained for)",
     [](settings& s, text v) { return host::read_number<u32>(v, 0, 0x7fffffff, s.session.context); }},
    {"--context-shift", "", "when the context is full forget the older half of it and go on",
     [](settings& s, text) -> std::string { s.context_shift = true; return ""; }},
    {"--keep", "N", "tokens of the prompt that a context shift does not forget (default 0; -1: all)",
     [](settings& s, text v) { return read_count(v, -1, 0x7fffffff, ~u32{0}, s.keep); }},
    {"-b, --batch-size", "N", "prompt tokens computed together (default 512)",
     [](settings& s, text v) { return host::read_number<u32>(v, 1, 65536, s.session.batch); }},
    {"-t, --threads", "N", "threads (default -1: the cores that this process may use)",
     [](settings& s, text v) {
       return v == "-1" ? std::string() : host::read_number<u32>(v, 1, host::pool::max_threads, s.threads);
     }},
    {"--no-repack", "", "leave the weights in the mapped file as they are: loads at once, computes more slowly",
     [](settings& s, text) -> std::string { s.repack = false; return ""; }},
    {"-s, --seed", "N", "seed of the random numbers (default -1: a random one, which is told)",
     [](settings& s, text v) { return read_count(v, -1, 0xffffffff, sample::random_seed, s.sampling.seed); }},
    {"--temp", "X", "temperature; 0 always takes the likeliest token (default 0.8)",
     [](settings& s, text v) { return host::read_number(v, 0.0f, 1000.0f, s.sampling.temp); }},
    {"--top-k", "N", "only the N likeliest tokens; 0 or -1: all (default 40)",
     [](settings& s, text v) { return host::read_number<i32>(v, -1, 0x7fffffff, s.sampling.top_k); }},
    {"--top-p", "X", "only the likeliest tokens that together have this probability; 1: all (default 0.95)",
     [](settings& s, text v) { return host::read_number(v, 0.0f, 1.0f, s.sampling.top_p); }},
    {"--min-p", "X", "only tokens at least this likely relative to the likeliest; 0: all (default 0.05)",
     [](settings& s, text v) { return host::read_number(v, 0.0f, 1.0f, s.sampling.min_p); }},
    {"-ctk, --cache-type-k", "TYPE", "type of the key memory: f32, f16, bf16 or q8_0 (default f16)",
     [](settings& s, text v) { return read_kv_type(v, s.type_k); }},
    {"-ctv, --cache-type-v", "TYPE", "type of the value memory; must be that of the keys",
     [](settings& s, text v) { return read_kv_type(v, s.type_v); }},
    {"-e, --escape", "", "replace \\n \\r \\t \\' \\\" \\\\ \\xHH in the prompt (default for -p)",
     [](settings& s, text) -> std::string { s.escapes = true; return ""; }},
    {"--no-escape", "", "leave backslashes in the prompt alone",
     [](settings& s, text) -> std::string { s.escapes = false; return ""; }},
    {"--no-display-prompt", "", "print only what is generated",
     [](settings& s, text) -> std::string { s.show_prompt = false; return ""; }},
    {"-no-cnv, --no-conversation", "", "continue the prompt as it is (jig-cli always does)",
     [](settings&, text) -> std::string { return ""; }},
    {"--plan", "", "print the memory that a run would take, by kind, and load nothing",
     [](settings& s, text) -> std::string { s.plan = true; return ""; }},
    {"--json", "", "the plan as JSON",
     [](settings& s, text) -> std::string { s.json = true; return ""; }},
    {"-h, --help", "", "print this help",
     [](settings& s, text) -> std::string { s.help = true; return ""; }},
    {"--version", "", "print the version and what is built in",
     [](settings& s, text) -> std::string { s.version = true; return ""; }},
};

/// What contradicts in the settings, or an empty text. Joins the two key/value types.
inline std::string check(settings& s) {
  if (s.prompt && s.file) return "-p and -f: give the prompt once";
  if (s.json && !s.plan) return "--json: belongs to --plan";
  if (s.type_k.value_or(1) != s.type_v.value_or(1))
    return "-ctk and -ctv: keys and values must have one type; give both the same";
  s.session.kv_type = s.type_k.value_or(1);
  return {};
}

}  // namespace jig::cli
