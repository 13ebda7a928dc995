#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "gguf/raw_model.hpp"
#include "jig/gguf/data_check.hpp"
#include "jig/gguf/data_order.hpp"
#include "jig/gguf/file.hpp"
#include "jig/gguf/sha256.hpp"

using namespace jig;
using jig::test::byte_vector;

namespace {

std::string hash(std::string_view text, usize piece) {
  sha256 h;
  const auto* p = reinterpret_cast<const u8*>(text.data());
  for (usize i = 0; i < text.size(); i += piece) h.update({p + i, std::min(piece, text.size() - i)});
  std::string out;
  for (const u8 b : h.digest())
    for (const int shift : {4, 0}) out += "0123456789abcdef"[b >> shift & 15];
  return out;
}

constexpr u8 abc[] = {'a', 'b', 'c'};
static_assert(sha256{}.update(abc).digest()[0] == 0xba && sha256{}.update(abc).digest()[31] == 0xad);

/// A tensor of one block of a type with every byte 0x01, whose scales are all finite.
gguf::tensor_info one_block(u32 type, const byte_vector& data) {
  gguf::tensor_info t;
  t.name = "t";
  t.type = type;
  t.data = data;
  return t;
}

}  // namespace

TEST_CASE("sha256: the published examples") {
  for (const usize piece : {1, 3, 64, 1000}) {
    CHECK(hash("", piece) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hash("abc", piece) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", piece) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(hash(std::string(1000000, 'a'), piece) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST_CASE("data order: turning twice gives the same bytes, for every type") {
  for (const block_info& info : block_infos) {
    CAPTURE(info.name);
    byte_vector data(usize{info.bytes} * 3);
    for (usize i = 0; i < data.size(); ++i) data[i] = static_cast<u8>(i * 7 + i / 251);
    const byte_vector before = data;
    REQUIRE(gguf::swap_byte_order(info.id, data));
    const bool has_numbers = info.id != 24 && info.id != 39 && info.id != 40;  // i8, mxfp4, nvfp4: bytes only
    CHECK((data != before) == has_numbers);
    REQUIRE(gguf::swap_byte_order(info.id, data));
    CHECK(data == before);
    data.pop_back();
    if (info.bytes > 1) CHECK(!gguf::swap_byte_order(info.id, data));
  }
  CHECK(!gguf::swap_byte_order(4, {}));
}

TEST_CASE("data order: the fields of q5_0 and q2_K are turned and nothing else") {
  byte_vector q5(22), q2(84);
  for (usize i = 0; i < q5.size(); ++i) q5[i] = static_cast<u8>(i);
  for (usize i = 0; i < q2.size(); ++i) q2[i] = static_cast<u8>(i);
  REQUIRE(gguf::swap_byte_order(6, q5));
  REQUIRE(gguf::swap_byte_order(10, q2));
  CHECK(byte_vector(q5.begin(), q5.begin() + 8) == byte_vector{1, 0, 5, 4, 3, 2, 6, 7});
  CHECK(byte_vector(q2.begin() + 78, q2.end()) == byte_vector{78, 79, 81, 80, 83, 82});
}

TEST_CASE("data check: every type has its rule, and a scale that is not finite is found") {
  for (const block_info& info : block_infos) {
    CAPTURE(info.name);
    byte_vector data(info.bytes, 1);
    CHECK(gguf::check_data(one_block(info.id, data)));
    data.assign(info.bytes, 0xff);
    const bool numbers_only = info.id >= 24 && info.id <= 27;
    const auto r = gguf::check_data(one_block(info.id, data));
    CHECK(static_cast<bool>(r) == numbers_only);
    if (!r) CHECK(r.error().code == errc::bad_data);
  }
}

TEST_CASE("data check: the block, the position and the byte order are right") {
  byte_vector data(34 * 3, 0x7c);  // as codes these bytes are fine
  for (usize b = 0; b < 3; ++b) data[34 * b + 1] = 0x3c;
  gguf::tensor_info t = one_block(8, data);
  CHECK(gguf::check_data(t, data));
  data[34 * 2 + 1] = 0x7c;
  data[34 * 2] = 0;
  const auto r = gguf::check_data(t, data);
  REQUIRE(!r);
  CHECK(r.error().value == 2);
  CHECK(r.error().position == 68);
  CHECK(r.error().name() == "t");
  t.order = gguf::byte_order::big;  // then 00 7c is a small number, but 7c 3c in the other blocks is a NaN
  CHECK(gguf::check_data(t, data).error().value == 0);
}
