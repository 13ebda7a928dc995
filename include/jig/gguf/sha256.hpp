#pragma once
// SHA-256 over bytes as they come, without heap. Used to name the contents of tensors and files.
// Source: FIPS 180-4, sections 4.1.2, 4.2.2, 5 and 6.2.

#include <array>
#include <bit>
#include <span>

#include "jig/core/types.hpp"

namespace jig {

/// A running SHA-256: update() any number of times, then digest() once.
class sha256 {
 public:
  using digest_type = std::array<u8, 32>;

  constexpr sha256& update(std::span<const u8> bytes) noexcept {
    while (!bytes.empty()) {
      if (total_ % 64 == 0 && bytes.size() >= 64) {
        compress(bytes.data());
        bytes = bytes.subspan(64);
        total_ += 64;
        continue;
      }
      block_[total_++ % 64] = bytes.front();
      bytes = bytes.subspan(1);
      if (total_ % 64 == 0) compress(block_.data());
    }
    return *this;
  }

  /// The digest of everything so far; the object is used up afterwards.
  constexpr digest_type digest() noexcept {
    const u64 bits = total_ * 8;
    constexpr u8 end_mark = 0x80, zero = 0;
    update({&end_mark, 1});
    while (total_ % 64 != 56) update({&zero, 1});
    for (int shift = 56; shift >= 0; shift -= 8) {
      const u8 byte = static_cast<u8>(bits >> shift);
      update({&byte, 1});
    }
    digest_type out{};
    for (usize i = 0; i < 32; ++i) out[i] = static_cast<u8>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return out;
  }

 private:
  // The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  static constexpr u32 k[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

  constexpr void compress(const u8* block) noexcept {
    u32 w[64];
    for (usize i = 0; i < 16; ++i)
      w[i] = u32{block[4 * i]} << 24 | u32{block[4 * i + 1]} << 16 | u32{block[4 * i + 2]} << 8 | block[4 * i + 3];
    for (usize i = 16; i < 64; ++i) {
      const u32 s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const u32 s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (usize i = 0; i < 64; ++i) {
      const u32 s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const u32 t1 = h + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i];
      const u32 s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const u32 t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    const u32 add[8] = {a, b, c, d, e, f, g, h};
    for (usize i = 0; i < 8; ++i) state_[i] += add[i];
  }

  // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  std::array<u32, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<u8, 64> block_{};
  u64 total_ = 0;
};

}  // namespace jig
