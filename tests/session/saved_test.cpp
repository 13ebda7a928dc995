// session/saved.hpp through a session of the demo model: what is damaged or foreign is refused whole.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "jig/arch/llama.hpp"
#include "jig/host/error_text.hpp"
#include "jig/host/session.hpp"

using namespace jig;

namespace {

using model = jig::model<arch::llama, quants<q8_0, float>>;
using session_type = host::text_session<model>;

host::loaded<model> load() {
  auto m = host::try_load<model>(JIG_MODELS "/demo/jig-demo-q8_0.gguf", {.threads = 1});
  REQUIRE_MESSAGE(m, host::to_string(m.error()));
  return *std::move(m);
}
session_type make(const host::loaded<model>& m, const host::session_options& o) {
  auto s = session_type::make(m, o);
  REQUIRE_MESSAGE(s, host::to_string(s.error()));
  return *std::move(s);
}
const std::vector<i32> ids = {11, 500, 1200, 7, 42, 900, 3};

struct saved {
  saved() : m(load()), s(make(m, {.context = 64, .sequences = 2, .page_tokens = 4})) {
    REQUIRE(s.feed(ids));
    bytes = *s.save(ids);
  }
  /// The error of restoring `changed` into sequence 1 of s, which must stay empty and usable.
  error refused(const std::vector<u8>& changed) {
    const auto r = s.restore(changed, 1);
    REQUIRE(!r);
    CHECK(s.core().length(1) == 0);
    CHECK(s.core().length(0) == ids.size());
    return r.error();
  }
  host::loaded<model> m;
  session_type s;
  std::vector<u8> bytes;
};

}  // namespace

TEST_CASE("saved: restored into other page sizes, with and without ids; an empty sequence as well") {
  saved a;
  session_type b = make(a.m, {.context = 32, .page_tokens = 7});
  const auto tokens = b.restore(a.bytes);
  REQUIRE(tokens);
  CHECK(*tokens == ids);
  CHECK(b.core().length(0) == ids.size());
  const std::vector<i32> next = {5};
  const mat want = *a.s.feed(next), got = *b.feed(next);
  CHECK(std::memcmp(want.data, got.data, want.cols * sizeof(f32)) == 0);
  session_type c = make(a.m, {.context = 32});
  CHECK(c.restore(*c.save())->empty());
  CHECK(c.core().length(0) == 0);
}

TEST_CASE("saved: every truncation and every changed byte is refused and leaves the session as it was") {
  saved a;
  for (usize n = 0; n < a.bytes.size(); n += n < 100 ? 1 : 997)
    CHECK(a.refused({a.bytes.begin(), a.bytes.begin() + static_cast<std::ptrdiff_t>(n)}).code == errc::bad_state);
  for (usize at = 0; at < a.bytes.size(); at += at < 100 ? 1 : 997) {
    std::vector<u8> changed = a.bytes;
    changed[at] ^= 0x10;
    CAPTURE(at);
    CHECK(a.refused(changed).code == errc::bad_state);
  }
  std::vector<u8> longer = a.bytes;
  longer.push_back(0);
  CHECK(a.refused(longer).code == errc::bad_state);
  CHECK(a.s.restore(a.bytes, 1));
}

TEST_CASE("saved: another element type, a small session, wrong sequences and ids are named errors") {
  saved a;
  const auto code = [](const auto& r) { return r ? errc::ok : r.error().code; };
  session_type f32s = make(a.m, {.context = 64, .kv_type = 0});
  const auto other = f32s.restore(a.bytes);
  CHECK((!other && other.error().code == errc::bad_state && other.error().name() == "kv_type"));
  CHECK(code(make(a.m, {.context = 4}).restore(a.bytes)) == errc::context_full);
  CHECK(code(a.s.restore(a.bytes, 0)) == errc::bad_sequence);  // not empty
  CHECK(code(a.s.restore(a.bytes, 9)) == errc::bad_sequence);
  CHECK(code(a.s.save({}, 9)) == errc::bad_sequence);
  const std::vector<i32> few = {1, 2};
  CHECK(code(a.s.save(few)) == errc::bad_argument);
}
