// Matrix products per block type, instruction set, number of activation rows and threads.
//
// cpu_matmul/TYPE/ISA/ROWS/COLS/N/THREADS: W [ROWS, COLS] times N rows of activations.
//   bytes_per_second: weights read; the measure for N = 1 on matrices larger than the caches, where the bound is the
//                     read bandwidth (cpu_read_bandwidth prints what a plain loop reaches)
//   items_per_second: multiply-adds
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "jig/backend/cpu/dispatch.hpp"
#include "jig/host/pool.hpp"

using namespace jig;

namespace {

using sizes = cpu::kernel_sizes<all_quants>;

void cpu_matmul(benchmark::State& state, const cpu::kernel_table& t, u32 type, u32 rows, u32 cols, u32 n, u32 threads) {
  host::pool pool({.threads = threads});
  const parallel p = pool.handle();
  const u64 bytes = sizes::row_bytes(type, cols) * rows;
  std::vector<u8> w(bytes, 0x11);  // any bytes will do: 0x1111 is a small f16 scale
  std::vector<f32> x(usize{n} * cols, 0.5f), out(usize{n} * rows);
  const linear l{{w.data(), type, cols, rows, 1}, {}, {}};
  activations a{{x.data(), n, cols, cols}, sizes::activation_type(type)};
  std::vector<u8> prepared(sizes::prepared_bytes(a.type, n, cols) + 1);
  if (prepared.size() > 1) t.prepare(p, a.type, a.x, prepared.data());
  a.prepared = prepared.data();
  for (auto _ : state) {
    t.matmul(p, l, a, {out.data(), n, rows, rows});
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<i64>(bytes));
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(u64{rows} * cols * n));
}

/// Reads 256 MB with a plain loop over u64.
void cpu_read_bandwidth(benchmark::State& state) {
  host::pool pool({.threads = static_cast<u32>(state.range(0))});
  const parallel p = pool.handle();
  std::vector<u64> data(32u << 20, 1);
  std::vector<u64> sums(64 * 8);
  for (auto _ : state)
    p.run([&](u32 index, u32 count) {
      const range part = split(data.size(), 8, index, count);
      u64 s[8] = {};
      for (u64 i = part.begin; i + 8 <= part.end; i += 8)
        for (u64 k = 0; k < 8; ++k) s[k] += data[i + k];
      for (u64 k = 0; k < 8; ++k) sums[(index % 64) * 8 + k] = s[k];
    });
  benchmark::DoNotOptimize(sums.data());
  state.SetBytesProcessed(state.iterations() * static_cast<i64>(data.size() * 8));
}
BENCHMARK(cpu_read_bandwidth)->Arg(1)->Arg(2)->UseRealTime();

/// Registers all combinations that this machine can run.
const bool registered = [] {
  const cpu::machine_isas machine = cpu::detect_isas();
  for (const cpu::kernel_table* const* t = jig_dispatch_tables; *t != nullptr; ++t) {
    if (!machine.has((*t)->isa)) continue;
    for_each_type(all_quants{}, [&]<class W>(type_tag<W>) {
      auto add = [&](u32 rows, u32 cols, u32 n, u32 threads) {
        std::string name = std::string("cpu_matmul/") + W::name + "/" + (*t)->isa;
        for (u32 v : {rows, cols, n, threads}) name += "/" + std::to_string(v);
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& s) {
          cpu_matmul(s, **t, W::id, rows, cols, n, threads);
        })->UseRealTime();
      };
      add(64, 2048, 1, 1);      // in the caches: the dot alone
      add(64, 2048, 128, 1);
      add(32768, 4096, 1, 1);   // from memory: generation
      add(32768, 4096, 1, 2);
    });
  }
  return true;
}();

}  // namespace
