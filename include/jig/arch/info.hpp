#pragma once
// What loading needs to know of an architecture, as plain data: one reader serves all architectures, and only the
// forward pass is a template.
//
//   const arch_info* info = find_arch(arch_infos<all_archs>, "llama");

#include "jig/arch/model.hpp"
#include "jig/core/result.hpp"
#include "jig/core/type_list.hpp"

namespace jig {

/// The tables of an architecture and what stands beside them.
struct arch_info {
  std::string_view name;
  std::span<const key_row> keys;
  std::span<const tensor_row> tensors;
  void (*defaults)(hparams&) noexcept = nullptr;          ///< what absent keys mean, or null
  result<void> (*complete)(hparams&) noexcept = nullptr;  ///< what follows from the keys, or null

  constexpr slot_map slots() const noexcept { return slot_map(tensors); }
};

template <class Arch>
constexpr arch_info info_of() noexcept {
  arch_info info{Arch::name, Arch::keys, Arch::tensors};
  if constexpr (requires(hparams& hp) { Arch::defaults(hp); }) info.defaults = Arch::defaults;
  // One that several architectures share is given the name, for its errors.
  if constexpr (requires(hparams& hp) { Arch::complete(Arch::name, hp); })
    info.complete = [](hparams& hp) noexcept -> result<void> { return Arch::complete(Arch::name, hp); };
  else if constexpr (requires(hparams& hp) { Arch::complete(hp); }) info.complete = Arch::complete;
  return info;
}

namespace detail {
template <class... Archs>
constexpr std::array<arch_info, sizeof...(Archs)> infos_of(type_list<Archs...>) noexcept {
  return {info_of<Archs>()...};
}
}  // namespace detail

/// The architectures of a list, in its order.
template <class List>
inline constexpr auto arch_infos = detail::infos_of(List{});

/// The architecture of this name, or null.
constexpr const arch_info* find_arch(std::span<const arch_info> infos, std::string_view name) noexcept {
  for (const arch_info& info : infos)
    if (info.name == name) return &info;
  return nullptr;
}

}  // namespace jig
