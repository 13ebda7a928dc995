#include "jig/host/escapes.hpp"

#include <doctest/doctest.h>

using jig::host::unescape;

TEST_CASE("escapes: each escape, by hand") {
  CHECK(unescape(R"(a\nb\rc\td\'e\"f\\g)") == "a\nb\rc\td'e\"f\\g");
  CHECK(unescape(R"(\x41\x7a\xE6\x97\xa5)") == "Az\xe6\x97\xa5");
  CHECK(unescape(R"(\x00!)") == std::string("\0!", 2));
  CHECK(unescape(R"(\\n)") == "\\n");
}

TEST_CASE("escapes: what is no escape stays as it is") {
  for (const char* s : {"", "plain", "\\", "end\\", "\\q", "\\x", "\\x4", "\\xg1", "\\x1g", "\\0", "日本"})
    CHECK(unescape(s) == s);
}
