#pragma once
// Roles that follow from token texts: files often lack the keys that would name them.

#include <string_view>

#include "jig/text/vocab.hpp"

namespace jig::detail {

/// Texts that name a role; the first that the vocabulary has gives the id if the file's keys don't.
struct known_role {
  i32 special_ids::*role;
  std::string_view text;
};
inline constexpr known_role known_roles[] = {
    {&special_ids::eot, "<|eot_id|>"},
    {&special_ids::eot, "<|im_end|>"},
    {&special_ids::eot, "<|end|>"},
    {&special_ids::eot, "<end_of_turn>"},
    {&special_ids::eot, "<|endoftext|>"},
    {&special_ids::eot, "<|end_of_text|>"},
    {&special_ids::eot, "<EOT>"},
    {&special_ids::eot, "_<EOT>"},
    {&special_ids::eot, "[EOT]"},
    {&special_ids::eot, "<｜end▁of▁sentence｜>"},
    {&special_ids::eot, "<end_of_utterance>"},
    {&special_ids::eom, "<|eom_id|>"},
    {&special_ids::fim_pre, "<|fim_prefix|>"},
    {&special_ids::fim_pre, "<fim-prefix>"},
    {&special_ids::fim_pre, "<fim_prefix>"},
    {&special_ids::fim_pre, "<｜fim▁begin｜>"},
    {&special_ids::fim_pre, "<PRE>"},
    {&special_ids::fim_pre, "▁<PRE>"},
    {&special_ids::fim_pre, "<|code_prefix|>"},
    {&special_ids::fim_pre, "<|prefix|>"},
    {&special_ids::fim_suf, "<|fim_suffix|>"},
    {&special_ids::fim_suf, "<fim-suffix>"},
    {&special_ids::fim_suf, "<fim_suffix>"},
    {&special_ids::fim_suf, "<｜fim▁hole｜>"},
    {&special_ids::fim_suf, "<SUF>"},
    {&special_ids::fim_suf, "▁<SUF>"},
    {&special_ids::fim_suf, "<|code_suffix|>"},
    {&special_ids::fim_suf, "<|suffix|>"},
    {&special_ids::fim_mid, "<|fim_middle|>"},
    {&special_ids::fim_mid, "<fim-middle>"},
    {&special_ids::fim_mid, "<fim_middle>"},
    {&special_ids::fim_mid, "<｜fim▁end｜>"},
    {&special_ids::fim_mid, "<MID>"},
    {&special_ids::fim_mid, "▁<MID>"},
    {&special_ids::fim_mid, "<|code_middle|>"},
    {&special_ids::fim_mid, "<|middle|>"},
    {&special_ids::fim_pad, "<|fim_pad|>"},
    {&special_ids::fim_pad, "<fim-pad>"},
    {&special_ids::fim_pad, "<fim_pad>"},
    {&special_ids::fim_pad, "<PAD>"},
    {&special_ids::fim_pad, "[PAD]"},
    {&special_ids::fim_rep, "<|fim_repo|>"},
    {&special_ids::fim_rep, "<|repo_name|>"},
    {&special_ids::fim_rep, "<fim-repo>"},
    {&special_ids::fim_rep, "<REPO>"},
    {&special_ids::fim_rep, "<reponame>"},
    {&special_ids::fim_sep, "<|file_sep|>"},
};

/// Texts that end generation, whatever their role or type.
inline constexpr std::string_view end_texts[] = {
    "<|eot_id|>",      "<|im_end|>",    "<|end|>",           "<|return|>",           "<|call|>", "<|flush|>",
    "<|calls|>",       "<end_of_turn>", "<|endoftext|>",     "</s>",                 "<|eom_id|>", "<EOT>",
    "_<EOT>",          "[EOT]",         "[EOS]",             "<|end_of_text|>",      "<end_of_utterance>", "<eos>",
    "<turn|>",         "<|tool_response>", "<｜end▁of▁sentence｜>", "[e~[",
};

/// Texts that are always shown: the reasoning format of GPT-OSS needs them.
inline constexpr std::string_view shown_texts[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

/// Keys of special ids, without the prefix `tokenizer.ggml.`; of several names the last present one holds.
struct id_key {
  std::string_view key;
  i32 special_ids::*role;
};
inline constexpr id_key id_keys[] = {
    {"bos_token_id", &special_ids::bos},         {"eos_token_id", &special_ids::eos},
    {"eot_token_id", &special_ids::eot},         {"eom_token_id", &special_ids::eom},
    {"unknown_token_id", &special_ids::unk},     {"seperator_token_id", &special_ids::sep},
    {"padding_token_id", &special_ids::pad},     {"mask_token_id", &special_ids::mask},
    {"prefix_token_id", &special_ids::fim_pre},  {"suffix_token_id", &special_ids::fim_suf},
    {"middle_token_id", &special_ids::fim_mid},  {"fim_pre_token_id", &special_ids::fim_pre},
    {"fim_suf_token_id", &special_ids::fim_suf}, {"fim_mid_token_id", &special_ids::fim_mid},
    {"fim_pad_token_id", &special_ids::fim_pad}, {"fim_rep_token_id", &special_ids::fim_rep},
    {"fim_sep_token_id", &special_ids::fim_sep},
};

/// Keys of flags, without the prefix.
struct flag_key {
  std::string_view key;
  bool vocab_flags::*flag;
};
inline constexpr flag_key flag_keys[] = {
    {"add_bos_token", &vocab_flags::add_bos},
    {"add_eos_token", &vocab_flags::add_eos},
    {"add_sep_token", &vocab_flags::add_sep},
    {"add_space_prefix", &vocab_flags::add_space_prefix},
};

}  // namespace jig::detail
