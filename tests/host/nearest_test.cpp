#include "jig/host/nearest.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace jig;
using namespace jig::host;

TEST_CASE("nearest: distances counted by hand") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("--tmep", "--temp") == 1);  // a swap
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("ca", "abc") == 3);  // a swapped pair is not edited again
}

TEST_CASE("nearest: finds a mistyped name and nothing for a different word") {
  constexpr std::string_view names[] = {"-n", "--predict", "--temp", "--top-k", "--top-p"};
  CHECK(nearest("--tmp", names) == "--temp");
  CHECK(nearest("--top_k", names) == "--top-k");
  CHECK(nearest("--topk", names) == "--top-k");
  CHECK(nearest("--top", names).empty());  // two letters off: more than a third
  CHECK(nearest("--frobnicate", names).empty());
  CHECK(nearest("-x", names) == "-n");
  CHECK(nearest("", names).empty());
  CHECK(nearest(std::string(100000, 'x'), names).empty());
  CHECK(nearest("abc", {}).empty());
}
