#pragma once
// Hosted: weight slots as C++ text, and the weights' bytes.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "jig/arch/load.hpp"
#include "jig/quant/all.hpp"

namespace jig::host::detail {

/// "q8_0" -> "q8_0"; plain numbers have block structs with longer names.
inline std::string block_type_name(u32 id) {
  std::string name(find_block_info(id)->name);
  for (char& c : name) c = c == 'K' ? 'k' : c;
  return name == "f16" || name == "bf16" ? name + "_block" : name;
}
inline std::string block_type_header(u32 id) {
  const std::string name = block_type_name(id);
  return name.substr(0, name.find("_block"));
}

/// Text for a one-line comment.
inline std::string comment_text(std::string_view s) {
  std::string text;
  for (char c : s) text += c >= ' ' && c < 127 && c != '\\' ? c : '?';
  return text;
}

inline bool is_identifier(std::string_view s) noexcept {
  const auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool good = !s.empty() && word(s[0]);
  for (char c : s) good = good && (word(c) || (c >= '0' && c <= '9'));
  return good;
}

/// The weights of one model, laid out one after the other.
struct placed_weights {
  std::string slots;       ///< initialisers of the slot array
  std::vector<u8> bytes;
  std::vector<u32> types;  ///< block types in use, ascending
};

/// Errors: those of bind.
inline result<placed_weights> place_weights(const arch_info& arch, const gguf::file_set& file, const hparams& hp,
                                            const std::string& symbol) {
  std::vector<weight> slots(arch.slots().count(hp));
  JIG_CHECK(bind_weights(arch, type_bits(all_quants{}), file, hp, slots));
  std::vector<std::string> names(slots.size());
  JIG_CHECK(for_each_tensor(arch, hp, [&](const expected_tensor& e) -> result<void> {
    names[e.slot] = e.name;
    return {};
  }));
  placed_weights out;
  bool in_absent = false;
  for (usize i = 0; i < slots.size(); ++i) {
    const weight& w = slots[i];
    if (!w) {
      out.slots += in_absent ? " {}," : "      {},";
      in_absent = true;
      continue;
    }
    if (in_absent) out.slots += '\n';
    in_absent = false;
    while (out.bytes.size() % 32 != 0) out.bytes.push_back(0);
    JIG_TRY(const gguf::tensor_info info, file.find_tensor(names[i]));
    out.slots += fmt::format("      {{{} + {}, {}, {}, {}, {}}},  // {}, {}\n", symbol, out.bytes.size(), w.type,
                             w.cols, w.rows, w.count, names[i], find_block_info(w.type)->name);
    out.bytes.insert(out.bytes.end(), info.data.begin(), info.data.end());
    out.types.push_back(w.type);
  }
  if (in_absent) out.slots += '\n';
  std::sort(out.types.begin(), out.types.end());
  out.types.erase(std::unique(out.types.begin(), out.types.end()), out.types.end());
  return out;
}

}  // namespace jig::host::detail
