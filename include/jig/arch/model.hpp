#pragma once
// A model: hyperparameters and weights of one architecture, as the forward pass reads them.
//
// Every tensor of the architecture's table has slots in one flat array (weight, then bias, then scale, as far as the
// table allows them); which slot a tag means is decided at compile time. The weights themselves stay where they are:
// in a mapped file, in repacked memory, in flash.

#include <span>

#include "jig/arch/tensors.hpp"

namespace jig {

/// Where the slots of one table row are: first slot, and whether it repeats per layer.
struct slot_place {
  u32 row = 0;
  u32 first = 0;  ///< among the global slots, or within a layer's
  bool found = false;
};

/// How a tensor table maps to slots: all global rows, then the per-layer rows layer after layer.
class slot_map {
 public:
  constexpr explicit slot_map(std::span<const tensor_row> rows) noexcept
      : rows_(rows), global_slots_(total(false)), layer_slots_(total(true)) {}

  constexpr slot_place find(std::string_view name) const noexcept {
    slot_place p;
    u32 next[2] = {0, 0};
    for (const tensor_row& r : rows_) {
      if (r.name == name) {
        p.first = next[r.per_layer()];
        p.found = true;
        return p;
      }
      next[r.per_layer()] += r.slots();
      ++p.row;
    }
    return p;
  }

  /// Whether every layer has this tensor, if it has any of its kind: nothing in the table lets it be absent.
  constexpr bool always(std::string_view name) const noexcept {
    const slot_place p = find(name);
    return p.found && rows_[p.row].presence == need::required && rows_[p.row].with.empty();
  }

  /// The slot of row `place` in layer il.
  constexpr u32 index(const slot_place& place, u32 il) const noexcept {
    return rows_[place.row].per_layer() ? global_slots_ + il * layer_slots_ + place.first : place.first;
  }
  constexpr u32 count(const hparams& hp) const noexcept { return global_slots_ + hp.n_layer * layer_slots_; }

 private:
  constexpr u32 total(bool per_layer) const noexcept {
    u32 n = 0;
    for (const tensor_row& r : rows_) n += r.per_layer() == per_layer ? r.slots() : 0;
    return n;
  }

  std::span<const tensor_row> rows_;
  u32 global_slots_, layer_slots_;
};

/// The slots of an architecture.
template <class Arch>
inline constexpr slot_map slots_of{Arch::tensors};

/// Whether the model's architecture has the tensor that the tag names in its table.
template <class M, fixed_name Name>
constexpr bool has_tensor(tensor_tag<Name>) noexcept {
  return slots_of<typename M::architecture>.find(tensor_tag<Name>::name).found;
}

/// Hyperparameters and slots, without ownership: both must outlive the model.
template <class Arch>
class bound_model {
 public:
  using architecture = Arch;

  constexpr bound_model() noexcept = default;
  constexpr bound_model(const hparams& hp, std::span<const weight> slots) noexcept : hp_(&hp), slots_(slots.data()) {}

  constexpr const hparams& hp() const noexcept { return *hp_; }
  /// The tensor that the tag names, with bias and scale; absent parts test false. A tensor that the architecture
  /// does not have is absent at compile time, so shared building blocks may ask for anything.
  template <fixed_name Name>
  constexpr linear get(tensor_tag<Name>, u32 il = 0) const noexcept {
    return lookup<Arch, Name>(slots_, il);
  }

  template <class A, fixed_name Name>
  static constexpr linear lookup(const weight* slots, u32 il) noexcept {
    constexpr slot_place place = slots_of<A>.find(tensor_tag<Name>::name);
    if constexpr (!place.found) {
      return {};
    } else {
      constexpr const tensor_row& row = A::tensors[place.row];
      // Constants, so that neither the table nor its names are needed at run time.
      constexpr u32 first = slots_of<A>.index(place, 0), step = slots_of<A>.index(place, 1) - first;
      const weight* s = slots + first + il * step;
      linear out{s[0], {}, {}};
      if constexpr (row.with_bias != bias::none) out.bias = s[1];
      if constexpr (row.has_scale()) out.scale = s[row.slots() - 1];
      return out;
    }
  }

 private:
  const hparams* hp_ = nullptr;
  const weight* slots_ = nullptr;
};

/// A model whose hyperparameters are constants: extents fold into the code. Blob gives
/// `static constexpr hparams hp` and `static constexpr weight slots[]` (made by jig_embed_model).
template <class Arch, class Blob>
struct static_model {
  using architecture = Arch;
  static constexpr bool fixed_extents = true;
  static constexpr const hparams& hp() noexcept { return Blob::hp; }
  template <fixed_name Name>
  static constexpr linear get(tensor_tag<Name>, u32 il = 0) noexcept {
    return bound_model<Arch>::template lookup<Arch, Name>(Blob::slots, il);
  }
};

}  // namespace jig
