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
