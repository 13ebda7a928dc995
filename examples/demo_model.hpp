#pragma once
// The bundled demo model, which programs run when no other is given.

#include <filesystem>
#include <string>

namespace jig::examples {

/// Where it lies: in the checkout that the program was built from (JIG_MODELS), or beside the installed program. Empty
/// if it is not there. `self`: argv[0].
inline std::string find_demo_model(const char* self) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path here = fs::read_symlink("/proc/self/exe", ignored);
  if (here.empty()) here = self;
  const fs::path places[] = {JIG_MODELS "/demo/jig-demo-q8_0.gguf",
                             here.parent_path() / ".." / "share" / "jig" / "models" / "demo" / "jig-demo-q8_0.gguf"};
  for (const fs::path& p : places)
    if (fs::is_regular_file(p, ignored)) return p.lexically_normal().string();
  return {};
}

}  // namespace jig::examples
