// The thread pool: what an empty run costs, and whether more threads than CPUs make work slower.
#include <benchmark/benchmark.h>

#include <thread>
#include <vector>

#include "jig/host/pool.hpp"

using namespace jig;

namespace {

/// An empty run: wake or signal the workers, wait for all. Argument: threads.
void pool_barrier(benchmark::State& state) {
  host::pool p({.threads = static_cast<u32>(state.range(0))});
  const parallel par = p.handle();
  for (auto _ : state) par.run([](u32, u32) {});
}
BENCHMARK(pool_barrier)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->UseRealTime();

/// A run after a pause long enough for the workers to park.
void pool_wake_up(benchmark::State& state) {
  host::pool p({.threads = static_cast<u32>(state.range(0))});
  const parallel par = p.handle();
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const auto begin = std::chrono::steady_clock::now();
    par.run([](u32, u32) {});
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
}
BENCHMARK(pool_wake_up)->Arg(2)->Arg(8)->UseManualTime()->Iterations(1000);

/// Runs of fixed total work, as a token's many small products are. Arguments: threads, microseconds of work per run.
/// items_per_second is runs per second: eight threads on two CPUs must not fall below 0.8 of the best row.
void pool_work(benchmark::State& state) {
  host::pool p({.threads = static_cast<u32>(state.range(0))});
  const parallel par = p.handle();
  const u64 rows = static_cast<u64>(state.range(1)) * 8;
  std::vector<u32> out(rows);
  for (auto _ : state)
    par.for_rows(rows, 4, [&](u64 begin, u64 end) {
      for (u64 i = begin; i < end; ++i) {
        u32 x = static_cast<u32>(i) + 1;
        for (int k = 0; k < 64; ++k) x = x * 1664525u + 1013904223u;  // a dependent chain of about 0.1 us
        out[i] = x;
      }
    });
  benchmark::DoNotOptimize(out.data());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(pool_work)->ArgsProduct({{1, 2, 3, 4, 8, 16}, {20, 100, 1000}})->UseRealTime();

}  // namespace
