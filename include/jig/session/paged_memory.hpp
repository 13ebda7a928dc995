#pragma once
// The keys and values of all sequences, in pages: one kind of page for all layers, or, where windowed layers forget,
// one for those and one for the others. Both kinds have the same cells; only what is still there differs. No heap;
// works in the caller's memory.

#include <cstring>

#include "jig/arch/memory.hpp"
#include "jig/session/pages.hpp"

namespace jig {

/// How the memory is divided.
struct paged_memory_plan {
  page_config pages, windows;  ///< no pages of windowed layers: these lie with the others
  u64 page_bytes = 0, window_page_bytes = 0;
  u32 window = 0;  ///< what windowed layers see

  constexpr u64 bytes() const noexcept { return window_offset() + window_page_bytes * windows.n_pages; }
  constexpr u64 words() const noexcept {
    return page_index::words(pages) + (window_page_bytes != 0 ? page_index::words(windows) : 0);
  }
  constexpr u64 window_offset() const noexcept {
    const u64 all = page_bytes * pages.n_pages;
    return window_page_bytes != 0 ? round_up(all, 64) : all;
  }
};

/// Copies one page to another.
struct page_copy {
  u8* data;
  u64 bytes;
  void operator()(u32 to, u32 from) const noexcept {
    std::memcpy(data + to * bytes, data + from * bytes, static_cast<usize>(bytes));
  }
};

/// Windows: whether there can be pages of windowed layers. Firmware whose model has none carries no code for them.
template <bool Windows>
class paged_memory {
 public:
  paged_memory() noexcept = default;

  /// Everything free. `data`: bytes() of the plan; `words`: words() entries; both outlive the memory.
  /// Errors: bad_argument, buffer_too_small.
  static result<paged_memory> make(const paged_memory_plan& p, u32 kv_type, u8* data, std::span<u32> words) noexcept {
    paged_memory m;
    m.memory_ = {data, p.page_bytes, p.pages.page_tokens, kv_type};
    JIG_TRY(m.pages_, page_index::make(p.pages, words));
    if (p.window_page_bytes == 0) return m;
    if constexpr (!Windows) return fail(errc::bad_argument, "windows").got(p.window_page_bytes);
    m.memory_.windows_apart = true;
    m.window_memory_ = {data + p.window_offset(), p.window_page_bytes, p.windows.page_tokens, kv_type, true};
    m.window_ = p.window;
    JIG_TRY(m.windows_, page_index::make(p.windows, words.subspan(static_cast<usize>(page_index::words(p.pages)))));
    return m;
  }

  const kv_memory& memory() const noexcept { return memory_; }
  const kv_memory& window_memory() const noexcept { return window_memory_; }
  /// Whether windowed layers have pages of their own.
  bool forgets() const noexcept { return Windows && memory_.windows_apart; }
  bool valid(u32 sequence) const noexcept { return pages_.valid(sequence); }
  u32 free_pages() const noexcept { return pages_.free_pages(); }
  u32 length(u32 sequence) const noexcept { return pages_.length(sequence); }
  u32 source(u32 sequence) const noexcept { return pages_.source(sequence); }
  void set_source(u32 sequence, u32 n) noexcept { pages_.set_source(sequence, n); }
  /// The first token of which windowed layers still know.
  u32 first(u32 sequence) const noexcept { return forgets() ? windows_.first(sequence) : 0; }
  /// Whether a token behind this length would see only what is still there.
  bool continues(u32 sequence, u32 length) const noexcept {
    const u32 gone = first(sequence);
    return gone == 0 || length == 0 || length + 1 >= gone + window_;
  }
  sequence_view view(u32 sequence) const noexcept { return pages_.view(sequence); }
  sequence_view window_view(u32 sequence) const noexcept { return windows_.view(sequence); }
  /// What a cell holds of one layer's keys or values. Precondition: it is still there.
  u8* row(u32 sequence, const kv_part& part, u32 cell) const noexcept {
    const kv_memory& m = part.in_windows ? window_memory_ : memory_;
    const u32* pages = (part.in_windows ? windows_ : pages_).view(sequence).pages;
    return m.data + pages[cell / m.page_tokens] * m.page_bytes + part.offset + cell % m.page_tokens * part.bytes;
  }

  /// Room for n more tokens. All or nothing. Errors: bad_sequence, context_full.
  result<void> extend(u32 sequence, u32 n) noexcept {
    JIG_CHECK(pages_.extend(sequence, n, copies()));
    if (!forgets()) return {};
    const auto grown = windows_.extend(sequence, n, window_copies());
    if (!grown) static_cast<void>(pages_.truncate(sequence, pages_.length(sequence) - n));
    return grown;
  }
  /// Room for a sequence of n tokens of which windowed layers know those from `first` on. Precondition: it is empty.
  /// Errors: bad_sequence, context_full.
  result<void> extend_from(u32 sequence, u32 n, u32 first) noexcept {
    for (u32 at = 0; at < n;) {
      const u32 step = n - at < memory_.page_tokens ? n - at : memory_.page_tokens;
      if (const auto grown = extend(sequence, step); !grown) {
        static_cast<void>(truncate(sequence, 0));
        return fail(grown.error().code).got(n);
      }
      at += step;
      if (forgets()) windows_.drop_before(sequence, first < at ? first : at);
    }
    return {};
  }
  /// Errors: see page_index::truncate.
  result<void> truncate(u32 sequence, u32 length) noexcept {
    JIG_CHECK(pages_.truncate(sequence, length));
    return forgets() ? windows_.truncate(sequence, length) : result<void>();
  }
  /// Errors: see page_index::fork.
  result<void> fork(u32 from, u32 to) noexcept {
    JIG_CHECK(pages_.fork(from, to));
    return forgets() ? windows_.fork(from, to) : result<void>();
  }
  /// Makes the pages from a cell on the sequence's alone. Errors: see page_index::own.
  result<void> own(u32 sequence, u32 from) noexcept {
    JIG_CHECK(pages_.own(sequence, from, copies()));
    if (!forgets()) return {};
    return windows_.own(sequence, from, window_copies());
  }
  /// Windowed layers forget what lies more than `kept` tokens before the window of the sequence's next token.
  void forget(u32 sequence, u32 kept) noexcept {
    const u64 needed = u64{window_} + kept, next = u64{length(sequence)} + 1;
    if (forgets() && next > needed) windows_.drop_before(sequence, static_cast<u32>(next - needed));
  }

 private:
  page_copy copies() const noexcept { return {memory_.data, memory_.page_bytes}; }
  page_copy window_copies() const noexcept { return {window_memory_.data, window_memory_.page_bytes}; }

  kv_memory memory_, window_memory_;
  page_index pages_, windows_;
  u32 window_ = 0;
};

}  // namespace jig
