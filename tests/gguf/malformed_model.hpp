#pragma once
// Valid containers with an invalid model inside: hyperparameters, vocabulary and tensors that a loader must refuse.

#include <functional>
#include <limits>

#include "gguf/malformed_container.hpp"
#include "jig/gguf/writer.hpp"

namespace jig::test {

namespace model {

inline constexpr u64 n_embd = 8, n_ff = 8, n_vocab = 12, n_kv = 4;

/// A complete llama model of one layer with a byte-level BPE vocabulary of 12 tokens; all weights are 1 in f16.
struct tiny_llama {
  gguf::writer w;
  std::vector<u8> ones_f32, ones_f16;

  /// Leaves out the tensor `skip`; gives the tensor `reshape` the shape `shape`.
  explicit tiny_llama(const std::string& skip = {}, const std::string& reshape = {}, std::vector<u64> shape = {}) {
    keys();
    ones_f32 = raw().bytes;
    for (usize i = 0; i < 256; ++i) {
      const u8 f32_one[4] = {0, 0, 0x80, 0x3f}, f16_one[2] = {0, 0x3c};
      ones_f32.insert(ones_f32.end(), f32_one, f32_one + 4);
      ones_f16.insert(ones_f16.end(), f16_one, f16_one + 2);
    }
    const auto add = [&](const std::string& name, std::vector<u64> ne) {
      if (name == skip) return;
      if (name == reshape) ne = shape;
      const bool vector = ne.size() == 1;
      const u64 n = vector ? ne[0] : ne[0] * ne[1];
      const auto bytes =
          std::span<const u8>(vector ? ones_f32 : ones_f16).first(static_cast<usize>(n * (vector ? 4 : 2)));
      const auto added = w.add_tensor(name, std::span<const u64>(ne), vector ? 0 : 1, bytes);
      if (!added) w.remove("general.architecture");  // shows in every test that uses the file
    };
    add("token_embd.weight", {n_embd, n_vocab});
    add("output_norm.weight", {n_embd});
    add("blk.0.attn_norm.weight", {n_embd});
    add("blk.0.attn_q.weight", {n_embd, n_embd});
    add("blk.0.attn_k.weight", {n_embd, n_kv});
    add("blk.0.attn_v.weight", {n_embd, n_kv});
    add("blk.0.attn_output.weight", {n_embd, n_embd});
    add("blk.0.ffn_norm.weight", {n_embd});
    add("blk.0.ffn_gate.weight", {n_embd, n_ff});
    add("blk.0.ffn_up.weight", {n_embd, n_ff});
    add("blk.0.ffn_down.weight", {n_ff, n_embd});
  }

  void keys() {
    w.set("general.architecture", "llama");
    w.set("llama.context_length", u32{16});
    w.set("llama.embedding_length", u32{n_embd});
    w.set("llama.block_count", u32{1});
    w.set("llama.feed_forward_length", u32{n_ff});
    w.set("llama.attention.head_count", u32{2});
    w.set("llama.attention.head_count_kv", u32{1});
    w.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    w.set("llama.rope.dimension_count", u32{4});
    w.set("llama.rope.freq_base", 10000.0f);
    w.set("tokenizer.ggml.model", "gpt2");
    w.set("tokenizer.ggml.pre", "gpt-2");
    strings("tokenizer.ggml.tokens", {"a", "b", "c", "d", "e", "\xc4\xa0", "ab",
                                      "\xc4\xa0"
                                      "a",
                                      "abc", "de", "<s>", "</s>"});
    numbers("tokenizer.ggml.token_type", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3});
    strings("tokenizer.ggml.merges", {"a b", "\xc4\xa0 a", "ab c", "d e"});
    w.set("tokenizer.ggml.bos_token_id", u32{10});
    w.set("tokenizer.ggml.eos_token_id", u32{11});
  }
  void strings(std::string_view key, const std::vector<std::string>& v) {
    w.set_array(key, std::span<const std::string>(v));
  }
  void numbers(std::string_view key, const std::vector<i32>& v) { w.set_array(key, std::span<const i32>(v)); }
};

inline byte_vector bytes_of(const tiny_llama& t) {
  auto b = t.w.bytes();
  return b ? *std::move(b) : byte_vector{};
}

using change = std::function<void(tiny_llama&)>;

inline void add_number_cases(const std::function<void(const char*, errc, const char*, const change&)>& add) {
  const auto set = [](const char* key, auto v) { return [=](tiny_llama& t) { t.w.set(key, v); }; };
  const auto remove = [](const char* key) { return [=](tiny_llama& t) { t.w.remove(key); }; };
  constexpr f32 inf = std::numeric_limits<f32>::infinity(), nan = std::numeric_limits<f32>::quiet_NaN();
  const char* layers = "llama.block_count";
  const char* embd = "llama.embedding_length";
  const char* heads = "llama.attention.head_count";
  const char* kv = "llama.attention.head_count_kv";
  const char* ff = "llama.feed_forward_length";
  const char* eps = "llama.attention.layer_norm_rms_epsilon";
  const char* base = "llama.rope.freq_base";
  const char* rope = "llama.rope.dimension_count";
  add("no-architecture", errc::missing_key, "general.architecture", remove("general.architecture"));
  add("architecture-unknown", errc::unknown_architecture, "", set("general.architecture", "warbler"));
  add("architecture-a-number", errc::wrong_key_type, "general.architecture", set("general.architecture", u32{1}));
  add("layers-missing", errc::missing_key, layers, remove(layers));
  add("layers-0", errc::bad_value, layers, set(layers, u32{0}));
  add("layers-negative", errc::bad_value, layers, set(layers, i32{-1}));
  add("layers-huge", errc::bad_value, layers, set(layers, u32{1} << 31));
  add("layers-2-63", errc::bad_value, layers, set(layers, u64{1} << 63));
  add("layers-a-string", errc::wrong_key_type, layers, set(layers, "1"));
  add("layers-a-float", errc::wrong_key_type, layers, set(layers, 1.0f));
  add("embedding-0", errc::bad_value, embd, set(embd, u32{0}));
  add("embedding-negative", errc::bad_value, embd, set(embd, i32{-8}));
  add("embedding-huge", errc::bad_value, embd, set(embd, u32{0xffffffffu}));
  add("heads-0", errc::bad_value, heads, set(heads, u32{0}));
  add("heads-negative", errc::bad_value, heads, set(heads, i32{-2}));
  add("heads-not-dividing", errc::inconsistent, heads, set(heads, u32{3}));
  add("heads-more-than-embedding", errc::inconsistent, heads, set(heads, u32{16}));
  add("kv-heads-not-dividing", errc::inconsistent, kv, [=](tiny_llama& t) {
    t.w.set("llama.attention.head_count", u32{4});
    t.w.set(kv, u32{3});
  });
  add("kv-heads-more-than-heads", errc::inconsistent, kv, set(kv, u32{4}));
  add("feed-forward-0", errc::bad_value, ff, set(ff, u32{0}));
  add("feed-forward-negative", errc::bad_value, ff, set(ff, i32{-1}));
  add("context-0", errc::bad_value, "llama.context_length", set("llama.context_length", u32{0}));
  add("context-negative", errc::bad_value, "llama.context_length", set("llama.context_length", i32{-16}));
  add("epsilon-missing", errc::missing_key, eps, remove(eps));
  add("epsilon-negative", errc::bad_value, eps, set(eps, -1e-5f));
  add("epsilon-nan", errc::bad_value, eps, set(eps, nan));
  add("epsilon-an-integer", errc::wrong_key_type, eps, set(eps, u32{1}));
  add("rope-base-0", errc::bad_value, base, set(base, 0.0f));
  add("rope-base-negative", errc::bad_value, base, set(base, -1.0f));
  add("rope-base-infinite", errc::bad_value, base, set(base, inf));
  add("rope-dimensions-odd", errc::bad_value, rope, set(rope, u32{3}));
  add("rope-dimensions-past-head", errc::bad_value, rope, set(rope, u32{6}));
  add("experts-huge", errc::bad_value, "llama.expert_count", set("llama.expert_count", u32{1} << 31));
  add("experts-used-more-than-there-are", errc::inconsistent, "llama.expert_used_count", [](tiny_llama& t) {
    t.w.set("llama.expert_count", u32{2});
    t.w.set("llama.expert_used_count", u32{3});
  });
}

inline void add_vocabulary_cases(const std::function<void(const char*, errc, const char*, const change&)>& add) {
  const char* tokens = "tokenizer.ggml.tokens";
  const char* merges = "tokenizer.ggml.merges";
  const auto merge = [=](const std::string& m) {
    return [=](tiny_llama& t) { t.strings(merges, {"a b", "\xc4\xa0 a", "ab c", m}); };
  };
  add("tokenizer-missing", errc::missing_key, "tokenizer.ggml.model",
      [](tiny_llama& t) { t.w.remove("tokenizer.ggml.model"); });
  add("tokenizer-unknown", errc::unknown_tokenizer, "",
      [](tiny_llama& t) { t.w.set("tokenizer.ggml.model", "abacus"); });
  add("pretokenizer-unknown", errc::unknown_pretokenizer, "",
      [](tiny_llama& t) { t.w.set("tokenizer.ggml.pre", "scissors"); });
  add("tokens-missing", errc::missing_key, tokens, [=](tiny_llama& t) { t.w.remove(tokens); });
  add("tokens-numbers", errc::wrong_key_type, tokens, [=](tiny_llama& t) { t.numbers(tokens, {1, 2, 3}); });
  add("tokens-empty", errc::bad_vocabulary, tokens, [=](tiny_llama& t) { t.strings(tokens, {}); });
  add("tokens-fewer-than-embeddings", errc::wrong_shape, "token_embd.weight", [=](tiny_llama& t) {
    t.strings(tokens, {"a", "b", "c", "d", "e", "\xc4\xa0", "ab",
                       "\xc4\xa0"
                       "a",
                       "abc", "de", "</s>"});
    t.numbers("tokenizer.ggml.token_type", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3});
    t.w.set("tokenizer.ggml.eos_token_id", u32{10});
    t.w.remove("tokenizer.ggml.bos_token_id");
  });
  add("token-types-too-few", errc::bad_vocabulary, "tokenizer.ggml.token_type", [](tiny_llama& t) {
    t.numbers("tokenizer.ggml.token_type", {1, 1});
  });
  add("scores-too-few", errc::bad_vocabulary, "tokenizer.ggml.scores", [](tiny_llama& t) {
    const f32 two[] = {0.0f, -1.0f};
    t.w.set("tokenizer.ggml.model", "llama");
    t.w.set_array("tokenizer.ggml.scores", std::span<const f32>(two));
  });
  add("merge-left-unknown", errc::bad_merge, merges, merge("q e"));
  add("merge-right-unknown", errc::bad_merge, merges, merge("d q"));
  add("merge-result-unknown", errc::bad_merge, merges, merge("b c"));
  add("merge-without-space", errc::bad_merge, merges, merge("de"));
  add("merge-empty", errc::bad_merge, merges, merge(""));
  add("merges-numbers", errc::wrong_key_type, merges, [=](tiny_llama& t) { t.numbers(merges, {1, 2}); });
  // Real files write ids past the vocabulary for "none": these two load.
  add("bos-past-vocabulary", errc::ok, "tokenizer.ggml.bos_token_id",
      [](tiny_llama& t) { t.w.set("tokenizer.ggml.bos_token_id", u32{12}); });
  add("eos-2-32", errc::ok, "tokenizer.ggml.eos_token_id",
      [](tiny_llama& t) { t.w.set("tokenizer.ggml.eos_token_id", u32{0xffffffffu}); });
}

}  // namespace model

/// The valid model that the malformed ones differ from.
inline byte_vector valid_model() { return model::bytes_of(model::tiny_llama()); }

/// All malformed models; names start with "model-".
inline std::vector<malformed> malformed_models() {
  std::vector<malformed> out;
  const auto add = [&](const char* name, errc e, const char* fault, const model::change& change) {
    model::tiny_llama t;
    change(t);
    out.push_back({std::string("model-") + name, e, fault, model::bytes_of(t)});
  };
  model::add_number_cases(add);
  model::add_vocabulary_cases(add);
  using model::bytes_of;
  using model::tiny_llama;
  out.push_back(
      {"model-no-q", errc::missing_tensor, "blk.0.attn_q.weight", bytes_of(tiny_llama("blk.0.attn_q.weight"))});
  out.push_back(
      {"model-no-embedding", errc::missing_tensor, "token_embd.weight", bytes_of(tiny_llama("token_embd.weight"))});
  out.push_back({"model-q-too-narrow", errc::wrong_shape, "blk.0.attn_q.weight",
                 bytes_of(tiny_llama("", "blk.0.attn_q.weight", {8, 4}))});
  out.push_back({"model-norm-too-long", errc::wrong_shape, "blk.0.attn_norm.weight",
                 bytes_of(tiny_llama("", "blk.0.attn_norm.weight", {16}))});
  out.push_back({"model-embedding-a-vector", errc::wrong_shape, "token_embd.weight",
                 bytes_of(tiny_llama("", "token_embd.weight", {96}))});
  return out;
}

}  // namespace jig::test
