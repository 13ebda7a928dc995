#include <map>
#include <sstream>

#include "jig/quant/dot.hpp"
#include "quant/support.hpp"

using namespace quant_test;

namespace {

constexpr usize columns = 512;

struct golden_dot {
  usize row, activation;
  f64 value, unit;
};

struct golden_set {
  usize rows = 0;
  u64 hash = 0;
  std::vector<golden_dot> dots;
};

/// golden.txt by type and set ("q4_0 rand").
const std::map<std::string, golden_set>& golden() {
  static const auto all = [] {
    std::map<std::string, golden_set> sets;
    std::ifstream f(data + "golden.txt");
    std::string line, key, type, set, hash;
    while (std::getline(f, line)) {
      std::istringstream in(line);
      in >> key >> type >> set;
      golden_set& g = sets[type + " " + set];
      if (key == "set") {
        in >> g.rows >> hash;
        g.hash = std::stoull(hash, nullptr, 16);
      } else if (key == "dot") {
        golden_dot d;
        in >> d.row >> d.activation >> d.value >> d.unit;
        g.dots.push_back(d);
      }
    }
    return sets;
  }();
  return all;
}

/// Calls f(set name, golden figures, blocks) for each set of T.
template <class T, class F>
usize each_set(F f) {
  usize n = 0;
  for (const char* set : {"quant", "imat", "rand"}) {
    const auto it = golden().find(std::string(T::name) + " " + set);
    if (it == golden().end()) continue;
    INFO("set ", std::string(set));
    const auto blocks = read_blocks<T>(data + T::name + "." + set + ".bin");
    REQUIRE(blocks.size() == it->second.rows * columns / T::size);
    f(std::string(set), it->second, blocks);
    ++n;
  }
  return n;
}

template <class A>
std::vector<A> activations() {
  if constexpr (std::is_same_v<A, f32_block>) return read_blocks<A>(data + "activation.f32");
  else return read_blocks<A>(data + "activation." + A::name + ".bin");
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return !b.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace

TEST_CASE("golden: every set decodes to the recorded bits") {
  usize sets = 0;
  each<all_blocks>([&]<class T>(type_tag<T>) {
    sets += each_set<T>([](const std::string&, const golden_set& g, const std::vector<T>& blocks) {
      const auto bytes = f32_bytes(decode_all(blocks));
      CHECK(fnv(bytes.data(), bytes.size()) == g.hash);
    });
  });
  CHECK(sets == 72);  // 75 of the kit without the random sets of the plain floats
}

TEST_CASE("golden: all sets of the full kit decode to its values, bit for bit") {
  usize sets = 0;
  each<all_blocks>([&]<class T>(type_tag<T>) {
    for (const char* set : {"quant", "imat", "rand"}) {
      const auto want = read_file(kit + T::name + "." + set + ".f32");
      if (want.empty()) continue;
      INFO("set ", std::string(set));
      CHECK(f32_bytes(decode_all(read_blocks<T>(kit + T::name + "." + set + ".bin"))) == want);
      ++sets;
    }
  });
  if (sets == 0) MESSAGE("skipped: the golden kit is not at ", kit);
  else CHECK(sets == 75);
}

TEST_CASE("golden: the exact encoders reproduce the bytes") {
  const auto input = read_f32(data + "input.f32");
  REQUIRE(input.size() == 6 * columns);
  usize types = 0;
  each<all_blocks>([&]<class T>(type_tag<T>) {
    if constexpr (encodable<T>) {
      CHECK(same_bytes(encode_all<T>(input), read_blocks<T>(data + T::name + ".quant.bin")));
      ++types;
    }
  });
  CHECK(types == 16);
}

TEST_CASE("golden: activations encode to the recorded bytes") {
  const auto x = read_f32(data + "activation.f32");
  REQUIRE(x.size() == 4 * columns);
  for_each_type(type_list<f16_block, bf16_block, q8_0, q8_1, q8_k>{}, [&]<class A>(type_tag<A>) {
    INFO("type ", std::string(A::name));
    CHECK(same_bytes(encode_all<A>(x), activations<A>()));
  });
}

TEST_CASE("golden: dot products lie within 5e-6 of the summed magnitudes") {
  usize dots = 0;
  each<all_quants>([&]<class W>(type_tag<W>) {
    using A = typename W::dot_with;
    const auto a = activations<A>();
    each_set<W>([&](const std::string&, const golden_set& g, const std::vector<W>& w) {
      for (const golden_dot& d : g.dots) {
        const f64 got =
            dot(w.data() + d.row * columns / W::size, a.data() + d.activation * columns / A::size, columns / W::size);
        CAPTURE(d.row);
        CAPTURE(d.activation);
        REQUIRE(std::fabs(got - d.value) <= 5e-6 * d.unit + 1e-12);
        ++dots;
      }
    });
  });
  CHECK(dots == 1832);
}
