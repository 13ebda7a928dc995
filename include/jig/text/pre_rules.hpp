#pragma once
// The pre-tokenizers by their names in `tokenizer.ggml.pre`: how BPE texts are cut into words, and what else the name
// implies. A new name is a row; a new rule is a list of steps from pre_steps.hpp.
//
// Source: the rules as the models' publishers give them (regular expressions in tokenizer.json), with the character
// classes that llama.cpp v0.4.0 gives them.

#include "jig/text/pre_steps.hpp"
#include "jig/text/vocab.hpp"

namespace jig {

/// Takes the pieces of a split text: byte positions [begin, end).
struct piece_sink {
  void* context;
  result<void> (*take)(void* context, usize begin, usize end);
  result<void> operator()(usize begin, usize end) const noexcept { return take(context, begin, end); }
};

/// A row of the table.
struct pre_rule {
  std::string_view name;
  result<void> (*split)(std::string_view text, piece_sink pieces);
  vocab_flags flags;
  bool clear_bos = false;  ///< the default BOS id does not hold
};

namespace detail {

template <class Rule>
result<void> split_with(std::string_view text, piece_sink pieces) noexcept {
  return Rule::split(lenient_text{text}, 0, text.size(), pieces);
}

constexpr bool is_digit(u32 c) noexcept { return c >= '0' && c <= '9'; }
/// [\p{P}$+<=>^~|]
constexpr bool is_mark_or_operator(u32 c) noexcept {
  return is_punctuation(c) || c == '$' || c == '+' || (c >= '<' && c <= '>') || c == '^' || c == '~' || c == '|';
}
constexpr bool is_falcon_mark(u32 c) noexcept { return is_mark_or_operator(c) || c == '`'; }
constexpr bool is_no_space(u32 c) noexcept { return !is_space(c); }

using three_digits = run_step<is_digit, 3, 3>;

using default_rule =
    rule<run_step<is_mark_or_operator, 1, 0>, gpt2_step, run_step<is_number, 1, 0>, three_digits>;
using gpt2_rule = rule<gpt2_step>;
using llama3_rule = rule<word_step<3>>;
using qwen2_rule = rule<word_step<1>>;
using qwen35_rule = rule<word_step<1, true>>;
using starcoder_rule = rule<run_step<is_number, 1, 1>, gpt2_step>;
using falcon_rule = rule<run_step<is_falcon_mark, 1, 0>, gpt2_step, three_digits>;
using minicpm5_rule = rule<run_step<is_number, 1, 3>, word_step<0>>;
using laguna_rule = rule<line_step, word_step<1>>;

// What names imply: most change nothing, some keep the spaces before punctuation, some take whole words first.
inline constexpr vocab_flags usual = {.clean_spaces = true};
inline constexpr vocab_flags separated = {.add_sep = true, .clean_spaces = true};
inline constexpr vocab_flags exact = {.clean_spaces = false};
inline constexpr vocab_flags whole_words = {.clean_spaces = true, .ignore_merges = true};
inline constexpr vocab_flags llama3_flags = {.add_bos = true, .clean_spaces = true, .ignore_merges = true};

// clang-format off
inline constexpr pre_rule pre_rules[] = {
    {"default",          split_with<default_rule>,   usual},
    {"gpt-2",            split_with<gpt2_rule>,      usual},
    {"mpt",              split_with<gpt2_rule>,      usual},
    {"phi-2",            split_with<gpt2_rule>,      usual},
    {"olmo",             split_with<gpt2_rule>,      usual},
    {"jais",             split_with<gpt2_rule>,      usual},
    {"jina-es",          split_with<gpt2_rule>,      usual},
    {"jina-de",          split_with<gpt2_rule>,      usual},
    {"jina-v2-es",       split_with<gpt2_rule>,      usual},
    {"jina-v2-de",       split_with<gpt2_rule>,      usual},
    {"jina-v1-en",       split_with<gpt2_rule>,      separated},
    {"jina-v2-code",     split_with<gpt2_rule>,      separated},
    {"roberta-bpe",      split_with<gpt2_rule>,      separated},
    {"gigachat",         split_with<gpt2_rule>,      usual},
    {"a.x-4.0",          split_with<gpt2_rule>,      usual},
    {"mellum",           split_with<gpt2_rule>,      usual},
    {"modern-bert",      split_with<gpt2_rule>,      usual},
    {"exaone4",          split_with<gpt2_rule>,      usual},
    {"trillion",         split_with<gpt2_rule>,      exact},
    {"granite-docling",  split_with<gpt2_rule>,      exact},
    {"llama-bpe",        split_with<llama3_rule>,    llama3_flags},
    {"llama3",           split_with<llama3_rule>,    llama3_flags},
    {"llama-v3",         split_with<llama3_rule>,    llama3_flags},
    {"falcon3",          split_with<llama3_rule>,    llama3_flags},
    {"falcon-h1",        split_with<llama3_rule>,    llama3_flags},
    {"pixtral",          split_with<llama3_rule>,    llama3_flags},
    {"midm-2.0",         split_with<llama3_rule>,    llama3_flags},
    {"lfm2",             split_with<llama3_rule>,    llama3_flags},
    {"jina-v5-nano",     split_with<llama3_rule>,    llama3_flags},
    {"dbrx",             split_with<llama3_rule>,    usual},
    {"smaug-bpe",        split_with<llama3_rule>,    usual},
    {"glm4",             split_with<llama3_rule>,    usual, true},
    {"chatglm-bpe",      split_with<llama3_rule>,    usual, true},
    {"qwen2",            split_with<qwen2_rule>,     exact},
    {"deepseek-r1-qwen", split_with<qwen2_rule>,     exact},
    {"kormo",            split_with<qwen2_rule>,     exact},
    {"f2llmv2",          split_with<qwen2_rule>,     exact},
    {"hunyuan",          split_with<qwen2_rule>,     exact},
    {"grok-2",           split_with<qwen2_rule>,     exact},
    {"solar-open",       split_with<qwen2_rule>,     exact},
    {"stablelm2",        split_with<qwen2_rule>,     usual},
    {"megrez",           split_with<qwen2_rule>,     usual},
    {"qwen35",           split_with<qwen35_rule>,    exact},
    {"starcoder",        split_with<starcoder_rule>, usual},
    {"refact",           split_with<starcoder_rule>, usual},
    {"codeshell",        split_with<starcoder_rule>, usual},
    {"exaone",           split_with<starcoder_rule>, usual},
    {"minerva-7b",       split_with<starcoder_rule>, usual},
    {"mellum2",          split_with<starcoder_rule>, usual},
    {"command-r",        split_with<starcoder_rule>, exact},
    {"smollm",           split_with<starcoder_rule>, exact},
    {"falcon",           split_with<falcon_rule>,    usual},
    {"minicpm5",         split_with<minicpm5_rule>,  whole_words},
    {"laguna",           split_with<laguna_rule>,    exact},
};
// clang-format on

}  // namespace detail

/// The rule of a name; an empty name means "default". Errors: unknown_pretokenizer.
constexpr result<const pre_rule*> find_pre_rule(std::string_view name) noexcept {
  if (name.empty()) name = "default";
  for (const pre_rule& r : detail::pre_rules)
    if (r.name == name) return &r;
  return fail(errc::unknown_pretokenizer, name);
}

}  // namespace jig
