#pragma once
// All dot kernels, and the choice among them. A new kernel is one header and one include here.

#include "jig/backend/cpu/dots/dot.hpp"
#include "jig/backend/cpu/dots/floats.hpp"
#include "jig/backend/cpu/dots/helium.hpp"
#include "jig/backend/cpu/dots/neon.hpp"
#include "jig/backend/cpu/dots/x86.hpp"

namespace jig::cpu {

/// The function that computes jobs for weights of type W, as fast as the tag allows.
template <isa::tag Isa, class W>
constexpr dot_fn dot_function() noexcept {
  using K = decltype(dot_kernel(Isa{}, type_tag<W>{}));
  if constexpr (requires { &K::row; }) return &detail::plain_rows<K, W>;
  else return &detail::dot_rows<K>;
}

/// The same for the type with this number; null if Quants does not list it.
template <isa::tag Isa, class Quants>
dot_fn find_dot(u32 type) noexcept {
  dot_fn f = nullptr;
  visit_id(Quants{}, type, [&]<class W>(type_tag<W>) { f = dot_function<Isa, W>(); });
  return f;
}

}  // namespace jig::cpu
