#pragma once
// Golden figures of whole models: reading them, and running a model as they were made.

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "jig/backend/cpu/make_table.hpp"
#include "jig/host/compiled.hpp"
#include "jig/host/error_text.hpp"
#include "jig/ops/reference.hpp"
#include "sampling.hpp"

namespace golden {

using namespace jig;
using json = nlohmann::json;

using host::compiled_model;
using kernel_set = compiled_model::kernels;

/// The kernels that a test runs on: the reference's, as a table, or those that programs take on this machine.
struct by_reference {
  static constexpr bool repack = false;
  static kernel_set kernels() {
    using types = quants<f32, q8_0>;
    static constexpr cpu::kernel_table table = cpu::table_of<reference_kernels<types>, types>("reference");
    return kernel_set(table);
  }
};
struct by_cpu {
  static constexpr bool repack = true;
  static kernel_set kernels() {
    const auto k = compiled_model::make_kernels();
    REQUIRE_MESSAGE(k, host::to_string(k.error()));
    return *k;
  }
};

/// A JSON file, or null (and a line that says so) if it is absent.
inline json read(const std::string& path) {
  std::ifstream in(path);
  if (!in) MESSAGE("skipped: ", path, " is absent");
  return in ? json::parse(in) : json();
}

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline host::loaded<compiled_model> load(const std::string& path, u32 threads = 1, bool repack = true) {
  auto m = host::try_load<compiled_model>(path, {.threads = threads, .repack = repack});
  REQUIRE_MESSAGE(m, host::to_string(m.error()));
  return *std::move(m);
}
inline host::text_session<compiled_model> make(const host::loaded<compiled_model>& m, const kernel_set& kernels,
                                               const host::session_options& o = {}) {
  auto s = host::text_session<compiled_model>::make(m, o, kernels);
  REQUIRE_MESSAGE(s, host::to_string(s.error()));
  return *std::move(s);
}

/// Mean squared error relative to the mean square of the expected values.
inline f64 nmse(std::span<const f32> got, const std::vector<f64>& expected) {
  REQUIRE(got.size() == expected.size());
  f64 error = 0, size = 0;
  for (usize i = 0; i < got.size(); ++i) {
    error += (f64{got[i]} - expected[i]) * (f64{got[i]} - expected[i]);
    size += expected[i] * expected[i];
  }
  return error / size;
}

inline f64 nll(const f32* logits, u32 n, i32 token) {
  f64 top = logits[0], sum = 0;
  for (u32 i = 0; i < n; ++i) top = std::max(top, f64{logits[i]});
  for (u32 i = 0; i < n; ++i) sum += std::exp(f64{logits[i]} - top);
  return top + std::log(sum) - f64{logits[token]};
}

/// -ln p of every token: pieces of window - 1 tokens, each in a fresh context behind BOS.
inline std::vector<f64> per_token_nll(const host::loaded<compiled_model>& m, const kernel_set& kernels,
                                      std::span<const i32> ids, u32 window) {
  auto s = make(m, kernels, {.context = window, .batch = window, .kv_type = 0, .outputs = window});
  std::vector<f64> out;
  for (usize at = 0; at < ids.size(); at += window - 1) {
    const auto piece = ids.subspan(at, std::min<usize>(window - 1, ids.size() - at));
    REQUIRE(s.core().truncate(0, 0));
    std::vector<batch_item> items{{m.vocabulary().view().ids.bos, 0, true}};
    for (i32 id : piece.first(piece.size() - 1)) items.push_back({id, 0, true});
    const auto logits = s.decode(items);
    REQUIRE_MESSAGE(logits, host::to_string(logits.error()));
    for (u32 i = 0; i < piece.size(); ++i) out.push_back(nll(logits->row(i), logits->cols, piece[i]));
  }
  return out;
}

inline f64 perplexity(const std::vector<f64>& nlls) {
  f64 sum = 0;
  for (f64 v : nlls) sum += v;
  return std::exp(sum / static_cast<f64>(nlls.size()));
}

}  // namespace golden
