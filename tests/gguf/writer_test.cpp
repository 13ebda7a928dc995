#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "gguf/malformed_model.hpp"
#include "jig/gguf/parse_value.hpp"
#include "jig/gguf/split_writer.hpp"
#include "jig/host/model_file.hpp"
#include "jig/host/output_file.hpp"

namespace fs = std::filesystem;
using namespace jig;
using jig::test::byte_vector;
using jig::test::raw_model;

namespace {

bool same(std::span<const u8> a, std::span<const u8> b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

byte_vector rewritten(const byte_vector& bytes, auto change) {
  const auto f = gguf::open(bytes);
  REQUIRE(f);
  gguf::writer w = gguf::writer::from(*f);
  change(w);
  const auto out = w.bytes();
  REQUIRE(out);
  return *out;
}
byte_vector rewritten(const byte_vector& bytes) {
  return rewritten(bytes, [](gguf::writer&) {});
}

/// A folder that goes away with the test.
struct temporary_folder {
  fs::path path = fs::temp_directory_path() / ("jig-gguf-test-" + std::to_string(std::random_device{}()));
  temporary_folder() { fs::create_directories(path); }
  ~temporary_folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

void check_round_trip(const std::string& path) {
  CAPTURE(path);
  const auto m = host::open_model_file(path);
  REQUIRE(m);
  const auto out = gguf::writer::from(m->files().front()).bytes();
  REQUIRE(out);
  CHECK(same(*out, m->files().front().bytes()));
  // Through big-endian and back: everything is turned twice. Files without gaps come back byte for byte.
  gguf::writer big = gguf::writer::from(m->files().front());
  big.order = gguf::byte_order::big;
  const auto turned = big.bytes();
  REQUIRE(turned);
  const auto f = gguf::open(*turned);
  REQUIRE(f);
  CHECK(f->order() == gguf::byte_order::big);
  gguf::writer little = gguf::writer::from(*f);
  little.order = gguf::byte_order::little;
  const auto back = little.bytes();
  REQUIRE(back);
  CHECK(same(*back, m->files().front().bytes()));
}

}  // namespace

TEST_CASE("gguf writer: a small file has exactly the bytes that the format asks for") {
  gguf::writer w;
  w.set("general.architecture", "llama");
  w.set("llama.block_count", u32{7});
  w.set("eps", 0.5f);
  w.set("flag", true);
  const std::string words[] = {"alpha", "", "gamma"};
  const i32 numbers[] = {-1, 2, 3};
  w.set_array("words", std::span<const std::string>(words));
  w.set_array("numbers", std::span<const i32>(numbers));
  const byte_vector data(64);
  REQUIRE(w.add_tensor("a.weight", {8, 2}, 0, data));
  REQUIRE(w.add_tensor("b.weight", {32}, 8, std::span(data).first(34)));
  CHECK(same(*w.bytes(), test::small_model().bytes()));
}

TEST_CASE("gguf writer: padding, gaps, trailing bytes and unusual orders survive unchanged") {
  raw_model m = test::small_model();
  m.keys.push_back(test::key_u32("general.alignment", 64));
  m.alignment = 64;
  m.tensors = {test::tensor("b.weight", {32}, 8, 256), test::tensor("a.weight", {8, 2}, 0, 64)};
  m.data_bytes = 300;
  byte_vector bytes = m.bytes();
  for (usize i = m.metadata().size(); i < bytes.size(); ++i) bytes[i] = static_cast<u8>(i * 31 + 7);
  REQUIRE(m.metadata().size() % 64 != 0);  // so that there is padding before the data
  CHECK(same(rewritten(bytes), bytes));
  const byte_vector other = rewritten(bytes, [](gguf::writer& w) { w.set("llama.block_count", u32{9}); });
  CHECK(other.size() == bytes.size());
  CHECK(same(rewritten(other, [](gguf::writer& w) { w.set("llama.block_count", u32{7}); }), bytes));
}

TEST_CASE("gguf writer: files without tensors keep their end, with and without padding") {
  raw_model m;
  m.keys = {test::key_str("general.architecture", "llama")};
  const byte_vector unpadded = m.metadata(), padded = m.bytes();
  REQUIRE(unpadded.size() != padded.size());
  CHECK(same(rewritten(unpadded), unpadded));
  CHECK(same(rewritten(padded), padded));
  byte_vector half = unpadded;
  half.push_back(0);
  CHECK(same(rewritten(half), half));
}

TEST_CASE("gguf writer: setting and removing keys moves the data and keeps it") {
  const byte_vector bytes = test::valid_model();
  const byte_vector longer = rewritten(bytes, [](gguf::writer& w) {
    w.set("note", "a string that is long enough to move the data section by more than one unit of alignment");
    CHECK(w.remove("llama.rope.freq_base"));
    CHECK(!w.remove("llama.rope.freq_base"));
    w.set("note2", u8{1});
    CHECK(w.remove("note2"));
  });
  const auto before = gguf::open(bytes), after = gguf::open(longer);
  REQUIRE(after);
  CHECK(after->data_offset() > before->data_offset());
  CHECK(after->has("note"));
  CHECK(!after->has("llama.rope.freq_base"));
  for (const gguf::tensor_info& t : before->tensors()) CHECK(same(t.data, after->find_tensor(t.name)->data));
}

TEST_CASE("gguf writer: a new alignment lays the tensors out anew where their offsets do not fit") {
  const byte_vector bytes = test::valid_model();
  const byte_vector wide = rewritten(bytes, [](gguf::writer& w) { w.set("general.alignment", u32{4096}); });
  auto after = gguf::open(wide);
  REQUIRE(after);
  CHECK(after->alignment() == 4096);
  CHECK(after->data_offset() % 4096 == 0);
  std::vector<u32> memory(after->index_words());
  CHECK(after->build_index(memory));
  const auto before = gguf::open(bytes);
  for (const gguf::tensor_info& t : before->tensors()) CHECK(same(t.data, after->find_tensor(t.name)->data));
}

TEST_CASE("gguf writer: tensors added to a file follow its data") {
  const byte_vector bytes = test::small_model().bytes(), data(128, 9);
  const byte_vector more = rewritten(bytes, [&](gguf::writer& w) { REQUIRE(w.add_tensor("c", {32}, 0, data)); });
  auto f = gguf::open(more);
  REQUIRE(f);
  std::vector<u32> memory(f->index_words());
  CHECK(f->build_index(memory));
  CHECK(same(f->find_tensor("c")->data, data));
  CHECK(f->find_tensor("c")->offset == 128);
}

TEST_CASE("gguf writer: what the reader would refuse is refused") {
  gguf::writer w;
  const byte_vector data(64);
  const auto code = [](const auto& r) { return r ? errc::ok : r.error().code; };
  CHECK(code(w.add_tensor("", {16}, 0, data)) == errc::bad_tensor_name);
  CHECK(code(w.add_tensor("t", {0}, 0, data)) == errc::bad_dimension);
  CHECK(code(w.add_tensor("t", {1, 1, 1, 1, 16}, 0, data)) == errc::bad_rank);
  CHECK(code(w.add_tensor("t", {16}, 4, data)) == errc::unknown_tensor_type);
  CHECK(code(w.add_tensor("t", {33}, 8, data)) == errc::partial_block);
  CHECK(code(w.add_tensor("t", {15}, 0, data)) == errc::wrong_shape);
  CHECK(w.tensor_count() == 0);
  CHECK(code(w.add_tensor("t", {16}, 0, data)) == errc::ok);
  CHECK(code(w.add_tensor("t", {16}, 0, data)) == errc::duplicate_tensor);
  w.set("general.alignment", u32{24});
  CHECK(code(w.bytes()) == errc::bad_alignment);
  w.set("general.alignment", u64{32});
  CHECK(code(w.bytes()) == errc::wrong_key_type);
  w.remove("general.alignment");
  w.set("line\nbreak", u32{1});
  CHECK(code(w.bytes()) == errc::bad_key);
  w.remove("line\nbreak");
  w.version = 1;
  CHECK(code(w.bytes()) == errc::unsupported_version);
}

TEST_CASE("gguf writer: the models and vocabularies at hand come back byte for byte, also through big-endian") {
  usize seen = 0;
  const auto visit = [&](const fs::path& folder) {
    if (!fs::is_directory(folder)) return;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".gguf") {
        check_round_trip(entry.path().string());
        ++seen;
      }
  };
  visit(fs::path(JIG_MODELS) / "demo");
  CHECK(seen > 0);
  const fs::path shared = JIG_SHARED;
  if (!fs::is_directory(shared)) MESSAGE("skipped: no models and vocabularies in " << shared.string());
  visit(shared / "models");
  visit(shared / "golden/tokenizers/synthetic");
}

TEST_CASE("gguf writer: the packed vocabularies come back byte for byte") {
  const fs::path folder = fs::path(JIG_SHARED) / "golden/tokenizers";
  if (!fs::is_directory(folder) || std::system("xz --version >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: needs the golden tokenizers and the program xz");
    return;
  }
  const temporary_folder temporary;
  usize seen = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".xz") continue;
    const std::string unpacked = (temporary.path / "vocabulary.gguf").string();
    REQUIRE(std::system(("xz -dc '" + entry.path().string() + "' >'" + unpacked + "'").c_str()) == 0);
    check_round_trip(unpacked);
    ++seen;
  }
  CHECK(seen > 0);
}

TEST_CASE("gguf split: a model that is split and joined comes back byte for byte") {
  const temporary_folder temporary;
  const byte_vector bytes = test::valid_model();
  const auto f = gguf::open(bytes);
  const gguf::file_set whole(*f);
  for (const gguf::split_limits& most : {gguf::split_limits{3, ~u64{0}}, gguf::split_limits{~u64{0}, 400},
                                         gguf::split_limits{1, 1}, gguf::split_limits{}}) {
    const auto plan = gguf::plan_split(whole, most);
    REQUIRE(plan);
    const auto parts = gguf::split_model(whole, *plan);
    REQUIRE(parts);
    const std::string prefix = (temporary.path / ("m" + std::to_string(plan->size()))).string();
    std::string first, last;
    for (usize i = 0; i < parts->size(); ++i) {
      char buffer[512];
      last = *gguf::split_path(prefix, static_cast<u32>(i), static_cast<u32>(parts->size()), buffer);
      if (i == 0) first = last;
      auto out = host::output_file::create(last);
      REQUIRE(out);
      REQUIRE((*parts)[i].write([&](std::span<const u8> piece) { return out->write(piece); }));
      REQUIRE(out->commit());
    }
    for (const std::string& path : {first, last}) {
      const auto m = host::open_model_file(path);
      REQUIRE(m);
      CHECK(m->files().size() == parts->size());
      CHECK(m->set().tensors().size() == 11);
      CHECK(*m->set().get<u32>("llama.block_count") == 1);
      const auto joined = gguf::join_model(m->set());
      REQUIRE(joined);
      CHECK(same(*joined->bytes(), bytes));
    }
  }
  CHECK(gguf::plan_split(whole, {3, ~u64{0}})->size() == 4);
  CHECK(gguf::plan_split(whole, {1, 1})->size() == 11);
  CHECK(!gguf::plan_split(whole, {0, 1}));
}

TEST_CASE("gguf split: missing, foreign and extra parts are named") {
  const temporary_folder temporary;
  const byte_vector bytes = test::valid_model();
  const auto f = gguf::open(bytes);
  const std::string prefix = (temporary.path / "m").string();
  auto parts = *gguf::split_model(gguf::file_set(*f), *gguf::plan_split(gguf::file_set(*f), {4, ~u64{0}}));
  REQUIRE(parts.size() == 3);
  const auto path_of = [&](u32 i) {
    char buffer[512];
    return std::string(*gguf::split_path(prefix, i, 3, buffer));
  };
  const auto save = [&](const gguf::writer& w, const std::string& path) {
    auto out = host::output_file::create(path);
    REQUIRE(out);
    REQUIRE(w.write([&](std::span<const u8> piece) { return out->write(piece); }));
    REQUIRE(out->commit());
  };
  for (u32 i = 0; i < 3; ++i) save(parts[i], path_of(i));
  REQUIRE(host::open_model_file(path_of(0)));
  const auto error_now = [&] {
    const auto m = host::open_model_file(path_of(0));
    return m ? fail(errc::ok) : m.error();
  };

  fs::remove(path_of(1));
  CHECK(error_now().code == errc::bad_split);
  CHECK(error_now().value == 1);
  save(parts[2], path_of(1));  // a part in another's place
  CHECK(error_now().code == errc::bad_split);
  CHECK(error_now().name() == "split.no");
  gguf::writer foreign = parts[1];
  foreign.set("split.tensors.count", i32{12});
  save(foreign, path_of(1));
  CHECK(error_now().name() == "split.tensors.count");
  foreign = parts[1];
  foreign.set("split.count", u16{4});
  save(foreign, path_of(1));
  CHECK(error_now().name() == "split.count");
  foreign = parts[1];
  foreign.set("general.architecture", "qwen2");
  save(foreign, path_of(1));
  CHECK(error_now().name() == "general.architecture");
  gguf::writer big = parts[1];
  big.order = gguf::byte_order::big;
  save(big, path_of(1));
  CHECK(error_now().name() == "byte order");
  gguf::writer copy_of_first = parts[2];  // has three tensors; the fourth is one of the first part's
  REQUIRE(copy_of_first.add_tensor(*f->tensors().begin()));
  parts[1].set("split.tensors.count", i32{12});
  parts[0].set("split.tensors.count", i32{12});
  copy_of_first.set("split.tensors.count", i32{12});
  save(parts[0], path_of(0));
  save(parts[1], path_of(1));
  save(copy_of_first, path_of(2));
  CHECK(error_now().code == errc::duplicate_tensor);
  const std::string renamed = (temporary.path / "renamed.gguf").string();
  fs::rename(path_of(0), renamed);
  const auto m = host::open_model_file(renamed);
  REQUIRE(!m);
  CHECK(m.error().code == errc::bad_split);
}

TEST_CASE("gguf split: names are taken apart and put together") {
  const auto n = gguf::parse_split_path("/a/b-c-00002-of-00013.gguf");
  REQUIRE(n);
  CHECK(n->prefix == "/a/b-c");
  CHECK(n->no == 1);
  CHECK(n->count == 13);
  char buffer[64];
  CHECK(*gguf::split_path(n->prefix, n->no, n->count, buffer) == "/a/b-c-00002-of-00013.gguf");
  for (const char* wrong :
       {"m.gguf", "m-00000-of-00003.gguf", "m-00004-of-00003.gguf", "m-0001-of-0003.gguf", "m-00001-of-00003.ggu",
        "m-00001_of-00003.gguf", "m-0000a-of-00003.gguf", "-00001-of-00003.gguf", "m-00001-of-99999.gguf", ""})
    CHECK(!gguf::parse_split_path(wrong));
  CHECK(!gguf::split_path("m", 3, 3, buffer));
  CHECK(!gguf::split_path("m", 0, 3, std::span<char>(buffer, 20)));
}

TEST_CASE("gguf parse_value: words become values of the named type, or an error") {
  const auto code = [](std::string_view type, std::vector<std::string> words) {
    const auto v = gguf::parse_value("k", type, words);
    return v ? errc::ok : v.error().code;
  };
  CHECK(code("u8", {"255"}) == errc::ok);
  CHECK(code("u8", {"256"}) == errc::bad_value);
  CHECK(code("u8", {"-1"}) == errc::bad_value);
  CHECK(code("i8", {"-128"}) == errc::ok);
  CHECK(code("u64", {"18446744073709551615"}) == errc::ok);
  CHECK(code("f32", {"1e-5"}) == errc::ok);
  CHECK(code("f32", {"1e-5x"}) == errc::bad_value);
  CHECK(code("f32", {""}) == errc::bad_value);
  CHECK(code("bool", {"true"}) == errc::ok);
  CHECK(code("bool", {"yes"}) == errc::bad_value);
  CHECK(code("string", {"any thing"}) == errc::ok);
  CHECK(code("string", {"a", "b"}) == errc::bad_argument);
  CHECK(code("string[]", {"a", "b"}) == errc::ok);
  CHECK(code("i32[]", {}) == errc::ok);
  CHECK(code("array", {"a"}) == errc::nested_array);
  CHECK(code("array[]", {"a"}) == errc::nested_array);
  CHECK(code("int", {"1"}) == errc::bad_value_type);
  CHECK(!gguf::parse_value("", "u8", std::vector<std::string>{"1"}));
  gguf::writer w;
  w.set(*gguf::parse_value("k", "i16[]", std::vector<std::string>{"-2", "300"}));
  const auto bytes = w.bytes();
  const auto f = gguf::open(*bytes);
  REQUIRE(f);
  CHECK(*f->find("k")->element<i32>(0) == -2);
  CHECK(*f->find("k")->element<i32>(1) == 300);
}
