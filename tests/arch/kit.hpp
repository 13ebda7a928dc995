#pragma once
// The golden kit of architectures: tiny deterministic models described in JSON, with reference logits.
//
// A description lists metadata, tensors and results; the weights follow from the tensors' names by a hash rule, so a
// whole model is a few kilobytes of text. Here: reading a description, writing its GGUF file, comparing logits.

#include <bit>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jig/gguf/file.hpp"
#include "jig/gguf/sha256.hpp"
#include "jig/gguf/writer.hpp"
#include "jig/quant/f32.hpp"

namespace kit {

using namespace jig;
using json = nlohmann::json;

inline json load(const std::string& path) {
  std::ifstream in(path);
  return in ? json::parse(in) : json();
}

/// The 24-bit hash of element i (from 0) of the tensor with this name.
inline u64 hash24(std::string_view name, u64 i) {
  u64 h = 0xCBF29CE484222325u;
  for (char c : name) h = (h ^ static_cast<u8>(c)) * 0x100000001B3u;
  u64 z = h + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) >> 40;
}

/// The f32 values of a described tensor, as they lie in a file.
inline std::vector<f32_block> values(std::string_view name, u64 count, f64 offset, f64 scale) {
  std::vector<f32_block> v(count);
  for (u64 i = 0; i < count; ++i)
    v[i].value = static_cast<f32>(offset + scale * (f64(hash24(name, i)) / 0x1p24 - 0.5));
  return v;
}

/// The same in i32: whole numbers.
inline std::vector<f32_block> ids(std::string_view name, u64 count, f64 offset, f64 scale) {
  std::vector<f32_block> v(count);
  for (u64 i = 0; i < count; ++i)
    v[i].value = std::bit_cast<f32>(static_cast<i32>(offset + std::floor(scale * f64(hash24(name, i)) / 0x1p24)));
  return v;
}

template <class T>
void set_number(gguf::writer& w, const std::string& key, const json& v) {
  if (v.is_array()) w.set_array(key, std::span<const T>(v.get<std::vector<T>>()));
  else w.set(key, v.get<T>());
}

inline void set_flags(gguf::writer& w, const std::string& key, const json& v) {
  std::unique_ptr<bool[]> flags(new bool[v.size()]);
  for (usize i = 0; i < v.size(); ++i) flags[i] = v[i];
  w.set_array(key, std::span<const bool>(flags.get(), v.size()));
}

inline void set_metadata(gguf::writer& w, const json& entry) {
  const std::string key = entry[0];
  std::string type = entry[1];
  if (type.front() == '[') type = type.substr(1, type.size() - 2);
  if (type == "str" && entry[2].is_array())
    w.set_array(key, std::span<const std::string>(entry[2].get<std::vector<std::string>>()));
  else if (type == "str") w.set(key, std::string_view(entry[2].get_ref<const std::string&>()));
  else if (type == "u32") set_number<u32>(w, key, entry[2]);
  else if (type == "u64") set_number<u64>(w, key, entry[2]);
  else if (type == "i32") set_number<i32>(w, key, entry[2]);
  else if (type == "f32") set_number<f32>(w, key, entry[2]);
  else if (type == "bool" && entry[2].is_array()) set_flags(w, key, entry[2]);
  else if (type == "bool") w.set(key, entry[2].get<bool>());
  else throw std::runtime_error("kit: metadata type " + type);
}

/// The bytes of the described GGUF file.
inline std::vector<u8> materialize(const json& d) {
  gguf::writer w;
  std::vector<std::vector<f32_block>> data;
  for (const json& entry : d["metadata"]) set_metadata(w, entry);
  for (const json& tensor : d["tensors"]) {
    const auto shape = tensor["shape"].get<std::vector<u64>>();
    u64 count = 1;
    for (u64 n : shape) count *= n;
    const std::string name = tensor["name"];
    const bool whole = tensor.value("type", "f32") == "i32";
    data.push_back((whole ? ids : values)(name, count, tensor["offset"], tensor["scale"]));
    const std::span bytes(reinterpret_cast<const u8*>(data.back().data()), count * 4);
    if (!w.add_tensor(name, shape, whole ? 26 : 0, bytes))
      throw std::runtime_error("kit: tensor " + name);
  }
  std::vector<u8> out;
  const auto written = w.write([&](std::span<const u8> bytes) -> result<void> {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return {};
  });
  if (!written) throw std::runtime_error("kit: cannot write the model");
  return out;
}

inline std::string sha256_text(std::span<const u8> bytes) {
  sha256 hash;
  hash.update(bytes);
  std::string text;
  for (u8 b : hash.digest()) {
    text += "0123456789abcdef"[b >> 4];
    text += "0123456789abcdef"[b & 15];
  }
  return text;
}

inline f64 nmse(const std::vector<f64>& reference, const std::vector<f64>& got) {
  f64 error = 0.0, power = 0.0;
  for (usize i = 0; i < reference.size(); ++i) {
    error += (reference[i] - got[i]) * (reference[i] - got[i]);
    power += reference[i] * reference[i];
  }
  return error / power;
}

/// The ids whose logits the kit has: for models of an encoder and a decoder those of the decoder.
inline std::vector<i32> tokens(const json& d) {
  return d[d["mode"] == "encoder-decoder" ? "decoder_tokens" : "tokens"].get<std::vector<i32>>();
}

/// Whether tokens see only those before them.
inline bool causal(const json& d) { return d["mode"] != "noncausal"; }

/// Whether the kit's figures were computed with some attention in halves, see half_attention.hpp.
inline bool in_halves(const json& d) { return d.value("flash_attention", false); }

/// Whether they depend on a choice between equal scores that differs from jig's, see late_ties.hpp.
inline bool late_ties(const json& d) { return d["name"] == "deepseek4-long"; }

/// Or on the order in which a sort leaves equal scores, see equal_cells.hpp.
inline bool sorted_ties(const json& d) { return d["architecture"] == "qwen4exp"; }

/// The ids whose logits the kit's figures are about: all but those that the model suppresses.
inline std::vector<usize> shown_ids(const json& d) {
  std::vector<usize> ids;
  for (usize i = 0; i < d["logits"]["n_vocab"].get<usize>(); ++i) {
    bool masked = false;
    if (d["logits"].contains("masked"))
      for (const json& r : d["logits"]["masked"]) masked = masked || (i >= r[0].get<usize>() && i < r[1].get<usize>());
    if (!masked) ids.push_back(i);
  }
  return ids;
}

/// Appends the values that are not suppressed.
inline void append(std::vector<f64>& to, const std::vector<f32>& row) {
  for (f32 v : row)
    if (v != std::numeric_limits<f32>::lowest()) to.push_back(f64(v));
}

}  // namespace kit
