#pragma once
// Lists of types: the registries (block types, architectures, samplers) that a program chooses from.

#include <type_traits>
#include <utility>

#include "jig/core/types.hpp"

namespace jig {

/// A compile-time list of types.
template <class... Ts>
struct type_list {
  static constexpr usize size = sizeof...(Ts);
  template <class T>
  static constexpr bool contains = (std::is_same_v<T, Ts> || ...);
};

/// A type as a value, to pass it to a generic lambda.
template <class T>
struct type_tag {
  using type = T;
};

/// Calls f(type_tag<T>{}) for each type in order.
template <class... Ts, class F>
constexpr void for_each_type(type_list<Ts...>, F&& f) {
  (f(type_tag<Ts>{}), ...);
}

/// Calls f(type_tag<T>{}) for the first T with T::id == id; false if no type of the list has that id.
template <class... Ts, class F>
constexpr bool visit_id(type_list<Ts...>, [[maybe_unused]] u32 id, F&& f) {
  return ((Ts::id == id ? (f(type_tag<Ts>{}), true) : false) || ...);
}

}  // namespace jig
