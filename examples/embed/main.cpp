// jig-embed: a GGUF model as C++ source for firmware. See jig/host/embed.hpp and docs/firmware.md.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "jig/core/message.hpp"
#include "jig/host/embed.hpp"
#include "jig/host/model_file.hpp"
#include "jig/host/output_file.hpp"
#include "jig/host/requantize.hpp"
#include "jig/text/load_vocab.hpp"

using namespace jig;

namespace {

struct options {
  std::string model, name = "model", type, arch, gguf, folder = ".";
};

std::span<const u8> as_bytes(const std::string& s) { return {reinterpret_cast<const u8*>(s.data()), s.size()}; }

result<void> save(const std::string& path, std::span<const u8> bytes) {
  JIG_TRY(host::output_file out, host::output_file::create(path));
  JIG_CHECK(out.write(bytes));
  return out.commit();
}

result<void> run(const options& o) {
  JIG_TRY(const host::model_file opened, host::open_model_file(o.model));
  if (opened.files().size() != 1) return fail(errc::not_supported, "split files; merge them first");
  gguf::file file = opened.files().front();
  std::vector<u8> requantized;
  if (!o.type.empty()) {
    const block_info* type = find_block_info(o.type);
    if (type == nullptr) return fail(errc::unknown_tensor_type, o.type);
    JIG_TRY(requantized, host::requantize(file, type->id));
    JIG_TRY(file, gguf::open(requantized));
  }
  if (!o.gguf.empty()) JIG_CHECK(save(o.gguf, file.bytes()));
  JIG_TRY(const auto arch, file.get<std::string_view>("general.architecture"));
  if (!o.arch.empty() && arch != o.arch)
    return fail(errc::inconsistent, "the file's architecture is " + std::string(arch));

  JIG_TRY(const usize vocab_bytes, vocab_bytes_needed(file));
  std::vector<std::byte> vocab_memory(vocab_bytes);
  JIG_TRY(const vocab vocabulary, load_vocab(file, vocab_memory));
  const std::string stem = (std::filesystem::path(o.folder) / o.name).string();
  const host::embed_options embed{
      .name = o.name,
      .blob_path = std::filesystem::absolute(stem + ".bin").generic_string(),
      .origin = std::filesystem::path(o.model).filename().string() + (o.type.empty() ? "" : " as " + o.type)};
  JIG_TRY(const host::embedded_model made, host::embed(file, vocabulary, embed));
  JIG_CHECK(save(stem + ".bin", made.blob));
  JIG_CHECK(save(stem + ".hpp", as_bytes(made.header)));
  return save(stem + ".cpp", as_bytes(made.source));
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Turns a GGUF model into NAME.hpp, NAME.cpp and NAME.bin for a firmware project.", "jig-embed");
  app.add_option("model", o.model, "the GGUF file")->required();
  app.add_option("--name", o.name, "name of the struct and of the files")->capture_default_str();
  app.add_option("--type", o.type, "encode the matrices anew: q8_0, q4_0, f16, ... (default: as they are)");
  app.add_option("--arch", o.arch, "fail unless the file has this architecture");
  app.add_option("-o,--output", o.folder, "folder of the results")->capture_default_str();
  app.add_option("--gguf", o.gguf, "write the model that was embedded to this GGUF file too");
  CLI11_PARSE(app, argc, argv);
  const auto done = run(o);
  if (done) return 0;
  char line[256];
  fmt::print(stderr, "jig-embed: {}\n", message(done.error(), line));
  return 1;
}
