#pragma once
// From ids to text, for a whole list. For ids that come one by one see stream.hpp; both share the machine here.

#include "jig/text/clean_spaces.hpp"
#include "jig/text/piece.hpp"

namespace jig {

struct detokenize_options {
  bool remove_special = false;   ///< drop one BOS in front and one EOS behind, if the vocabulary adds them
  bool unparse_special = false;  ///< show control and unknown tokens as their text
  bool continues = false;        ///< the ids go on from earlier text: the first space is not the vocabulary's prefix
};

/// Turns ids into bytes, one by one: the space that tokenize() put in front is taken away, the vocabulary's space
/// clean-up is done. Bytes come out through `put(char)`; some wait for the next id or finish().
class piece_writer {
 public:
  piece_writer(const vocab& v, detokenize_options options) noexcept
      : v_(&v), options_(options), strip_(v.flags.add_space_prefix && !options.continues),
        first_(!options.continues) {}

  /// Errors: bad_token; the id is then left out.
  template <class Put>
  result<void> add(i32 id, Put&& put) noexcept {
    if (!v_->contains(id)) return fail(errc::bad_token).got(static_cast<u64>(static_cast<i64>(id)));
    if (options_.remove_special && first_ && v_->flags.add_bos && id == v_->ids.bos) {
      first_ = strip_ = false;
      return {};
    }
    first_ = false;
    if (held_eos_) write(v_->ids.eos, put);
    held_eos_ = options_.remove_special && v_->flags.add_eos && id == v_->ids.eos;  // it may be the last
    if (!held_eos_) write(id, put);
    return {};
  }
  /// The list ends: what waited comes out, except an EOS that is to be removed.
  template <class Put>
  void finish(Put&& put) noexcept {
    held_eos_ = false;
    if (v_->flags.clean_spaces) cleaner_.finish(put);
  }

 private:
  template <class Put>
  void write(i32 id, Put&& put) noexcept {
    bool strip = strip_;
    strip_ = false;  // only the first token's text can begin with the prefix
    put_piece(*v_, id, options_.unparse_special, [&](char c) {
      const bool drop = strip && c == ' ';
      strip = false;
      if (drop) return;
      if (v_->flags.clean_spaces) cleaner_.put(c, put);
      else put(c);
    });
  }

  const vocab* v_;
  detokenize_options options_;
  space_cleaner cleaner_;
  bool strip_, first_, held_eos_ = false;
};

/// Writes the text of a list of ids to `out` and returns its length in bytes. Invalid UTF-8 stays as it is.
/// Errors: bad_token, buffer_too_small (got: bytes needed).
inline result<usize> detokenize(const vocab& v, std::span<const i32> ids, detokenize_options options,
                                std::span<char> out) noexcept {
  usize n = 0;
  const auto put = [&](char c) {
    if (n < out.size()) out[n] = c;
    ++n;
  };
  piece_writer writer(v, options);
  for (i32 id : ids) {
    JIG_CHECK(writer.add(id, put));
  }
  writer.finish(put);
  if (n > out.size()) return fail(errc::buffer_too_small, "text").got(n);
  return n;
}

}  // namespace jig
