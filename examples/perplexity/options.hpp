#pragma once
// The command line of jig-perplexity; names as llama-perplexity's.

#include <string>
#include <vector>

#include "jig/host/command_line.hpp"
#include "jig/host/pool.hpp"
#include "jig/ops/kv_rows.hpp"
#include "jig/quant/type_info.hpp"

namespace jig::perplexity {

struct settings {
  std::vector<std::string> models;
  std::string file;  ///< the text
  std::string base;  ///< of predictions
  std::string plot;
  u32 context = 512, batch = 512, chunks = 0, threads = 0, kv_type = 1;
  bool compare = false, json = false, repack = true, help = false;
};

using row = host::option<settings>;
using text = std::string_view;

inline std::string read_kv_type(text name, u32& out) {
  const block_info* const info = find_block_info(name);
  if (info == nullptr || kv_row_bytes(info->id, 1) == 0)
    return fmt::format("must be f32, f16, bf16 or q8_0, not \"{}\"", name);
  out = info->id;
  return {};
}

inline constexpr row table[] = {
    {"-m, --model", "FILE", "GGUF model, or any part of a split one; may be repeated",
     [](settings& s, text v) -> std::string { s.models.emplace_back(v); return v.empty() ? "must name a file" : ""; }},
    {"-f, --file", "FILE", "the text that is predicted; - is standard input",
     [](settings& s, text v) -> std::string { s.file = v; return v.empty() ? "must name a file" : ""; }},
    {"--kl-divergence-base", "FILE", "write the predictions of the model to this file, for others to be compared with",
     [](settings& s, text v) -> std::string { s.base = v; return v.empty() ? "must name a file" : ""; }},
    {"--kl-divergence", "", "compare with the predictions in that file instead; the text is in it",
     [](settings& s, text) -> std::string { s.compare = true; return ""; }},
    {"--plot", "FILE.svg", "draw the models' sizes against their divergence (with --kl-divergence)",
     [](settings& s, text v) -> std::string { s.plot = v; return v.empty() ? "must name a file" : ""; }},
    {"-c, --ctx-size", "N", "tokens of a chunk (default 512); a base file says it itself",
     [](settings& s, text v) { return host::read_number<u32>(v, 4, 1 << 24, s.context); }},
    {"--chunks", "N", "only the first N chunks (default 0: all)",
     [](settings& s, text v) { return host::read_number<u32>(v, 0, 0x7fffffff, s.chunks); }},
    {"-b, --batch-size", "N", "tokens computed together (default 512)",
     [](settings& s, text v) { return host::read_number<u32>(v, 1, 65536, s.batch); }},
    {"-ctk, --cache-type-k", "TYPE", "element type of the key/value memory (default f16)",
     [](settings& s, text v) { return read_kv_type(v, s.kv_type); }},
    {"-t, --threads", "N", "threads (default -1: the cores that this process may use)",
     [](settings& s, text v) {
       return v == "-1" ? std::string() : host::read_number<u32>(v, 1, host::pool::max_threads, s.threads);
     }},
    {"--json", "", "results as JSON", [](settings& s, text) -> std::string { s.json = true; return ""; }},
    {"--no-repack", "", "leave the weights in the mapped file as they are",
     [](settings& s, text) -> std::string { s.repack = false; return ""; }},
    {"-h, --help", "", "print this help", [](settings& s, text) -> std::string { s.help = true; return ""; }},
};

/// What contradicts in the settings, or an empty text.
inline std::string check(const settings& s) {
  if (s.models.empty()) return "-m: which model?";
  if (s.compare && s.base.empty()) return "--kl-divergence: --kl-divergence-base FILE says what to compare with";
  if (s.compare && !s.file.empty()) return "-f: with --kl-divergence the text comes from the base file";
  if (!s.compare && s.file.empty()) return "-f: which text?";
  if (!s.compare && !s.base.empty() && s.models.size() > 1) return "--kl-divergence-base: one model writes a base file";
  if (!s.plot.empty() && !s.compare) return "--plot: needs --kl-divergence";
  return {};
}

}  // namespace jig::perplexity
