#pragma once
// Hosted: a GGUF file with its matrices in another block type whose encoder is a fixed formula (Q8_0, Q4_0, F16, ...).
//
// Every matrix gets the type; norms, routers and other vectors stay as they are, and rows that are not a whole number
// of blocks become F16. Mixes that choose tensor by tensor are another matter.

#include <vector>

#include "jig/gguf/file_set.hpp"
#include "jig/gguf/writer.hpp"
#include "jig/quant/all.hpp"
#include "jig/quant/rows.hpp"

namespace jig::host {

/// The type that a tensor gets where the user asks for `type`.
inline u32 requantized_type(const gguf::tensor_info& t, u32 type) noexcept {
  const std::string_view name = t.name;
  const bool matrix = t.elements() != t.ne[0];
  const block_info* now = find_block_info(t.type);
  const bool numbers = now != nullptr && now->kind == block_kind::number;  // ids
  const bool kept = !matrix || numbers || !name.ends_with("weight") || name.find("_norm.weight") != name.npos ||
                    name.find("ffn_gate_inp.weight") != name.npos;
  if (kept) return t.type;
  const block_info* info = find_block_info(type);
  return info != nullptr && t.ne[0] % info->size == 0 ? type : f16_block::id;
}

/// The bytes of a new GGUF file. Needs memory for it all and one row. Errors: unknown_tensor_type, not_supported (the
/// type's encoder is not a fixed formula, or the file is in the other byte order), those of decode_row and the writer.
inline result<std::vector<u8>> requantize(const gguf::file& file, u32 type) {
  const block_info* info = find_block_info(type);
  if (info == nullptr) return fail(errc::unknown_tensor_type).got(type);
  if (file.order() != gguf::byte_order::little) return fail(errc::not_supported, "byte order of the file");
  gguf::writer w = gguf::writer::from(file);
  gguf::writer out;
  for (const gguf::owned_value& key : w.keys())
    if (key.key != "general.file_type") out.set(key);  // it names the mix of the old types
  out.set("general.quantization_version", u32{2});

  std::vector<std::vector<u8>> data;  // borrowed by the writer until it has written
  std::vector<f32> row;
  for (const gguf::tensor_info& t : file.tensors()) {
    const u32 to = requantized_type(t, type);
    if (to == t.type) {
      JIG_CHECK(out.add_tensor(t));
      continue;
    }
    JIG_TRY(const u64 bytes, row_bytes(to, t.ne[0]));
    row.resize(static_cast<usize>(t.ne[0]));
    std::vector<u8>& blocks = data.emplace_back(static_cast<usize>(bytes * t.rows()));
    const usize source_bytes = static_cast<usize>(t.bytes / t.rows());
    for (usize r = 0; r < t.rows(); ++r) {
      JIG_CHECK(decode_row<all_quants>(t.type, t.data.subspan(r * source_bytes, source_bytes), row));
      JIG_CHECK(encode_row<all_quants>(to, row, std::span(blocks).subspan(r * static_cast<usize>(bytes),
                                                                         static_cast<usize>(bytes))));
    }
    JIG_CHECK(out.add_tensor(t.name, std::span<const u64>(t.ne, t.n_dims), to, blocks));
  }
  return out.bytes();
}

}  // namespace jig::host
