#pragma once
// Runs a model file on a kernel set through the session, for comparisons.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arch/kit.hpp"
#include "jig/backend/cpu/make_table.hpp"
#include "jig/host/compiled.hpp"
#include "jig/host/error_text.hpp"
#include "jig/ops/reference.hpp"
#include "sampling.hpp"

using namespace jig;

using kernel_set = host::compiled_model::kernels;

/// The models of the kit whose architecture this library has and that give logits, or embeddings.
inline const std::vector<std::string>& kit_models(const std::string& result = "logits") {
  static const std::map<std::string, std::vector<std::string>> names = [] {
    std::map<std::string, std::vector<std::string>> found;
    usize all = 0;
    for (const auto& entry : std::filesystem::directory_iterator(JIG_TEST_DATA "/archs")) {
      ++all;
      const kit::json d = kit::load(entry.path().string());
      if (find_arch(arch_infos<all_archs>, d["architecture"].get<std::string>()) != nullptr)
        found[d.contains("logits") ? "logits" : "embedding"].push_back(entry.path().stem().string());
    }
    const usize have = found["logits"].size() + found["embedding"].size();
    MESSAGE(have << " of the kit's " << all << " models are of architectures that this program has");
    REQUIRE(have >= arch_infos<all_archs>.size());
    for (auto& [kind, list] : found) {
      std::sort(list.begin(), list.end());
      list = every_nth(list, "kit models (" + kind + ")");
    }
    return found;
  }();
  return names.at(result);
}

/// The reference kernels as a table, so that they run the same compiled forward passes as the CPU's.
inline kernel_set reference_kernel_set() {
  static constexpr cpu::kernel_table table = cpu::table_of<reference_kernels<quants<f32>>, quants<f32>>("reference");
  return kernel_set(table);
}

/// A model over bytes in memory; one of the architectures of all_archs.
inline host::loaded<host::compiled_model> load_model(const std::vector<u8>& bytes, u32 threads = 1) {
  auto m = host::try_load<host::compiled_model>(std::span(bytes), {.threads = threads});
  REQUIRE_MESSAGE(m, host::to_string(m.error()));
  return *std::move(m);
}

/// A session with small pages. Every decoded token gives logits.
class test_session {
 public:
  explicit test_session(const host::loaded<host::compiled_model>& m, const kernel_set& kernels = reference_kernel_set(),
                        u32 sequences = 1, u32 kv_type = 0, u32 context = 256, u32 kept_window = ~0u)
      : sources_(m.encodes_source() ? sources() : std::array<std::vector<i32>, 2>{}),
        session_(make(m, kernels,
                      {.context = context,
                       .batch = batch,
                       .kv_type = kv_type,
                       .outputs = batch,
                       .sequences = sequences,
                       .total_tokens = 160 * sequences,
                       .page_tokens = 4,
                       .kept_window = kept_window})) {}

  session* operator->() { return &session_.core(); }
  host::text_session<host::compiled_model>& whole() { return session_; }

  /// What a decoder reads before the first token of sequence 0, or of the others; empty for models without an encoder.
  const std::vector<i32>& source(u32 sequence = 0) const { return sources_[sequence != 0]; }
  /// The length of sequence 0 when it has so many tokens behind its source.
  u32 length_of(usize tokens) const { return static_cast<u32>(source().size() + tokens); }

  /// Logits of every item, in order, at most 64 at a time. Empty sequences get their sources first.
  std::vector<std::vector<f32>> decode(const std::vector<batch_item>& items) {
    for (const batch_item& i : items) {
      if (source().empty() || session_.core().length(i.sequence) != 0) continue;
      std::vector<batch_item> first;
      for (i32 token : source(i.sequence)) first.push_back({token, i.sequence});
      const auto encoded = session_.encode(first);
      REQUIRE_MESSAGE(encoded, host::to_string(encoded.error()));
    }
    std::vector<std::vector<f32>> rows;
    for (usize at = 0; at < items.size(); at += batch) {
      const usize n = std::min(batch, items.size() - at);
      const auto logits = session_.decode(std::vector<batch_item>(items.begin() + at, items.begin() + at + n));
      REQUIRE_MESSAGE(logits, host::to_string(logits.error()));
      for (u32 r = 0; r < logits->rows; ++r) rows.emplace_back(logits->row(r), logits->row(r) + logits->cols);
    }
    return rows;
  }
  std::vector<std::vector<f32>> decode(u32 sequence, const std::vector<i32>& tokens) {
    std::vector<batch_item> items;
    for (i32 token : tokens) items.push_back({token, sequence, true});
    return decode(items);
  }

 private:
  static constexpr usize batch = 64;
  static std::array<std::vector<i32>, 2> sources() {
    const auto tokens = kit::load(JIG_TEST_DATA "/archs/t5.json")["tokens"].get<std::vector<i32>>();
    return {tokens, {tokens.rbegin() + 3, tokens.rend()}};
  }
  static host::text_session<host::compiled_model> make(const host::loaded<host::compiled_model>& m,
                                                       const kernel_set& kernels, const host::session_options& o) {
    auto s = host::text_session<host::compiled_model>::make(m, o, kernels);
    REQUIRE_MESSAGE(s, host::to_string(s.error()));
    return *std::move(s);
  }
  std::array<std::vector<i32>, 2> sources_;
  host::text_session<host::compiled_model> session_;
};

/// Tokens and the sizes of the batches in which to decode them.
struct chunked {
  std::vector<i32> tokens;
  std::vector<u32> sizes;
};

/// The logits of all positions of each sequence, each in a session of its own: the first is sequence 0 there, and so
/// on.
inline std::vector<std::vector<std::vector<f32>>> run(const std::vector<u8>& file,
                                                      const std::vector<chunked>& sequences,
                                                      const kernel_set& kernels = reference_kernel_set()) {
  const auto m = load_model(file);
  std::vector<std::vector<std::vector<f32>>> out;
  for (u32 i = 0; i < sequences.size(); ++i) {
    const chunked& c = sequences[i];
    test_session s(m, kernels, i + 1);
    std::vector<std::vector<f32>> rows;
    usize at = 0;
    for (u32 n : c.sizes) {
      for (auto& row : s.decode(i, {c.tokens.begin() + at, c.tokens.begin() + at + n})) rows.push_back(std::move(row));
      at += n;
    }
    REQUIRE(at == c.tokens.size());
    out.push_back(std::move(rows));
  }
  return out;
}

/// Two sequences whose tokens alternate in batches of 10.
inline std::vector<std::vector<std::vector<f32>>> run_interleaved(const std::vector<u8>& file,
                                                                  const std::vector<i32>& a,
                                                                  const std::vector<i32>& b) {
  const auto m = load_model(file);
  test_session s(m, reference_kernel_set(), 2);
  std::vector<batch_item> items;
  for (usize i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size()) items.push_back({a[i], 0, true});
    if (i < b.size()) items.push_back({b[i], 1, true});
  }
  std::vector<std::vector<std::vector<f32>>> out(2);
  for (usize at = 0; at < items.size(); at += 10) {
    const std::vector<batch_item> part(items.begin() + at, items.begin() + std::min(at + 10, items.size()));
    auto rows = s.decode(part);
    for (usize i = 0; i < part.size(); ++i) out[part[i].sequence].push_back(std::move(rows[i]));
  }
  return out;
}

/// All numbers, row by row.
inline std::vector<f64> flat(const std::vector<std::vector<f32>>& rows) {
  std::vector<f64> all;
  for (const auto& row : rows) kit::append(all, row);
  return all;
}

/// Checks that what a session with room for `seen` tokens remembers serves one with room for all.
inline void check_serves_longer(const host::loaded<host::compiled_model>& m, const std::vector<i32>& tokens, u32 seen) {
  const std::vector<i32> first(tokens.begin(), tokens.begin() + seen), second(tokens.begin() + seen, tokens.end());
  test_session whole(m), small(m, reference_kernel_set(), 1, 0, seen), large(m);
  whole.decode(0, first);
  small.decode(0, first);
  const auto bytes = small.whole().save(first);
  REQUIRE(bytes);
  REQUIRE(large.whole().restore(*bytes, 0));
  CHECK(kit::nmse(flat(whole.decode(0, second)), flat(large.decode(0, second))) < 1e-10);
}
