#pragma once
// From a GGUF file to a model: reads an architecture's keys, checks them, and finds every tensor of its table.
//
// Needs no heap: the caller gives the memory for the weight slots, the weights themselves stay in the file.
//
//   JIG_TRY(const hparams hp, read_hparams<arch::llama>(file));
//   std::vector<weight> slots(slots_of<arch::llama>.count(hp));
//   JIG_TRY(auto m, bind<arch::llama, all_quants>(file, hp, slots));

#include "jig/arch/info.hpp"
#include "jig/arch/names.hpp"
#include "jig/gguf/file_set.hpp"
#include "jig/quant/type_info.hpp"

namespace jig {

/// ne[0] to ne[3] of a tensor, 1 where it has no dimension.
using tensor_shape = std::array<u64, 4>;

namespace detail {

inline result<void> check_range(std::string_view key, const key_row& row, f64 v) noexcept {
  const bool any = row.min == 0.0 && row.max == 0.0;
  if (!(v - v == 0.0) || (!any && (v < row.min || v > row.max))) {
    return fail(errc::bad_value, key).got(v >= 0.0 && v < 1.8e19 ? static_cast<u64>(v) : error::unknown);
  }
  return {};
}

/// A value for all layers, or an array with one for each; or a list of another length.
template <class T>
result<void> read_per_layer(const gguf::value& found, const key_row& row, const hparams& hp,
                            per_layer<T>& field) noexcept {
  const std::string_view key = found.key();
  const bool list = row.field.is_list();
  if (!found.is_array()) {
    if (list) return fail(errc::wrong_key_type, key).at(found.position());
    JIG_TRY(const T v, found.template as<T>());
    field = v;
    return check_range(key, row, f64(v));
  }
  // n_layer, or the list's length, stands before in every table.
  const u32 n = row.field.length(hp);
  if (found.count() < n || (list && found.count() != n)) return fail(errc::inconsistent, key).got(found.count());
  const bool flags = found.element_type() == gguf::value_type::boolean;
  if (flags && !std::is_integral_v<T>) return fail(errc::wrong_key_type, key).at(found.position());
  for (u32 il = 0; il < n && !flags; ++il) {
    JIG_TRY(const T v, found.template element<T>(il));
    JIG_CHECK(check_range(key, row, f64(v)));
  }
  field = per_layer<T>(found);
  return {};
}

/// One key into its field. Absent optional keys leave the field as it is.
inline result<void> read_key(const gguf::file_set& file, std::string_view arch, const key_row& row,
                             hparams& hp) noexcept {
  const name_text key = row.no_prefix ? name_text(row.name) : key_name(arch, row.name);
  const auto found = file.find(key.view());
  if (!found) return row.presence == need::required ? result<void>(found.error()) : result<void>();
  switch (row.field.type()) {
    case key_field::kind::number: {
      JIG_TRY(const u32 v, found->template as<u32>());
      row.field.number(hp) = v;
      return check_range(key.view(), row, v);
    }
    case key_field::kind::count: {
      if (!found->is_array()) return fail(errc::wrong_key_type, key.view()).at(found->position());
      if (found->count() > 0xffffffffu) return fail(errc::bad_value, key.view()).got(found->count());
      row.field.number(hp) = static_cast<u32>(found->count());
      return check_range(key.view(), row, f64(found->count()));
    }
    case key_field::kind::real: {
      JIG_TRY(const f32 v, found->template as<f32>());
      row.field.real(hp) = v;
      return check_range(key.view(), row, f64(v));
    }
    case key_field::kind::text: {
      JIG_TRY(row.field.text(hp), found->template as<std::string_view>());
      return {};
    }
    case key_field::kind::flag: {
      JIG_TRY(row.field.flag(hp), found->template as<bool>());
      return {};
    }
    case key_field::kind::numbers: return read_per_layer(*found, row, hp, row.field.numbers(hp));
    case key_field::kind::wide: return read_per_layer(*found, row, hp, row.field.wide(hp));
    case key_field::kind::four:
      for (u32 i = 0; i < 4 && i < found->count(); ++i) {
        JIG_TRY(row.field.four(hp)[i], found->template element<u32>(i));
        JIG_CHECK(check_range(key.view(), row, row.field.four(hp)[i]));
      }
      return {};
    case key_field::kind::reals: return read_per_layer(*found, row, hp, row.field.reals(hp));
  }
  return {};
}

/// The size of the vocabulary: the tokenizer's tokens if the file has them, else the architecture's key.
inline result<u32> read_vocab_size(const gguf::file_set& file, std::string_view arch, u32 from_key) noexcept {
  constexpr std::string_view key = "tokenizer.ggml.tokens";
  if (const auto tokens = file.find(key)) {
    JIG_TRY(const auto list, tokens->strings());
    if (list.size() < 1 || list.size() > (1u << 24)) return fail(errc::bad_value, key).got(list.size());
    return static_cast<u32>(list.size());
  }
  if (from_key == 0) {
    const auto kind = file.get<std::string_view>("tokenizer.ggml.model");
    const bool needs_tokens = kind && *kind != "no_vocab" && *kind != "none";
    return fail(errc::missing_key, needs_tokens ? key : key_name(arch, "vocab_size").view());
  }
  return from_key;
}

/// Sizes of heads: explicit, or n_embd / n_head.
inline result<void> complete_heads(std::string_view arch, bool has_kv_key, hparams& hp) noexcept {
  const auto bad = [&](std::string_view key, u64 got) {
    return fail(errc::inconsistent, key_name(arch, key).view()).got(got);
  };
  if (!has_kv_key) hp.n_head_kv = hp.n_head;
  for (u32 il = 0; il < hp.n_layer; ++il) {
    const u32 heads = hp.n_head[il], heads_kv = hp.n_head_kv[il];  // 0 only where the family's keys allow it
    if (heads_kv != 0 && (heads == 0 || heads % heads_kv != 0)) return bad("attention.head_count_kv", heads_kv);
  }
  if (hp.dim_k == 0 || hp.dim_v == 0) {
    u32 heads = 0;  // of the first layer that has any; without, the family's keys allow a model without attention
    for (u32 il = 0; il < hp.n_layer && heads == 0; ++il) heads = hp.n_head[il];
    if (heads == 0) return {};
    if (hp.n_embd % heads != 0) return bad("attention.head_count", heads);
    if (hp.dim_k == 0) hp.dim_k = hp.n_embd / heads;
    if (hp.dim_v == 0) hp.dim_v = hp.n_embd / heads;
  }
  return {};
}

inline result<void> complete_rope(std::string_view arch, hparams& hp) noexcept {
  if (hp.n_rot == 0) hp.n_rot = hp.dim_k;
  if (hp.n_rot % 2 != 0 || hp.n_rot > hp.dim_k)
    return fail(errc::inconsistent, key_name(arch, "rope.dimension_count").view()).got(hp.n_rot);
  const std::string_view kind = hp.rope_scaling_name;
  if (kind.empty() || kind == "none") hp.scaling = rope_scaling::none;
  else if (kind == "linear") hp.scaling = rope_scaling::linear;
  else if (kind == "dynamic") hp.scaling = rope_scaling::dynamic;
  else if (kind == "yarn") hp.scaling = rope_scaling::yarn;
  else if (kind == "longrope") hp.scaling = rope_scaling::longrope;
  else return fail(errc::unsupported_feature, key_name(arch, "rope.scaling.type").view());
  if (hp.n_ctx_orig == 0) hp.n_ctx_orig = hp.n_ctx_train;
  // Both correction dimensions of YaRN divide by log(base).
  if (hp.scaling == rope_scaling::yarn && !(hp.rope_base > 1.0f))
    return fail(errc::inconsistent, key_name(arch, "rope.freq_base").view());
  return {};
}

inline result<void> check_expert_groups(std::string_view arch, const hparams& hp) noexcept {
  const u32 groups = hp.n_expert_groups;
  if (groups <= 1) return {};
  if (hp.n_expert % groups != 0)
    return fail(errc::inconsistent, key_name(arch, "expert_group_count").view()).got(groups);
  const u32 used = hp.n_expert_groups_used;
  if (used == 0 || used > groups || hp.n_expert / groups * used < hp.n_expert_used)
    return fail(errc::inconsistent, key_name(arch, "expert_group_used_count").view()).got(used);
  return {};
}

inline constexpr u32 any_type = ~u32{0}, i32_type = 26;

/// One tensor of the file as a weight, after its shape and type were compared with the table's: `type`, or any one of
/// `types`.
inline result<weight> check_tensor(const gguf::tensor_info& info, const tensor_shape& shape, bool tall,
                                   u32 type, u64 types) noexcept {
  const bool as_one = tall && info.ne[1] == shape[1] * shape[2] && info.ne[2] == 1;
  for (u32 i = 0; i < 4; ++i)
    if (info.ne[i] != shape[i] && !(as_one && (i == 1 || i == 2)))
      return fail(errc::wrong_shape, info.name).got(info.ne[i]).at(info.position);
  const bool known = info.type < 64 && (types >> info.type & 1) != 0;
  if ((!known && type != i32_type) || (type != any_type && info.type != type))
    return fail(errc::wrong_tensor_type, info.name).got(info.type).at(info.position);
  return weight{info.data.data(), info.type, static_cast<u32>(shape[0]), static_cast<u32>(shape[1]),
                static_cast<u32>(shape[2] * shape[3])};
}

/// Whether all i32 numbers of a tensor are from 0 up to `end`. Error: bad_value, with the tensor's name.
inline result<void> check_ids(const gguf::tensor_info& info, gguf::byte_order order, u64 end) noexcept {
  for (usize at = 0; at < info.data.size(); at += sizeof(u32)) {
    const u32 id = gguf::load<u32>(info.data.data() + at, order);
    if (id >= end) return fail(errc::bad_value, info.name).got(id).at(info.position);
  }
  return {};
}

/// The table's shape of a row in layer il. Error: inconsistent if a dimension exceeds 32 bits or is 0.
inline result<tensor_shape> row_shape(const tensor_row& row, const hparams& hp, u32 il,
                                      std::string_view name) noexcept {
  tensor_shape shape = {1, 1, 1, 1};
  for (u32 i = 0; i < 4 && row.shape[i]; ++i) {
    shape[i] = row.shape[i](hp, il);
    if (shape[i] == 0 || shape[i] > 0xffffffffu) return fail(errc::inconsistent, name).got(shape[i]);
  }
  return shape;
}

/// Whether the tensor of this name belongs to one of the layers from `first` on, of which there are n.
inline bool in_layers(std::string_view name, u32 first, u32 n) noexcept {
  for (u32 il = first; il - first < n; ++il)
    if (name.starts_with(tensor_name("blk.{}", il, ".").view())) return true;
  return false;
}

}  // namespace detail

/// Reads and checks all keys of an architecture. Errors: missing_key, wrong_key_type, bad_value (out of its range),
/// inconsistent (keys contradict each other), unsupported_feature; each names the key.
inline result<hparams> read_hparams(const arch_info& arch, const gguf::file_set& file) noexcept {
  hparams hp;
  if (arch.defaults != nullptr) arch.defaults(hp);
  for (const key_row& row : arch.keys) JIG_CHECK(detail::read_key(file, arch.name, row, hp));
  // Per-layer arrays have values for all layers, so that the last ones go only now.
  if (hp.n_layer_next >= hp.n_layer)
    return fail(errc::inconsistent, key_name(arch.name, "nextn_predict_layers").view()).got(hp.n_layer_next);
  hp.n_layer -= hp.n_layer_next;
  JIG_TRY(hp.n_vocab, detail::read_vocab_size(file, arch.name, hp.n_vocab));
  const bool has_kv = file.has(key_name(arch.name, "attention.head_count_kv").view());
  JIG_CHECK(detail::complete_heads(arch.name, has_kv, hp));
  JIG_CHECK(detail::complete_rope(arch.name, hp));
  if (hp.n_expert_used > hp.n_expert || (hp.n_expert != 0 && hp.n_expert_used == 0))
    return fail(errc::inconsistent, key_name(arch.name, "expert_used_count").view()).got(hp.n_expert_used);
  JIG_CHECK(detail::check_expert_groups(arch.name, hp));
  if (arch.complete != nullptr) JIG_CHECK(arch.complete(hp));
  if (hp.temperature_scale != 0.0f && hp.temperature_length == 0)
    return fail(errc::inconsistent, key_name(arch.name, "attention.temperature_length").view()).got(0);
  return hp;
}
template <class Arch>
result<hparams> read_hparams(const gguf::file_set& file) noexcept {
  return read_hparams(info_of<Arch>(), file);
}

/// A tensor that a model may have: a table's row in one layer, or the bias or scale of one.
struct expected_tensor {
  const tensor_row& row;
  u32 layer;
  std::string_view name;  ///< in the file
  tensor_shape shape;
  u32 slot;
  bool required;
  bool is_f32;  ///< numbers in f32 (i32: see ids_below), read in the host's byte order; else blocks that products read

  /// The type that its numbers must have, if it is one.
  constexpr u32 number_type() const noexcept {
    if (!is_f32) return detail::any_type;
    return row.ids_below ? detail::i32_type : 0;
  }
};

/// Calls f(expected_tensor) for every tensor that a model with these hyperparameters may have; stops at the first error
/// that f returns.
template <class F>
result<void> for_each_tensor(const arch_info& arch, const hparams& hp, F&& f) noexcept {
  const slot_map map = arch.slots();
  for (const tensor_row& row : arch.tensors) {
    const slot_place place = map.find(row.name);
    const u32 layers = row.per_layer() ? hp.n_layer : 1;
    const bool must = row.presence == need::required;
    for (u32 il = 0; il < layers; ++il) {
      if (row.when && !row.when(hp, il)) continue;
      const name_text name = tensor_name(row.name, il, row.ending);
      JIG_TRY(const auto shape, detail::row_shape(row, hp, il, name.view()));
      u32 slot = map.index(place, il);
      JIG_CHECK(f(expected_tensor{row, il, name.view(), shape, slot, must, !row.is_matrix()}));
      if (row.with_bias != bias::none) {
        // The bias of a vector (a norm) has its length; that of a matrix one value per output, per expert if stacked.
        const tensor_shape bias_shape =
            row.shape[1] ? tensor_shape{shape[1], shape[2], 1, 1} : tensor_shape{shape[0], 1, 1, 1};
        const name_text bias_name = tensor_name(row.name, il, ".bias");
        JIG_CHECK(f(expected_tensor{row, il, bias_name.view(), bias_shape, ++slot,
                                    must && row.with_bias == bias::required, true}));
      }
      if (row.has_scale()) {
        const tensor_shape scale_shape = {row.shape[2] ? shape[2] : 1, 1, 1, 1};
        const name_text scale_name = tensor_name(row.name, il, ".scale");
        JIG_CHECK(f(expected_tensor{row, il, scale_name.view(), scale_shape, ++slot, false, true}));
      }
    }
  }
  return {};
}

/// Whether a file's tensors can be computed with where they are: blocks are read as little-endian on every host, but
/// f32 numbers in the host's order. host::load turns what must be turned.
inline bool usable_in_place(const gguf::file_set& file) noexcept {
  return file.order() == gguf::byte_order::little && std::endian::native == std::endian::little;
}

/// Finds every tensor of an architecture in the file and checks shapes and types; the slots point into the file.
/// `types`: the types of matrices, see type_bits. `slots`: slot_map::count(hp) entries. See usable_in_place about byte
/// orders. Errors: missing_tensor, unexpected_tensor, wrong_shape, wrong_tensor_type, buffer_too_small; with the
/// tensor's name.
inline result<void> bind_weights(const arch_info& arch, u64 types, const gguf::file_set& file, const hparams& hp,
                                 std::span<weight> slots) noexcept {
  if (slots.size() < arch.slots().count(hp)) return fail(errc::buffer_too_small, "weight slots").got(slots.size());
  for (weight& w : slots) w = {};
  u64 found = 0;
  JIG_CHECK(for_each_tensor(arch, hp, [&](const expected_tensor& e) -> result<void> {
    const auto has = [&](std::string_view other) {
      return file.has_tensor(tensor_name(other, e.layer, ".weight").view());
    };
    if (!e.row.unless.empty() && has(e.row.unless)) return {};
    if (!e.row.with.empty() && !has(e.row.with)) return {};
    const auto info = file.find_tensor(e.name);
    if (!info) return e.required ? result<void>(info.error()) : result<void>();
    tensor_shape shape = e.shape;
    if (e.row.or_more_rows && info->ne[1] > shape[1] && info->ne[1] <= 0xffffffffu) shape[1] = info->ne[1];
    JIG_TRY(slots[e.slot], detail::check_tensor(*info, shape, e.row.tall, e.number_type(), types));
    ++found;
    return e.row.ids_below ? detail::check_ids(*info, file.order(), e.row.ids_below(hp, e.layer)) : result<void>();
  }));
  // Whatever was not bound is not the architecture's, but for the layers that are not used; ".input_scale" describes
  // activations and enters no product.
  if (found == file.tensors().size()) return {};
  for (const gguf::tensor_info& info : file.tensors()) {
    bool bound =
        info.name.ends_with(".input_scale") || detail::in_layers(info.name, hp.n_layer, hp.n_layer_next);
    for (const weight& w : slots) bound = bound || (w && w.data == info.data.data());
    if (!bound) return fail(errc::unexpected_tensor, info.name).at(info.position);
  }
  return {};
}
/// The same as a model of one architecture, for weights of the types in Quants; hp and slots must outlive it.
template <class Arch, class Quants>
result<bound_model<Arch>> bind(const gguf::file_set& file, const hparams& hp, std::span<weight> slots) noexcept {
  JIG_CHECK(bind_weights(info_of<Arch>(), type_bits(Quants{}), file, hp, slots));
  return bound_model<Arch>(hp, slots);
}

}  // namespace jig
