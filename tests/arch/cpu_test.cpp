// backend/cpu against the kit and the reference: logits, thread counts, and every named intermediate value.
#include <doctest/doctest.h>

#include <map>

#include "arch/kit.hpp"
#include "arch/runner.hpp"
#include "jig/arch/llama.hpp"
#include "jig/arch/load.hpp"
#include "jig/arch/qwen2.hpp"
#include "jig/backend/cpu/kernels.hpp"
#include "jig/ops/reference.hpp"
#include "jig/ops/trace.hpp"

using namespace jig;

namespace {

using rows = std::vector<std::vector<f32>>;

/// The kernels that programs run on this machine.
kernel_set best_kernels() {
  const auto k = host::compiled_model::make_kernels();
  REQUIRE_MESSAGE(k, host::to_string(k.error()));
  return *k;
}

template <class F>
void for_each_kit_model(F&& f) {
  for (const std::string& name : kit_models()) {
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    CAPTURE(name);
    f(d, kit::materialize(d), kit::tokens(d));
  }
}

/// All intermediate values of one forward pass over the tokens, by name and layer.
template <class K, class Arch>
std::map<std::string, std::vector<f64>> traced(const bound_model<Arch>& bound, const std::vector<i32>& tokens) {
  std::map<std::string, std::vector<f64>> seen;
  auto watch = [&](std::string_view name, u32 layer, const mat& v) {
    auto& all = seen[std::string(name) + "-" + std::to_string(layer)];
    for (u32 r = 0; r < v.rows; ++r) all.insert(all.end(), v.row(r), v.row(r) + v.cols);
  };
  const auto n = static_cast<u32>(tokens.size());
  const session_config config{.context = n, .batch = n, .outputs = n, .page_tokens = n, .kv_type = 0};
  const session_plan plan = plan_session<K>(bound, config);
  std::vector<u8> activations(plan.activation_bytes + 64), kv(plan.kv_bytes);
  std::vector<u32> index(n), zero(n, 0);
  for (u32 i = 0; i < n; ++i) index[i] = i;
  const sequence_view sequence{zero.data(), n};
  batch b{.n_tokens = n,
          .n_outputs = n,
          .tokens = tokens.data(),
          .position = index.data(),
          .cell = index.data(),
          .sequence = zero.data(),
          .output_rows = index.data(),
          .sequences = &sequence};
  b.memory = {kv.data(), plan.paged.page_bytes, n, 0};
  K k;
  u8* memory = reinterpret_cast<u8*>(round_up(reinterpret_cast<u64>(activations.data()), 64));
  executor<K, trace<decltype(watch)>> x(k, memory, plan.activation_bytes, {}, {watch});
  { const value logits = Arch::forward(x, bound, b); }
  REQUIRE(x.ok());
  return seen;
}

template <class Arch>
void compare_traces(const std::string& model) {
  CAPTURE(model);
  const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + model + ".json");
  const std::vector<u8> bytes = kit::materialize(d);
  const auto loaded = host::try_load<jig::model<Arch, quants<f32>>>(std::span(bytes), {.threads = 1});
  REQUIRE(loaded);
  const auto tokens = d["tokens"].get<std::vector<i32>>();
  const auto want = loaded->visit([&](const auto& m) { return traced<reference_kernels<quants<f32>>>(m, tokens); });
  const auto got =
      loaded->visit([&](const auto& m) { return traced<cpu::kernels<isa::native, quants<f32>>>(m, tokens); });
  CHECK(want.size() > 20);
  REQUIRE(want.size() == got.size());
  for (const auto& [name, values] : want) {
    CAPTURE(name);
    REQUIRE(got.contains(name));
    CHECK(kit::nmse(values, got.at(name)) < 1e-6);
  }
}

}  // namespace

TEST_CASE("cpu: the kit's logits in f32, NMSE below 1e-6") {
  for_each_kit_model([](const kit::json& d, const std::vector<u8>& file, const std::vector<i32>& tokens) {
    const auto m = load_model(file);
    test_session s(m, best_kernels());
    const rows logits = s.decode(0, tokens);
    auto last = d["logits"]["last"].get<std::vector<f64>>();
    // Where the kit's reference differs from our own, that is what counts.
    if (kit::in_halves(d) || kit::late_ties(d)) last = flat({run(file, {{tokens, {u32(tokens.size())}}})[0].back()});
    CHECK(kit::nmse(last, flat({logits.back()})) < std::max(1e-6, d["tolerance"].get<f64>()));
  });
}

TEST_CASE("cpu: results do not depend on the number of threads, bit for bit, nor on how tokens are batched") {
  for_each_kit_model([](const kit::json& d, const std::vector<u8>& file, const std::vector<i32>& tokens) {
    const auto m = load_model(file);
    test_session alone(m, best_kernels());
    const rows want = alone.decode(0, tokens);
    for (u32 threads : {2u, 3u}) {
      const auto threaded = load_model(file, threads);
      CHECK(test_session(threaded, best_kernels()).decode(0, tokens) == want);
    }
    if (!kit::causal(d)) return;
    test_session single(m, best_kernels());
    rows one_by_one;
    for (i32 token : tokens) one_by_one.push_back(single.decode(0, {token})[0]);
    CHECK(kit::nmse(flat(want), flat(one_by_one)) < 1e-9);
  });
}

TEST_CASE("trace: every named value of the cpu run agrees with the reference's") {
  for (const char* model : {"llama", "llama-bias-tied", "llama-moe", "llama-yarn"}) compare_traces<arch::llama>(model);
  for (const char* model : {"qwen2", "qwen2-tied", "qwen2-fused"}) compare_traces<arch::qwen2>(model);
}
