#pragma once
// One line that names every bit the samplers computed over a fixed course: equal on all platforms, or something is not
// portable. Used by digest_test.cpp (recorded values) and by digest_main.cpp (cmake/check_sampling_portable.sh).

#include <cstdio>
#include <string>
#include <vector>

#include "jig/sample/sampler.hpp"

namespace jig_test {

using namespace jig;
using namespace jig::sample;

/// FNV-1a over 32-bit words, independent of byte order.
struct hash {
  u64 value = 0xcbf29ce484222325u;
  void add(u32 word) noexcept {
    for (int i = 0; i < 4; ++i) value = (value ^ ((word >> (8 * i)) & 0xff)) * 0x100000001b3u;
  }
  void add(f32 v) noexcept { add(std::bit_cast<u32>(v)); }
  void add(f64 v) noexcept {
    add(static_cast<u32>(std::bit_cast<u64>(v)));
    add(static_cast<u32>(std::bit_cast<u64>(v) >> 32));
  }
};

/// Logits with all mantissa bits in use, in a range of `width`; made by integers and one exact product.
inline std::vector<f32> course_logits(u32 seed, usize n, f32 width) {
  pcg32 g(seed);
  std::vector<f32> v(n);
  for (f32& x : v) x = static_cast<f32>(static_cast<i32>(g.next() >> 8) - 0x800000) * 0x1p-23f * width;
  return v;
}

inline u64 digest_math() {
  hash h;
  for (u32 bits = 0x80000000u; bits < 0xc2b40000u; bits += 70001)
    h.add(sample::detail::exp_nonpositive(std::bit_cast<f32>(bits)));
  for (u32 bits = 1; bits < 0x7f800000u; bits += 100003) h.add(sample::detail::log(std::bit_cast<f32>(bits)));
  return h.value;
}

/// Runs the sampler and adds the drawn ids, the survivors and their probabilities.
template <class G>
u64 digest_draws(const params& p, const char* order, f32 width, std::string* ids) {
  basic_sampler<builtin, G> s(p);
  if (!s.order_by_names(order)) return 0;
  std::vector<candidate> memory(3000);
  hash h;
  for (u32 step = 0; step < 64; ++step) {
    const auto logits = course_logits(step, memory.size(), width);
    auto c = from_logits(logits, memory);
    if (!c) return 0;
    s.apply(*c);
    h.add(static_cast<u32>(c->id()));
    for (const candidate& x : c->items) h.add(static_cast<u32>(x.id)), h.add(x.logit), h.add(x.p);
    if (ids && step < 8) *ids += " " + std::to_string(c->id());
  }
  return h.value;
}

/// The whole course as text, one line per part.
inline std::string digest() {
  const auto line = [](const char* name, u64 value, const std::string& ids = {}) {
    char text[80];
    std::snprintf(text, sizeof text, "%s %08lx%08lx", name, static_cast<unsigned long>(value >> 32),
                  static_cast<unsigned long>(value & 0xffffffffu));
    return text + ids + "\n";
  };
  std::string out = line("math", digest_math()), ids;
  params p = defaults();
  p.seed = 42;
  u64 v = digest_draws<mt19937>(p, "top_k;top_p;min_p;temperature", 20, &ids);
  out += line("defaults", v, ids);
  ids.clear();
  v = digest_draws<pcg32>(p, "temperature;min_p;top_p;top_k", 10, &ids);
  out += line("reversed", v, ids);
  ids.clear();
  p.temp = 1.7f;
  p.top_p = 0.999f;
  p.min_p = 1e-3f;
  v = digest_draws<mt19937>(p, "top_p;temp;min_p", 3, &ids);
  out += line("wide", v, ids);
  ids.clear();
  p.top_n_sigma = 1.1f;
  v = digest_draws<pcg32>(p, "top_n_sigma;temp", 6, &ids);
  out += line("sigma", v, ids);
  ids.clear();
  v = digest_draws<pcg32>(p, "", 6, &ids);
  return out + line("all", v, ids);
}

}  // namespace jig_test
