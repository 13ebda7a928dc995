#pragma once
// How kernels run on several threads: a type-erased handle, and the rule that shares rows out.
//
// The handle is two pointers and a count, so it crosses between translation units that were built for different
// instruction sets. Kernels only see this; host/pool.hpp makes one from a thread pool. The default handle runs
// everything on the caller, which is all that firmware has.

#include <type_traits>

#include "jig/core/types.hpp"

namespace jig {

/// Half-open interval of rows or items.
struct range {
  u64 begin = 0, end = 0;
  constexpr u64 size() const noexcept { return end - begin; }
  constexpr bool empty() const noexcept { return begin == end; }
};

/// The part of n items that worker `index` of `count` takes: contiguous, in order, every item exactly once.
/// Parts begin at multiples of `grain` (0 counts as 1) and differ by at most one grain; late workers may get none.
/// Precondition: index < count.
constexpr range split(u64 n, u64 grain, u32 index, u32 count) noexcept {
  if (grain == 0) grain = 1;
  const u64 grains = n / grain + (n % grain != 0);
  const u64 each = grains / count, extra = grains % count;
  const u64 first = each * index + (index < extra ? index : extra);
  const u64 last = first + each + (index < extra ? 1 : 0);
  return {first == grains ? n : first * grain, last == grains ? n : last * grain};
}

/// A way to run one function on several threads at once.
struct parallel {
  /// What a thread executes: `index` of `count`, each index exactly once per run. Must not throw.
  using task = void (*)(void* context, u32 index, u32 count);

  /// Runs the task for all indices and returns when all are done. Null: the caller does it alone, as 0 of 1.
  /// The count passed to the task is chosen by the runner (1 in a nested run) and is at most `threads`.
  void (*run_fn)(void* self, task, void* context) = nullptr;
  void* self = nullptr;
  u32 threads = 1;  ///< upper bound of `count`: for scratch memory per thread

  /// Calls f(index, count) on every thread; returns when all calls have returned. f must not throw.
  /// What f wrote is visible to the caller afterwards, and what the caller wrote before is visible to f.
  template <class F>
  void run(F&& f) const noexcept {
    if (!run_fn || threads <= 1) {
      f(u32{0}, u32{1});
      return;
    }
    using function = std::remove_reference_t<F>;
    run_fn(
        self, [](void* context, u32 index, u32 count) { (*static_cast<function*>(context))(index, count); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

  /// Calls f(begin, end) for disjoint parts of the rows [0, n), each beginning at a multiple of `grain`.
  /// With no more than one grain of work no other thread is woken. Threads that get no rows do not call f.
  template <class F>
  void for_rows(u64 n, u64 grain, F&& f) const noexcept {
    if (n == 0) return;
    if (n <= grain) {
      f(u64{0}, n);
      return;
    }
    run([&](u32 index, u32 count) {
      const range part = split(n, grain, index, count);
      if (!part.empty()) f(part.begin, part.end);
    });
  }
};

static_assert(std::is_trivially_copyable_v<parallel> && std::is_standard_layout_v<parallel>);

}  // namespace jig
