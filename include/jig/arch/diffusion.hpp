#pragma once
// Diffusion language models: bodies of decoders whose tokens see the whole sequence.

#include "jig/arch/llama.hpp"
#include "jig/arch/deepseek.hpp"
#include "jig/arch/qwen2.hpp"
#include "jig/arch/qwen3.hpp"

namespace jig::arch {

/// Every token sees the whole sequence, whatever the file says.
constexpr result<void> sees_all(hparams& hp) noexcept {
  hp.causal = false;
  return {};
}

/// LLaDA (https://arxiv.org/abs/2502.09992): llama's body.
struct llada : llama {
  static constexpr std::string_view name = "llada";
  static constexpr auto complete = sees_all;
};

/// Dream (https://arxiv.org/abs/2508.15487): qwen2's body.
struct dream : qwen2 {
  static constexpr std::string_view name = "dream";
  static constexpr auto complete = sees_all;
};

/// RND1: qwen3moe's body.
struct rnd1 : qwen3moe {
  static constexpr std::string_view name = "rnd1";
  static constexpr auto complete = sees_all;
};

/// LLaDA-MoE: qwen3moe's body without renormalisation of the experts' weights.
struct llada_moe : qwen3moe {
  static constexpr std::string_view name = "llada-moe";
  static constexpr auto complete = sees_all;
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .router_normalize = false};
};

}  // namespace jig::arch
