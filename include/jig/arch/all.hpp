#pragma once
// The list of architectures: adding one is its header and its line here.

#include "jig/arch/arctic.hpp"
#include "jig/arch/bert.hpp"
#include "jig/arch/chameleon.hpp"
#include "jig/arch/command_r.hpp"
#include "jig/arch/deci.hpp"
#include "jig/arch/deepseek.hpp"
#include "jig/arch/deepseek4.hpp"
#include "jig/arch/diffusion.hpp"
#include "jig/arch/encoders.hpp"
#include "jig/arch/exaone.hpp"
#include "jig/arch/falcon.hpp"
#include "jig/arch/gemma.hpp"
#include "jig/arch/gemma3n.hpp"
#include "jig/arch/gemma4.hpp"
#include "jig/arch/glm.hpp"
#include "jig/arch/gpt2.hpp"
#include "jig/arch/gpt_oss.hpp"
#include "jig/arch/granite.hpp"
#include "jig/arch/granite_switch.hpp"
#include "jig/arch/grok.hpp"
#include "jig/arch/hunyuan.hpp"
#include "jig/arch/kimi_k3.hpp"
#include "jig/arch/kimi_linear.hpp"
#include "jig/arch/latent.hpp"
#include "jig/arch/lfm2.hpp"
#include "jig/arch/lightning.hpp"
#include "jig/arch/llama.hpp"
#include "jig/arch/llama4.hpp"
#include "jig/arch/llama_variants.hpp"
#include "jig/arch/mamba.hpp"
#include "jig/arch/minimax_m3.hpp"
#include "jig/arch/moe.hpp"
#include "jig/arch/muse_glimmer.hpp"
#include "jig/arch/nanbeige.hpp"
#include "jig/arch/nemotron.hpp"
#include "jig/arch/nemotron_h.hpp"
#include "jig/arch/olmo.hpp"
#include "jig/arch/phi3.hpp"
#include "jig/arch/plamo2.hpp"
#include "jig/arch/qwen2.hpp"
#include "jig/arch/qwen3.hpp"
#include "jig/arch/qwen35.hpp"
#include "jig/arch/qwen4exp.hpp"
#include "jig/arch/rwkv.hpp"
#include "jig/arch/sparse.hpp"
#include "jig/arch/t5.hpp"
#include "jig/arch/talkie.hpp"
#include "jig/arch/windowed_moe.hpp"

namespace jig {

/// The architectures that a program is built with.
template <class... Archs>
using archs = type_list<Archs...>;

// clang-format off
struct all_archs : archs<
    arch::llama, arch::internlm2, arch::xverse, arch::ernie4_5, arch::exaone, arch::arcee, arch::maincoder,
    arch::smollm3, arch::orion, arch::pangu_embedded, arch::baichuan, arch::nemotron, arch::jais, arch::jais2,
    arch::refact, arch::seed_oss, arch::exaone4, arch::bitnet, arch::hunyuan_dense, arch::hunyuan_vl,
    arch::paddleocr, arch::pockettts, arch::qwen, arch::qwen2, arch::qwen2moe, arch::qwen2vl, arch::qwen3,
    arch::qwen3moe, arch::qwen3vl, arch::qwen3vlmoe, arch::gemma, arch::gemma2, arch::gemma3, arch::gpt2,
    arch::starcoder, arch::starcoder2, arch::codeshell, arch::bloom, arch::mpt, arch::gptneox, arch::falcon,
    arch::phi2, arch::stablelm, arch::plamo, arch::command_r, arch::cohere2, arch::cohere2moe, arch::olmo,
    arch::olmo2, arch::olmoe, arch::openelm, arch::phi3, arch::phimoe, arch::granite, arch::granitemoe,
    arch::minicpm, arch::granite_swa, arch::chatglm, arch::glm4, arch::glm4moe, arch::deepseek,
    arch::deepseek2_ocr, arch::bailingmoe, arch::bailingmoe2, arch::dots1, arch::hy_v3, arch::ernie4_5_moe,
    arch::minimax_m2, arch::dbrx, arch::smallthinker, arch::afmoe, arch::mellum, arch::hunyuan_moe,
    arch::exaone_moe, arch::gpt_oss, arch::llama4, arch::mistral3, arch::grok, arch::apertus, arch::plamo3,
    arch::muse_glimmer, arch::cogvlm, arch::chameleon, arch::qwen3tts, arch::llada, arch::dream, arch::rnd1,
    arch::llada_moe, arch::mimo2, arch::step35, arch::laguna, arch::arctic, arch::grovemoe,
    arch::deepseek2, arch::mistral4, arch::minicpm3, arch::plm, arch::deepseek32, arch::glm_dsa,
    arch::dots3note, arch::minimax_m3, arch::deepseek4, arch::deci, arch::nanbeige, arch::talkie,
    arch::mamba, arch::mamba2, arch::jamba, arch::falcon_h1, arch::granitehybrid, arch::nemotron_h,
    arch::nemotron_h_moe, arch::plamo2, arch::lfm2, arch::lfm2moe,
    arch::rwkv6, arch::rwkv6qwen2, arch::rwkv7, arch::arwkv7,
    arch::qwen35, arch::qwen35moe, arch::qwen3next, arch::qwen4exp, arch::kimi_linear, arch::bailingmoe3,
    arch::minimax_01, arch::kimi_k3,
    arch::bert, arch::nomic_bert, arch::nomic_bert_moe, arch::jina_bert_v2, arch::jina_bert_v3,
    arch::modern_bert, arch::neo_bert, arch::eurobert, arch::llama_embed, arch::gemma_embedding,
    arch::gemma3n, arch::gemma4, arch::graniteswitch, arch::t5, arch::t5encoder> {};
// clang-format on

}  // namespace jig
