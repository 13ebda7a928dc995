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

/// How an architecture's table maps to slots: all global rows, then the per-layer rows layer after layer.
template <class Arch>
struct slot_map {
  static constexpr auto& rows = Arch::tensors;

  static constexpr u32 total(bool per_layer) noexcept {
    u32 n = 0;
    for (const tensor_row& r : rows) n += r.per_layer() == per_layer ? r.slots() : 0;
    return n;
  }
  static constexpr u32 global_slots = total(false);
  static constexpr u32 layer_slots = total(true);

  static constexpr slot_place find(std::string_view name) noexcept {
    slot_place p;
    u32 next[2] = {0, 0};
    for (const tensor_row& r : rows) {
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
  static constexpr bool always(std::string_view name) noexcept {
    const slot_place p = find(name);
    if (!p.found) return false;
    const tensor_row& r = rows[p.row];
    return r.presence == need::required && r.with.empty();
  }

  /// The slot of row `place` in layer il.
  static constexpr u32 index(const slot_place& place, u32 il) noexcept {
    return rows[place.row].per_layer() ? global_slots + il * layer_slots + place.first : place.first;
  }
  static constexpr u32 count(const hparams& hp) noexcept { return global_slots + hp.n_layer * layer_slots; }
};

/// Hyperparameters and slots, without ownership: the slots must outlive the model.
template <class Arch>
class bound_model {
 public:
  using architecture = Arch;

  constexpr bound_model() noexcept = default;
  constexpr bound_model(const hparams& hp, std::span<const weight> slots) noexcept : hp_(hp), slots_(slots.data()) {}

  constexpr const hparams& hp() const noexcept { return hp_; }
  /// The tensor that the tag names, with bias and scale; absent parts test false. A tensor that the architecture
  /// does not have is absent at compile time, so shared building blocks may ask for anything.
  template <fixed_name Name>
  constexpr linear get(tensor_tag<Name>, u32 il = 0) const noexcept {
    return lookup<Arch, Name>(slots_, il);
  }

  template <class A, fixed_name Name>
  static constexpr linear lookup(const weight* slots, u32 il) noexcept {
    using map = slot_map<A>;
    constexpr slot_place place = map::find(tensor_tag<Name>::name);
    if constexpr (!place.found) {
      return {};
    } else {
      constexpr const tensor_row& row = map::rows[place.row];
      // Constants, so that neither the table nor its names are needed at run time.
      constexpr u32 first = map::index(place, 0), step = map::index(place, 1) - first;
      const weight* s = slots + first + il * step;
      linear out{s[0], {}, {}};
      if constexpr (row.with_bias != bias::none) out.bias = s[1];
      if constexpr (row.is_matrix()) out.scale = s[row.slots() - 1];
      return out;
    }
  }

 private:
  hparams hp_;
  const weight* slots_ = nullptr;
};

/// A model whose hyperparameters are constants: extents fold into the code. Blob gives
/// `static constexpr hparams hp` and `static constexpr weight slots[]` (made by jig_embed_model).
template <class Arch, class Blob>
struct static_model {
  using architecture = Arch;
  static constexpr const hparams& hp() noexcept { return Blob::hp; }
  template <fixed_name Name>
  static constexpr linear get(tensor_tag<Name>, u32 il = 0) noexcept {
    return bound_model<Arch>::template lookup<Arch, Name>(Blob::slots, il);
  }
};

}  // namespace jig
