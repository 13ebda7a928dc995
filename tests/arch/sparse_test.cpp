// arch/sparse.hpp: what an indexer remembers and takes: sessions that are so short that all cells are seen.
#include <doctest/doctest.h>

#include "arch/kit.hpp"
#include "arch/runner.hpp"

using namespace jig;

namespace {
const char* const sparse_models[] = {"deepseek32", "glm-dsa", "dots3note", "minimax-m3", "qwen4exp"};
}  // namespace

TEST_CASE("sparse attention: a session in which all cells are seen needs no lists, but remembers index keys") {
  for (const std::string name : sparse_models) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    const std::vector<u8> file = kit::materialize(d);
    const auto m = load_model(file);
    const u32 seen = m.hp().index_top_k * m.hp().index_block;
    const auto planned = [&](u32 context) { return m.plan({.context = context, .batch = 4}, 1)->plan; };
    // Streams and n-grams take more there than the choice does.
    if (name == "qwen4exp") CHECK(planned(seen).activation_bytes == planned(seen + 1).activation_bytes);
    else CHECK(planned(seen).activation_bytes < planned(seen + 1).activation_bytes);
    CHECK(planned(seen + 1).activation_bytes == planned(4 * seen).activation_bytes);

    check_serves_longer(m, kit::tokens(d), seen);
  }
}

TEST_CASE("sparse attention: keys of the indexer in halves choose as those in f32, but for near ties") {
  for (const std::string name : sparse_models) {
    CAPTURE(name);
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    const std::vector<u8> file = kit::materialize(d);
    const auto m = load_model(file);
    const std::vector<i32> tokens = kit::tokens(d);
    test_session exact(m), half(m, reference_kernel_set(), 1, f16_block::id);
    const f64 apart = kit::nmse(flat(exact.decode(0, tokens)), flat(half.decode(0, tokens)));
    CHECK((apart > 0.0 && apart < 1e-5));
  }
}
