#pragma once
// Hosted: turns a model into C++ that a firmware project compiles: a header of constants (hyperparameters, weight
// slots, vocabulary) and a source file that includes the bytes. The program `jig-embed` and the CMake function
// jig_embed_model() are made of this.
//
// The header gives `struct NAME` as static_model (arch/model.hpp) takes it:
//   NAME::architecture, NAME::quants, NAME::hp, NAME::slots, NAME::vocabulary
// Numbers in the blob are little-endian. Sections: .rodata.jig_weights.NAME and .rodata.jig_vocabulary.NAME.

#include <algorithm>

#include "jig/arch/all.hpp"
#include "jig/host/detail/embed_hparams.hpp"
#include "jig/host/detail/embed_vocab.hpp"
#include "jig/host/detail/embed_weights.hpp"

namespace jig::host {

struct embed_options {
  std::string name = "model";  ///< of the struct; a C++ identifier
  std::string blob_path;       ///< where the compiler will find the blob
  std::string origin;          ///< said in the header: which file it was made of
};

/// Three files. The source is plain C++ with the compiler's `asm`: GCC or clang, ELF.
struct embedded_model {
  std::string header, source;
  std::vector<u8> blob;
};

/// Errors: bad_argument (the name is no identifier), unknown_architecture, unknown_tokenizer, not_supported (layers
/// that differ in their extents), those of read_hparams and bind.
result<embedded_model> embed(const gguf::file_set& file, const jig::vocab& v, const embed_options& options);

namespace detail {

/// Declares every array and, with its bytes, defines it: the source file.
inline std::string source_text(const blob_builder& blob, const embed_options& options) {
  std::string path;
  for (char c : options.blob_path) path += c == '\\' || c == '"' ? std::string("\\\\\\") + c : std::string(1, c);
  std::string out = fmt::format("// {}: made by jig-embed. The bytes of the arrays that {}.hpp declares.\n\n",
                                options.name, options.name);
  for (const blob_array& a : blob.arrays)
    out += fmt::format(
        "asm(\".section .rodata.jig_{0}.{1}, \\\"a\\\", %progbits\\n\"\n"
        "    \".balign 32\\n.global {2}\\n{2}:\\n\"\n"
        "    \".incbin \\\"{3}\\\", {4}, {5}\\n.previous\\n\");\n",
        a.section, options.name, a.symbol, path, a.offset, a.bytes);
  return out;
}

inline std::string header_text(const arch_info& arch, const placed_weights& weights, const std::string& extents,
                               const std::string& vocabulary, const kind_name& kind, const jig::vocab& v,
                               const blob_builder& blob, const embed_options& options) {
  std::string out = fmt::format(
      "#pragma once\n// {}: made by jig-embed from {}.\n"
      "// Weights: {} bytes, vocabulary: {} bytes; {}.cpp holds them.\n\n",
      options.name, comment_text(options.origin), weights.bytes.size(), blob.bytes.size() - weights.bytes.size(),
      options.name);
  // Families share headers, and "gpt-oss" is the struct gpt_oss.
  std::string architecture(arch.name);
  for (char& c : architecture) c = c == '-' ? '_' : c;
  std::vector<std::string> includes = {"jig/arch/all.hpp", std::string(kind.header)};
  std::string quants;
  for (u32 id : weights.types) {
    includes.push_back(fmt::format("jig/quant/{}.hpp", block_type_header(id)));
    quants += fmt::format("{}jig::{}", quants.empty() ? "" : ", ", block_type_name(id));
  }
  std::sort(includes.begin(), includes.end());
  for (const std::string& i : includes) out += fmt::format("#include \"{}\"\n", i);
  out += "\nextern \"C\" {\n";
  for (const blob_array& a : blob.arrays) out += fmt::format("extern const {} {}[{}];\n", a.type, a.symbol, a.count);
  out += fmt::format(
      "}}\n\nstruct {} {{\n"
      "  using architecture = jig::arch::{};\n"
      "  using quants = jig::quants<{}>;\n\n"
      "  static constexpr jig::hparams hp{{\n{}  }};\n\n"
      "  // Data, type, columns, rows, matrices; in the order of slots_of<architecture>.\n"
      "  static constexpr jig::weight slots[] = {{\n{}  }};\n\n",
      options.name, architecture, quants, extents, weights.slots);
  out += fmt::format(
      "  // Without what only the loading of files needs.\n"
      "  static constexpr jig::tokenizer_kind kind = [] {{\n"
      "    jig::tokenizer_kind k = {};\n"
      "    k.choose_pre = nullptr;\n    k.byte_text = nullptr;\n    return k;\n  }}();\n",
      kind.constant);
  if (v.pre != nullptr)
    out += fmt::format("  static constexpr jig::pre_rule pre = **jig::find_pre_rule(\"{}\");\n", v.pre->name);
  out += fmt::format("  static constexpr jig::vocab vocabulary{{\n{}  }};\n}};\n", vocabulary);
  return out;
}

inline result<embedded_model> embed_as(const arch_info& arch, const gguf::file_set& file, const jig::vocab& v,
                                       const embed_options& options) {
  const kind_name* kind = nullptr;
  for (const kind_name& k : kind_names)
    if (v.kind != nullptr && k.name == v.kind->name) kind = &k;
  if (kind == nullptr) return fail(errc::unknown_tokenizer, v.kind != nullptr ? v.kind->name : "");
  JIG_TRY(const hparams hp, read_hparams(arch, file));
  JIG_TRY(const std::string extents, hparams_text(arch.keys, hp));
  const std::string symbol = options.name + "_weights";
  JIG_TRY(const placed_weights weights, place_weights(arch, file, hp, symbol));
  blob_builder blob;
  blob.add<u8>(symbol, "jig::u8", "weights", weights.bytes);
  const std::string vocabulary = vocab_writer(v, options.name, blob).text();
  return embedded_model{header_text(arch, weights, extents, vocabulary, *kind, v, blob, options),
                        source_text(blob, options), std::move(blob.bytes)};
}

}  // namespace detail

inline result<embedded_model> embed(const gguf::file_set& file, const jig::vocab& v, const embed_options& options) {
  if (!detail::is_identifier(options.name)) return fail(errc::bad_argument, options.name);
  JIG_TRY(const auto architecture, file.get<std::string_view>("general.architecture"));
  const arch_info* arch = find_arch(arch_infos<all_archs>, architecture);
  if (arch == nullptr) return fail(errc::unknown_architecture, architecture);
  return detail::embed_as(*arch, file, v, options);
}

}  // namespace jig::host
