#pragma once
// Which page of key/value memory belongs to which sequence: fixed-size pages of tokens, reference-counted, so that
// sequences share a common beginning and copy a page only when they write to it (vLLM, arXiv 2309.06180).
//
// This is only the index: page numbers and lengths, in the caller's memory, no heap. Page contents are moved by the
// `copy` function that extend() is given. Firmware uses one page per sequence.

#include <span>

#include "jig/core/result.hpp"
#include "jig/ops/batch.hpp"

namespace jig {

struct page_config {
  u32 n_sequences = 1;
  u32 n_pages = 1;
  u32 page_tokens = 32;
  u32 max_tokens = 32;  ///< longest sequence
  constexpr u32 pages_per_sequence() const noexcept {
    return max_tokens / page_tokens + (max_tokens % page_tokens != 0);
  }
};

/// The page lists of all sequences.
class page_index {
 public:
  constexpr page_index() noexcept = default;

  static constexpr u32 none = ~u32{0};

  /// Words of memory that the index needs.
  static constexpr u64 words(const page_config& c) noexcept {
    return 2 * u64{c.n_pages} + 3 * u64{c.n_sequences} + u64{c.n_sequences} * c.pages_per_sequence();
  }

  /// Everything free. `memory`: words(config) entries that outlive the index.
  static constexpr result<page_index> make(const page_config& c, std::span<u32> memory) noexcept {
    if (c.page_tokens == 0 || c.n_pages == 0 || c.n_sequences == 0 || c.max_tokens == 0)
      return fail(errc::bad_argument, "page_config").got(0);
    if (memory.size() < words(c)) return fail(errc::buffer_too_small, "page index").got(words(c));
    page_index p;
    p.config_ = c;
    p.references_ = memory.data();
    p.free_ = p.references_ + c.n_pages;
    p.length_ = p.free_ + c.n_pages;
    p.source_ = p.length_ + c.n_sequences;
    p.first_ = p.source_ + c.n_sequences;
    p.tables_ = p.first_ + c.n_sequences;
    for (u32 i = 0; i < c.n_pages; ++i) p.references_[i] = 0, p.free_[i] = c.n_pages - 1 - i;
    for (u32 s = 0; s < c.n_sequences; ++s) p.length_[s] = p.source_[s] = p.first_[s] = 0;
    p.n_free_ = c.n_pages;
    return p;
  }

  constexpr const page_config& config() const noexcept { return config_; }
  constexpr u32 free_pages() const noexcept { return n_free_; }
  constexpr u32 length(u32 sequence) const noexcept { return length_[sequence]; }
  constexpr u32 source(u32 sequence) const noexcept { return source_[sequence]; }
  constexpr sequence_view view(u32 sequence) const noexcept {
    return {table(sequence), length_[sequence], source_[sequence]};
  }
  constexpr bool valid(u32 sequence) const noexcept { return sequence < config_.n_sequences; }

  /// Pages that extend(sequence, n) would take: new ones, and one for a shared last page that must be copied.
  constexpr u32 pages_needed(u32 sequence, u32 n) const noexcept {
    if (n == 0) return 0;
    const u32 used = pages_of(length_[sequence]);
    return pages_of(length_[sequence] + n) - used + (must_copy(sequence) ? 1 : 0);
  }

  /// Makes room for n more tokens; copy(to, from) moves a page's contents. All or nothing.
  /// Errors: bad_sequence, context_full (got: the length that was asked for).
  template <class Copy>
  constexpr result<void> extend(u32 sequence, u32 n, Copy&& copy) noexcept {
    if (!valid(sequence)) return fail(errc::bad_sequence).got(sequence);
    const u64 length = u64{length_[sequence]} + n;
    if (length > config_.max_tokens || pages_needed(sequence, n) > n_free_) return fail(errc::context_full).got(length);
    if (n == 0) return {};
    u32* pages = table(sequence);
    if (must_copy(sequence)) copy_page(pages[pages_of(length_[sequence]) - 1], copy);
    for (u32 i = pages_of(length_[sequence]); i < pages_of(static_cast<u32>(length)); ++i) pages[i] = take();
    length_[sequence] = static_cast<u32>(length);
    return {};
  }

  /// The first cell whose contents are still there.
  constexpr u32 first(u32 sequence) const noexcept { return first_[sequence]; }
  /// Forgets the cells before this one and gives their pages back. Precondition: the sequence has so many.
  constexpr void drop_before(u32 sequence, u32 cell) noexcept {
    for (u32 i = first_[sequence] / config_.page_tokens; i < cell / config_.page_tokens; ++i) {
      drop(table(sequence)[i]);
      table(sequence)[i] = none;
    }
    if (cell > first_[sequence]) first_[sequence] = cell;
  }

  /// Makes the pages from cell `from` on the sequence's alone; copy(to, from) moves a page's contents. All or nothing.
  /// Errors: bad_sequence, context_full (no room for the copies; got: their number).
  template <class Copy>
  constexpr result<void> own(u32 sequence, u32 from, Copy&& copy) noexcept {
    if (!valid(sequence)) return fail(errc::bad_sequence).got(sequence);
    const std::span<u32> pages(table(sequence), pages_of(length_[sequence]));
    u32 shared = 0;
    for (usize i = from / config_.page_tokens; i < pages.size(); ++i) shared += is_shared(pages[i]);
    if (shared > n_free_) return fail(errc::context_full).got(shared);
    for (usize i = from / config_.page_tokens; i < pages.size(); ++i)
      if (is_shared(pages[i])) copy_page(pages[i], copy);
    return {};
  }

  /// Makes the first n tokens of a sequence its source, which is forgotten as a whole only. Precondition: it has them.
  constexpr void set_source(u32 sequence, u32 n) noexcept { source_[sequence] = n; }

  /// Forgets the tokens from `length` on. Errors: bad_sequence, bad_argument (longer than the sequence, or part of its
  /// source).
  constexpr result<void> truncate(u32 sequence, u32 length) noexcept {
    if (!valid(sequence)) return fail(errc::bad_sequence).got(sequence);
    if (length > length_[sequence] || (length != 0 && length < source_[sequence]))
      return fail(errc::bad_argument, "length").got(length);
    if (length == 0) source_[sequence] = first_[sequence] = 0;
    for (u32 i = pages_of(length); i < pages_of(length_[sequence]); ++i) drop(table(sequence)[i]);
    length_[sequence] = length;
    return {};
  }

  /// Makes the empty sequence `to` a copy of `from` that shares its pages. Errors: bad_sequence (unknown, or `to` is
  /// not empty).
  constexpr result<void> fork(u32 from, u32 to) noexcept {
    if (!valid(from)) return fail(errc::bad_sequence).got(from);
    if (!valid(to) || from == to || length_[to] != 0) return fail(errc::bad_sequence).got(to);
    for (u32 i = 0; i < pages_of(length_[from]); ++i)
      if (const u32 page = table(to)[i] = table(from)[i]; page != none) ++references_[page];
    length_[to] = length_[from];
    source_[to] = source_[from];
    first_[to] = first_[from];
    return {};
  }

 private:
  constexpr u32* table(u32 sequence) const noexcept { return tables_ + usize{sequence} * config_.pages_per_sequence(); }
  constexpr u32 pages_of(u32 tokens) const noexcept {
    return tokens / config_.page_tokens + (tokens % config_.page_tokens != 0);
  }
  constexpr bool must_copy(u32 sequence) const noexcept {
    const u32 length = length_[sequence];
    return length % config_.page_tokens != 0 && is_shared(table(sequence)[pages_of(length) - 1]);
  }
  constexpr bool is_shared(u32 page) const noexcept { return page != none && references_[page] > 1; }
  constexpr u32 take() noexcept {
    const u32 page = free_[--n_free_];
    references_[page] = 1;
    return page;
  }
  template <class Copy>
  constexpr void copy_page(u32& page, Copy&& copy) noexcept {
    const u32 fresh = take();
    copy(fresh, page);
    drop(page);
    page = fresh;
  }
  constexpr void drop(u32 page) noexcept {
    if (page != none && --references_[page] == 0) free_[n_free_++] = page;
  }

  page_config config_;
  u32 *references_ = nullptr, *free_ = nullptr, *length_ = nullptr, *source_ = nullptr, *first_ = nullptr;
  u32* tables_ = nullptr;
  u32 n_free_ = 0;
};

}  // namespace jig
