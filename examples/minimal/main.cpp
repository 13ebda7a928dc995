// The smallest useful program: load a model, continue a text.
//   jig-minimal [model.gguf [prompt]]
#include <cstdio>

#include "jig/jig.hpp"

using model = jig::model<jig::arch::llama, jig::quants<jig::q8_0, float>>;

int main(int argc, char** argv) try {
  const char* path = argc > 1 ? argv[1] : JIG_MODELS "/demo/jig-demo-q8_0.gguf";
  const char* prompt = argc > 2 ? argv[2] : "Once upon a time, there was a little fox named";
  auto m = jig::host::load<model>(path);
  auto s = m.session();
  auto story = s.generate(prompt, jig::sample::defaults(), 200);
  std::fputs(prompt, stdout);
  for (std::string_view piece : story) {
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
  }
  std::puts("");
  if (story.reason() == jig::host::stop_reason::failed) throw jig::host::failure(story.failure());
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
