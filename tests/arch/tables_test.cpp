// arch/: the kit's models written from our tables alone: names and shapes from the architecture's rows and the file's
// keys. The set of tensors is the kit's, and so are the results.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "arch/kit.hpp"
#include "arch/runner.hpp"
#include "jig/host/embedder.hpp"

using namespace jig;

namespace {

using shape = std::vector<u64>;

/// The kit's tensors by name.
struct description {
  explicit description(const kit::json& d) {
    for (const kit::json& t : d["tensors"]) {
      shape s = t["shape"].get<shape>();
      while (s.size() > 1 && s.back() == 1) s.pop_back();
      tensors[t["name"]] = {s, t["offset"], t["scale"]};
    }
  }
  struct tensor {
    shape dims;
    f64 offset, scale;
  };
  std::map<std::string, tensor> tensors;
};

/// A GGUF file of the kit's keys and of tensors in the order of our table.
std::vector<u8> written_from_tables(const kit::json& d, const description& want) {
  kit::json keys_only = d;
  keys_only["tensors"] = kit::json::array();
  const std::vector<u8> header = kit::materialize(keys_only);
  const auto opened = host::open_model_bytes(header);
  REQUIRE_MESSAGE(opened, host::to_string(opened.error()));
  const arch_info* info = find_arch(arch_infos<all_archs>, d["architecture"].get<std::string>());
  REQUIRE(info != nullptr);
  const auto hp = read_hparams(*info, opened->set());
  REQUIRE_MESSAGE(hp, host::to_string(hp.error()));

  kit::json table = d;
  table["tensors"] = kit::json::array();
  std::set<std::string> written;
  const auto visited = for_each_tensor(*info, *hp, [&](const expected_tensor& e) -> result<void> {
    const auto has = [&](std::string_view other) {
      return want.tensors.contains(std::string(tensor_name(other, e.layer, ".weight").view()));
    };
    if (!e.row.unless.empty() && has(e.row.unless)) return {};
    if (!e.row.with.empty() && !has(e.row.with)) return {};
    const std::string name(e.name);
    const auto found = want.tensors.find(name);
    CAPTURE(name);
    CHECK((!e.required || found != want.tensors.end()));
    if (found == want.tensors.end()) return {};
    shape ours(e.shape.begin(), e.shape.end());
    while (ours.size() > 1 && ours.back() == 1) ours.pop_back();
    CHECK(ours == found->second.dims);
    if (written.insert(name).second)
      table["tensors"].push_back({{"name", name},
                                  {"shape", e.shape},
                                  {"type", e.row.ids_below ? "i32" : "f32"},
                                  {"offset", found->second.offset},
                                  {"scale", found->second.scale}});
    return {};
  });
  REQUIRE(visited);
  CHECK(written.size() == want.tensors.size());
  return kit::materialize(table);
}

std::vector<std::vector<f32>> results(const std::vector<u8>& file, const kit::json& d) {
  const std::vector<i32> tokens = kit::tokens(d);
  const auto m = load_model(file);
  if (d.contains("logits")) return test_session(m).decode(0, tokens);
  auto e = host::embedder<host::compiled_model>::make(m, {}, reference_kernel_set());
  REQUIRE(e);
  return *e->embed(std::vector<std::vector<i32>>{tokens});
}

}  // namespace

TEST_CASE("tables: models written from our tables have the kit's tensors and give the same results") {
  for (const char* kind : {"logits", "embedding"})
    for (const std::string& name : kit_models(kind)) {
      CAPTURE(name);
      const kit::json d = kit::load(JIG_TEST_DATA "/archs/" + name + ".json");
      CHECK(results(written_from_tables(d, description(d)), d) == results(kit::materialize(d), d));
    }
}
