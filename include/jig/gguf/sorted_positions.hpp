#pragma once
// Sorting and searching arrays of file positions in place, without heap, in O(n log n) at worst.
//
// The reader's index is such an array: no hashing, so that no choice of names makes it slow.

#include <span>
#include <utility>

#include "jig/core/types.hpp"

namespace jig::gguf::detail {

/// Heap sort by `less(a, b)`.
template <class Less>
constexpr void heap_sort(std::span<u32> v, Less less) noexcept {
  const auto sift_down = [&](usize root, usize n) {
    for (usize child = 2 * root + 1; child < n; child = 2 * root + 1) {
      if (child + 1 < n && less(v[child], v[child + 1])) ++child;
      if (!less(v[root], v[child])) return;
      std::swap(v[root], v[child]);
      root = child;
    }
  };
  for (usize i = v.size() / 2; i-- > 0;) sift_down(i, v.size());
  for (usize n = v.size(); n-- > 1;) {
    std::swap(v[0], v[n]);
    sift_down(0, n);
  }
}

/// The first index whose element is not `before` the thing sought; v.size() if there is none.
template <class Before>
constexpr usize lower_bound(std::span<const u32> v, Before before) noexcept {
  usize from = 0, n = v.size();
  while (n > 0) {
    const usize half = n / 2;
    if (before(v[from + half])) {
      from += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return from;
}

}  // namespace jig::gguf::detail
