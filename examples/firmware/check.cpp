// Checks on the core itself what a PC cannot: its f16 instructions and its integer dot products against plain C++.
// With the argument `fault` it executes an undefined instruction instead, to see the fault handler work.

#include "kernels.hpp"
#include "platform.hpp"

using namespace jig;

namespace {

u32 random_state = 1;
u32 random_bits() { return random_state = random_state * 1664525u + 1013904223u; }

bool is_nan(f32 v) { return v != v; }

/// Every f16; and f32 from all over, with those halfway between two f16 and their neighbours.
bool f16_agrees() {
  for (u32 h = 0; h < 0x10000; ++h) {
    const f32 got = f16_to_f32(static_cast<u16>(h)), wanted = detail::f16_to_f32_portable(static_cast<u16>(h));
    const bool same = std::bit_cast<u32>(got) == std::bit_cast<u32>(wanted) || (is_nan(got) && is_nan(wanted));
    if (!same) return false;
    const u32 halfway = std::bit_cast<u32>(wanted) + 0x1000;
    for (u32 bits : {halfway - 1, halfway, halfway + 1, random_bits()}) {
      const f32 v = std::bit_cast<f32>(bits);
      const u16 a = f32_to_f16(v), b = detail::f32_to_f16_portable(v);
      if (a != b && !(is_nan(v) && (a & 0x7fff) > 0x7c00)) return false;
    }
  }
  return true;
}

/// Rows of random blocks, every code occurring. Scales of 1/2 and 1 keep all arithmetic exact, so results are equal.
template <class W>
bool dots_agree() {
  constexpr u32 blocks = 6, rows = 5, columns = 5;
  static W w[rows][blocks];
  static q8_0 a[columns][blocks];
  f32 fast[columns][rows], plain[columns][rows];
  for (u32 round = 0; round < 200; ++round) {
    u8* bytes = reinterpret_cast<u8*>(w);
    for (u32 i = 0; i < sizeof w; ++i) bytes[i] = static_cast<u8>(random_bits() >> 24);
    bytes = reinterpret_cast<u8*>(a);
    for (u32 i = 0; i < sizeof a; ++i) bytes[i] = static_cast<u8>(random_bits() >> 24);
    for (auto& row : w)
      for (W& b : row) b.d = random_bits() >> 31 ? 1.0f : 0.5f;
    for (auto& row : a)
      for (q8_0& b : row) b.d = random_bits() >> 31 ? 1.0f : 0.5f;
    const cpu::dot_job job{reinterpret_cast<const u8*>(w), sizeof w[0], reinterpret_cast<const u8*>(a), sizeof a[0],
                           blocks * W::size, fast[0], rows};
    cpu::dot_job same = job;
    same.out = plain[0];
    cpu::find_dot<firmware_isa, quants<W>>(W::id)(job, rows, columns);
    cpu::find_dot<isa::scalar, quants<W>>(W::id)(same, rows, columns);
    for (u32 c = 0; c < columns; ++c)
      for (u32 r = 0; r < rows; ++r)
        if (fast[c][r] != plain[c][r]) return false;
  }
  return true;
}

bool report(std::string_view name, bool good) {
  platform::write(name);
  platform::write(good ? ": right\n" : ": WRONG\n");
  return good;
}

}  // namespace

int firmware_main() {
  char line[32];
  if (platform::arguments(line) == "fault") asm volatile("udf #1");
  platform::write("kernels: ");
  platform::write(firmware_isa::name);
  platform::write("\n");
  bool good = report("f16 conversion", f16_agrees());
  good = report("q8_0 dot", dots_agree<q8_0>()) && good;
  good = report("q4_0 dot", dots_agree<q4_0>()) && good;
  return good ? 0 : 1;
}
