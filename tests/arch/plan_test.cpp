// ops/planner.hpp and session.hpp: the plan against the run, at run time and at compile time; errors of a session.
#include <doctest/doctest.h>

#include "arch/kit.hpp"
#include "arch/runner.hpp"
#include "jig/arch/llama.hpp"
#include "jig/arch/load.hpp"
#include "jig/ops/reference.hpp"

using namespace jig;

namespace {

/// A model whose hyperparameters are constants, with weights that nobody reads: enough for the planner.
constexpr hparams small_hp{.n_vocab = 512,
                           .n_ctx_train = 512,
                           .n_embd = 64,
                           .n_layer = 5,
                           .n_ff = 172,
                           .n_head = 8,
                           .n_head_kv = 4,
                           .dim_k = 8,
                           .dim_v = 8,
                           .norm_eps = 1e-5f,
                           .n_rot = 8};
constexpr u8 small_bytes[64] = {};
constexpr auto small_slots = [] {
  constexpr const slot_map& map = slots_of<arch::llama>;
  std::array<weight, map.count(small_hp)> slots{};
  for (weight& w : slots) w = {small_bytes, 0, 64, 64, 1};
  for (u32 il = 0; il < small_hp.n_layer; ++il)  // no fused qkv, no experts
    for (std::string_view name : {"blk.{}.attn_qkv", "blk.{}.ffn_gate_inp"})
      slots[map.index(map.find(name), il)] = {};
  return slots;
}();
struct small_blob {
  static constexpr const hparams& hp = small_hp;
  static constexpr const weight* slots = small_slots.data();
};
using small_model = static_model<arch::llama, small_blob>;

/// A llama of the kit, bound as what it is.
struct llama_model {
  explicit llama_model(const std::vector<u8>& bytes)
      : file(*gguf::open(bytes)), hp(*read_hparams<arch::llama>(file)) {
    slots.resize(slots_of<arch::llama>.count(hp));
    bound = *bind<arch::llama, quants<f32>>(file, hp, slots);
  }
  gguf::file file;
  hparams hp;
  std::vector<weight> slots;
  bound_model<arch::llama> bound;
};

std::vector<u8> kit_file(const std::string& name) {
  return kit::materialize(kit::load(JIG_TEST_DATA "/archs/" + name + ".json"));
}

}  // namespace

TEST_CASE("planner: works in constant expressions and gives what it gives at run time") {
  constexpr forward_plan at_compile_time = plan_forward<reference_kernels<quants<f32>>>(small_model{}, 16, 1);
  const forward_plan at_run_time = plan_forward<reference_kernels<quants<f32>>>(small_model{}, 16, 1);
  static_assert(at_compile_time.arena_bytes > 16 * 64 * sizeof(f32));
  CHECK(at_compile_time.arena_bytes == at_run_time.arena_bytes);
  CHECK(at_compile_time.weight_bytes == at_run_time.weight_bytes);
  constexpr session_plan session =
      plan_session<reference_kernels<quants<f32>>>(small_model{}, {.context = 256, .kv_type = 1});
  static_assert(session.paged.page_bytes == 32 * 5 * 2 * 4 * 8 * 2);
  static_assert(session.kv_bytes == 8 * session.paged.page_bytes);
}

TEST_CASE("planner: one byte less than planned stops the run with an error, the plan itself is enough for any batch") {
  const std::vector<u8> bytes = kit_file("llama");
  const llama_model m(bytes);
  const auto& bound = m.bound;
  for (u32 n = 1; n <= 64; ++n) {
    const u64 whole = plan_forward<reference_kernels<quants<f32>>>(bound, 64, 64).arena_bytes;
    CHECK(plan_forward<reference_kernels<quants<f32>>>(bound, n, n).arena_bytes <= whole);
    CHECK(plan_forward<reference_kernels<quants<f32>>>(bound, n, 1).arena_bytes <= whole);
  }
  session_config config{.context = 32, .batch = 8, .kv_type = 0};
  const session_plan plan = plan_session<reference_kernels<quants<f32>>>(bound, config);
  std::vector<u8> activations(plan.activation_bytes + 64), kv(plan.kv_bytes + 64);
  auto aligned = [](std::vector<u8>& v) {
    return reinterpret_cast<u8*>(round_up(reinterpret_cast<u64>(v.data()), 64));
  };
  std::vector<u32> words(plan.words);
  std::vector<sequence_view> views(1);
  reference_kernels<quants<f32>> k;
  const std::vector<batch_item> items(8, {3, 0, false});
  for (const u64 missing : {u64{0}, u64{64}}) {
    session_plan less = plan;
    less.activation_bytes -= missing;
    session s = *session::make(config, less, {aligned(activations), less.activation_bytes},
                               {aligned(kv), plan.kv_bytes}, words, views);
    const auto logits = s.decode(k, bound, items);
    if (missing == 0) {
      CHECK(logits);
      CHECK(s.length(0) == 8);
    } else {
      CHECK(logits.error().code == errc::out_of_memory);
      CHECK(s.length(0) == 0);
    }
  }
}

TEST_CASE("session: bad items are refused and leave every sequence as it was") {
  const std::vector<u8> bytes = kit_file("llama");
  const auto m = load_model(bytes);
  test_session s(m, reference_kernel_set(), 2, 0, 64);
  s.decode(0, {3, 4, 5});
  const auto code = [&](std::vector<batch_item> items) {
    const auto r = s.whole().decode(items);
    return r ? errc::ok : r.error().code;
  };
  CHECK(code({}) == errc::bad_argument);
  CHECK(code(std::vector<batch_item>(65, {1, 0, false})) == errc::bad_argument);
  CHECK(code({{1, 0, true}, {160, 0, true}}) == errc::bad_token);
  CHECK(code({{1, 0, true}, {-1, 0, true}}) == errc::bad_token);
  CHECK(code({{1, 0, true}, {1, 2, true}}) == errc::bad_sequence);
  CHECK(s->length(0) == 3);
  CHECK(s->length(1) == 0);
  CHECK(code(std::vector<batch_item>(62, {1, 0, false})) == errc::context_full);
  CHECK(s->length(0) == 3);
  CHECK(code(std::vector<batch_item>(61, {1, 0, false})) == errc::ok);
  CHECK(s->length(0) == 64);
}

TEST_CASE("session: every element type of the key/value memory stays close to f32") {
  const kit::json d = kit::load(JIG_TEST_DATA "/archs/llama-yarn.json");
  const std::vector<u8> bytes = kit::materialize(d);
  const auto m = load_model(bytes);
  const auto tokens = d["tokens"].get<std::vector<i32>>();
  const auto flat = [&](u32 type) {
    test_session s(m, reference_kernel_set(), 1, type);
    std::vector<f64> all;
    for (const auto& row : s.decode(0, tokens)) all.insert(all.end(), row.begin(), row.end());
    return all;
  };
  const auto exact = flat(f32_block::id);
  const f64 f16 = kit::nmse(exact, flat(f16_block::id)), bf16 = kit::nmse(exact, flat(bf16_block::id)),
            q8 = kit::nmse(exact, flat(q8_0::id));
  CHECK((f16 > 0.0 && f16 < 1e-5));
  CHECK((bf16 > f16 && bf16 < 1e-3));
  CHECK((q8 > f16 && q8 < 1e-3));
}
