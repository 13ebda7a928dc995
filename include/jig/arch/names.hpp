#pragma once
// Full names of keys and tensors, put together without heap: "llama" + "block_count" -> "llama.block_count",
// "blk.{}.attn_q" + 3 + ".weight" -> "blk.3.attn_q.weight".

#include "jig/core/message.hpp"

namespace jig {

/// A short text in place; longer ones are cut.
class name_text {
 public:
  template <class... Parts>
  constexpr explicit name_text(const Parts&... parts) noexcept {
    text_writer w(text_);
    (w.put(parts), ...);
    size_ = w.view().size();
  }
  constexpr std::string_view view() const noexcept { return {text_, size_}; }

 private:
  char text_[128] = {};
  usize size_ = 0;
};

/// A key with its architecture's prefix.
constexpr name_text key_name(std::string_view arch, std::string_view key) noexcept { return name_text(arch, '.', key); }

/// A tensor's name with the layer in place of "{}".
constexpr name_text tensor_name(std::string_view pattern, u32 layer, std::string_view ending) noexcept {
  const usize at = pattern.find("{}");
  if (at == pattern.npos) return name_text(pattern, ending);
  return name_text(pattern.substr(0, at), u64{layer}, pattern.substr(at + 2), ending);
}

}  // namespace jig
