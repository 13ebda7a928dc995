// host/model.hpp: every malformed file of tests/data/malformed through the whole loader: a named error, at once.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "jig/host/model.hpp"

using namespace jig;

namespace {

using loaded_model = host::loaded<model<arch::llama>>;

/// What the loader should say of a broken model. Where several checks would catch it, the first one speaks.
bool acceptable(std::string_view code, std::string_view expected) {
  if (code == expected) return true;
  if (code == "bad_value" && expected == "bad_vocabulary") return true;  // no tokens: found by their number
  // A bad number that also contradicts another key may be either.
  return (code == "inconsistent" && expected == "bad_value") || (code == "bad_value" && expected == "inconsistent");
}

}  // namespace

TEST_CASE("loading: every malformed file is refused with an error that names the fault") {
  const std::string folder = JIG_TEST_DATA "/malformed/";
  std::ifstream manifest(folder + "manifest.txt");
  REQUIRE(manifest);
  u32 refused = 0, accepted = 0;
  for (std::string line; std::getline(manifest, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    std::string file, expected, fault;
    std::getline(fields, file, '\t'), std::getline(fields, expected, '\t'), std::getline(fields, fault, '\t');
    CAPTURE(file);
    const auto m = loaded_model::open(folder + file, {.threads = 1});
    std::ifstream in(folder + file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    const std::span view(reinterpret_cast<const u8*>(bytes.data()), bytes.size());
    const auto in_memory = loaded_model::open(view, {.threads = 1});
    CHECK(static_cast<bool>(in_memory) == static_cast<bool>(m));
    if (!m && !file.starts_with("split-part")) CHECK(name(in_memory.error().code) == name(m.error().code));
    if (expected == "ok") {
      CHECK_MESSAGE(m, name(m.error().code));
      ++accepted;
      continue;
    }
    ++refused;
    REQUIRE_FALSE(m);
    CHECK_MESSAGE(acceptable(name(m.error().code), expected), name(m.error().code), " instead of ", expected);
    // The error of a bad merge names the merge itself.
    if (file.starts_with("model-") && fault != "-" && expected != "bad_merge")
      CHECK_MESSAGE(m.error().name().find(fault) != std::string_view::npos, m.error().name(), " instead of ", fault);
  }
  CHECK(refused >= 60);
  CHECK(accepted >= 3);
}
