// Sessions over the bundled demo model: threads, sequences, errors, memory.
#include "jig/host/session.hpp"

#include <cstdlib>
#include <new>

#include "demo.hpp"
#include "jig/host/memory_plan.hpp"

using namespace jig;
using namespace jig::host;

namespace {

jig::u64 aligned_bytes_taken = 0;

std::vector<i32> ids_of(const loaded<demo::model>& m, std::string_view text) {
  auto ids = m.vocabulary().tokenize(text, {.parse_special = true});
  REQUIRE(ids);
  return *ids;
}
std::vector<f32> row_of(const result<mat>& logits) {
  REQUIRE_MESSAGE(logits, host::to_string(logits.error()));
  return {logits->row(0), logits->row(0) + logits->cols};
}

}  // namespace

// Counts what aligned_bytes takes; everything large goes through it. Beyond 2^40 bytes it refuses as the system would
// (the address sanitizer's allocator would end the program instead).
[[gnu::noinline]] void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  aligned_bytes_taken += n;
  if (n >> 40 != 0) return nullptr;
  return std::aligned_alloc(static_cast<std::size_t>(a), (n + 63) / 64 * 64 + 64);
}
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

TEST_CASE("memory plan: says exactly what loading and a session allocate") {
  for (const session_options& o : {session_options{}, {.context = 100, .batch = 7, .kv_type = 8},
                                   {.context = 2000, .batch = 64, .kv_type = 0, .outputs = 64, .sequences = 3}}) {
    const auto plan = plan_memory<demo::model>(demo::path, o, 2);
    REQUIRE_MESSAGE(plan, host::to_string(plan.error()));
    aligned_bytes_taken = 0;
    const auto m = demo::load(2);
    CHECK(aligned_bytes_taken == plan->vocabulary_bytes);
    aligned_bytes_taken = 0;
    auto s = demo::make(m, o);
    CHECK(aligned_bytes_taken == plan->session.total());
    CHECK(s.memory().total() == plan->session.total());
    CHECK(plan->weight_bytes == 3908608);
    CHECK(plan->session.logit_bytes == 2048u * 4 * s.core().config().outputs);
    // The planned activations suffice: the largest batch runs in them.
    CHECK(s.feed(std::vector<i32>(std::min(s.core().config().context, 300u), 11)));
  }
}

TEST_CASE("memory plan: errors are those of a run") {
  CHECK(plan_memory<demo::model>("/nowhere.gguf").error().code == errc::cannot_open);
  CHECK(plan_memory<demo::model>(demo::path, {.batch = 0}).error().name() == "batch");
  const auto other = plan_memory<jig::model<arch::qwen2, quants<q8_0, float>>>(demo::path);
  CHECK(other.error().code == errc::unknown_architecture);
  CHECK(other.error().name() == "llama (jig/arch/llama.hpp adds it; built in: qwen2)");
}

TEST_CASE("session: options that cannot be are named") {
  const auto m = demo::load();
  const auto wrong = [&](const session_options& o) {
    const auto s = demo::session::make(m, o);
    REQUIRE(!s);
    CHECK(s.error().code == errc::bad_argument);
    return std::string(s.error().name());
  };
  CHECK(wrong({.batch = 0}) == "batch");
  CHECK(wrong({.kv_type = 2}) == "kv_type");
  CHECK(wrong({.outputs = 0}) == "outputs");
  CHECK(wrong({.sequences = 0}) == "sequences");
  CHECK(wrong({.context = ~u32{0}, .sequences = ~u32{0}}) == "context * sequences");
  const auto huge = demo::session::make(m, {.context = 0x7fffffff, .kv_type = 0, .sequences = 32});
  REQUIRE(!huge);
  CHECK(huge.error().code == errc::out_of_memory);
}

TEST_CASE("session: the same logits and ids with 1, 2 and 3 threads") {
  std::vector<f32> first;
  std::vector<i32> ids;
  for (u32 threads : {1, 2, 3}) {
    const auto m = demo::load(threads);
    auto s = demo::make(m, {.batch = 5});
    const auto logits = row_of(s.feed(ids_of(m, "Once upon a time, there was a little fox named")));
    if (first.empty()) first = logits;
    CHECK(logits == first);
    auto fresh = demo::make(m);
    auto g = fresh.generate("One day, a girl", demo::greedy(40));
    demo::all_text(g);
    if (ids.empty()) ids.assign(g.ids().begin(), g.ids().end());
    CHECK(std::vector<i32>(g.ids().begin(), g.ids().end()) == ids);
  }
}

TEST_CASE("session: two sequences in common batches give what each gives alone") {
  const auto m = demo::load(2);
  const auto a = ids_of(m, "Once upon a time, there was a little fox named"), b = ids_of(m, "The capital of France is");
  auto alone = demo::make(m);
  const auto logits_a = row_of(alone.feed(a));
  REQUIRE(alone.core().truncate(0, 0));
  const auto logits_b = row_of(alone.feed(b));

  auto both = demo::make(m, {.outputs = 2, .sequences = 2});
  std::vector<batch_item> items;
  for (usize i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size()) items.push_back({a[i], 0, i + 1 == a.size()});
    if (i < b.size()) items.push_back({b[i], 1, i + 1 == b.size()});
  }
  const auto logits = both.decode(items);
  REQUIRE(logits);
  REQUIRE(logits->rows == 2);
  CHECK(std::vector<f32>(logits->row(0), logits->row(0) + logits->cols) == logits_b);  // the shorter one ends first
  CHECK(std::vector<f32>(logits->row(1), logits->row(1) + logits->cols) == logits_a);
}

TEST_CASE("session: works on after every kind of error, and nothing of the failed call stays") {
  const auto m = demo::load();
  auto s = demo::make(m, {.context = 20, .batch = 4});
  const auto ids = ids_of(m, "Once upon a time, there was");
  const auto expected = row_of(s.feed(ids));
  REQUIRE(s.core().truncate(0, 0));

  const auto check_clean = [&](const result<mat>& r, errc code) {
    REQUIRE(!r);
    CHECK(name(r.error().code) == name(code));
    CHECK(s.core().length(0) == 0);
    CHECK(row_of(s.feed(ids)) == expected);
    REQUIRE(s.core().truncate(0, 0));
  };
  check_clean(s.feed({}), errc::bad_argument);
  check_clean(s.feed(ids, 1), errc::bad_sequence);
  check_clean(s.feed(std::vector<i32>(21, 5)), errc::context_full);
  std::vector<i32> bad(10, 5);
  bad[9] = 2048;  // in the third batch
  check_clean(s.feed(bad), errc::bad_token);
  const std::atomic<bool> cancel = true;
  check_clean(s.feed(ids, 0, &cancel), errc::cancelled);
}
