#pragma once
// The bundled demo model, for tests of sessions.

#include <doctest/doctest.h>

#include "jig/host/error_text.hpp"
#include "jig/host/generation.hpp"

namespace demo {

using model = jig::model<jig::arch::llama, jig::quants<jig::q8_0, float>>;
using session = jig::host::text_session<model>;
inline const std::string path = JIG_MODELS "/demo/jig-demo-q8_0.gguf";

inline jig::host::loaded<model> load(jig::u32 threads = 1) {
  auto m = jig::host::try_load<model>(path, {.threads = threads});
  REQUIRE_MESSAGE(m, jig::host::to_string(m.error()));
  return *std::move(m);
}
inline session make(const jig::host::loaded<model>& m, const jig::host::session_options& o = {}) {
  auto s = session::make(m, o);
  REQUIRE_MESSAGE(s, jig::host::to_string(s.error()));
  return *std::move(s);
}
inline jig::host::generate_options greedy(jig::u32 n) {
  jig::host::generate_options o{.max_tokens = n, .parse_special = true};
  o.sampling.temp = 0.0f;
  return o;
}
template <class Generation>
std::string all_text(Generation& g) {
  std::string text;
  for (std::string_view piece : g) text += piece;
  return text;
}

}  // namespace demo
