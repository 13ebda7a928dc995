// Matrix products of every type on every table: against double-precision sums over the decoded blocks, and against
// themselves in other shapes and on other numbers of threads, bit for bit.

#include "fixture.hpp"
#include "jig/quant/rows.hpp"

#include <cstdio>

using namespace cpu_test;

namespace {

using sizes = cpu::kernel_sizes<all_quants>;

/// A product to be computed on tables: weights in their type, activations as f32.
struct problem {
  weight w;
  std::vector<f32> x;
  u32 rows;  // of activations
  std::vector<u8> tiles = {};

  /// Goes on with packed weights.
  void pack(const cpu::kernel_table& t) {
    tiles.resize(cpu::packed_bytes<all_quants>(w));
    fake_threads threads{2};
    t.pack(threads, w, tiles.data());
    w.type |= cpu::packed_bit;
    w.data = tiles.data();
  }

  std::vector<f32> run(const cpu::kernel_table& t, u32 w_rows, u32 x_rows, const parallel& p = {}) {
    std::vector<f32> out(usize{w_rows} * x_rows, -1.0f);
    linear l{w, {}, {}};
    l.w.rows = w_rows;
    activations a{view(x, x_rows, w.cols)};
    std::vector<u8> memory = prepared(t, x_rows, a);
    t.matmul(p, l, a, view(out, x_rows, w_rows));
    return out;
  }

  /// The activations in the weights' partner format.
  std::vector<u8> prepared(const cpu::kernel_table& t, u32 x_rows, activations& a) {
    a.type = sizes::activation_type(w.type);
    std::vector<u8> memory(sizes::prepared_bytes(a.type, x_rows, w.cols));
    if (!memory.empty()) t.prepare({}, a.type, a.x, memory.data());
    a.prepared = memory.data();
    return memory;
  }
};

/// Checks all results of a problem against sums in double over decoded blocks; with packed weights, too, where the
/// table takes them. The bound is relative to sum |w a|.
template <class W>
void check_against_decoded(const problem& from_file, const cpu::kernel_table& t, bool packed = false) {
  using A = cpu::partner<W>;
  problem p = from_file, multiplied = from_file;
  if (packed) multiplied.pack(t);
  else if (t.packs && coded_block<W>) check_against_decoded<W>(from_file, t, true);
  activations a{view(p.x, p.rows, p.w.cols)};
  const std::vector<u8> memory = p.prepared(t, p.rows, a);
  const std::vector<f32> got = multiplied.run(t, p.w.rows, p.rows);
  std::vector<f32> w(p.w.cols), x(p.w.cols);
  f64 worst = 0.0;
  for (u32 r = 0; r < p.w.rows; ++r) {
    const W* blocks = reinterpret_cast<const W*>(p.w.data + r * sizes::row_bytes(W::id, p.w.cols));
    for (u32 k = 0; k < p.w.cols / W::size; ++k)
      W::decode(blocks[k], std::span<f32, W::size>(&w[k * W::size], W::size));
    for (u32 c = 0; c < p.rows; ++c) {
      for (u32 k = 0; k < p.w.cols / A::size; ++k) {
        if constexpr (A::size == 1) x[k] = a.x.row(c)[k];
        else
          A::decode(reinterpret_cast<const A*>(memory.data())[c * (p.w.cols / A::size) + k],
                    std::span<f32, A::size>(&x[k * A::size], A::size));
      }
      f64 sum = 0.0, magnitude = 1e-30;
      for (u32 i = 0; i < p.w.cols; ++i) sum += f64(w[i]) * f64(x[i]), magnitude += std::fabs(f64(w[i]) * f64(x[i]));
      const f64 e = std::fabs(f64(got[usize{c} * p.w.rows + r]) - sum) / magnitude;
      worst = e > worst ? e : worst;
    }
  }
  CHECK_MESSAGE(worst < (A::id == q8_1::id ? 2e-3 : 5e-6), std::string(t.isa), packed ? " packed " : " ",
                std::string(W::name), " error ", worst);
}

template <class F>
void each_type(F&& f) {
  for_each_type(all_quants{}, [&]<class W>(type_tag<W>) { f.template operator()<W>(); });
}

template <class W>
problem random_problem(std::vector<u8>& bytes, u32 rows, u32 blocks, u32 x_rows, u64 seed) {
  const u32 cols = blocks * static_cast<u32>(W::size);
  bytes = random_blocks<W>(usize{rows} * blocks, seed);
  return {{bytes.data(), W::id, cols, rows, 1}, random_floats(usize{x_rows} * cols, seed + 1), x_rows};
}

/// Checks that a product of rows x columns results is the same, bit for bit, on other numbers of threads and in parts
/// of the given shapes.
template <class W>
void check_independent(const cpu::kernel_table& t, u32 rows, u32 columns, u64 seed,
                       const std::vector<std::pair<u32, u32>>& shapes, bool packed = false) {
  std::vector<u8> bytes;
  problem p = random_problem<W>(bytes, rows, W::size == 1 ? 67 : 3, columns, seed);
  if (packed) p.pack(t);
  else if (t.packs && coded_block<W>) check_independent<W>(t, rows, columns, seed, shapes, true);
  const std::vector<f32> all = p.run(t, rows, columns);
  for (u32 count : {2u, 3u}) {
    fake_threads threads{count};
    CHECK(same_bits(p.run(t, rows, columns, threads), all));
  }
  usize wrong = 0;
  for (const auto& [some_rows, some_columns] : shapes) {
    const std::vector<f32> some = p.run(t, some_rows, some_columns);
    for (u32 c = 0; c < some_columns; ++c)
      for (u32 r = 0; r < some_rows; ++r) wrong += some[usize{c} * some_rows + r] != all[usize{c} * rows + r];
  }
  CHECK_MESSAGE(wrong == 0, std::string(t.isa), " ", std::string(W::name));
}

}  // namespace

TEST_CASE("matmul: a hand-computed Q8_0 row") {
  q8_0 block{};
  block.d = 0.5f;
  for (int i = 0; i < 32; ++i) block.qs[i] = static_cast<i8>(i == 3 ? -128 : i);  // -128 is legal in files
  std::vector<f32> x(32, 0.0f);
  x[3] = 127.0f, x[10] = -1.0f, x[31] = 2.0f;  // d = 1: codes are exact
  problem p{{reinterpret_cast<const u8*>(&block), q8_0::id, 32, 1, 1}, x, 1};
  for (const auto* t : tables()) CHECK(p.run(*t, 1, 1)[0] == 0.5f * (-128 * 127 - 10 + 62));
}

TEST_CASE("matmul: every type on random blocks, odd numbers of blocks") {
  for (const auto* t : tables())
    each_type([&]<class W>() {
      for (u32 blocks : {1u, 3u, 7u}) {
        std::vector<u8> bytes;
        const u32 n = W::size == 1 ? blocks * 37 : blocks;
        problem p = random_problem<W>(bytes, 9, n, 6, blocks);
        check_against_decoded<W>(p, *t);
      }
    });
}

TEST_CASE("matmul: the extreme codes of the fast types do not overflow") {
  for (const auto* t : tables())
    each_type([&]<class W>() {
      if constexpr (W::size > 1) {
        for (u8 fill : {u8{0x00}, u8{0xff}, u8{0x80}, u8{0x7f}}) {
          std::vector<u8> bytes = random_blocks<W>(4, 5);
          for (usize k = 0; k < 4; ++k) {  // all codes and group scales at one end, the block's scale as it was
            W block = reinterpret_cast<W*>(bytes.data())[k], filled = block;
            std::memset(&filled, fill, sizeof filled);
            if constexpr (requires { block.d[0]; }) std::memcpy(&filled.d, &block.d, sizeof block.d);
            else if constexpr (requires { block.d; }) filled.d = block.d;
            if constexpr (requires { block.dmin; }) filled.dmin = block.dmin;
            if constexpr (requires { block.m; }) filled.m = block.m;
            f32 values[W::size];
            W::decode(filled, std::span<f32, W::size>(values));
            bool finite = true;
            for (f32 v : values) finite = finite && std::fabs(v) < 1e6f;
            if (finite) reinterpret_cast<W*>(bytes.data())[k] = filled;
          }
          const u32 cols = static_cast<u32>(W::size) * 4;
          std::vector<f32> x(cols);
          for (u32 i = 0; i < cols; ++i) x[i] = i % 3 || fill & 1 ? -1.0f : 1.0f;
          problem p{{bytes.data(), W::id, cols, 1, 1}, x, 1};
          check_against_decoded<W>(p, *t);
        }
      }
    });
}

TEST_CASE("matmul: every type on the golden blocks, subnormal scales included") {
  each_type([&]<class W>() {
    if (W::size == 1) return;  // plain numbers have no scales
    const std::string path = std::string(JIG_TEST_DATA) + "/quant/" + W::name + ".rand.bin";
    std::vector<u8> bytes(sizes::row_bytes(W::id, 512) * 32);
    std::vector<f32_block> in_file(4 * 512);
    bool complete = false;
    if (std::FILE* f = std::fopen(path.c_str(), "rb")) {
      complete = std::fread(bytes.data(), 1, bytes.size(), f) == bytes.size();
      std::fclose(f);
    }
    if (std::FILE* f = std::fopen(JIG_TEST_DATA "/quant/activation.f32", "rb")) {
      complete = std::fread(in_file.data(), 4, in_file.size(), f) == in_file.size() && complete;
      std::fclose(f);
    }
    if (!complete) {
      MESSAGE("skipped: no golden blocks ", path);
      return;
    }
    std::vector<f32> x(in_file.size());
    decode_row(in_file.data(), in_file.size(), x.data());
    problem p{{bytes.data(), W::id, 512, 32, 1}, x, 4};
    for (const auto* t : tables()) check_against_decoded<W>(p, *t);
  });
}

TEST_CASE("matmul: no result depends on the shape or the number of threads") {
  std::vector<std::pair<u32, u32>> shapes;
  for (u32 rows = 1; rows <= 17; ++rows)
    for (u32 columns = 1; columns <= 17; ++columns) shapes.emplace_back(rows, columns);
  for (const auto* t : tables()) each_type([&]<class W>() { check_independent<W>(*t, 17, 17, 11, shapes); });
}

TEST_CASE("matmul: wide batches of every type, with rows and columns that fill no panel and no tile") {
  for (const auto* t : tables())
    each_type([&]<class W>() {
      for (const auto& [rows, columns] : {std::pair{1u, 32u}, {63u, 37u}, {65u, 33u}, {130u, 40u}}) {
        // one panel and a part of the next where blocks are short
        const u32 blocks = W::size == 1 ? 67 : W::size == 256 ? 1 + columns % 3 : 9;
        std::vector<u8> bytes;
        problem p = random_problem<W>(bytes, rows, blocks, columns, rows);
        check_against_decoded<W>(p, *t);
      }
    });
}

TEST_CASE("packed weights: every row is decoded as it was in the file, in every type") {
  for (const auto* t : tables())
    each_type([&]<class W>() {
      if (!t->packs || !coded_block<W>) return;
      const u32 rows = 37, count = 2;  // whole tiles and a part of one in each matrix
      std::vector<u8> bytes;
      problem p = random_problem<W>(bytes, rows * count, 3, 1, 7);
      std::vector<i32> tokens(rows);
      for (i32& token : tokens) token = static_cast<i32>(rows) - 1 - static_cast<i32>(&token - tokens.data());
      std::vector<f32> want(usize{rows} * p.w.cols), got = want;
      p.w.rows = rows;
      p.w.count = count;
      for (u32 m = 0; m < count; ++m) {
        weight one = p.w;
        one.count = 1;
        one.data += u64{m} * rows * sizes::row_bytes(W::id, p.w.cols);
        t->embed({}, one, tokens.data(), view(want, rows, p.w.cols));
        problem packed = p;
        packed.pack(*t);
        packed.w.data += m * cpu::tiles_of(rows) * cpu::packed_tile_bytes<all_quants>(W::id, p.w.cols);
        t->embed({}, packed.w, tokens.data(), view(got, rows, p.w.cols));
        CHECK_MESSAGE(same_bits(got, want), std::string(t->isa), " ", std::string(W::name));
      }
    });
}

TEST_CASE("matmul: no result of a wide batch depends on what is beside it or on the number of threads") {
  for (const auto* t : tables())
    each_type([&]<class W>() { check_independent<W>(*t, 150, 45, 13, {{1, 32}, {17, 33}, {64, 41}, {100, 44}}); });
}

TEST_CASE("matmul: many rows are shared out without changing a bit") {
  std::vector<u8> bytes;
  problem p = random_problem<q4_0>(bytes, 300, 64, 2, 23);
  for (const auto* t : tables()) {
    const std::vector<f32> one = p.run(*t, 300, 2);
    for (u32 count : {2u, 3u, 7u}) {
      fake_threads threads{count};
      CHECK(same_bits(p.run(*t, 300, 2, threads), one));
    }
  }
}

TEST_CASE("matmul: scale and bias are applied once, to each row") {
  std::vector<u8> bytes;
  problem p = random_problem<q8_0>(bytes, 5, 2, 3, 31);
  std::vector<f32> bias{1, 2, 3, 4, 5};
  const f32 factor = 0.25f;
  for (const auto* t : tables()) {
    const std::vector<f32> plain = p.run(*t, 5, 3);
    linear l{p.w,
             {reinterpret_cast<const u8*>(bias.data()), f32_block::id, 5, 1, 1},
             {reinterpret_cast<const u8*>(&factor), f32_block::id, 1, 1, 1}};
    activations a{view(p.x, 3, p.w.cols)};
    const std::vector<u8> memory = p.prepared(*t, 3, a);
    std::vector<f32> out(15);
    t->matmul({}, l, a, view(out, 3, 5));
    for (u32 i = 0; i < 15; ++i) CHECK(out[i] == doctest::Approx(plain[i] * 0.25f + bias[i % 5]).epsilon(1e-6));
  }
}

TEST_CASE("matmul_experts: each slot takes its expert's matrix, scale and bias; more slots than one batch holds") {
  constexpr u32 experts = 5, rows = 7, slots = 150, per_row = 2;
  std::vector<u8> bytes = random_blocks<q4_k>(experts * rows * 2, 41);
  std::vector<f32> x = random_floats(slots / per_row * 512, 42), bias = random_floats(experts * rows, 43);
  std::vector<f32> factors = random_floats(experts, 44);
  std::vector<i32> ids(slots);
  random_source r;
  for (i32& id : ids) id = static_cast<i32>(r.bits() % (experts - 1));  // the last one is not used
  const auto check = [&](const cpu::kernel_table* t, bool packed) {
    problem p{{bytes.data(), q4_k::id, 512, rows, experts}, x, slots / per_row};
    if (packed) p.pack(*t);
    activations a{view(x, slots / per_row, 512)};
    const std::vector<u8> memory = p.prepared(*t, slots / per_row, a);
    linear l{p.w,
             {reinterpret_cast<const u8*>(bias.data()), f32_block::id, rows, experts, 1},
             {reinterpret_cast<const u8*>(factors.data()), f32_block::id, experts, 1, 1}};
    std::vector<f32> out(slots * rows), threaded(slots * rows);
    t->matmul_experts({}, l, a, ids.data(), per_row, view(out, slots, rows));
    fake_threads threads{2};
    t->matmul_experts(threads, l, a, ids.data(), per_row, view(threaded, slots, rows));
    CHECK(same_bits(out, threaded));
    for (u32 s = 0; s < slots; ++s) {
      const u32 e = static_cast<u32>(ids[s]);
      std::vector<f32> one(x.begin() + s / per_row * 512, x.begin() + (s / per_row + 1) * 512);
      problem single{{bytes.data() + e * rows * 288, q4_k::id, 512, rows, 1}, one, 1};
      const std::vector<f32> want = single.run(*t, rows, 1);
      for (u32 i = 0; i < rows; ++i)
        CHECK(out[s * rows + i] == doctest::Approx(want[i] * factors[e] + bias[e * rows + i]).epsilon(1e-5));
    }
  };
  for (const auto* t : tables()) {
    check(t, false);
    if (t->packs) check(t, true);
  }
}

TEST_CASE("embed: rows are decoded exactly") {
  for (const auto* t : tables())
    each_type([&]<class W>() {
      const u32 blocks = W::size == 1 ? 67 : 2, cols = blocks * static_cast<u32>(W::size);
      const std::vector<u8> bytes = random_blocks<W>(9 * blocks, 51);
      const i32 tokens[] = {8, 0, 3, 3};
      std::vector<f32> out(4 * cols), want(cols);
      t->embed({}, {bytes.data(), W::id, cols, 9, 1}, tokens, view(out, 4, cols));
      for (u32 i = 0; i < 4; ++i) {
        for (u32 k = 0; k < blocks; ++k)
          W::decode(reinterpret_cast<const W*>(bytes.data())[static_cast<u32>(tokens[i]) * blocks + k],
                    std::span<f32, W::size>(&want[k * W::size], W::size));
        CHECK(std::memcmp(want.data(), &out[i * cols], cols * sizeof(f32)) == 0);
      }
    });
}
