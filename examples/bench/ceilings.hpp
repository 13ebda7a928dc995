#pragma once
// The ceilings of a machine, measured by the loops of loops.hpp on as many threads as a model runs on.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "jig/host/aligned.hpp"
#include "jig/host/pool.hpp"
#include "loops.hpp"

namespace jig::bench {

/// Operations per second of all threads together; a product and its addition are two. 0: not measured.
struct ceilings {
  u32 threads = 0;
  f64 int8 = 0.0, bf16 = 0.0, f32 = 0.0;
  f64 read = 0.0;  ///< bytes per second
  const char *int8_name = "", *bf16_name = "", *f32_name = "";
};

namespace detail {

/// Seconds that f takes.
template <class F>
f64 seconds_of(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count();
}

/// Results go here, so that no loop is for nothing.
inline std::atomic<u64> sink{0};

/// The most operations per second of several tries, each about 30 ms long.
inline f64 measure(const parallel& p, const op_loop& loop) {
  if (!loop) return 0.0;
  u64 rounds = 1024;
  const auto once = [&] {
    return seconds_of([&] {
      p.run([&](u32, u32) { sink.fetch_add(loop.run(rounds) != 0.0f, std::memory_order_relaxed); });
    });
  };
  while (once() < 0.02 && rounds < (u64{1} << 40)) rounds *= 2;
  f64 best = 0.0;
  for (int i = 0; i < 7; ++i)
    best = std::max(best, f64(rounds) * f64(loop.ops) * f64(p.threads) / once());
  return best;
}

/// The most bytes per second of several passes over memory that no cache holds.
inline f64 measure_read(const parallel& p, std::span<const read_loop> loops, std::span<const u8> memory) {
  f64 best = 0.0;
  for (int i = 0; i < 4; ++i)
    for (const read_loop loop : loops) {
      if (loop == nullptr) continue;
      const f64 s = seconds_of([&] {
        p.for_rows(memory.size() / 4096, 1, [&](u64 begin, u64 end) {
          sink.fetch_add(loop(memory.data() + begin * 4096, (end - begin) * 4096), std::memory_order_relaxed);
        });
      });
      best = std::max(best, f64(memory.size()) / s);
    }
  return best;
}

}  // namespace detail

/// Measures, in about three seconds. Errors: out_of_memory.
inline result<ceilings> measure_ceilings(u32 threads) {
  constexpr usize read_bytes = usize{1} << 29;
  host::pool pool({.threads = threads});
  const parallel p = pool.handle();
  const machine_loops loops = loops_of_machine();
  ceilings c{.threads = p.threads,
             .int8_name = loops.int8.name,
             .bf16_name = loops.bf16.name,
             .f32_name = loops.f32.name};
  c.int8 = detail::measure(p, loops.int8);
  c.bf16 = detail::measure(p, loops.bf16);
  c.f32 = detail::measure(p, loops.f32);
  JIG_TRY(host::aligned_bytes memory, host::aligned_bytes::make(read_bytes, "read bandwidth"));
  p.for_rows(read_bytes / 4096, 1, [&](u64 begin, u64 end) {
    std::fill_n(memory.bytes().data() + begin * 4096, (end - begin) * 4096, u8{1});
  });
  c.read = detail::measure_read(p, loops.read, memory.bytes());
  return c;
}

}  // namespace jig::bench
