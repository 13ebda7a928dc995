#include "jig/host/mapped_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "jig/host/output_file.hpp"

#if JIG_HAS_MMAP
#include <sys/stat.h>
#endif

namespace fs = std::filesystem;
using namespace jig;

namespace {

struct temporary_folder {
  fs::path path = fs::temp_directory_path() / ("jig-host-test-" + std::to_string(std::random_device{}()));
  temporary_folder() { fs::create_directories(path); }
  ~temporary_folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string file(const char* name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

std::string text_of(std::span<const u8> bytes) { return {bytes.begin(), bytes.end()}; }
std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::span<const u8> bytes_of(std::string_view s) { return {reinterpret_cast<const u8*>(s.data()), s.size()}; }

}  // namespace

TEST_CASE("mapped_file: mapping and reading give the same bytes") {
  const temporary_folder folder;
  const std::string large(300000, 'x');
  for (const std::string& text : {std::string(), std::string("short"), large}) {
    const std::string path = folder.file("f", text);
    auto mapped = host::mapped_file::open(path);
    const auto read = host::mapped_file::open(path, host::map_mode::read);
    REQUIRE(mapped);
    REQUIRE(read);
    CHECK(text_of(mapped->bytes()) == text);
    CHECK(text_of(read->bytes()) == text);
    CHECK(!read->is_mapped());
    mapped->release(mapped->bytes());
    CHECK(text_of(mapped->bytes()) == text);
    const u8* data = mapped->bytes().data();
    host::mapped_file moved = *std::move(mapped);
    CHECK(moved.bytes().data() == data);
    CHECK(text_of(moved.bytes()) == text);
  }
}

TEST_CASE("mapped_file: missing files and folders are errors that name the path") {
  const temporary_folder folder;
  const auto missing = host::mapped_file::open((folder.path / "nothing").string());
  REQUIRE(!missing);
  CHECK(missing.error().code == errc::cannot_open);
  CHECK(missing.error().name().find("nothing") != std::string_view::npos);
  const auto directory = host::mapped_file::open(folder.path.string());
  REQUIRE(!directory);
#if JIG_HAS_MMAP
  CHECK(directory.error().code == errc::cannot_read);
#endif
}

#if JIG_HAS_MMAP
TEST_CASE("mapped_file: a pipe is read to its end") {
  const temporary_folder folder;
  const std::string path = (folder.path / "pipe").string();
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] {
    for (std::ofstream out(path); char c : std::string("abc")) out << std::string(50000, c) << std::flush;
  });
  const auto f = host::mapped_file::open(path);
  writer.join();
  REQUIRE(f);
  CHECK(!f->is_mapped());
  CHECK(text_of(f->bytes()) == std::string(50000, 'a') + std::string(50000, 'b') + std::string(50000, 'c'));
}
#endif

TEST_CASE("output_file: the file appears only when it is complete, and replaces the old one then") {
  const temporary_folder folder;
  const std::string path = folder.file("f", "old");
  {
    auto out = host::output_file::create(path);
    REQUIRE(out);
    REQUIRE(out->write(bytes_of("half")));
    CHECK(read_text(path) == "old");
  }
  CHECK(read_text(path) == "old");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
  auto out = host::output_file::create(path);
  REQUIRE(out);
  REQUIRE(out->write(bytes_of("ne")));
  REQUIRE(out->write(bytes_of("w")));
  REQUIRE(out->commit());
  CHECK(read_text(path) == "new");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("output_file: links are followed, permissions kept, impossible places refused") {
  const temporary_folder folder;
  const std::string path = folder.file("f", "old");
  fs::create_symlink(path, folder.path / "link");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  auto out = host::output_file::create((folder.path / "link").string());
  REQUIRE(out);
  REQUIRE(out->write(bytes_of("new")));
  REQUIRE(out->commit());
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(read_text(path) == "new");
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  for (const fs::path& wrong : {folder.path, folder.path / "no" / "folder"}) {
    const auto r = host::output_file::create(wrong.string());
    REQUIRE(!r);
    CHECK(r.error().code == errc::cannot_write);
  }
}

TEST_CASE("output_file: a full disk is an error with its reason") {
  if (!fs::exists("/dev/full")) {
    MESSAGE("skipped: no /dev/full on this system");
    return;
  }
  auto out = host::output_file::create("/dev/full");
  REQUIRE(out);
  const std::string large(1 << 20, 'x');
  auto r = out->write(bytes_of(large));
  if (r) r = out->commit();
  REQUIRE(!r);
  CHECK(r.error().code == errc::cannot_write);
  CHECK(r.error().name().find("space") != std::string_view::npos);
}
