#pragma once
// jig: run large language models from GGUF files, cut to fit. This is the public interface for hosted programs.
//
//   using model = jig::model<jig::arch::llama, jig::quants<jig::q4_k, jig::q6_k, float>>;
//   auto m = jig::host::load<model>("llama-3.2-1b-q4_k_m.gguf");
//   auto s = m.session({.context = 4096});
//   for (std::string_view piece : s.generate("Why is the sky blue?", jig::sample::defaults()))
//     std::cout << piece << std::flush;
//
// Programs without exceptions use host::try_load and text_session directly. Firmware includes what it needs from
// arch/, backend/cpu/, session/, text/ and sample/; see docs/firmware.md.

#include "jig/host/generation.hpp"
#include "jig/host/throwing.hpp"
#include "jig/model.hpp"
