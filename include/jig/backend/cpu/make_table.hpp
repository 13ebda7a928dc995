#pragma once
// Makes the function table of a kernel set: what a unit that is compiled for one instruction set does (table.hpp).

#include "jig/backend/cpu/kernels.hpp"
#include "jig/backend/cpu/table.hpp"

namespace jig::cpu {

namespace detail {

/// A member function of a stateless class as a plain function.
template <auto Member>
struct plain;
template <class K, class... Args, void (K::*Member)(Args...) const>
struct plain<Member> {
  static void call(Args... args) { (K{}.*Member)(args...); }
};

}  // namespace detail

/// The table of any stateless kernel set K for weights of the types in Quants.
template <class K, class Quants>
constexpr kernel_table table_of(const char* name) noexcept {
  using detail::plain;
  kernel_table t = {
      .isa = name,
      .types = type_bits(Quants{}),
      .embed = plain<&K::embed>::call,
      .prepare = plain<&K::prepare>::call,
      .matmul = plain<&K::matmul>::call,
      .matmul_experts = plain<&K::matmul_experts>::call,
      .add = plain<&K::add>::call,
      .scale = plain<&K::scale>::call,
      .softcap = plain<&K::softcap>::call,
      .gated = plain<&K::gated>::call,
      .activate = plain<&K::activate>::call,
      .multiply = plain<&K::multiply>::call,
      .clamp = plain<&K::clamp>::call,
      .fill = plain<&K::fill>::call,
      .temperature = plain<&K::temperature>::call,
      .expand = plain<&K::expand>::call,
      .norm = plain<&K::norm>::call,
      .rope_table = plain<&K::rope_table>::call,
      .rope = plain<&K::rope>::call,
      .store_kv = plain<&K::store_kv>::call,
      .load_keys = plain<&K::load_keys>::call,
      .attend = plain<&K::attend>::call,
      .select = plain<&K::select>::call,
      .attend_chosen = plain<&K::attend_chosen>::call,
      .compress = plain<&K::compress>::call,
      .attend_compressed = plain<&K::attend_compressed>::call,
      .route = plain<&K::route>::call,
      .route_tokens = plain<&K::route_tokens>::call,
      .combine = plain<&K::combine>::call,
      .sinkhorn = plain<&K::sinkhorn>::call,
      .conv = plain<&K::conv>::call,
      .scan = plain<&K::scan>::call,
      .spread_biases = plain<&K::spread_biases>::call,
      .dot_groups = plain<&K::dot_groups>::call,
      .average = plain<&K::average>::call,
      .gather = plain<&K::gather>::call,
  };
  if constexpr (requires { K::packs(); }) {
    t.packs = K::packs();
    t.pack = plain<&K::pack>::call;
  }
  return t;
}

/// The table of kernels<Isa, Quants>.
template <isa::tag Isa, class Quants>
constexpr kernel_table make_table() noexcept {
  return table_of<kernels<Isa, Quants>, Quants>(Isa::name);
}

}  // namespace jig::cpu
