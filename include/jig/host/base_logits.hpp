#pragma once
// Predictions of a base model in a file, for others to be compared with: log-probabilities of every scored token of a
// text (perplexity.hpp), 16 bits each. The format is that of llama-perplexity --kl-divergence-base:
//
//   "_logits_", u32 context, i32 vocabulary, i32 chunks, i32 tokens[chunks][context]
//   for each scored token: f32 scale, f32 least, u16 codes[vocabulary], rounded up to an even number
//   ln p(token) = scale * code + least; what is more than 16 below the best has code 0
//
// All numbers are little-endian.

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "jig/core/endian.hpp"
#include "jig/host/mapped_file.hpp"
#include "jig/host/output_file.hpp"
#include "jig/host/perplexity.hpp"

namespace jig::host {

namespace detail {
inline constexpr char base_magic[9] = "_logits_";
inline constexpr usize base_header = 20;
/// Bytes of one scored token.
constexpr u64 base_row_bytes(u64 n_vocab) noexcept { return 8 + 2 * ((n_vocab + 1) / 2 * 2); }
}  // namespace detail

/// Writes a base file. Without commit() nothing remains of it. Move-only.
class base_writer {
 public:
  /// tokens: whole chunks of `context`. Errors: cannot_write.
  static result<base_writer> create(const std::string& path, u32 context, u32 n_vocab, std::span<const i32> tokens) {
    JIG_TRY(output_file file, output_file::create(path));
    std::vector<u8> head(detail::base_header + 4 * tokens.size());
    std::memcpy(head.data(), detail::base_magic, 8);
    const u32 numbers[3] = {context, n_vocab, static_cast<u32>(tokens.size() / context)};
    for (u32 i = 0; i < 3; ++i) store_le(head.data() + 8 + 4 * i, numbers[i]);
    for (usize i = 0; i < tokens.size(); ++i)
      store_le(head.data() + detail::base_header + 4 * i, static_cast<u32>(tokens[i]));
    JIG_CHECK(file.write(head));
    return base_writer(std::move(file), n_vocab);
  }

  /// The next scored token: its logits [vocabulary]. Errors: cannot_write.
  result<void> add(std::span<const f32> logits) {
    const auto [low, high] = std::minmax_element(logits.begin(), logits.end());
    const f32 most = *high, least = std::max(*low, most - 16.0f), scale = (most - least) / 65535.0f;
    std::fill(row_.begin(), row_.end(), u8{0});
    store_le(row_.data(), std::bit_cast<u32>(scale));
    store_le(row_.data() + 4, std::bit_cast<u32>(static_cast<f32>(static_cast<f64>(least) - log_sum(logits))));
    for (usize i = 0; scale > 0.0f && i < logits.size(); ++i) {
      const f32 code = std::nearbyint((logits[i] - least) / scale);
      store_le(row_.data() + 8 + 2 * i, static_cast<u16>(std::clamp(code, 0.0f, 65535.0f)));
    }
    return file_.write(row_);
  }
  result<void> commit() { return file_.commit(); }

 private:
  base_writer(output_file file, u32 n_vocab)
      : file_(std::move(file)), row_(static_cast<usize>(detail::base_row_bytes(n_vocab))) {}

  output_file file_;
  std::vector<u8> row_;
};

/// A base file. Move-only.
class base_logits {
 public:
  /// Errors: those of mapped_file::open; bad_value (what is wrong with the file), truncated (got: the bytes that it
  /// should have).
  static result<base_logits> open(const std::string& path) {
    base_logits b;
    JIG_TRY(b.file_, mapped_file::open(path));
    const std::span<const u8> bytes = b.file_.bytes();
    if (bytes.size() < detail::base_header || std::memcmp(bytes.data(), detail::base_magic, 8) != 0)
      return fail(errc::bad_value, "not a file of a base model's predictions");
    u32* const numbers[3] = {&b.context_, &b.n_vocab_, &b.chunks_};
    for (u32 i = 0; i < 3; ++i) *numbers[i] = load_le<u32>(bytes.data() + 8 + 4 * i);
    if (b.context_ < 4 || b.context_ > 1u << 24) return fail(errc::bad_value, "context").got(b.context_);
    if (b.n_vocab_ == 0 || b.n_vocab_ > 1u << 24) return fail(errc::bad_value, "vocabulary").got(b.n_vocab_);
    if (b.chunks_ == 0 || b.chunks_ > 1u << 24) return fail(errc::bad_value, "chunks").got(b.chunks_);
    const u64 tokens = u64{b.context_} * b.chunks_;
    const u64 row = detail::base_row_bytes(b.n_vocab_), rows = u64{b.chunks_} * scored_tokens(b.context_);
    b.rows_at_ = detail::base_header + 4 * tokens;
    if (rows > (~u64{0} >> 1) / row || bytes.size() < b.rows_at_ + rows * row)
      return fail(errc::truncated).got(rows > (~u64{0} >> 1) / row ? rows : b.rows_at_ + rows * row);
    for (u64 i = 0; i < tokens; ++i) {
      const u32 token = load_le<u32>(bytes.data() + detail::base_header + 4 * i);
      if (token >= b.n_vocab_) return fail(errc::bad_token).got(token);
      b.tokens_.push_back(static_cast<i32>(token));
    }
    return b;
  }

  u32 context() const noexcept { return context_; }
  u32 n_vocab() const noexcept { return n_vocab_; }
  u32 chunks() const noexcept { return chunks_; }
  /// [chunks][context]
  std::span<const i32> tokens() const noexcept { return tokens_; }
  /// ln p of every token of the vocabulary at a scored place: [n_vocab].
  void read(u32 chunk, u32 index, std::vector<f32>& out) const {
    const u64 row = u64{chunk} * scored_tokens(context_) + index;
    const u8* const p = file_.bytes().data() + rows_at_ + row * detail::base_row_bytes(n_vocab_);
    const f32 scale = std::bit_cast<f32>(load_le<u32>(p)), least = std::bit_cast<f32>(load_le<u32>(p + 4));
    out.resize(n_vocab_);
    for (u32 i = 0; i < n_vocab_; ++i) out[i] = scale * static_cast<f32>(load_le<u16>(p + 8 + 2 * i)) + least;
  }

 private:
  mapped_file file_;
  u32 context_ = 0, n_vocab_ = 0, chunks_ = 0;
  u64 rows_at_ = 0;
  std::vector<i32> tokens_;
};

}  // namespace jig::host
