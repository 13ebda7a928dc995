// Runs a model through jig::compiled: extern templates from the installed library, kernels chosen at run time.

#include <cstdio>

#include "jig/host/compiled.hpp"

int main(int, char** argv) try {
  auto model = jig::host::load<jig::host::compiled_model>(argv[1]);
  auto session = model.session({.context = 128});
  auto story = session.generate("Once upon a time", jig::sample::defaults(), 20);
  std::string text;
  for (std::string_view piece : story) text += piece;
  std::printf("%s\n", text.c_str());
  return text.size() > 40 && story.reason() == jig::host::stop_reason::length ? 0 : 1;
} catch (const jig::host::failure& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
