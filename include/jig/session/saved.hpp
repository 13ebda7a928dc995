#pragma once
// Saving a sequence and bringing it back: everything that a session remembers of it, as bytes that carry what they
// belong to. Whatever does not fit (another model, another element type, a byte changed or missing) is refused whole.
//
//   const saved_layout layout{parts, fingerprint, s.states().floats()};    // parts: see each_kv_part
//   std::vector<u8> bytes(saved_size(s, layout, sequence, true));
//   JIG_CHECK(save(s, layout, sequence, tokens, bytes));
//   JIG_TRY(const u32 length, restore(s, layout, sequence, bytes));
//
// Pages may have another size when a sequence is restored; kept states (session::keep_state) are not saved. Bytes are
// in the host's order and are refused by hosts of the other one.

#include "jig/session/session.hpp"

namespace jig {

/// What a session remembers of a sequence, and of which model.
struct saved_layout {
  std::span<const kv_part> parts;  ///< of every page
  u64 model = 0;                   ///< a number by which the caller knows the model
  u64 state_floats = 0;            ///< of the recurrent state

  /// Bytes of keys and values of one token, in windowed layers that forget or in the others.
  constexpr u64 token_bytes(bool in_windows) const noexcept {
    u64 bytes = 0;
    for (const kv_part& p : parts) bytes += p.in_windows == in_windows ? p.bytes : 0;
    return bytes;
  }
};

/// What stands in front of the saved bytes. After it: `tokens` ids (i32), then the keys and values of every layer,
/// token after token, then the recurrent state.
struct saved_header {
  static constexpr u64 mark = 0x6a69672073617665u;  // "jig save"

  u64 magic = mark;
  u32 version = 2;
  u32 kv_type = 0;         ///< GGUF type id of keys and values
  u64 model = 0;           ///< the model's fingerprint, as the caller knows it
  u32 length = 0;          ///< tokens of the sequence
  u32 tokens = 0;          ///< ids that were saved with it: length, or 0
  u64 token_bytes = 0;     ///< keys and values of one token
  u64 window_bytes = 0;    ///< and in windowed layers that forget
  u64 state_floats = 0;    ///< of the recurrent state
  u32 source = 0;          ///< tokens of the sequence that are its source
  u32 first = 0;           ///< the first token of which those layers know
  u64 checksum = 0;        ///< of everything else

  constexpr u64 payload() const noexcept {
    return u64{tokens} * sizeof(i32) + length * token_bytes + (length - first) * window_bytes +
           state_floats * sizeof(f32);
  }
};
static_assert(sizeof(saved_header) == 72);

namespace detail {

/// A 64-bit checksum of bytes, to find damage; not against forgery. Multiplication and shift as in MurmurHash3's mixer.
inline u64 checksum(u64 h, std::span<const u8> bytes) noexcept {
  for (usize i = 0; i < bytes.size(); i += 8) {
    u64 word = 0;
    std::memcpy(&word, bytes.data() + i, bytes.size() - i < 8 ? bytes.size() - i : 8);
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    h ^= h >> 33;
  }
  return (h ^ bytes.size()) * 0xc4ceb9fe1a85ec53u;
}

inline u64 checksum(saved_header h, std::span<const u8> payload) noexcept {
  h.checksum = 0;
  u8 bytes[sizeof h];
  std::memcpy(bytes, &h, sizeof h);
  return checksum(checksum(0, bytes), payload);
}

/// The header that a sequence of this session and layout has.
template <bool W>
saved_header header_of(const basic_session<W>& s, const saved_layout& l, u32 length, u32 first, u32 tokens) noexcept {
  saved_header h;
  h.kv_type = s.paged().memory().type;
  h.model = l.model;
  h.length = length;
  h.first = first;
  h.tokens = tokens;
  h.token_bytes = l.token_bytes(false);
  h.window_bytes = l.token_bytes(true);
  h.state_floats = l.state_floats;
  return h;
}

/// Calls f(row, bytes) for all rows of keys and values that a sequence has, in the order in which they are saved.
template <bool W, class F>
void each_saved_row(const basic_session<W>& s, const saved_layout& l, u32 sequence, F&& f) noexcept {
  for (const kv_part& part : l.parts)
    for (u32 t = part.in_windows ? s.paged().first(sequence) : 0; t < s.length(sequence); ++t)
      f(s.paged().row(sequence, part, t), static_cast<usize>(part.bytes));
}

}  // namespace detail

/// Bytes that save() writes for a sequence. Precondition: the sequence exists.
template <bool W>
u64 saved_size(const basic_session<W>& s, const saved_layout& l, u32 sequence, bool with_tokens) noexcept {
  const u32 length = s.length(sequence), first = s.paged().first(sequence);
  return sizeof(saved_header) + detail::header_of(s, l, length, first, with_tokens ? length : 0).payload();
}

/// Writes a sequence into `out` (saved_size bytes). `tokens`: the ids of the sequence, to be found by whoever restores
/// it, or none. Errors: bad_sequence, bad_argument (tokens of another length), buffer_too_small.
template <bool W>
result<void> save(const basic_session<W>& s, const saved_layout& l, u32 sequence, std::span<const i32> tokens,
                         std::span<u8> out) noexcept {
  if (sequence >= s.config().sequences) return fail(errc::bad_sequence).got(sequence);
  const u32 length = s.length(sequence);
  if (!tokens.empty() && tokens.size() != length) return fail(errc::bad_argument, "tokens").got(tokens.size());
  saved_header h = detail::header_of(s, l, length, s.paged().first(sequence), static_cast<u32>(tokens.size()));
  h.source = s.paged().source(sequence);
  if (out.size() < sizeof h + h.payload()) return fail(errc::buffer_too_small, "saved sequence").got(out.size());
  u8* at = out.data() + sizeof h;
  const auto put = [&](const void* from, usize bytes) {
    if (bytes != 0) std::memcpy(at, from, bytes);
    at += bytes;
  };
  put(tokens.data(), tokens.size_bytes());
  detail::each_saved_row(s, l, sequence, put);
  if (h.state_floats != 0) put(s.states().current(sequence), static_cast<usize>(h.state_floats * sizeof(f32)));
  h.checksum = detail::checksum(h, out.subspan(sizeof h, static_cast<usize>(h.payload())));
  std::memcpy(out.data(), &h, sizeof h);
  return {};
}

/// The header of saved bytes, after everything that does not depend on a session was checked.
/// Errors: bad_state, with what is wrong (not a saved sequence, version, truncated, checksum).
inline result<saved_header> read_saved(std::span<const u8> bytes) noexcept {
  saved_header h;
  if (bytes.size() < sizeof h) return fail(errc::bad_state, "truncated").got(bytes.size());
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.magic != saved_header::mark) return fail(errc::bad_state, "not a saved sequence, or of another byte order");
  if (h.version != saved_header{}.version) return fail(errc::bad_state, "version").got(h.version);
  const u64 rest = bytes.size() - sizeof h;
  const auto fits = [rest](u64 n, u64 each) { return n == 0 || each == 0 || n <= rest / each; };
  if (h.first > h.length) return fail(errc::bad_state, "first").got(h.first);
  const bool all_fit = fits(h.length, h.token_bytes) && fits(h.length - h.first, h.window_bytes);
  if (!all_fit || h.state_floats > rest || h.payload() != rest)
    return fail(errc::bad_state, "truncated").got(bytes.size());
  if (h.source > h.length) return fail(errc::bad_state, "source").got(h.source);
  if (h.tokens != 0 && h.tokens != h.length) return fail(errc::bad_state, "tokens").got(h.tokens);
  if (h.checksum != detail::checksum(h, bytes.subspan(sizeof h))) return fail(errc::bad_state, "checksum");
  return h;
}

/// Makes the empty sequence what was saved; its length. On any error the session stays as it was.
/// Errors: bad_state as above, or because of the model, kv_type or sizes; bad_sequence (unknown, or not empty);
/// context_full (the session is too small; got: the saved length).
template <bool W>
result<u32> restore(basic_session<W>& s, const saved_layout& l, u32 sequence, std::span<const u8> bytes) noexcept {
  JIG_TRY(const saved_header h, read_saved(bytes));
  const saved_header want = detail::header_of(s, l, h.length, h.first, h.tokens);
  if (h.model != want.model) return fail(errc::bad_state, "of another model").got(h.model);
  if (h.kv_type != want.kv_type) return fail(errc::bad_state, "kv_type").got(h.kv_type);
  if (h.token_bytes != want.token_bytes || h.window_bytes != want.window_bytes || h.state_floats != want.state_floats)
    return fail(errc::bad_state, "sizes").got(h.token_bytes);
  if (sequence >= s.config().sequences || s.length(sequence) != 0) return fail(errc::bad_sequence).got(sequence);
  JIG_CHECK(s.reserve(sequence, h.length, h.first, h.source));
  const u8* at = bytes.data() + sizeof h + u64{h.tokens} * sizeof(i32);
  detail::each_saved_row(s, l, sequence, [&](u8* row, usize n) {
    std::memcpy(row, at, n);
    at += n;
  });
  const usize state_bytes = static_cast<usize>(h.state_floats * sizeof(f32));
  if (state_bytes != 0) std::memcpy(s.states().current(sequence), at, state_bytes);
  return h.length;
}

}  // namespace jig
