#pragma once
// What a program is built with, as one type: architectures, block types, backend. Nothing else is instantiated.
//
//   using tiny = jig::model<jig::arch::llama, jig::quants<jig::q8_0, float>>;
//   using many = jig::any_model;

#include "jig/arch/all.hpp"
#include "jig/backend/cpu/backend.hpp"
#include "jig/quant/all.hpp"

namespace jig {

namespace detail {
template <class T>
struct as_list {
  using type = type_list<T>;
};
template <class T>
  requires requires { typename T::list; }
struct as_list<T> {
  using type = T;
};
}  // namespace detail

/// Archs: one architecture or archs<...>. Quants: quants<...>. Backend: backend::cpu<...>, backend::cpu_dispatch.
template <class Archs, class Quants = all_quants, class Backend = backend::cpu<>>
struct model {
  using archs = typename detail::as_list<Archs>::type;
  using quants = Quants;
  using kernels = typename Backend::template kernels<Quants>;

  /// The kernels of one session. Errors: those of the backend.
  static result<kernels> make_kernels() noexcept { return Backend::template make<Quants>(); }
};

/// Every architecture and block type; which one is decided by the file.
using any_model = model<all_archs>;

}  // namespace jig
