// Packed weights in whole models: the same logits, memory as planned, and errors for kernels that do not take them.

#include "jig/host/memory_plan.hpp"
#include "kit.hpp"

using namespace golden;

namespace {

const std::string demo = JIG_MODELS "/demo/jig-demo-q8_0.gguf";

/// Whether the kernels of this machine take packed weights.
bool packs() { return by_cpu::kernels().packs(); }

std::vector<f32> logits(const host::loaded<compiled_model>& m, std::span<const i32> ids) {
  auto s = make(m, by_cpu::kernels(), {.kv_type = 0});
  const auto l = s.feed(ids);
  REQUIRE_MESSAGE(l, host::to_string(l.error()));
  return {l->row(0), l->row(0) + l->cols};
}

}  // namespace

TEST_CASE("packed weights: logits of short and long prompts are those of the weights in the file") {
  if (!packs()) {
    MESSAGE("skipped: the kernels of this machine take no packed weights");
    return;
  }
  const auto packed = load(demo, 2), plain = load(demo, 2, false);
  CHECK(packed.packed_bytes() > 0);
  CHECK(plain.packed_bytes() == 0);
  CHECK(packed.fingerprint() == plain.fingerprint());
  for (const usize n : {1u, 3u, 40u}) {
    std::vector<i32> ids(n);
    for (usize i = 0; i < n; ++i) ids[i] = static_cast<i32>(40 + 7 * i);
    const std::vector<f32> a = logits(packed, ids), b = logits(plain, ids);
    CHECK(nmse(a, {b.begin(), b.end()}) < 2e-4);  // codes of activations may flip where sums differ in the last bit
  }
}

TEST_CASE("packed weights: a batch does not change what one token alone gives") {
  if (!packs()) return;
  const auto m = load(demo, 2);
  std::vector<i32> ids(45);
  for (usize i = 0; i < ids.size(); ++i) ids[i] = static_cast<i32>(30 + 5 * i);
  const std::vector<f32> together = logits(m, ids);
  auto s = make(m, by_cpu::kernels(), {.kv_type = 0});
  REQUIRE(s.feed(std::span(ids).first(32)));
  for (usize i = 32; i < 44; ++i) REQUIRE(s.feed(std::span(ids).subspan(i, 1)));
  const auto l = s.feed(std::span(ids).last(1));
  REQUIRE(l);
  const std::vector<f32> apart(l->row(0), l->row(0) + l->cols);
  CHECK(nmse(apart, {together.begin(), together.end()}) < 1e-12);
}

TEST_CASE("packed weights: the plan says what loading takes, and kernels without them are refused by name") {
  if (!packs()) return;
  const auto m = load(demo);
  const auto plan = host::plan_memory<compiled_model>(demo);
  REQUIRE(plan);
  CHECK(plan->packed_bytes == m.packed_bytes());
  CHECK(plan->replaced_bytes == m.packed_source_bytes());
  const auto s = host::text_session<compiled_model>::make(m, {}, by_reference::kernels());
  REQUIRE(!s);
  CHECK(s.error().code == errc::missing_isa);
  CHECK(s.error().name() == "packed weights");
}

TEST_CASE("packed weights: loading tells how far it is and can be cancelled") {
  u64 last = 0, all = 0;
  bool rising = true;
  const auto m = host::try_load<compiled_model>(demo, {.progress = [&](u64 done, u64 total) {
                                                  rising = rising && done >= last && done <= total;
                                                  last = done, all = total;
                                                  return true;
                                                }});
  REQUIRE(m);
  CHECK(rising);
  CHECK(last == all);
  const auto cancelled = host::try_load<compiled_model>(demo, {.progress = [](u64, u64) { return false; }});
  REQUIRE(!cancelled);
  CHECK(cancelled.error().code == errc::cancelled);
}
