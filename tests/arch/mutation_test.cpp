// arch/: every key and tensor of every kit model changed in its place: each gives a named error or a model that runs;
// nothing crashes, hangs or takes memory that it should not. JIG_MUTATIONS in the environment: how many (default 4000).
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>

#include "arch/kit.hpp"
#include "arch/runner.hpp"
#include "jig/host/embedder.hpp"

using namespace jig;

namespace {

/// A place in a GGUF file that may be changed: `bytes` of a value, or of a name.
struct field {
  enum class kind { number, real, flag, type, name, dimensions } what;
  usize at = 0, bytes = 0;
  std::string label;
};

/// Reads the layout of a little-endian GGUF file that is known to be right.
class walker {
 public:
  explicit walker(const std::vector<u8>& file) : file_(file) {}
  std::vector<field> fields() {
    at_ = 8;
    const u64 tensors = number(8), keys = number(8);
    for (u64 i = 0; i < keys; ++i) key();
    for (u64 i = 0; i < tensors; ++i) tensor();
    return std::move(found_);
  }

 private:
  u64 number(usize bytes) {
    u64 v = 0;
    for (usize i = bytes; i-- > 0;) v = v << 8 | file_[at_ + i];
    at_ += bytes;
    return v;
  }
  std::string text() {
    const u64 n = number(8);
    at_ += n;
    return {reinterpret_cast<const char*>(file_.data()) + at_ - n, n};
  }
  void key() {
    const std::string name = text();
    if (name.starts_with("general.")) return skip(number(4));
    found_.push_back({field::kind::name, at_ - name.size(), name.size(), name});
    found_.push_back({field::kind::type, at_, 4, name});
    u64 type = number(4), count = 1;
    if (type == 9) type = number(4), count = number(8);
    for (u64 i = 0; i < count; ++i) element(type, name);
  }
  void element(u64 type, const std::string& name) {
    if (type == 8) {
      const std::string value = text();
      found_.push_back({field::kind::name, at_ - value.size(), value.size(), name});
      return;
    }
    const auto kind = type == 6 ? field::kind::real : type == 7 ? field::kind::flag : field::kind::number;
    const usize bytes = size(type);  // wide numbers change in their lower half
    found_.push_back({kind, at_, bytes, name});
    at_ += bytes;
  }
  void skip(u64 type) { type == 8 ? static_cast<void>(text()) : static_cast<void>(at_ += size(type)); }
  static constexpr usize size(u64 type) { return type == 7 ? 1 : type >= 10 ? 8 : 4; }
  void tensor() {
    const std::string name = text();
    found_.push_back({field::kind::name, at_ - name.size(), name.size(), name});
    const u64 rank = number(4);
    found_.push_back({field::kind::dimensions, at_, rank * 8, name});
    at_ += rank * 8;
    found_.push_back({field::kind::type, at_, 4, name});
    at_ += 4 + 8;
  }

  const std::vector<u8>& file_;
  usize at_ = 0;
  std::vector<field> found_;
};

/// A small generator (Marsaglia's xorshift).
struct random_source {
  u64 state;
  u64 below(u64 n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
  }
};

/// Changes the field in one of its kind's ways.
void mutate(std::vector<u8>& file, const field& f, random_source& r) {
  u8* p = file.data() + f.at;
  const auto write = [](u8* to, u64 v, usize bytes) {
    for (usize i = 0; i < bytes; ++i) to[i] = static_cast<u8>(v >> 8 * i);
  };
  const auto put = [&](auto v) { write(p, std::bit_cast<u32>(v), 4); };
  const u32 was = f.bytes >= 4 ? gguf::load<u32>(p, gguf::byte_order::little) : 0;
  switch (f.what) {
    case field::kind::number: {
      const u32 values[] = {0, 1, 2, 3, 5, 7, was + 1, was - 1, was * 2, was / 2, 1000003, 1u << 20, 0x7fffffff, ~0u};
      return put(values[r.below(std::size(values))]);
    }
    case field::kind::real: {
      const f32 values[] = {0.0f, -1.0f, 1.0f, 1e-30f, 1e30f, -1e30f, NAN, INFINITY, 3.4e38f};
      return put(values[r.below(std::size(values))]);
    }
    case field::kind::flag: *p = !*p; return;
    case field::kind::type: return put(u32(r.below(16)));
    case field::kind::name:
      if (f.bytes != 0) p[r.below(f.bytes)] ^= 1;
      return;
    case field::kind::dimensions: {
      const u64 n = f.bytes / 8, a = r.below(n), b = r.below(n);
      if (r.below(2) == 0) std::swap_ranges(p + 8 * a, p + 8 * a + (a == b ? 0 : 8), p + 8 * b);
      else write(p + 8 * a, r.below(300), 8);
      return;
    }
  }
}

/// Loads the file and, if that works, computes some tokens; all errors must say what was wrong.
void try_model(const std::vector<u8>& file) {
  const auto m = host::try_load<host::compiled_model>(std::span(file), {.threads = 1});
  if (!m) {
    CHECK(m.error().code != errc::ok);
    const error& e = m.error();
    CHECK_MESSAGE((!e.name().empty() || e.position != error::unknown), host::to_string(e));
    return;
  }
  const std::vector<i32> tokens = {1, 2, 3};
  const u32 context = std::min(m->hp().n_ctx_train, 16u);
  const auto plan = m->plan({.context = context, .batch = 4}, 1);
  if (!plan || plan->total() > (u64{128} << 20)) return;  // large on purpose: what it takes is said beforehand
  const auto kernels = host::compiled_model::make_kernels();
  REQUIRE(kernels);
  auto s = host::text_session<host::compiled_model>::make(*m, {.context = context, .batch = 4}, *kernels);
  REQUIRE(s);
  const auto logits = m->encodes_source() ? s->feed_source(tokens) : s->feed(tokens);
  if (logits || logits.error().code != errc::not_supported) return;
  auto e = host::embedder<host::compiled_model>::make(*m, {.context = context, .together = 1}, *kernels);
  REQUIRE(e);
  static_cast<void>(e->embed(std::vector<std::vector<i32>>{tokens}));
}

}  // namespace

TEST_CASE("mutations: a changed key or tensor gives a named error or a model that runs") {
  const char* text = std::getenv("JIG_MUTATIONS");
  const u64 wanted = text != nullptr ? std::strtoull(text, nullptr, 10) : 4000 / test_every();
  std::vector<std::string> names = kit_models();
  names.insert(names.end(), kit_models("embedding").begin(), kit_models("embedding").end());
  random_source r{0x9e3779b97f4a7c15u};
  const u64 each = wanted / names.size() + 1;
  u64 done = 0;
  f64 slowest = 0.0;
  for (const std::string& name : names) {
    const std::vector<u8> right = kit::materialize(kit::load(JIG_TEST_DATA "/archs/" + name + ".json"));
    const std::vector<field> fields = walker(right).fields();
    REQUIRE(fields.size() > 20);
    std::vector<u8> file = right;
    for (u64 i = 0; i < each; ++i, ++done) {
      // Every field in turn if there are enough mutations, then at random.
      const field& f = fields[i < fields.size() && each > fields.size() ? i : r.below(fields.size())];
      CAPTURE(name);
      CAPTURE(f.label);
      CAPTURE(static_cast<int>(f.what));
      mutate(file, f, r);
      const auto start = std::chrono::steady_clock::now();
      try_model(file);
      slowest = std::max(slowest, std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count());
      REQUIRE_MESSAGE(slowest < 30.0, "hangs");
      std::memcpy(file.data() + f.at, right.data() + f.at, f.bytes);
    }
  }
  MESSAGE(done << " mutations of " << names.size() << " models; the slowest took " << slowest << " s");
}
