// jig/core/result.hpp and message.hpp: values and errors, their lifetimes, and the line that an error becomes.
#include "jig/core/result.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "jig/core/message.hpp"

using namespace jig;

namespace {

constexpr result<u32> half(u32 v) noexcept {
  if (v % 2 != 0) return fail(errc::bad_argument, "v").got(v);
  return v / 2;
}
constexpr result<u32> quarter(u32 v) noexcept {
  JIG_TRY(const u32 h, half(v));
  return half(h);
}
constexpr result<void> divisible_by_four(u32 v) noexcept {
  JIG_CHECK(half(v));
  JIG_CHECK(quarter(v));
  return {};
}
std::string line_of(const error& e) {
  char buffer[256];
  return std::string(message(e, buffer));
}

}  // namespace

TEST_CASE("result: JIG_TRY and JIG_CHECK pass values on and return errors, in constant expressions too") {
  static_assert(*quarter(12) == 3);
  static_assert(quarter(6).error().value == 3);
  CHECK(*quarter(8) == 2);
  const auto odd = quarter(7);
  REQUIRE_FALSE(odd);
  CHECK(odd.error().code == errc::bad_argument);
  CHECK(odd.error().value == 7);
  CHECK(divisible_by_four(4));
  CHECK(divisible_by_four(6).error().value == 3);
}

TEST_CASE("result: a value that owns something moves, and is destroyed once") {
  const auto watch = std::make_shared<int>(7);
  {
    result<std::shared_ptr<int>> a(watch);
    CHECK(watch.use_count() == 2);
    result<std::shared_ptr<int>> b(std::move(a));
    CHECK(watch.use_count() == 2);
    CHECK(**b == 7);
    b = result<std::shared_ptr<int>>(fail(errc::cancelled));
    CHECK(watch.use_count() == 1);
    CHECK_FALSE(b);
    b = result<std::shared_ptr<int>>(watch);
    CHECK(watch.use_count() == 2);
    const std::shared_ptr<int> taken = *std::move(b);
    CHECK(watch.use_count() == 2);
  }
  CHECK(watch.use_count() == 1);

  result<std::unique_ptr<int>> only_movable(std::make_unique<int>(3));
  result<std::unique_ptr<int>> moved(std::move(only_movable));
  CHECK(**moved == 3);
}

TEST_CASE("error: names are copied, cut with a mark, and zero bytes do not end them") {
  std::string name = "llama.block_count";
  const error e = fail(errc::bad_value, name);
  name.assign(name.size(), 'x');
  CHECK(e.name() == "llama.block_count");

  const error cut = fail(errc::bad_key, std::string(error::max_name + 1, 'k'));
  CHECK(cut.name().size() == error::max_name);
  CHECK(cut.name().back() == '~');
  const error whole = fail(errc::bad_key, std::string(error::max_name, 'k'));
  CHECK(whole.name() == std::string(error::max_name, 'k'));
  CHECK(fail(errc::bad_key, std::string_view("a\0b", 3)).name() == "a?b");
}

TEST_CASE("message: code, name, value and position, each only if known") {
  const std::string sentence(text(errc::bad_value));
  CHECK(line_of(fail(errc::bad_value)) == sentence);
  CHECK(line_of(fail(errc::bad_value, "k")) == sentence + ": k");
  CHECK(line_of(fail(errc::bad_value, "k").got(0)) == sentence + ": k (got 0)");
  CHECK(line_of(fail(errc::bad_value).at(96)) == sentence + " (at byte 96)");
  CHECK(line_of(fail(errc::bad_value, "k").got(10).at(96)) == sentence + ": k (got 10, at byte 96)");
}

TEST_CASE("message: 256 bytes suffice for every code, and a smaller buffer is not overrun") {
  for (u32 code = 0; code <= static_cast<u32>(errc::cancelled); ++code) {
    const error e = fail(errc(code), std::string(200, 'n')).got(error::unknown - 1).at(error::unknown - 1);
    char large[1024], enough[256];
    REQUIRE_FALSE(text(errc(code)).empty());
    REQUIRE(message(e, enough) == message(e, large));
  }
  char small[9] = "########";
  CHECK(message(fail(errc::bad_value, "k"), std::span<char>(small, 5)) == text(errc::bad_value).substr(0, 5));
  CHECK(small[5] == '#');
  CHECK(message(fail(errc::bad_value), {}).empty());
}
