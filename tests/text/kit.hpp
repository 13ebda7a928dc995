#pragma once
// What the text tests share: the golden tokenizer kit under JIG_SHARED, unpacked vocabularies, hex and SHA-256.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "jig/gguf/writer.hpp"
#include "jig/host/vocab.hpp"

namespace jig::test {

using json = nlohmann::json;

inline std::string kit_folder() { return JIG_SHARED "/golden/tokenizers/"; }

inline std::vector<u8> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline bool kit_present() { return std::ifstream(kit_folder() + "cases.json").good(); }

/// The output of xz -dc; empty if the file or xz is missing.
inline std::vector<u8> unpack(const std::string& path) {
  std::vector<u8> bytes;
  if (!std::ifstream(path).good()) return bytes;
  FILE* pipe = popen(("xz -dc '" + path + "'").c_str(), "r");
  if (pipe == nullptr) return bytes;
  std::vector<u8> block(1 << 20);
  while (const usize n = fread(block.data(), 1, block.size(), pipe))
    bytes.insert(bytes.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
  return pclose(pipe) == 0 ? bytes : std::vector<u8>();
}

/// A GGUF file in memory with its vocabulary.
struct opened {
  std::vector<u8> bytes;
  gguf::file file;
  host::vocab v;
};

/// Fails the test if the bytes are no GGUF file with a vocabulary.
inline std::unique_ptr<opened> open_vocab(std::vector<u8> bytes) {
  auto o = std::make_unique<opened>();
  o->bytes = std::move(bytes);
  auto file = gguf::open(o->bytes);
  REQUIRE(file);
  o->file = *file;
  auto v = host::vocab::load(o->file);
  if (!v) {
    INFO(name(v.error().code), " ", v.error().name());
    REQUIRE(v);
  }
  o->v = std::move(*v);
  return o;
}

/// A hand-made vocabulary. Scores and types may be shorter than the tokens (0 and normal follow) or empty (no key).
struct toy {
  std::string model = "llama", pre = {};
  std::vector<std::string> tokens = {};
  std::vector<f32> scores = {};
  std::vector<i32> types = {};
  std::vector<std::string> merges = {};
  gguf::writer keys = {};  ///< anything else

  std::vector<u8> bytes(gguf::byte_order order = gguf::byte_order::little) const {
    gguf::writer w = keys;
    w.order = order;
    w.set("tokenizer.ggml.model", model);
    if (!pre.empty()) w.set("tokenizer.ggml.pre", pre);
    w.set_array<std::string>("tokenizer.ggml.tokens", tokens);
    auto filled_scores = scores;
    auto filled_types = types;
    filled_scores.resize(tokens.size(), 0.0f);
    filled_types.resize(tokens.size(), 1);
    if (!scores.empty()) w.set_array<f32>("tokenizer.ggml.scores", filled_scores);
    if (!types.empty()) w.set_array<i32>("tokenizer.ggml.token_type", filled_types);
    if (model == "gpt2") w.set_array<std::string>("tokenizer.ggml.merges", merges);
    const auto all = w.bytes();
    REQUIRE(all);
    return *all;
  }
};

/// The 256 one-byte tokens of a byte-level vocabulary, in the order of the bytes.
inline std::vector<std::string> byte_tokens() {
  std::vector<std::string> all;
  for (u32 b = 0; b < 256; ++b) {
    char text[4];
    all.emplace_back(text, encode_utf8(byte_to_code(static_cast<u8>(b)), text));
  }
  return all;
}

/// A text as ids, by the hosted functions; fails the test if that is an error.
inline std::vector<i32> ids_of(const vocab& v, std::string_view text, tokenize_options options = {}) {
  const auto ids = host::tokenize(v, text, options);
  REQUIRE(ids);
  return *ids;
}
inline std::string text_of(const vocab& v, const std::vector<i32>& ids, detokenize_options options = {}) {
  const auto text = host::detokenize(v, ids, options);
  REQUIRE(text);
  return *text;
}

/// Random choices for tests; the same on every platform.
class random_source {
 public:
  explicit random_source(u64 seed) : state_(seed) {}
  u32 next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<u32>(state_ >> 33);
  }
  u32 below(u32 n) { return next() % n; }
  /// n code points, mostly ASCII letters and spaces, some of any script; valid UTF-8.
  std::string text(u32 n) {
    std::string s;
    while (n-- > 0) {
      const u32 kind = below(8);
      u32 code = kind < 4 ? 'a' + below(26) : kind == 4 ? ' ' : kind == 5 ? below(0x80) : below(0x30000);
      if (code >= 0xd800 && code < 0xe000) code = '\n';
      char bytes[4];
      s.append(bytes, encode_utf8(code, bytes));
    }
    return s;
  }
  std::string bytes(u32 n) {
    std::string s;
    while (n-- > 0) s += static_cast<char>(below(256));
    return s;
  }

 private:
  u64 state_;
};

/// The kit's vocabulary of a name (packed, or plain among the synthetic ones); null if it isn't there.
inline std::unique_ptr<opened> open_kit_vocab(const std::string& which) {
  std::vector<u8> bytes = which.starts_with("synth") ? read_file(kit_folder() + "synthetic/" + which + ".gguf")
                                                     : unpack(kit_folder() + which + ".gguf.xz");
  return bytes.empty() ? nullptr : open_vocab(std::move(bytes));
}

inline json kit_json(const std::string& which) {
  return json::parse(std::ifstream(kit_folder() + (which.starts_with("synth") ? "synthetic/" : "") + which + ".json"));
}

/// A text of the kit: the key, or the key with _hex.
inline std::string kit_text(const json& from, const std::string& key) {
  if (from.contains(key)) return from[key].get<std::string>();
  const std::string hex = from[key + "_hex"].get<std::string>();
  std::string bytes;
  for (usize i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

/// The kit's inputs, in order.
inline std::vector<std::string> kit_cases() {
  std::vector<std::string> all;
  for (const json& c : kit_json("cases")) all.push_back(kit_text(c, "text"));
  return all;
}

}  // namespace jig::test
