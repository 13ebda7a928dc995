#include "fixture.hpp"

using namespace cpu_test;

namespace {
constexpr cpu::kernel_table fake(const char* name, u64 types) {
  cpu::kernel_table t{};
  t.isa = name;
  t.types = types;
  return t;
}
}  // namespace

TEST_CASE("dispatch: the first table that the machine has is chosen, or the wanted one") {
  const cpu::kernel_table best = fake("avx512", 7), middle = fake("avx2", 7), plain = fake("scalar", 7);
  const cpu::kernel_table* const list[] = {&best, &middle, &plain, nullptr};
  cpu::machine_isas machine;
  CHECK(*cpu::choose_table(list, "", machine, 7) == &plain);
  machine.avx2 = true;
  CHECK(*cpu::choose_table(list, "", machine, 7) == &middle);
  machine.avx512 = true;
  CHECK(*cpu::choose_table(list, "", machine, 1) == &best);
  CHECK(*cpu::choose_table(list, "avx2", machine, 7) == &middle);
  CHECK(*cpu::choose_table(list, "scalar", machine, 7) == &plain);
}

TEST_CASE("dispatch: wrong names, missing instruction sets and missing types are named errors") {
  const cpu::kernel_table middle = fake("avx2", 7);
  const cpu::kernel_table* const list[] = {&middle, nullptr};
  cpu::machine_isas machine;
  CHECK(cpu::choose_table(list, "avx3", machine, 7).error().code == errc::unknown_isa);
  CHECK(cpu::choose_table(list, "avx3", machine, 7).error().name() == "avx3");
  CHECK(cpu::choose_table(list, "avx2", machine, 7).error().code == errc::missing_isa);
  CHECK(cpu::choose_table(list, "", machine, 7).error().code == errc::missing_isa);
  machine.avx2 = true;
  CHECK(cpu::choose_table(list, "scalar", machine, 7).error().code == errc::missing_isa);
  CHECK(cpu::choose_table(list, "avx2", machine, 15).error().code == errc::wrong_tensor_type);
  CHECK(cpu::choose_table(list, "avx2", machine, 15).error().value == 8);
}

TEST_CASE("dispatch: this program has a table for this machine, with all types, and obeys a forced name") {
  const auto best = cpu::choose_kernels<>("");
  REQUIRE(best);
  MESSAGE("kernels: ", std::string((*best).isa_name()));
  const auto list = tables();
  REQUIRE(!list.empty());
  CHECK(list.front()->isa == std::string((*best).isa_name()));
  for (const auto* t : list) {
    CHECK(t->types == type_bits(all_quants{}));
    const auto forced = cpu::choose_kernels<>(t->isa);
    REQUIRE(forced);
    CHECK((*forced).isa_name() == std::string(t->isa));
  }
  CHECK(cpu::choose_kernels<>("mmx").error().code == errc::unknown_isa);
}

TEST_CASE("detect: a tag is only there with its bases, and the compiler's own check agrees") {
  const cpu::machine_isas m = cpu::detect_isas();
  CHECK((!m.avx512 || m.avx2));
  CHECK((!m.avx512vnni || m.avx512));
  CHECK((!m.neon_dotprod || m.neon));
  CHECK(m.has("scalar"));
  CHECK(!m.has("helium"));
  CHECK(!m.has(""));
#if defined(__x86_64__)
  __builtin_cpu_init();
  CHECK(m.avx2 == bool(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")));
  CHECK(m.avx512 == bool(__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")));
  CHECK(m.avx512vnni == bool(__builtin_cpu_supports("avx512vnni")));
#elif defined(__aarch64__)
  CHECK(m.neon);
#endif
}

TEST_CASE("sizes: scratch and encoded bytes are those of the formats") {
  using sizes = cpu::kernel_sizes<all_quants>;
  CHECK(sizes::activation_type(q4_0::id) == q8_0::id);
  CHECK(sizes::activation_type(q4_1::id) == q8_1::id);
  CHECK(sizes::activation_type(q6_k::id) == q8_k::id);
  CHECK(sizes::activation_type(f16_block::id) == f32_block::id);
  CHECK(sizes::prepared_bytes(q8_0::id, 3, 64) == 3 * 2 * 34);
  CHECK(sizes::prepared_bytes(q8_k::id, 2, 512) == 2 * 2 * 292);
  CHECK(sizes::prepared_bytes(f32_block::id, 2, 512) == 0);
  CHECK(sizes::row_bytes(q4_k::id, 512) == 288);
  CHECK(sizes::row_bytes(999, 512) == 0);
  attend_args a;
  a.n_head = 8, a.n_head_kv = 2, a.dim_k = 40, a.dim_v = 64;
  CHECK(sizes::attend_scratch_bytes(a, 3) == 3 * sizes::attend_scratch_bytes(a, 1));
  CHECK(sizes::attend_scratch_bytes(a, 1) >= (16 * 64 + 4 * 18) * 4);
}
