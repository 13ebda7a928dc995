#pragma once
// Encodes a row of any block type that has an encoder: by its formula, or by a search (encode.hpp).

#include "jig/quant/all.hpp"
#include "jig/quant/rows.hpp"
#include "jig/quant/search/encode.hpp"

namespace jig::search {

/// Types whose encodings are searched for.
using searched_types = type_list<q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs>;

/// Whether rows can be encoded to the type with this number.
inline bool can_encode(u32 id) noexcept {
  bool can = false;
  visit_id(all_quants{}, id, [&]<class T>(type_tag<T>) { can = encodable<T> || searched_types::contains<T>; });
  return can;
}

/// Encodes all of x to blocks of type number `id`. importance: as many weights as x, or null; types with a formula do
/// not look at it. Errors: those of jig::encode_row.
inline result<void> encode_row(u32 id, std::span<const f32> x, const f32* importance, std::span<u8> bytes) noexcept {
  result<void> done;
  const bool searched = visit_id(searched_types{}, id, [&]<class T>(type_tag<T>) {
    const auto n = jig::detail::blocks_of<T>(x.size(), bytes.size());
    if (!n) {
      done = n.error();
      return;
    }
    for (usize k = 0; k < *n; ++k)
      encode(std::span<const f32, T::size>(x.data() + k * T::size, T::size),
             importance != nullptr ? importance + k * T::size : nullptr, reinterpret_cast<T*>(bytes.data())[k]);
  });
  return searched ? done : jig::encode_row<all_quants>(id, x, bytes);
}

}  // namespace jig::search
