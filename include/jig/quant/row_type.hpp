#pragma once
// Which block type a row gets when its length is no whole number of the wished type's blocks.

#include "jig/quant/type_info.hpp"

namespace jig {

/// The type for rows of `cols` values where `type` was wished for: that type, else a near one with short blocks, else
/// F16. Errors: unknown_tensor_type, partial_block (q1_0 and nvfp4, which nothing stands in for).
/// Source: llama.cpp's quantiser, so that files have the types that users expect.
constexpr result<u32> type_for_rows(u32 type, u64 cols) noexcept {
  constexpr struct {
    std::string_view wished, instead;
  } table[] = {{"iq1_s", "iq4_nl"},  {"iq1_m", "iq4_nl"}, {"iq2_xxs", "iq4_nl"}, {"iq2_xs", "iq4_nl"},
               {"iq2_s", "iq4_nl"},  {"iq3_s", "iq4_nl"}, {"iq3_xxs", "iq4_nl"}, {"iq4_xs", "iq4_nl"},
               {"q2_K", "q4_0"},     {"q3_K", "q4_0"},    {"tq1_0", "q4_0"},     {"tq2_0", "q4_0"},
               {"q2_0", "q4_0"},     {"q4_K", "q5_0"},    {"q5_K", "q5_1"},      {"q6_K", "q8_0"}};
  const block_info* info = find_block_info(type);
  if (info == nullptr) return fail(errc::unknown_tensor_type).got(type);
  if (cols % info->size == 0) return type;
  for (const auto& [wished, instead] : table)
    if (info->name == wished) {
      const block_info* other = find_block_info(instead);
      return cols % other->size == 0 ? other->id : find_block_info("f16")->id;
    }
  if (info->size == 32) return find_block_info("f16")->id;
  return fail(errc::partial_block, info->name).got(cols);
}

}  // namespace jig
