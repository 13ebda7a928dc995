#pragma once
// Hosted: a vocabulary as C++ text, and its arrays in the blob.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "jig/host/detail/embed_blob.hpp"
#include "jig/text/pre_rules.hpp"
#include "jig/text/vocab.hpp"

namespace jig::host::detail {

/// Entry numbers in the order of their texts (or of their pairs), for lookup's sorted form.
inline std::vector<u32> sorted_tokens(const jig::vocab& v) {
  std::vector<u32> ids(v.offsets.size());
  std::iota(ids.begin(), ids.end(), 0u);
  const auto text = [&](u32 id) { return v.text_of(static_cast<i32>(id)); };
  std::sort(ids.begin(), ids.end(), [&](u32 a, u32 b) { return text(a) < text(b); });
  return ids;
}
inline std::vector<u32> sorted_merges(const jig::vocab& v) {
  std::vector<u32> ranks(v.merges.size());
  std::iota(ranks.begin(), ranks.end(), 0u);
  const auto pair = [&](u32 rank) { return std::pair(v.merges[rank].left, v.merges[rank].right); };
  std::sort(ranks.begin(), ranks.end(), [&](u32 a, u32 b) { return std::pair(pair(a), a) < std::pair(pair(b), b); });
  const auto same = [&](u32 a, u32 b) { return pair(a) == pair(b); };  // of equal pairs the first counts
  ranks.erase(std::unique(ranks.begin(), ranks.end(), same), ranks.end());
  return ranks;
}

/// Writes the vocabulary's arrays to the blob and its description to the header.
class vocab_writer {
 public:
  vocab_writer(const jig::vocab& v, const std::string& name, blob_builder& blob) : v_(v), name_(name), blob_(blob) {}

  std::string text() {
    std::string out = fmt::format("      .kind = &kind,\n{}      .count = {},\n", v_.pre ? "      .pre = &pre,\n" : "",
                                  v_.count);
    if (!v_.offsets.empty()) out += texts();
    out += array<f32>("scores", "jig::f32", v_.scores) + lookup_array("by_text", sorted_tokens(v_));
    out += array<merge>("merges", "jig::merge", v_.merges) + lookup_array("by_pair", sorted_merges(v_));
    out += array<i32>("byte_ids", "jig::i32", v_.byte_ids) + array<u32>("specials", "jig::u32", v_.specials);
    out += array<u32>("special_parents", "jig::u32", v_.special_parents);
    out += set("special_starts", v_.special_starts) + set("user_defined_starts", v_.user_defined_starts);
    if (v_.strips) out += "      .strips = true,\n";
    out += ids() + flags();
    out += fmt::format("      .longest_token = {},\n", v_.longest_token);
    if (v_.words_separate) out += "      .words_separate = true,\n";
    return out;
  }

 private:
  static constexpr const char* section = "vocabulary";

  template <class T>
  std::string array(const char* field, const char* type, std::span<const T> values) {
    if (values.empty()) return fmt::format("      .{} = {{}},\n", field);
    const std::string symbol = name_ + '_' + field;
    blob_.add<T>(symbol, type, section, values);
    return fmt::format("      .{} = {},\n", field, symbol);
  }
  std::string lookup_array(const char* field, const std::vector<u32>& sorted) {
    if (sorted.empty()) return fmt::format("      .{} = {{}},\n", field);
    const std::string symbol = name_ + '_' + field;
    blob_.add<u32>(symbol, "jig::u32", section, sorted);
    return fmt::format("      .{} = {{.slots = {}}},\n", field, symbol);
  }
  std::string texts() {
    std::vector<u32> offsets;
    std::string all;
    for (u32 id = 0; id < v_.count; ++id) {
      offsets.push_back(static_cast<u32>(all.size()));
      all += v_.text_of(static_cast<i32>(id));
    }
    std::string out = fmt::format("      .base = {}_text,\n", name_);
    blob_.add<char>(name_ + "_text", "char", section, all);
    out += array<u32>("offsets", "jig::u32", offsets);
    out += array<u16>("lengths", "jig::u16", v_.lengths);
    return out + array<token_attributes>("attributes", "jig::token_attributes", v_.attributes);
  }
  static std::string set(const char* field, const byte_set& s) {
    std::string words;
    bool any = false;
    for (u32 w : s.words) words += fmt::format("{}{:#x}", words.empty() ? "" : ", ", w), any = any || w != 0;
    return fmt::format("      .{} = {{{{{}}}}},\n", field, any ? words : "");
  }
  std::string ids() const {
    std::string out;
    const special_ids& s = v_.ids;
    const std::pair<const char*, i32> roles[] = {
        {"bos", s.bos},         {"eos", s.eos},         {"eot", s.eot},         {"eom", s.eom},         {"unk", s.unk},
        {"sep", s.sep},         {"pad", s.pad},         {"mask", s.mask},       {"fim_pre", s.fim_pre},
        {"fim_suf", s.fim_suf}, {"fim_mid", s.fim_mid}, {"fim_pad", s.fim_pad}, {"fim_rep", s.fim_rep},
        {"fim_sep", s.fim_sep}};
    for (const auto& [role, id] : roles)
      if (id >= 0) out += fmt::format("{}.{} = {}", out.empty() ? "" : ", ", role, id);
    return fmt::format("      .ids = {{{}}},\n", out);
  }
  std::string flags() const {
    std::string out;
    const vocab_flags& f = v_.flags;
    const std::pair<const char*, bool> all[] = {
        {"add_bos", f.add_bos}, {"add_eos", f.add_eos}, {"add_sep", f.add_sep},
        {"add_space_prefix", f.add_space_prefix}, {"clean_spaces", f.clean_spaces}, {"ignore_merges", f.ignore_merges},
        {"escape_whitespaces", f.escape_whitespaces}, {"byte_encode", f.byte_encode}};
    for (const auto& [flag, on] : all) out += fmt::format("{}.{} = {}", out.empty() ? "" : ", ", flag, on);
    return fmt::format("      .flags = {{{}}},\n", out);
  }

  const jig::vocab& v_;
  const std::string& name_;
  blob_builder& blob_;
};

/// How the header names a tokenizer kind.
struct kind_name {
  std::string_view name, header, constant;
};
inline constexpr kind_name kind_names[] = {{"SPM", "jig/text/spm.hpp", "jig::spm_kind"},
                                           {"BPE", "jig/text/bpe.hpp", "jig::bpe_kind"},
                                           {"none", "jig/text/none.hpp", "jig::no_vocab_kind"}};

}  // namespace jig::host::detail
