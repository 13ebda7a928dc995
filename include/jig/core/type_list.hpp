#pragma once
// Lists of types: the registries (block types, architectures, samplers) that a program chooses from.

#include <type_traits>
#include <utility>

#include "jig/core/types.hpp"

namespace jig {

/// A compile-time list of types. Long lists are given names of their own by derivation,
/// `struct all_archs : archs<...> {}`, so that the names of what is made of them stay short.
template <class... Ts>
struct type_list {
  using list = type_list;
  static constexpr usize size = sizeof...(Ts);
  template <class T>
  static constexpr bool contains = (std::is_same_v<T, Ts> || ...);
};

namespace detail {
template <usize I, class T, class... Ts>
struct pick : pick<I - 1, Ts...> {};
template <class T, class... Ts>
struct pick<0, T, Ts...> {
  using type = T;
};
template <usize I, class List>
struct pick_of;
template <usize I, class... Ts>
struct pick_of<I, type_list<Ts...>> : pick<I, Ts...> {};
}  // namespace detail

/// Type I of a list.
template <usize I, class List>
using type_at = typename detail::pick_of<I, typename List::list>::type;

namespace detail {
template <u32 Id, usize I, class List>
constexpr usize index_of_id() noexcept {
  static_assert(I < List::list::size, "no type of the list has this id");
  if constexpr (type_at<I, List>::id == Id) return I;
  else return index_of_id<Id, I + 1, List>();
}
}  // namespace detail

/// The first type of a list whose id is this.
template <u32 Id, class List>
using type_with_id = type_at<detail::index_of_id<Id, 0, List>(), List>;

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

/// A set of types with ids below 64, as bits: bit n is set if a type with id n is in the list.
template <class... Ts>
constexpr u64 type_bits(type_list<Ts...>) noexcept {
  static_assert(((Ts::id < 64) && ...));
  return (u64{0} | ... | (u64{1} << Ts::id));
}

}  // namespace jig
