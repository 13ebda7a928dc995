#pragma once
// What jig-embedding prints: vectors or scores in the formats of its --embd-output-format.

#include <nlohmann/json.hpp>

#include "options.hpp"

namespace jig::embedding {

using vectors = std::vector<std::vector<f32>>;

/// v in place divided by its norm, see --embd-normalize.
inline void normalize(std::vector<f32>& v, i32 kind) {
  if (kind == 2) return host::normalize(v);
  if (kind < 0) return;
  f64 size = 0.0;
  for (f32 x : v) size = kind == 0 ? std::max(size, std::abs(f64(x))) : size + std::pow(std::abs(f64(x)), kind);
  size = kind == 0 ? size / 32760.0 : std::pow(size, 1.0 / kind);
  for (f32& x : v) x = size > 0.0 ? static_cast<f32>(f64(x) / size) : 0.0f;
}

/// One row per text: some numbers of long vectors, all of short ones; then the cosines.
inline std::string as_text(const vectors& v, bool similarity) {
  std::string out;
  for (usize i = 0; i < v.size(); ++i) {
    out += fmt::format("embedding {}:", i);
    for (usize c = 0; c < v[i].size(); ++c) {
      if (v[i].size() <= 16 || c < 8 || c + 8 >= v[i].size()) out += fmt::format(" {:9.6f}", v[i][c]);
      else if (c == 8) out += " ...";
    }
    out += '\n';
  }
  if (!similarity) return out;
  out += "\ncosine similarity:\n";
  for (const auto& a : v) {
    for (const auto& b : v) out += fmt::format(" {:6.3f}", host::cosine(a, b));
    out += '\n';
  }
  return out;
}

/// As the answer of an OpenAI-style server, with the matrix of cosines if it is wanted.
inline std::string as_json(const vectors& v, bool similarity) {
  nlohmann::ordered_json data = nlohmann::ordered_json::array(), matrix = data;
  for (usize i = 0; i < v.size(); ++i) {
    data.push_back({{"object", "embedding"}, {"index", i}, {"embedding", v[i]}});
    nlohmann::ordered_json cosines = nlohmann::ordered_json::array();
    for (const auto& b : v) cosines.push_back(host::cosine(v[i], b));
    matrix.push_back(cosines);
  }
  nlohmann::ordered_json j = {{"object", "list"}, {"data", data}};
  if (similarity) j["cosineSimilarity"] = matrix;
  return j.dump(2) + "\n";
}

inline std::string shown(const vectors& v, const settings& s) {
  switch (s.out) {
    case format::text: return as_text(v, s.similarity);
    case format::json: return as_json(v, s.similarity);
    case format::array: return nlohmann::json(v).dump() + "\n";
    case format::raw: break;
  }
  std::string out;
  for (const auto& one : v)
    for (usize c = 0; c < one.size(); ++c) out += fmt::format("{}{}", one[c], c + 1 == one.size() ? '\n' : ' ');
  return out;
}

/// Scores of texts against a query, the best first in text, in the texts' order in the other formats.
inline std::string shown_scores(const vectors& v, const std::vector<std::string>& texts, const settings& s) {
  if (s.out == format::json) {
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (usize i = 0; i < v.size(); ++i) results.push_back({{"index", i}, {"relevance_score", v[i].front()}});
    return nlohmann::ordered_json{{"object", "list"}, {"results", results}}.dump(2) + "\n";
  }
  if (s.out != format::text) return shown(v, s);
  std::vector<usize> order(v.size());
  for (usize i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](usize a, usize b) {
    return v[a].front() != v[b].front() ? v[a].front() > v[b].front() : a < b;
  });
  std::string out;
  for (usize i : order) out += fmt::format("{:9.4f}  {}\n", v[i].front(), texts[i]);
  return out;
}

}  // namespace jig::embedding
