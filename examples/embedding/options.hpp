#pragma once
// The command line of jig-embedding; names as llama-embedding's.

#include <optional>
#include <string>

#include "jig/host/command_line.hpp"
#include "jig/host/embedder.hpp"

namespace jig::embedding {

enum class format { text, json, array, raw };

struct settings {
  std::string model;
  std::optional<std::string> prompt, file;
  std::string separator = "\n";
  std::optional<std::string> query;  ///< reranking: the texts are scored against it
  bool json_in = false, similarity = false, help = false;
  format out = format::text;
  i32 normalize = 2;
  u32 threads = 0;
  bool repack = true;  ///< see host::load_options
  host::embedding_options embedding;
};

using row = host::option<settings>;
using text = std::string_view;

/// The value of a name in a list, or what is wrong.
template <class T, usize N>
std::string read_name(text name, const std::pair<text, T> (&names)[N], T& out) {
  std::string all;
  for (const auto& [known, value] : names) {
    if (known == name) return out = value, std::string();
    all += fmt::format("{}{}", all.empty() ? "" : ", ", known);
  }
  return fmt::format("must be one of {}, not \"{}\"", all, name);
}

inline constexpr std::pair<text, pooling> poolings[] = {
    {"none", pooling::none}, {"mean", pooling::mean}, {"cls", pooling::cls}, {"last", pooling::last},
    {"rank", pooling::rank}};
inline constexpr std::pair<text, format> formats[] = {
    {"text", format::text}, {"json", format::json}, {"array", format::array}, {"raw", format::raw}};

inline constexpr row table[] = {
    {"-m, --model", "FILE", "GGUF model, or any part of a split one",
     [](settings& s, text v) -> std::string { s.model = v; return v.empty() ? "must name a file" : ""; }},
    {"-p, --prompt", "TEXT", "the texts, separated by line ends (see --embd-separator)",
     [](settings& s, text v) -> std::string { s.prompt = v; return ""; }},
    {"-f, --file", "FILE", "take the texts from a file; - is standard input (the default without -p)",
     [](settings& s, text v) -> std::string { s.file = v; return ""; }},
    {"--json-input", "", "the texts are a JSON array of strings, or an object with such an array as \"input\"",
     [](settings& s, text) -> std::string { s.json_in = true; return ""; }},
    {"--embd-separator", "TEXT", "what separates texts (default: a line end)",
     [](settings& s, text v) -> std::string { s.separator = v; return v.empty() ? "must not be empty" : ""; }},
    {"--query", "TEXT", "rerank: score every text against this query (models with a classification head)",
     [](settings& s, text v) -> std::string { s.query = v; return ""; }},
    {"--pooling", "KIND", "none, mean, cls, last or rank (default: what the model was trained for)",
     [](settings& s, text v) {
       pooling kind{};
       std::string wrong = read_name(v, poolings, kind);
       if (wrong.empty()) s.embedding.pool = kind;
       return wrong;
     }},
    {"--embd-normalize", "N", "-1 none, 0 largest value to 32760, 1 taxicab, 2 Euclidean (default), more: p-norm",
     [](settings& s, text v) { return host::read_number<i32>(v, -1, 1000, s.normalize); }},
    {"--embd-output-format", "KIND", "text, json (as OpenAI's), array, or raw: numbers separated by blanks",
     [](settings& s, text v) { return read_name(v, formats, s.out); }},
    {"--similarity", "", "print the matrix of cosines between the texts as well (text and json)",
     [](settings& s, text) -> std::string { s.similarity = true; return ""; }},
    {"-c, --ctx-size", "N", "tokens of the longest text (default 0: what the model was trained for, at most 2048)",
     [](settings& s, text v) { return host::read_number<u32>(v, 0, 0x7fffffff, s.embedding.context); }},
    {"-t, --threads", "N", "threads (default -1: the cores that this process may use)",
     [](settings& s, text v) {
       return v == "-1" ? std::string() : host::read_number<u32>(v, 1, host::pool::max_threads, s.threads);
     }},
    {"--no-repack", "", "leave the weights in the mapped file as they are: loads at once, computes more slowly",
     [](settings& s, text) -> std::string { s.repack = false; return ""; }},
    {"-h, --help", "", "print this help", [](settings& s, text) -> std::string { s.help = true; return ""; }},
};

/// What contradicts in the settings, or an empty text.
inline std::string check(settings& s) {
  if (s.model.empty()) return "-m: name a model";
  if (s.prompt && s.file) return "-p and -f: give the texts once";
  if (s.query && s.embedding.pool.value_or(pooling::rank) != pooling::rank) return "--query: needs --pooling rank";
  if (s.query) s.embedding.pool = pooling::rank;
  return {};
}

}  // namespace jig::embedding
