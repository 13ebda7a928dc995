#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "gguf/raw_model.hpp"
#include "jig/gguf/file_set.hpp"
#include "jig/gguf/writer.hpp"

using namespace jig;
using jig::test::byte_vector;
using jig::test::raw;
using jig::test::raw_model;

namespace {

/// One key of each type, in either byte order: written field by field, not with the library's writer.
byte_vector every_type(gguf::byte_order order, u32 version) {
  raw r(order);
  r.text("GGUF").put(version).put(u64{1}).put(u64{15});
  r.str("u8").put(u32{0}).put(u8{200});
  r.str("i8").put(u32{1}).put(static_cast<u8>(-100));
  r.str("u16").put(u32{2}).put(u16{60000});
  r.str("i16").put(u32{3}).put(static_cast<u16>(-30000));
  r.str("u32").put(u32{4}).put(u32{4000000000u});
  r.str("i32").put(u32{5}).put(static_cast<u32>(-2000000000));
  r.str("f32").put(u32{6}).put(std::bit_cast<u32>(1.5f));
  r.str("bool").put(u32{7}).put(u8{1});
  r.str("string").put(u32{8}).str("h\xc3\xa9llo");
  r.str("u64").put(u32{10}).put(u64{0xfedcba9876543210u});
  r.str("i64").put(u32{11}).put(static_cast<u64>(i64{-5}));
  r.str("f64").put(u32{12}).put(std::bit_cast<u64>(-0.25));
  r.str("strings").put(u32{9}).put(u32{8}).put(u64{3}).str("one").str("").str("three");
  r.str("shorts").put(u32{9}).put(u32{3}).put(u64{3}).put(u16{1}).put(static_cast<u16>(-2)).put(u16{3});
  r.str("empty").put(u32{9}).put(u32{4}).put(u64{0});
  r.str("t").put(u32{2}).put(u64{3}).put(u64{2}).put(u32{0}).put(u64{0});
  while (r.bytes.size() % 32 != 0) r.put(u8{0});
  for (int i = 0; i < 6; ++i) r.put(std::bit_cast<u32>(static_cast<f32>(i)));
  return r.bytes;
}

void check_every_type(const gguf::file& f) {
  CHECK(*f.get<u32>("u8") == 200);
  CHECK(*f.get<i32>("i8") == -100);
  CHECK(*f.get<u16>("u16") == 60000);
  CHECK(*f.get<i64>("i16") == -30000);
  CHECK(*f.get<u64>("u32") == 4000000000u);
  CHECK(*f.get<i32>("i32") == -2000000000);
  CHECK(*f.get<f32>("f32") == 1.5f);
  CHECK(*f.get<bool>("bool"));
  CHECK(*f.get<std::string_view>("string") == "h\xc3\xa9llo");
  CHECK(*f.get<u64>("u64") == 0xfedcba9876543210u);
  CHECK(*f.get<i8>("i64") == -5);
  CHECK(*f.get<f32>("f64") == -0.25f);
  std::string joined;
  const auto strings = f.find("strings")->strings();
  REQUIRE(strings);
  CHECK(strings->size() == 3);
  for (const std::string_view s : *strings) joined += std::string(s) + "|";
  CHECK(joined == "one||three|");
  const auto shorts = f.find("shorts");
  REQUIRE(shorts);
  CHECK(shorts->count() == 3);
  CHECK(*shorts->element<i32>(1) == -2);
  i32 copied[3] = {};
  CHECK(shorts->copy(std::span<i32>(copied)));
  CHECK(copied[2] == 3);
  CHECK(f.find("empty")->count() == 0);
  const auto t = f.find_tensor("t");
  REQUIRE(t);
  CHECK(t->n_dims == 2);
  CHECK(t->ne[0] == 3);
  CHECK(t->ne[1] == 2);
  CHECK(t->ne[2] == 1);
  CHECK(t->bytes == 24);
  CHECK(std::bit_cast<f32>(gguf::load<u32>(t->data.data() + 20, t->order)) == 5.0f);
}

}  // namespace

TEST_CASE("gguf reader: every value type reads back, in v2 and v3, in both byte orders") {
  for (const auto order : {gguf::byte_order::little, gguf::byte_order::big})
    for (const u32 version : {2u, 3u}) {
      CAPTURE(version);
      CAPTURE(static_cast<int>(order));
      const byte_vector bytes = every_type(order, version);
      auto f = gguf::open(bytes);
      REQUIRE(f);
      CHECK(f->version() == version);
      CHECK(f->order() == order);
      CHECK(f->key_count() == 15);
      check_every_type(*f);
      std::vector<u32> memory(f->index_words());
      REQUIRE(f->build_index(memory));
      check_every_type(*f);
      usize keys = 0;
      for (const gguf::value& v : f->keys()) keys += v.key().empty() ? 0 : 1;
      CHECK(keys == 15);
    }
}

TEST_CASE("gguf reader: typed access refuses other types and values out of range, naming the key") {
  const byte_vector bytes = every_type(gguf::byte_order::little, 3);
  const auto f = gguf::open(bytes);
  REQUIRE(f);
  const auto code = [](const auto& r) { return r ? errc::ok : r.error().code; };
  CHECK(code(f->get<i32>("u32")) == errc::bad_value);
  CHECK(code(f->get<u32>("i8")) == errc::bad_value);
  CHECK(code(f->get<u8>("u16")) == errc::bad_value);
  CHECK(code(f->get<i64>("u64")) == errc::bad_value);
  CHECK(code(f->get<u32>("f32")) == errc::wrong_key_type);
  CHECK(code(f->get<f32>("u32")) == errc::wrong_key_type);
  CHECK(code(f->get<u32>("bool")) == errc::wrong_key_type);
  CHECK(code(f->get<bool>("u8")) == errc::wrong_key_type);
  CHECK(code(f->get<std::string_view>("u8")) == errc::wrong_key_type);
  CHECK(code(f->get<std::string_view>("strings")) == errc::wrong_key_type);
  CHECK(code(f->get<i16>("shorts")) == errc::wrong_key_type);
  CHECK(code(f->get<u32>("nothing")) == errc::missing_key);
  CHECK(f->get<u32>("nothing").error().name() == "nothing");
  CHECK(f->get<i32>("u32").error().name() == "u32");
  CHECK(f->get<i32>("u32").error().value == 4000000000u);
  CHECK(*f->get_or<u32>("nothing", 7) == 7);
  CHECK(*f->get_or<u32>("u8", 7) == 200);
  CHECK(code(f->get_or<u32>("f32", 7)) == errc::wrong_key_type);
  const auto shorts = f->find("shorts");
  CHECK(code(shorts->element<u32>(1)) == errc::bad_value);
  CHECK(code(shorts->element<i32>(3)) == errc::bad_argument);
  CHECK(code(shorts->element<f32>(0)) == errc::wrong_key_type);
  i32 two[2];
  CHECK(code(shorts->copy(std::span<i32>(two))) == errc::inconsistent);
  CHECK(code(shorts->strings()) == errc::wrong_key_type);
  CHECK(code(f->find_tensor("nothing")) == errc::missing_tensor);
}

TEST_CASE("gguf reader: a finite f64 beyond f32 is out of range, infinities and NaN are values") {
  gguf::writer w;
  w.set("large", 1e300);
  w.set("infinite", std::numeric_limits<f64>::infinity());
  w.set("nan", std::numeric_limits<f64>::quiet_NaN());
  const auto bytes = w.bytes();
  const auto f = gguf::open(*bytes);
  REQUIRE(f);
  CHECK(f->get<f32>("large").error().code == errc::bad_value);
  CHECK(*f->get<f64>("large") == 1e300);
  CHECK(std::isinf(*f->get<f32>("infinite")));
  CHECK(std::isnan(*f->get<f32>("nan")));
}

TEST_CASE("gguf reader: a key of 65535 bytes is accepted, one more is not") {
  for (const usize n : {usize{65535}, usize{65536}}) {
    raw_model m;
    m.keys = {test::key_u32(std::string(n, 'k'), 1)};
    const byte_vector bytes = m.bytes();
    const auto f = gguf::open(bytes);
    CHECK(static_cast<bool>(f) == (n == 65535));
    if (!f) CHECK(f.error().code == errc::bad_key);
  }
}

TEST_CASE("gguf reader: data without tensors, gaps between tensors and any tensor order are accepted") {
  raw_model m;
  m.tensors = {test::tensor("late", {8}, 0, 128), test::tensor("early", {8}, 0, 32)};
  m.data_bytes = 160;
  const byte_vector bytes = m.bytes();
  auto f = gguf::open(bytes);
  REQUIRE(f);
  std::vector<u32> memory(2);
  CHECK(f->build_index(memory));
  CHECK(f->find_tensor("early")->offset == 32);
  raw_model none;
  none.keys = {test::key_u32("k", 1)};
  const byte_vector no_padding = none.metadata();
  CHECK(gguf::open(no_padding));
}

TEST_CASE("gguf reader: an index that gets too little memory says how much it needs") {
  const byte_vector bytes = every_type(gguf::byte_order::little, 3);
  auto f = gguf::open(bytes);
  REQUIRE(f);
  std::vector<u32> memory(15);
  const auto r = f->build_index(memory);
  REQUIRE(!r);
  CHECK(r.error().code == errc::buffer_too_small);
  CHECK(r.error().value == 16);
}

TEST_CASE("gguf reader: 65535 keys and 100000 tensors are indexed, found and their duplicates reported") {
  raw_model m;
  constexpr u32 n = 100000, n_keys = 65535;
  const std::string prefix(40, 'x');  // long common prefixes are the slow case of comparing names
  for (u32 i = 0; i < n; ++i) {
    const u32 shuffled = i * 7919u % n;
    if (shuffled < n_keys) m.keys.push_back(test::key_u32(prefix + std::to_string(shuffled), shuffled));
    m.tensors.push_back(test::tensor(prefix + std::to_string(shuffled), {8}, 0, u64{shuffled} * 32));
  }
  m.data_bytes = usize{n} * 32;
  const byte_vector bytes = m.bytes();
  auto f = gguf::open(bytes);
  REQUIRE(f);
  std::vector<u32> memory(f->index_words());
  REQUIRE(f->build_index(memory));
  for (const u32 i : {0u, 1u, 4711u, n - 1}) {
    if (i < n_keys) CHECK(*f->get<u32>(prefix + std::to_string(i)) == i);
    CHECK(f->find_tensor(prefix + std::to_string(i))->offset == u64{i} * 32);
  }
  CHECK(!f->has(prefix + std::to_string(n)));

  m.keys.push_back(test::key_u32(prefix + "500", 1));
  const byte_vector twice = m.bytes();
  auto g = gguf::open(twice);
  REQUIRE(g);
  memory.resize(g->index_words());
  const auto r = g->build_index(memory);
  REQUIRE(!r);
  CHECK(r.error().code == errc::duplicate_key);
  CHECK(r.error().name() == prefix + "500");
  m.keys.push_back(test::key_u32("one too many", 1));
  CHECK(gguf::open(m.bytes()).error().code == errc::count_too_large);
}

TEST_CASE("gguf reader: a set of files presents their tensors in order, past files without tensors") {
  const auto make = [](const char* key, std::vector<std::string> names) {
    raw_model m;
    m.keys = {test::key_u32(key, 1)};
    for (const std::string& name : names) m.tensors.push_back(test::tensor(name, {8}, 0, 32 * m.tensors.size()));
    m.data_bytes = 32 * names.size();
    return m.bytes();
  };
  const byte_vector bytes[] = {make("first", {}), make("second", {"a", "b"}), make("third", {}), make("fourth", {"c"})};
  std::vector<gguf::file> files;
  for (const byte_vector& b : bytes) files.push_back(*gguf::open(b));
  const gguf::file_set set{std::span<const gguf::file>(files)};
  std::string names;
  for (const gguf::tensor_info& t : set.tensors()) names += t.name;
  CHECK(names == "abc");
  CHECK(set.tensors().size() == 3);
  CHECK(set.has("first"));
  CHECK(!set.has("second"));
  CHECK(set.find_tensor("c"));
  CHECK(!gguf::file_set().find_tensor("c"));
  CHECK(!gguf::file_set().find("first"));
  CHECK(gguf::file_set(files[1]).tensors().size() == 2);
}
