// Prints what the scalar paths of all block types compute on fixed pseudo-random blocks: bits of dot products, hashes
// of decoded values and of encoded bytes. cmake/check_miscompile.sh builds this program with different flags and
// compares. (Two programs, not two units of one: the linker would merge the templates of both into one copy.)
//
//   results          lines "dot TYPE ROW BITS", "decode TYPE HASH", "encode TYPE HASH"
//   results canary   exit code 3 if this build shows the bug of GCC 12 in the form that jig must not use, else 0

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "jig/quant/all.hpp"
#include "jig/quant/dot.hpp"

using namespace jig;

namespace {

struct generator {  // splitmix64
  u64 state;
  u64 next() {
    u64 z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  u8 byte() { return static_cast<u8>(next() >> 40); }
  f32 value() { return static_cast<f32>(static_cast<i32>(next() >> 33) - (1 << 30)) * 0x1p-30f; }
};

struct fnv {
  u64 h = 0xcbf29ce484222325u;
  void add(const void* p, usize n) {
    for (usize i = 0; i < n; ++i) h = (h ^ static_cast<const u8*>(p)[i]) * 0x100000001b3u;
  }
};

template <class T>
T random_block(generator& r) {
  for (;;) {
    T b;
    for (usize i = 0; i < sizeof b; ++i) reinterpret_cast<u8*>(&b)[i] = r.byte();
    f32 v[T::size];
    T::decode(b, v);
    bool ordinary = true;
    for (f32 x : v) ordinary = ordinary && std::fabs(x) < 1e6f;
    if (ordinary) return b;
  }
}

/// Activations with all codes from -128 to 127: other writers than jig's may use -128.
template <class A>
A random_activation(generator& r) {
  A a = random_block<A>(r);
  if constexpr (requires { a.bsums[0]; }) {
    a.d = 0.01f;
    for (usize k = 0; k < 16; ++k) {
      i32 sum = 0;
      for (usize i = 0; i < 16; ++i) sum += a.qs[16 * k + i];
      a.bsums[k] = static_cast<u16>(sum);
    }
  }
  return a;
}

template <class T>
void print_decode_and_encode(generator& r) {
  fnv decoded, encoded;
  for (int k = 0; k < 200; ++k) {
    const T b = random_block<T>(r);
    f32 v[T::size];
    T::decode(b, v);
    decoded.add(v, sizeof v);
    if constexpr (encodable<T>) {
      for (f32& x : v) x = r.value() * 7;
      T out;
      T::encode(v, out);
      encoded.add(&out, sizeof out);
    }
  }
  std::printf("decode %s %016llx\n", T::name, static_cast<unsigned long long>(decoded.h));
  if constexpr (encodable<T>) std::printf("encode %s %016llx\n", T::name, static_cast<unsigned long long>(encoded.h));
}

template <class W>
void print_dots(generator& r) {
  using A = typename W::dot_with;
  for (int row = 0; row < 24; ++row) {
    const usize n = (static_cast<usize>(row) % 4 + 1) * (W::size < 256 ? 256 / W::size : 1);
    std::vector<W> w;
    std::vector<A> a;
    for (usize k = 0; k < n; ++k) w.push_back(random_block<W>(r));
    for (usize k = 0; k < n * W::size / A::size; ++k) a.push_back(random_activation<A>(r));
    const f32 d = dot(w.data(), a.data(), n);
    u32 bits;
    std::memcpy(&bits, &d, 4);
    std::printf("dot %s %d %08x\n", W::name, row, bits);
  }
}

/// The form that must not be used.
[[gnu::noinline]] int wrong_form(const u8* q, const i8* y, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += ((q[i] & 15) - 8) * y[i];
  return s;
}

int canary() {
  u8 q[256];
  i8 y[256];
  int want = 0;
  for (int i = 0; i < 256; ++i) {
    q[i] = static_cast<u8>(i);
    y[i] = static_cast<i8>(i * 7);
    volatile int code = (q[i] & 15) - 8;
    want += code * y[i];
  }
  return wrong_form(q, y, 256) == want ? 0 : 3;
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) return canary();
  for_each_type(all_quants{}, []<class T>(type_tag<T>) {
    generator r{T::id};
    print_dots<T>(r);
    print_decode_and_encode<T>(r);
  });
  for_each_type(activation_quants{}, []<class T>(type_tag<T>) {
    generator r{T::id};
    print_decode_and_encode<T>(r);
  });
}
