// A model compiled into this program against the GGUF file that it was made of.

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "demo_model.hpp"
#include "jig/arch/load.hpp"
#include "jig/host/model_file.hpp"
#include "jig/ops/planner.hpp"
#include "jig/ops/reference.hpp"
#include "jig/quant/all.hpp"
#include "jig/text/load_vocab.hpp"
#include "jig/text/tokenize.hpp"

using namespace jig;

namespace {

struct demo_file {
  demo_file() {
    auto m = host::open_model_file(JIG_MODELS "/demo/jig-demo-q8_0.gguf");
    REQUIRE(m);
    opened = std::move(*m);
    file = opened.files().front();
  }
  host::model_file opened;
  gguf::file file;
};

std::vector<i32> ids(const vocab& v, std::string_view text, bool parse_special) {
  std::vector<i32> out(text.size() + 8);
  std::vector<std::byte> scratch(static_cast<usize>(tokenize_scratch_bytes(text.size())));
  const auto n = tokenize(v, text, {.parse_special = parse_special}, out, scratch);
  REQUIRE(n);
  out.resize(*n);
  return out;
}

}  // namespace

TEST_CASE("embedded model: every slot has the file's shape, type and bytes") {
  const demo_file demo;
  const auto hp = read_hparams<arch::llama>(demo.file);
  REQUIRE(hp);
  std::vector<weight> slots(slots_of<arch::llama>.count(*hp));
  REQUIRE((bind<arch::llama, all_quants>(demo.file, *hp, slots)));
  REQUIRE(std::size(demo_model::slots) == slots.size());
  u32 present = 0;
  for (usize i = 0; i < slots.size(); ++i) {
    const weight &a = slots[i], &b = demo_model::slots[i];
    CAPTURE(i);
    REQUIRE(static_cast<bool>(a) == static_cast<bool>(b));
    if (!a) continue;
    ++present;
    CHECK((a.type == b.type && a.cols == b.cols && a.rows == b.rows && a.count == b.count));
    CHECK(reinterpret_cast<std::uintptr_t>(b.data) % 32 == 0);
    const usize bytes = static_cast<usize>(*row_bytes(a.type, a.cols) * a.rows * a.count);
    CHECK(std::memcmp(a.data, b.data, bytes) == 0);
  }
  CHECK(present == demo.file.tensor_count());
}

TEST_CASE("embedded model: the extents are constants with the file's values") {
  const demo_file demo;
  const auto read = read_hparams<arch::llama>(demo.file);
  REQUIRE(read);
  constexpr const hparams& hp = demo_model::hp;
  static_assert(hp.n_layer == 4 && hp.n_embd == 256 && hp.n_vocab == 2048);
  CHECK(hp.n_vocab == read->n_vocab);
  CHECK(hp.n_ctx_train == read->n_ctx_train);
  CHECK(hp.n_ff[3] == read->n_ff[3]);
  CHECK(hp.n_head[3] == read->n_head[3]);
  CHECK(hp.n_head_kv[3] == read->n_head_kv[3]);
  CHECK((hp.dim_k == read->dim_k && hp.dim_v == read->dim_v && hp.n_rot == read->n_rot));
  CHECK(hp.norm_eps == read->norm_eps);
  CHECK(hp.rope_base == read->rope_base);
  CHECK(hp.n_ctx_orig == read->n_ctx_orig);
  CHECK(hp.scaling == read->scaling);
}

TEST_CASE("embedded model: the plan of the forward pass is a constant") {
  using model = static_model<demo_model::architecture, demo_model>;
  constexpr forward_plan plan = plan_forward<reference_kernels<demo_model::quants>>(model{}, 1, 1);
  static_assert(plan.arena_bytes > 2048 * sizeof(f32) && plan.arena_bytes < 65536);
  CHECK(plan.weight_bytes > 3'000'000);
}

TEST_CASE("embedded vocabulary: tokens, special ids and tokenizing are the file's") {
  const demo_file demo;
  std::vector<std::byte> memory(*vocab_bytes_needed(demo.file));
  const auto loaded = load_vocab(demo.file, memory);
  REQUIRE(loaded);
  const vocab &a = *loaded, &b = demo_model::vocabulary;
  REQUIRE(a.count == b.count);
  CHECK((a.ids.eos == b.ids.eos && a.ids.bos == b.ids.bos && a.ids.pad == b.ids.pad && a.ids.eot == b.ids.eot));
  CHECK(a.flags.add_bos == b.flags.add_bos);
  CHECK(a.pre->name == b.pre->name);
  for (i32 id = 0; id < static_cast<i32>(a.count); ++id) {
    REQUIRE(a.text_of(id) == b.text_of(id));
    REQUIRE(a.attributes_of(id).bits == b.attributes_of(id).bits);
    REQUIRE(b.find(a.text_of(id)) == id);
  }
  for (std::string_view text : {"", " ", "Once upon a time", "1234567", "a\n\n  b\tc", "Zo\xc3\xab \xf0\x9f\x99\x82",
                                "\xff\xfe broken", "<|im_start|>user\nHi<|im_end|>\n", "<|im_start", "don't DON'T"}) {
    CAPTURE(text);
    CHECK(ids(a, text, false) == ids(b, text, false));
    CHECK(ids(a, text, true) == ids(b, text, true));
  }
}
