#include "jig/host/read_text.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace jig;

TEST_CASE("read_text: gives a file's bytes unchanged, and names what is wrong") {
  const std::string path = (std::filesystem::temp_directory_path() / "jig-read-text-test").string();
  const std::string bytes = std::string("a\0b\r\n\xff", 6) + std::string(40000, 'x');
  std::ofstream(path, std::ios::binary) << bytes;
  const auto whole = host::read_text(path);
  REQUIRE(whole);
  CHECK(*whole == bytes);
  const auto capped = host::read_text(path, 100);
  REQUIRE(!capped);
  CHECK(capped.error().code == errc::count_too_large);
  std::filesystem::remove(path);

  const auto missing = host::read_text(path);
  REQUIRE(!missing);
  CHECK(missing.error().code == errc::cannot_open);
  CHECK(missing.error().name() == "No such file or directory: " + path);
  const auto folder = host::read_text(std::filesystem::temp_directory_path().string());
  REQUIRE(!folder);
  CHECK(folder.error().code == errc::cannot_read);
}
