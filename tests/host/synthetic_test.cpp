#include "jig/host/synthetic.hpp"

#include <doctest/doctest.h>

#include "jig/host/error_text.hpp"

using namespace jig;

namespace {

constexpr host::model_shape small = {"small", "llama", 2, 256, 4, 2, 512, 96};

/// The file of a shape, if the architecture's table finds everything in it.
std::vector<u8> checked_file(const host::model_shape& shape, u32 type) {
  auto m = host::synthetic_model::make(shape, type);
  REQUIRE_MESSAGE(m, host::to_string(m.error()));
  auto bytes = m->file().bytes();
  REQUIRE(bytes);
  const auto file = host::open_model_bytes(*bytes);
  REQUIRE(file);
  const arch_info& arch = *find_arch(arch_infos<all_archs>, shape.arch);
  const auto hp = read_hparams(arch, file->set());
  REQUIRE_MESSAGE(hp, host::to_string(hp.error()));
  std::vector<weight> slots(arch.slots().count(*hp));
  const auto bound = bind_weights(arch, type_bits(all_quants{}), file->set(), *hp, slots);
  REQUIRE_MESSAGE(bound, host::to_string(bound.error()));
  return *std::move(bytes);
}

}  // namespace

TEST_CASE("synthetic: models of every type have finite values of moderate size") {
  for (const block_info& info : block_infos) {
    if (info.kind != block_kind::weight) continue;
    CAPTURE(std::string(info.name));
    const std::vector<u8> bytes = checked_file(small, info.id);
    const auto file = host::open_model_bytes(bytes);
    const auto t = file->set().find_tensor("blk.1.ffn_up.weight");
    REQUIRE(t);
    CHECK(t->type == info.id);
    visit_id(all_quants{}, info.id, [&]<class T>(type_tag<T>) {
      std::vector<f32> values(256 * 512);
      const T* blocks = reinterpret_cast<const T*>(t->data.data());
      for (usize at = 0; at < values.size(); at += T::size)
        T::decode(blocks[at / T::size], std::span<f32, T::size>(values.data() + at, T::size));
      f64 squares = 0.0;
      for (const f32 v : values) squares += f64(v) * f64(v);
      const f64 size = std::sqrt(squares / f64(values.size()));
      CHECK((size > 0.001 && size < 0.15));
    });
  }
}

TEST_CASE("synthetic: all named shapes are models, with the parts that they have") {
  for (const host::model_shape& named : host::model_shapes) {
    CAPTURE(std::string(named.name));
    host::model_shape shape = named;
    shape.n_layer = 2, shape.n_vocab = 64;  // small enough for a test
    const std::vector<u8> bytes = checked_file(shape, q4_0::id);
    const auto file = host::open_model_bytes(bytes);
    CHECK(file->set().has_tensor("output.weight") == !shape.tied);
    CHECK(file->set().has_tensor("blk.1.attn_q.bias") == (shape.arch == "qwen2"));
    CHECK(file->set().has_tensor("blk.1.ffn_up_exps.weight") == (shape.n_expert != 0));
  }
  CHECK(host::find_model_shape("llama-1b")->n_layer == 16);
  CHECK(host::find_model_shape("llama-2b") == nullptr);
}

TEST_CASE("synthetic: what cannot be is a named error") {
  const auto code = [](const host::model_shape& s, u32 type) {
    const auto m = host::synthetic_model::make(s, type);
    return m ? errc::ok : m.error().code;
  };
  CHECK(code(small, 9) == errc::wrong_tensor_type);   // q8_1 is for activations
  CHECK(code(small, 26) == errc::wrong_tensor_type);  // i32
  CHECK(code(small, 999) == errc::unknown_tensor_type);
  host::model_shape odd = small;
  odd.n_head = 3;
  CHECK(code(odd, 0) != errc::ok);
  odd = small, odd.arch = "nobody";
  CHECK(code(odd, 0) == errc::unknown_architecture);
  odd = small, odd.n_embd = 96, odd.n_head = 2;
  CHECK(code(odd, 41) == errc::partial_block);  // q1_0 has no stand-in
}

TEST_CASE("row types: rows that are no whole number of blocks get a type with shorter ones") {
  const auto name = [](const char* wished, u64 cols) {
    const auto t = type_for_rows(find_block_info(wished)->id, cols);
    return t ? std::string(find_block_info(*t)->name) : "";
  };
  CHECK(name("q4_K", 512) == "q4_K");
  CHECK(name("q4_K", 896) == "q5_0");
  CHECK(name("q6_K", 896) == "q8_0");
  CHECK(name("iq2_xs", 896) == "iq4_nl");
  CHECK(name("tq2_0", 896) == "q4_0");
  CHECK(name("q4_K", 100) == "f16");
  CHECK(name("q8_0", 100) == "f16");
  CHECK(name("bf16", 7) == "bf16");
  CHECK(name("nvfp4", 96).empty());
}
