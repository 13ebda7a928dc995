// Samplers on a vocabulary of 151,936 tokens (Qwen 2) with logits of a bell curve, and their parts.
#include <benchmark/benchmark.h>

#include <vector>

#include "jig/sample/sampler.hpp"

using namespace jig;
using namespace jig::sample;

namespace {

constexpr usize n_vocab = 151936;

/// Sums of 12 uniform numbers: mean 0, deviation about 2.5.
const std::vector<f32>& logits() {
  static const std::vector<f32> v = [] {
    pcg32 g(1);
    std::vector<f32> out(n_vocab);
    for (f32& x : out) {
      f64 sum = -6;
      for (int i = 0; i < 12; ++i) sum += g.next() * 0x1p-32;
      x = static_cast<f32>(sum * 2.5);
    }
    return out;
  }();
  return v;
}

/// One position: candidates from logits, then the chain. Subtract sample_none for the chain alone.
template <class Chain>
void run(benchmark::State& state, Chain chain) {
  std::vector<candidate> memory(n_vocab);
  for (auto _ : state) {
    candidates c = *from_logits(logits(), memory);
    chain.apply(c);
    benchmark::DoNotOptimize(c.items.data());
    benchmark::ClobberMemory();
  }
}

BENCHMARK_CAPTURE(run, none, chain<>{})->Name("sample_none")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, greedy, chain{greedy{}})->Name("sample_greedy")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, top_k_40, chain{top_k{40}})->Name("sample_top_k_40")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, sort, chain{top_k{1 << 30}})->Name("sample_sort_all")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, top_p, chain{top_p{0.95f, 0}})->Name("sample_top_p")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, min_p, chain{min_p{0.05f, 0}})->Name("sample_min_p")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, temperature, chain{temperature{0.8f}})
    ->Name("sample_temperature")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, dist, chain{dist<>{1}})->Name("sample_dist_all")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, defaults, chain{top_k{40}, top_p{0.95f, 0}, min_p{0.05f, 0}, temperature{0.8f}, dist<>{1}})
    ->Name("sample_defaults_chain")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, sampler, sampler{})->Name("sample_defaults_run_time")->Unit(benchmark::kMicrosecond);

void random_mt19937(benchmark::State& state) {
  mt19937 g(1);
  for (auto _ : state) benchmark::DoNotOptimize(g.next());
}
BENCHMARK(random_mt19937);

void random_pcg32(benchmark::State& state) {
  pcg32 g(1);
  for (auto _ : state) benchmark::DoNotOptimize(g.next());
}
BENCHMARK(random_pcg32);

void sample_exp(benchmark::State& state) {
  f32 x = -20;
  for (auto _ : state) {
    benchmark::DoNotOptimize(detail::exp_nonpositive(x));
    x = x < -0.01f ? x + 0.01f : -20;
  }
}
BENCHMARK(sample_exp);

}  // namespace
