// Fuzzes loading, tokenizing and detokenizing: the input describes a vocabulary and a text.
//
// Byte 0: SPM, or BPE and which pre-tokenizer. Byte 1: flags. Byte 2: number of tokens, each a line whose first byte
// gives type and score; for BPE a token of two parts separated by a tab is a merge's result. The rest is the text.
// Whatever comes in: no fault; ids lie in the vocabulary; the stream gives what the list gives, in whole characters;
// short buffers are errors that tell a size which works.

#include <cstdlib>
#include <string>

#include "jig/gguf/writer.hpp"
#include "jig/host/vocab.hpp"
#include "text/valid_utf8.hpp"

namespace {

using namespace jig;
using test::is_valid_utf8;

void require(bool condition) {
  if (!condition) std::abort();
}

struct input {
  std::string_view rest;
  u8 byte() {
    const u8 b = rest.empty() ? u8{0} : static_cast<u8>(rest[0]);
    rest.remove_prefix(rest.empty() ? 0 : 1);
    return b;
  }
  std::string_view line() {
    const usize end = rest.find('\n');
    const std::string_view l = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return l;
  }
};

void describe(input& in, u8 kind, u8 flags, gguf::writer& w) {
  const bool spm = kind < 64;
  std::vector<std::string> tokens, merges;
  std::vector<i32> types;
  std::vector<f32> scores;
  const auto add = [&](std::string text, i32 type, f32 score) {
    tokens.push_back(std::move(text));
    types.push_back(type);
    scores.push_back(score);
  };
  for (u32 b = 0; b < 256; ++b) {
    constexpr char digits[] = "0123456789ABCDEF";
    char code[4];
    if (spm) add({'<', '0', 'x', digits[b >> 4], digits[b & 15], '>'}, 6, 0);
    else add(std::string(code, encode_utf8(byte_to_code(static_cast<u8>(b)), code)), 1, 0);
  }
  for (u8 n = in.byte(); n > 0; --n) {
    input line{in.line()};
    const u8 first = line.byte();
    std::string text(line.rest);
    if (const usize tab = text.find('\t'); !spm && tab != std::string::npos) {
      text[tab] = ' ';
      merges.push_back(text);
      text.erase(tab, 1);
    }
    add(text, first & 7, static_cast<f32>(first >> 3));
  }
  w.set("tokenizer.ggml.model", spm ? "llama" : "gpt2");
  if (!spm) w.set("tokenizer.ggml.pre", detail::pre_rules[kind % std::size(detail::pre_rules)].name);
  w.set_array<std::string>("tokenizer.ggml.tokens", tokens);
  w.set_array<i32>("tokenizer.ggml.token_type", types);
  w.set_array<f32>("tokenizer.ggml.scores", scores);
  if (!spm) w.set_array<std::string>("tokenizer.ggml.merges", merges);
  w.set("general.name", (flags & 4) != 0 ? "phi-3" : (flags & 8) != 0 ? "modern-bert" : "x");
  w.set("tokenizer.ggml.add_space_prefix", (flags & 16) != 0);
  w.set("tokenizer.ggml.add_eos_token", (flags & 32) != 0);
}

void check_texts(const vocab& v, std::span<const i32> ids, detokenize_options options) {
  const auto whole = host::detokenize(v, ids, options);
  require(static_cast<bool>(whole));
  std::string kept, shown;
  const auto keep = [&](std::string_view s) { kept += s; };
  const auto show = [&](std::string_view s) {
    require(is_valid_utf8(s));
    shown += s;
  };
  text_stream keeping(v, options, invalid_utf8::keep), showing(v, options);
  for (i32 id : ids) require(keeping.push(id, keep) && showing.push(id, show));
  keeping.finish(keep);
  showing.finish(show);
  require(kept == *whole);
  if (is_valid_utf8(*whole)) require(shown == kept);
}

void check_short_buffers(const vocab& v, std::string_view text, tokenize_options options, std::span<const i32> want) {
  std::vector<i32> ids;
  std::vector<std::byte> memory;
  for (u32 tries = 0;; ++tries) {
    require(tries < 1000);
    const auto n = tokenize(v, text, options, ids, memory);
    if (n) {
      require(std::equal(want.begin(), want.end(), ids.begin(), ids.end()));
      return;
    }
    require(n.error().code == errc::buffer_too_small);
    const auto needed = static_cast<usize>(n.error().value);
    if (n.error().name() == "token ids") {
      require(needed == want.size());
      ids.assign(needed, 0);
    } else {
      require(needed > memory.size() && needed <= tokenize_scratch_bytes(text.size()));
      memory.assign(needed, std::byte{});
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, usize size) {
  input in{{reinterpret_cast<const char*>(data), size}};
  const u8 kind = in.byte(), flags = in.byte();
  gguf::writer w;
  describe(in, kind, flags, w);
  const auto bytes = w.bytes();
  require(static_cast<bool>(bytes));
  const auto file = gguf::open(*bytes);
  require(static_cast<bool>(file));
  const auto loaded = host::vocab::load(*file);
  if (!loaded) return 0;
  const vocab& v = loaded->view();
  const tokenize_options options{.add_special = (flags & 1) != 0, .parse_special = (flags & 2) != 0};
  const auto ids = host::tokenize(v, in.rest, options);
  if (!ids) {
    require(ids.error().code == errc::untokenizable);
    return 0;
  }
  for (i32 id : *ids) require(v.contains(id));
  for (bool remove : {false, true})
    for (bool unparse : {false, true}) check_texts(v, *ids, {.remove_special = remove, .unparse_special = unparse});
  if (in.rest.size() < 4096) check_short_buffers(v, in.rest, options, *ids);
  return 0;
}
