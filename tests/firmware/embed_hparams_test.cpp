#include "jig/host/detail/embed_hparams.hpp"

#include <doctest/doctest.h>

#include "jig/arch/all.hpp"

using namespace jig;

namespace {

/// Gives the member of a key a value that is nobody's default.
void change(const key_field& field, hparams& hp) {
  switch (field.type()) {
    case key_field::kind::number:
    case key_field::kind::count: field.number(hp) += 3; break;
    case key_field::kind::real: field.real(hp) += 0.75f; break;
    case key_field::kind::flag: field.flag(hp) = !field.flag(hp); break;
    case key_field::kind::four: field.four(hp) = {1, 2, 3, 4}; break;
    case key_field::kind::numbers: field.numbers(hp) = 7; break;
    case key_field::kind::wide: field.wide(hp) = 7; break;
    case key_field::kind::reals: field.reals(hp) = 7.5f; break;
    case key_field::kind::text: hp.scaling = rope_scaling::yarn; break;
  }
}

}  // namespace

TEST_CASE("embed: what any architecture's keys say reaches the text") {
  for_each_type(all_archs{}, [&]<class Arch>(type_tag<Arch>) {
    for (const key_row& row : Arch::keys) {
      CAPTURE(Arch::name);
      CAPTURE(row.name);
      hparams hp;
      const auto before = host::detail::hparams_text(Arch::keys, hp);
      change(row.field, hp);
      const auto after = host::detail::hparams_text(Arch::keys, hp);
      REQUIRE(before);
      REQUIRE(after);
      CHECK(after->size() > before->size());
    }
  });
}

TEST_CASE("embed: hyperparameters that follow from others, by hand") {
  hparams hp;
  hp.n_embd = 64, hp.n_layer = 2, hp.n_ff = 40, hp.chunk = 8, hp.rope_interleaved = true;
  hp.scaling = rope_scaling::linear;
  hp.rope_sections = {1, 2, 3, 0};
  hp.embedding_scale = 8.0f, hp.post_norm_eps = 1e-8f;
  const auto text = host::detail::hparams_text(arch::gemma2::keys, hp);
  REQUIRE(text);
  CHECK(*text ==
        "      .n_embd = 64,\n      .n_layer = 2,\n      .n_ff = 40,\n"
        "      .scaling = jig::rope_scaling::linear,\n      .rope_sections = {1, 2, 3, 0},\n"
        "      .rope_interleaved = true,\n      .chunk = 8,\n      .post_norm_eps = 1e-08f,\n"
        "      .embedding_scale = 8.0f,\n");
}
