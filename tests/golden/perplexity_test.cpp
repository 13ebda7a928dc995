// stories260K in every mix of types that can be encoded exactly: the encoded bytes are the recorded ones, and the
// perplexity is within 0.5% of the recorded one.
#include <fmt/format.h>

#include "jig/gguf/sha256.hpp"
#include "jig/gguf/writer.hpp"
#include "jig/quant/rows.hpp"
#include "kit.hpp"

using namespace golden;

namespace {

std::string hex_digest(std::span<const u8> bytes) {
  std::string out;
  for (u8 byte : sha256().update(bytes).digest()) out += fmt::format("{:02x}", byte);
  return out;
}

/// A tensor's blocks in another type; empty if its encoder is not a fixed formula.
std::vector<u8> encode(const gguf::tensor_info& t, u32 type) {
  std::vector<f32> x(static_cast<usize>(t.elements()));
  REQUIRE(decode_row<all_quants>(t.type, t.data, x));
  const auto bytes = row_bytes(type, t.ne[0]);
  REQUIRE(bytes);
  std::vector<u8> out(static_cast<usize>(*bytes * t.rows()));
  const auto done = encode_row<all_quants>(type, x, out);
  if (!done) REQUIRE(done.error().code == errc::not_supported);
  return done ? out : std::vector<u8>();
}

/// The model file with the types that `variant` names; empty (and `missing` says why) if one has no exact encoder.
std::vector<u8> convert(const gguf::file& file, const json& variant, std::string& missing) {
  gguf::writer out;
  const gguf::writer from = gguf::writer::from(file);
  for (const gguf::owned_value& key : from.keys()) out.set(key);
  std::vector<std::vector<u8>> data;
  for (const gguf::tensor_info& t : file.tensors()) {
    const auto entry = variant["tensors"].find(std::string(t.name));
    if (entry == variant["tensors"].end()) {
      REQUIRE(out.add_tensor(t));
      continue;
    }
    const std::string type = (*entry)[0];
    const block_info* info = find_block_info(type);
    REQUIRE(info != nullptr);
    const std::vector<u8>& bytes = data.emplace_back(encode(t, info->id));
    if (bytes.empty()) {
      missing = type;
      return {};
    }
    CHECK(bytes.size() == (*entry)[1].get<usize>());
    CHECK_MESSAGE(hex_digest(bytes) == (*entry)[2].get<std::string>(), t.name);
    REQUIRE(out.add_tensor(t.name, std::span<const u64>(t.ne, t.n_dims), info->id, bytes));
  }
  const auto bytes = out.bytes();
  REQUIRE(bytes);
  return *bytes;
}

}  // namespace

TEST_CASE("stories260K: every type that can be encoded exactly has the recorded bytes and perplexity") {
  const json g = read(JIG_SHARED "/golden/stories260K.json");
  if (g.is_null()) return;
  const auto original = host::open_model_file(JIG_SHARED "/models/stories260K.gguf");
  REQUIRE(original);
  const std::vector<i32> ids = g["nll"]["ids"];
  const auto path = std::filesystem::temp_directory_path() / "jig-golden-variant.gguf";
  std::vector<std::string> names;
  for (const auto& entry : g["variants"].items()) names.push_back(entry.key());
  names = every_nth(names, "re-encoded variants");
  usize compared = 0, absent = 0;
  for (const std::string& name : names) {
    CAPTURE(name);
    const json& variant = g["variants"][name];
    std::string missing;
    const auto bytes = convert(original->files().front(), variant, missing);
    if (bytes.empty()) {
      MESSAGE("skipped: ", name, ": ", missing, " has no exact encoder yet");
      ++absent;
      continue;
    }
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const auto m = load(path.string(), 2);
    const f64 ppl = perplexity(per_token_nll(m, by_cpu::kernels(), ids, g["nll"]["window"])), recorded = variant["ppl"];
    MESSAGE(name, ": perplexity ", ppl, ", recorded ", recorded, ", ", 100.0 * (ppl / recorded - 1.0), "%");
    // Two bits destroy this model (Q2_0: perplexity above 4500), and there the other engine's own figures for integer
    // and for float arithmetic on the same bytes are further apart than 0.5%; everywhere else they are within 0.25%.
    const f64 own_spread = std::abs(variant["ppl_weights_only_f64"].get<f64>() / recorded - 1.0);
    CHECK(std::abs(ppl / recorded - 1.0) < std::max(0.005, own_spread));
    ++compared;
  }
  std::filesystem::remove(path);
  CHECK(compared + absent == names.size());
  CHECK(compared >= names.size() / 2);
}
