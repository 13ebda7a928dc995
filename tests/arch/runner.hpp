#pragma once
// Runs a model file on a kernel set through the session, for comparisons.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arch/kit.hpp"
#include "arch/models.hpp"

using namespace jig;

/// The models of the kit whose architecture this library has and that give logits.
inline const std::vector<std::string>& kit_models() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    usize all = 0;
    for (const auto& entry : std::filesystem::directory_iterator(JIG_TEST_DATA "/archs")) {
      ++all;
      const kit::json d = kit::load(entry.path().string());
      if (models::knows(d["architecture"].get<std::string>()) && d.contains("logits"))
        found.push_back(entry.path().stem().string());
    }
    std::sort(found.begin(), found.end());
    MESSAGE(found.size() << " of the kit's " << all << " models; the others' architectures are not written yet");
    return found;
  }();
  return names;
}

/// A parsed and bound model over bytes in memory; one of the architectures of all_archs.
struct test_model {
  explicit test_model(const std::vector<u8>& bytes) {
    auto opened = gguf::open(bytes);
    REQUIRE(opened);
    file = *opened;
    auto m = models::bind_any(file, slots);
    REQUIRE_MESSAGE(m, text(m.error().code), ": ", m.error().name());
    bound = *std::move(m);
  }
  gguf::file file;
  std::vector<weight> slots;
  std::unique_ptr<models::any_bound> bound;
};

/// A session with its memory. Every decoded token gives logits.
class test_session {
 public:
  explicit test_session(const test_model& m, u32 sequences = 1, u32 kv_type = 0,
                        const cpu::kernel_table& table = models::reference_table(), parallel threads = {},
                        u32 context = 256)
      : model_(m), kernels_(table), threads_(threads) {
    config_ = {.context = context,
               .sequences = sequences,
               .batch = 64,
               .outputs = 64,
               .total_tokens = 64 * sequences,
               .page_tokens = 4,
               .kv_type = kv_type};
    const session_plan plan = m.bound->plan(config_, threads.threads);
    activations_.reset(static_cast<u8*>(::operator new[](plan.activation_bytes, std::align_val_t{64})));
    kv_.reset(static_cast<u8*>(::operator new[](plan.kv_bytes, std::align_val_t{64})));
    words_.resize(plan.words);
    views_.resize(sequences);
    auto s = session::make(config_, plan, {activations_.get(), plan.activation_bytes}, {kv_.get(), plan.kv_bytes},
                           words_, views_);
    REQUIRE(s);
    session_ = *s;
  }

  session* operator->() { return &session_; }

  /// Logits of every item, in order.
  std::vector<std::vector<f32>> decode(const std::vector<batch_item>& items) {
    const auto logits = model_.bound->decode(session_, kernels_, items, threads_);
    REQUIRE_MESSAGE(logits, text(logits.error().code));
    std::vector<std::vector<f32>> rows;
    for (u32 r = 0; r < logits->rows; ++r) rows.emplace_back(logits->row(r), logits->row(r) + logits->cols);
    return rows;
  }
  std::vector<std::vector<f32>> decode(u32 sequence, const std::vector<i32>& tokens) {
    std::vector<batch_item> items;
    for (i32 token : tokens) items.push_back({token, sequence, true});
    return decode(items);
  }

 private:
  struct aligned_delete {
    void operator()(u8* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  const test_model& model_;
  models::kernel_set kernels_;
  parallel threads_;
  session_config config_;
  std::unique_ptr<u8[], aligned_delete> activations_, kv_;
  std::vector<u32> words_;
  std::vector<sequence_view> views_;
  session session_;
};
/// Tokens and the sizes of the batches in which to decode them.
struct chunked {
  std::vector<i32> tokens;
  std::vector<u32> sizes;
};

/// The logits of all positions of each sequence, each in a session of its own.
inline std::vector<std::vector<std::vector<f32>>> run(const std::vector<u8>& file,
                                                      const std::vector<chunked>& sequences) {
  const test_model m(file);
  std::vector<std::vector<std::vector<f32>>> out;
  for (const chunked& c : sequences) {
    test_session s(m);
    std::vector<std::vector<f32>> rows;
    usize at = 0;
    for (u32 n : c.sizes) {
      for (auto& row : s.decode(0, {c.tokens.begin() + at, c.tokens.begin() + at + n})) rows.push_back(std::move(row));
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
  const test_model m(file);
  test_session s(m, 2);
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
