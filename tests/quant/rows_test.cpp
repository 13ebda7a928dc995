#include "jig/quant/rows.hpp"

#include "quant/support.hpp"

using namespace quant_test;

TEST_CASE("rows: a row decodes by type number as block by block, at any address") {
  each<all_blocks>([]<class T>(type_tag<T>) {
    rng r(T::id + 3);
    std::vector<T> blocks;
    for (int k = 0; k < 5; ++k) blocks.push_back(random_block<T>(r));
    std::vector<u8> file(sizeof(T) * 5 + 1);
    std::memcpy(file.data() + 1, blocks.data(), sizeof(T) * 5);
    std::vector<f32> out(5 * T::size);
    CHECK(decode_row<all_blocks>(T::id, std::span(file).subspan(1), out));
    CHECK(out == decode_all(blocks));
  });
}

TEST_CASE("rows: a row encodes by type number as block by block; searched encoders are refused") {
  each<all_blocks>([]<class T>(type_tag<T>) {
    rng r(T::id + 4);
    const auto x = random_values(r, 3 * T::size);
    std::vector<u8> file(sizeof(T) * 3);
    const auto done = encode_row<all_blocks>(T::id, x, file);
    if constexpr (encodable<T>) {
      REQUIRE(done);
      CHECK(std::memcmp(file.data(), encode_all<T>(x).data(), file.size()) == 0);
    } else {
      REQUIRE_FALSE(done);
      CHECK(done.error().code == errc::not_supported);
      CHECK(done.error().name() == T::name);
    }
  });
}

TEST_CASE("rows: a type that the program was not built with, or nobody knows, is an error") {
  std::vector<u8> bytes(18);
  std::vector<f32> out(32);
  for (u32 id : {2u, 4u, 24u, ~0u}) {
    const auto r = decode_row<quants<q8_0, f32>>(id, bytes, out);
    REQUIRE_FALSE(r);
    CHECK(r.error().code == errc::wrong_tensor_type);
    CHECK(r.error().value == id);
    CHECK(encode_row<quants<q8_0, f32>>(id, out, bytes).error().code == errc::wrong_tensor_type);
  }
}

TEST_CASE("rows: lengths are checked before anything is read or written") {
  std::vector<u8> bytes(36, 0xaa);
  std::vector<f32> out(64, 5);
  using list = quants<q4_0>;
  CHECK(decode_row<list>(2, bytes, std::span(out).first(33)).error().code == errc::partial_block);
  CHECK(decode_row<list>(2, std::span(bytes).first(35), out).error().code == errc::buffer_too_small);
  CHECK(decode_row<list>(2, {}, std::span(out).first(32)).error().code == errc::buffer_too_small);
  CHECK(encode_row<list>(2, std::span<const f32>(out).first(63), bytes).error().code == errc::partial_block);
  CHECK(encode_row<list>(2, out, std::span(bytes).first(35)).error().code == errc::buffer_too_small);
  for (f32 v : out) CHECK(v == 5);
  for (u8 v : bytes) CHECK(v == 0xaa);
  CHECK(decode_row<list>(2, {}, {}));
  CHECK(decode_row<list>(2, std::span(bytes).first(18), std::span(out).first(32)));
  CHECK(out[32] == 5);
}
