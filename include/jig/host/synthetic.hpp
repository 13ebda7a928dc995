#pragma once
// Models of real shapes with random weights: for measurements, whose times do not depend on the weights' values.
//
//   JIG_TRY(auto m, synthetic_model::make(*find_model_shape("llama-1b"), q4_0::id));
//   JIG_TRY(const std::vector<u8> file, m.file().bytes());        // or file().write(sink)
//
// The tensors are those of the architecture's own table. The vocabulary has numbers and no texts.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "jig/arch/all.hpp"
#include "jig/arch/load.hpp"
#include "jig/gguf/writer.hpp"
#include "jig/host/model_file.hpp"
#include "jig/quant/all.hpp"
#include "jig/quant/row_type.hpp"
#include "jig/sample/random.hpp"

namespace jig::host {

/// The hyperparameters of a model, as its file would have them.
struct model_shape {
  std::string_view name, arch;
  u32 n_layer, n_embd, n_head, n_head_kv, n_ff, n_vocab;
  bool tied = false;  ///< the output matrix is the embedding
  u32 n_expert = 0, n_expert_used = 0;
};

/// Shapes of models that people run; mixtral-tiny is a small one with experts.
inline constexpr model_shape model_shapes[] = {
    {"llama-1b", "llama", 16, 2048, 32, 8, 8192, 32000},
    {"llama-3b", "llama", 28, 3072, 24, 8, 8192, 32000},
    {"llama-8b", "llama", 32, 4096, 32, 8, 14336, 128256},
    {"qwen2-0.5b", "qwen2", 24, 896, 14, 2, 4864, 151936, true},
    {"mixtral-tiny", "llama", 8, 1024, 16, 4, 3584, 32000, false, 8, 2},
};

/// The shape with this name, or nullptr.
constexpr const model_shape* find_model_shape(std::string_view name) noexcept {
  for (const model_shape& s : model_shapes)
    if (s.name == name) return &s;
  return nullptr;
}

namespace detail {

/// Blocks of type T with random bits, of those whose values are moderate and not all 0.
template <class T>
std::vector<T> random_blocks(usize n, sample::pcg32& r) {
  std::vector<T> blocks;
  f32 values[T::size];
  while (blocks.size() < n) {
    u8 bytes[sizeof(T)];
    for (u8& byte : bytes) byte = static_cast<u8>(r.next());
    T block;
    std::memcpy(&block, bytes, sizeof block);
    T::decode(block, values);
    f32 largest = 0.0f;
    bool finite = true;
    for (const f32 v : values) {
      finite = finite && std::isfinite(v);
      largest = std::max(largest, std::abs(v));
    }
    if (finite && largest > 0.01f && largest < 0.15f) blocks.push_back(block);
  }
  return blocks;
}

/// `bytes` bytes of random blocks of a type; an unknown type gives none.
inline std::vector<u8> random_weights(u32 type, u64 bytes, sample::pcg32& r) {
  std::vector<u8> out;
  visit_id(all_quants{}, type, [&]<class T>(type_tag<T>) {
    const std::vector<T> some = random_blocks<T>(509, r);
    out.resize(bytes);
    for (u64 at = 0; at + sizeof(T) <= bytes; at += sizeof(T))
      std::memcpy(out.data() + at, &some[r.next() % some.size()], sizeof(T));
  });
  return out;
}

}  // namespace detail

/// A model file in the making. Move-only.
class synthetic_model {
 public:
  /// With matrices of a type, or of the one that type_for_rows gives in its place. Errors: those of type_for_rows;
  /// wrong_tensor_type (a type that weights cannot have), and those of read_hparams for an impossible shape.
  static result<synthetic_model> make(const model_shape& shape, u32 type) {
    synthetic_model m;
    m.set_keys(shape);
    JIG_TRY(const std::vector<u8> header, m.writer_.bytes());
    JIG_TRY(const model_file parsed, open_model_bytes(header));
    const arch_info* arch = find_arch(arch_infos<all_archs>, shape.arch);
    if (arch == nullptr) return fail(errc::unknown_architecture, shape.arch);
    JIG_TRY(const hparams hp, read_hparams(*arch, parsed.set()));
    std::vector<planned> tensors;
    JIG_CHECK(for_each_tensor(*arch, hp, [&](const expected_tensor& e) -> result<void> {
      if (!e.required && (e.row.name != "output" || shape.tied || e.is_f32)) return {};
      u32 t = 0;
      if (!e.is_f32) { JIG_TRY(t, type_for_rows(type, e.shape[0])); }
      JIG_TRY(const u64 row, row_bytes(t, e.shape[0]));
      tensors.push_back({std::string(e.name), e.shape, t, row * e.shape[1] * e.shape[2] * e.shape[3], e.is_f32});
      return {};
    }));
    JIG_CHECK(m.fill(tensors));
    for (const planned& t : tensors) {
      u32 rank = 4;
      while (rank > 1 && t.shape[rank - 1] == 1) --rank;
      const std::vector<u8>& from = t.numbers ? m.ones_ : m.data_[t.type];
      JIG_CHECK(m.writer_.add_tensor(t.name, std::span<const u64>(t.shape).first(rank), t.type,
                                     std::span(from).first(t.bytes)));
    }
    return m;
  }

  synthetic_model(synthetic_model&&) = default;
  synthetic_model& operator=(synthetic_model&&) = default;

  const gguf::writer& file() const noexcept { return writer_; }

 private:
  struct planned {
    std::string name;
    tensor_shape shape;
    u32 type;
    u64 bytes;
    bool numbers;  ///< all 1
  };

  synthetic_model() = default;

  void set_keys(const model_shape& s) {
    const auto key = [&](const char* name) { return std::string(s.arch) + "." + name; };
    writer_.set("general.architecture", s.arch);
    writer_.set("general.name", "synthetic " + std::string(s.name));
    writer_.set(key("block_count"), s.n_layer);
    writer_.set(key("context_length"), u32{1} << 17);
    writer_.set(key("embedding_length"), s.n_embd);
    writer_.set(key("feed_forward_length"), s.n_ff);
    writer_.set(key("attention.head_count"), s.n_head);
    writer_.set(key("attention.head_count_kv"), s.n_head_kv);
    writer_.set(key("attention.layer_norm_rms_epsilon"), 1e-5f);
    writer_.set(key("rope.freq_base"), 500000.0f);
    writer_.set(key("vocab_size"), s.n_vocab);
    if (s.n_expert != 0) {
      writer_.set(key("expert_count"), s.n_expert);
      writer_.set(key("expert_used_count"), s.n_expert_used);
    }
    writer_.set("tokenizer.ggml.model", "no_vocab");
  }

  /// The data of all tensors: those of one type share theirs, of the longest one's length.
  result<void> fill(const std::vector<planned>& tensors) {
    std::map<u32, u64> longest;
    u64 numbers = 0;
    for (const planned& t : tensors) {
      u64& bytes = t.numbers ? numbers : longest[t.type];
      bytes = std::max(bytes, t.bytes);
    }
    sample::pcg32 r(1);
    for (const auto& [type, bytes] : longest) {
      data_[type] = detail::random_weights(type, bytes, r);
      if (data_[type].empty()) return fail(errc::wrong_tensor_type, find_block_info(type)->name);
    }
    ones_.resize(numbers);
    for (u64 at = 0; at < numbers; at += sizeof(f32)) store_le(ones_.data() + at, std::bit_cast<u32>(1.0f));
    return {};
  }

  gguf::writer writer_;
  std::map<u32, std::vector<u8>> data_;  ///< by type
  std::vector<u8> ones_;
};

}  // namespace jig::host
