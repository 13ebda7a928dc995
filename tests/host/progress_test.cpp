#include "jig/host/progress.hpp"

#include <doctest/doctest.h>

using namespace jig;
using namespace jig::host;

TEST_CASE("progress: bytes for people have three digits") {
  CHECK(readable_bytes(0) == "0 B");
  CHECK(readable_bytes(999) == "999 B");
  CHECK(readable_bytes(1000) == "0.98 KiB");
  CHECK(readable_bytes(1024) == "1.00 KiB");
  CHECK(readable_bytes(10231) == "9.99 KiB");
  CHECK(readable_bytes(10240) == "10.0 KiB");
  CHECK(readable_bytes(u64{3} << 30) == "3.00 GiB");
  CHECK(readable_bytes(~u64{0}) == "16.0 EiB");
}

TEST_CASE("progress: the bar is filled in proportion and survives odd totals") {
  CHECK(bar_line("load", 1, 2, 4) == "load [##--]  50%  2 B");
  CHECK(bar_line("load", 0, 4096, 4) == "load [----]   0%  4.00 KiB");
  CHECK(bar_line("load", 9, 3, 4) == "load [####] 100%  3 B");
  CHECK(bar_line("load", 0, 0, 4) == "load [####] 100%  0 B");
}

TEST_CASE("progress: draws nothing for short work, and not too often") {
  using std::chrono::milliseconds;
  const progress_bar::clock::time_point start{};
  progress_bar quick("x", start);
  CHECK(quick.update(1, 2, start + milliseconds(100)).empty());
  CHECK(quick.update(2, 2, start + milliseconds(200)).empty());
  CHECK(quick.finish().empty());

  progress_bar slow("x", start);
  CHECK(slow.update(1, 4, start + milliseconds(301)).starts_with("\rx [########---"));
  CHECK(slow.update(2, 4, start + milliseconds(320)).empty());
  CHECK(!slow.update(4, 4, start + milliseconds(330)).empty());  // the end is always shown
  CHECK(slow.finish() == "\r\x1b[K");
  CHECK(slow.finish().empty());
}
