// arch/: the kit's models that give vectors, alone and several texts at once.
#include <doctest/doctest.h>

#include "arch/kit.hpp"
#include "arch/runner.hpp"
#include "jig/host/embedder.hpp"

using namespace jig;

namespace {

using embedder = host::embedder<host::compiled_model>;
using vectors = std::vector<std::vector<f32>>;

vectors embed(const host::loaded<host::compiled_model>& m, const kernel_set& kernels,
              const std::vector<std::vector<i32>>& texts, const host::embedding_options& o = {}) {
  auto e = embedder::make(m, o, kernels);
  REQUIRE_MESSAGE(e, host::to_string(e.error()));
  auto v = e->embed(texts);
  REQUIRE_MESSAGE(v, host::to_string(v.error()));
  return *std::move(v);
}

std::vector<f64> wide(const std::vector<f32>& v) { return {v.begin(), v.end()}; }

template <class F>
void for_each_embedding(F&& f) {
  for (const std::string& name : kit_models("embedding")) {
    const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
    CAPTURE(name);
    const std::vector<u8> file = kit::materialize(d);
    f(d, load_model(file), d["tokens"].get<std::vector<i32>>());
  }
}

kernel_set best_kernels() {
  const auto k = host::compiled_model::make_kernels();
  REQUIRE_MESSAGE(k, host::to_string(k.error()));
  return *k;
}

}  // namespace

TEST_CASE("embeddings: reference and cpu give the kit's vectors") {
  for_each_embedding([](const kit::json& d, const auto& m, const std::vector<i32>& tokens) {
    const auto want = d["embedding"]["values"].get<std::vector<f64>>();
    const f64 tolerance = d["tolerance"];
    CHECK(kit::nmse(want, wide(embed(m, reference_kernel_set(), {tokens})[0])) < tolerance);
    CHECK(kit::nmse(want, wide(embed(m, best_kernels(), {tokens})[0])) < std::max(1e-5, tolerance));
  });
}

TEST_CASE("embeddings: texts computed together give what each gives alone; without pooling a vector for each token") {
  for_each_embedding([](const kit::json&, const auto& m, const std::vector<i32>& tokens) {
    const std::vector<std::vector<i32>> texts = {tokens, {tokens.begin(), tokens.begin() + 7}, {5}, tokens};
    const vectors all = embed(m, reference_kernel_set(), texts, {.together = 3});
    REQUIRE(all.size() == texts.size());
    for (usize i = 0; i < texts.size(); ++i)
      CHECK(kit::nmse(wide(embed(m, reference_kernel_set(), {texts[i]})[0]), wide(all[i])) < 1e-10);
    CHECK(embed(m, reference_kernel_set(), texts, {.pool = pooling::none}).size() == 24 + 7 + 1 + 24);
  });
}

TEST_CASE("embeddings: what cannot be computed is a named error, and the next text works") {
  const kit::json d = kit::load(JIG_TEST_DATA "/archs/bert.json");
  const std::vector<u8> file = kit::materialize(d);
  const auto m = load_model(file);
  auto e = embedder::make(m, {.context = 8});
  REQUIRE(e);
  const auto code = [&](const std::vector<std::vector<i32>>& texts) {
    const auto v = e->embed(texts);
    return v ? errc::ok : v.error().code;
  };
  CHECK(code({{}}) == errc::bad_argument);
  CHECK(code({{1, 2, 3, 4, 5, 6, 7, 8, 9}}) == errc::context_full);
  CHECK(code({{1}, {99999}}) == errc::bad_token);
  CHECK(code({{1, 2}, {3}}) == errc::ok);
  auto ranker = embedder::make(m, {.pool = pooling::rank});
  REQUIRE(ranker);
  const auto scores = ranker->embed(std::vector<std::vector<i32>>{{1}});
  CHECK((!scores && scores.error().code == errc::not_supported));
  auto generator = host::text_session<host::compiled_model>::make(m, {.context = 8}, best_kernels());
  REQUIRE(generator);
  const auto logits = generator->decode(std::vector<batch_item>{{1, 0, true}});
  CHECK((!logits && logits.error().code == errc::not_supported));
}
