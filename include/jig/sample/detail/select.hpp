#pragma once
// Sorting candidates by precedes(), all or only the best k: quicksort that falls back to heapsort, and a heap of k.
//
// T is candidate, whose precedes() is found by its namespace. It is a total order also for NaN, so the unchecked inner
// loops of the partition stay in bounds.

#include <span>
#include <utility>

#include "jig/core/types.hpp"

namespace jig::sample::detail {

/// Restores the heap below `root`; the worst candidate is on top.
template <class T>
constexpr void sift_down(std::span<T> heap, usize root) noexcept {
  const T moved = heap[root];
  for (;;) {
    usize child = 2 * root + 1;
    if (child >= heap.size()) break;
    if (child + 1 < heap.size() && precedes(heap[child], heap[child + 1])) ++child;
    if (!precedes(moved, heap[child])) break;
    heap[root] = heap[child];
    root = child;
  }
  heap[root] = moved;
}

template <class T>
constexpr void make_heap(std::span<T> s) noexcept {
  for (usize i = s.size() / 2; i-- > 0;) sift_down(s, i);
}

/// Turns a heap into a sorted span, best first.
template <class T>
constexpr void sort_heap(std::span<T> heap) noexcept {
  for (usize n = heap.size(); n > 1; --n) {
    std::swap(heap[0], heap[n - 1]);
    sift_down(heap.first(n - 1), 0);
  }
}

template <class T>
constexpr void insertion_sort(std::span<T> s) noexcept {
  for (usize i = 1; i < s.size(); ++i) {
    const T moved = s[i];
    usize k = i;
    for (; k > 0 && precedes(moved, s[k - 1]); --k) s[k] = s[k - 1];
    s[k] = moved;
  }
}

/// Hoare's partition: no element of the first part is worse than any of the second; both are not empty.
/// Returns the size of the first part. Precondition: at least 3 elements. In sorted order a prefix is the best k.
template <class T>
constexpr usize partition(std::span<T> s) noexcept {
  T &first = s[0], &middle = s[(s.size() - 1) / 2], &last = s[s.size() - 1];
  if (precedes(middle, first)) std::swap(middle, first);
  if (precedes(last, first)) std::swap(last, first);
  if (precedes(last, middle)) std::swap(last, middle);
  const T pivot = middle;
  usize i = 0, j = s.size() - 1;
  for (;; ++i, --j) {
    while (precedes(s[i], pivot)) ++i;
    while (precedes(pivot, s[j])) --j;
    if (i >= j) return j + 1;
    std::swap(s[i], s[j]);
  }
}

/// Sorts everything, best first: n log n also in the worst case; recursion at most log2(n) deep.
template <class T>
constexpr void sort_all(std::span<T> s, int patience = 64) noexcept {
  while (s.size() > 16) {
    if (patience-- == 0) {
      make_heap(s);
      sort_heap(s);
      return;
    }
    const usize cut = partition(s);
    const bool first_smaller = cut <= s.size() / 2;
    sort_all(first_smaller ? s.first(cut) : s.subspan(cut), patience);
    s = first_smaller ? s.subspan(cut) : s.first(cut);
  }
  insertion_sort(s);
}

/// Brings the k best to the front, sorted; the rest follows in no order. Precondition: k <= s.size().
/// Expected cost n + k log(n/k) log k: one comparison per candidate where k is small.
template <class T>
constexpr void sort_best(std::span<T> s, usize k) noexcept {
  if (k == 0) return;
  if (k >= s.size() / 8) return sort_all(s);
  const std::span<T> heap = s.first(k);
  make_heap(heap);
  for (usize i = k; i < s.size(); ++i) {
    if (s[i].logit < heap[0].logit || !precedes(s[i], heap[0])) continue;
    std::swap(s[i], heap[0]);
    sift_down(heap, 0);
  }
  sort_heap(heap);
}

}  // namespace jig::sample::detail
