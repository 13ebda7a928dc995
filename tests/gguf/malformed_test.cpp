// The malformed files: each gives its named error, and the folder tests/data/malformed holds exactly these files.
//   JIG_WRITE_MALFORMED=1 test_gguf -tc="malformed: the folder*"     writes the folder and its manifest anew

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gguf/malformed_model.hpp"
#include "jig/gguf/split.hpp"
#include "jig/host/model_file.hpp"

namespace fs = std::filesystem;
using namespace jig;
using jig::test::byte_vector;
using jig::test::malformed;

namespace {

const fs::path folder = fs::path(JIG_TEST_DATA) / "malformed";

/// Everything that opening a file from memory checks.
error open_error(const byte_vector& bytes) {
  auto f = gguf::open(bytes);
  if (!f) return f.error();
  std::vector<u32> memory(f->index_words());
  if (const auto r = f->build_index(memory); !r) return r.error();
  const auto split = gguf::read_split_info(*f);
  return split ? fail(errc::ok) : split.error();
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One line per file: name, error, the key or tensor at fault ('-' for none, other bytes than printable ones as '?').
std::string manifest_line(const malformed& m) {
  std::string fault = m.fault.empty() ? "-" : m.fault;
  for (char& c : fault)
    if (static_cast<u8>(c) < 0x20 || static_cast<u8>(c) > 0x7e) c = '?';
  return m.name + ".gguf\t" + std::string(name(m.expected)) + "\t" + fault + "\n";
}

std::vector<malformed> all_files() {
  std::vector<malformed> all = test::malformed_containers();
  all.push_back({"model-valid", errc::ok, "", test::valid_model()});
  for (malformed& m : test::malformed_models()) all.push_back(std::move(m));
  return all;
}

}  // namespace

TEST_CASE("malformed: the files that the others are made from are valid") {
  CHECK(open_error(test::small_model().bytes()).code == errc::ok);
  CHECK(open_error(test::valid_model()).code == errc::ok);
  const byte_vector bytes = test::valid_model();
  const auto f = gguf::open(bytes);
  REQUIRE(f);
  CHECK(f->tensor_count() == 11);
  CHECK(*f->get<std::string_view>("general.architecture") == "llama");
}

TEST_CASE("malformed: every broken container gives its named error") {
  const auto all = test::malformed_containers();
  CHECK(all.size() >= 60);
  for (const malformed& m : all) {
    if (m.name == "split-part-alone-00001-of-00003") continue;  // valid until its companions are looked for
    CAPTURE(m.name);
    const error e = open_error(m.bytes);
    CHECK(name(e.code) == name(m.expected));
    CHECK(e.name() == m.fault);
  }
}

TEST_CASE("malformed: models with invalid contents are valid containers") {
  for (const malformed& m : test::malformed_models()) {
    CAPTURE(m.name);
    CHECK(name(open_error(m.bytes).code) == "ok");
    CHECK(!m.bytes.empty());
  }
}

TEST_CASE("malformed: all names are different") {
  std::vector<std::string> names;
  for (const malformed& m : all_files()) names.push_back(m.name);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("malformed: the folder holds these files and the manifest, and nothing else") {
  const std::vector<malformed> all = all_files();
  std::string manifest =
      "# file\terror\tkey or tensor at fault; model-* are valid containers for the model loader to refuse\n";
  for (const malformed& m : all) manifest += manifest_line(m);
  if (std::getenv("JIG_WRITE_MALFORMED") != nullptr) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const malformed& m : all)
      std::ofstream(folder / (m.name + ".gguf"), std::ios::binary)
          .write(reinterpret_cast<const char*>(m.bytes.data()), static_cast<std::streamsize>(m.bytes.size()));
    std::ofstream(folder / "manifest.txt", std::ios::binary) << manifest;
  }
  CHECK(read_text(folder / "manifest.txt") == manifest);
  for (const malformed& m : all) {
    CAPTURE(m.name);
    const std::string text = read_text(folder / (m.name + ".gguf"));
    CHECK(std::equal(text.begin(), text.end(), m.bytes.begin(), m.bytes.end(),
                     [](char c, u8 b) { return static_cast<u8>(c) == b; }));
    CHECK(m.bytes.size() <= 4096);
  }
  CHECK(static_cast<usize>(std::distance(fs::directory_iterator(folder), fs::directory_iterator())) == all.size() + 1);
}

TEST_CASE("malformed: the files give the same errors from disk") {
  for (const malformed& m : test::malformed_containers()) {
    CAPTURE(m.name);
    for (const auto mode : {host::map_mode::automatic, host::map_mode::read}) {
      const auto opened = host::open_model_file((folder / (m.name + ".gguf")).string(), mode);
      REQUIRE(!opened);
      CHECK(name(opened.error().code) == name(m.expected));
    }
  }
}

TEST_CASE("malformed: every truncation of a valid file is an error or loses only padding") {
  const byte_vector whole = test::small_model().bytes();
  const usize data_end = whole.size() - 128 + 98;  // the last tensor ends 30 bytes before the padding does
  for (usize n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    const byte_vector part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));  // its own allocation
    CHECK((open_error(part).code == errc::ok) == (n >= data_end));
  }
}

TEST_CASE("malformed: no single changed byte makes the reader leave the file") {
  const byte_vector whole = test::small_model().bytes();
  usize accepted = 0;
  for (usize i = 0; i < whole.size(); ++i)
    for (const u8 v : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      byte_vector changed = whole;
      changed[i] = v;
      auto f = gguf::open(changed);
      if (!f) continue;
      ++accepted;
      usize seen = 0;
      for (const gguf::value& key : f->keys()) {
        seen += key.key().size() + key.payload().size();
        if (const auto strings = key.strings())
          for (const std::string_view s : *strings) seen += s.size();
      }
      for (const gguf::tensor_info& t : f->tensors())
        for (const u8 b : t.data) seen += b;
      CHECK(seen > 0);
    }
  CHECK(accepted > 0);
  CHECK(accepted < whole.size() * 5);
}
