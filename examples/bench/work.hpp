#pragma once
// What a model has to do for a token, counted from its file: the least time that a machine with given ceilings needs.

#include "ceilings.hpp"
#include "jig/arch/hparams.hpp"
#include "jig/gguf/file_set.hpp"
#include "jig/quant/type_info.hpp"

namespace jig::bench {

/// Work of matrix products. Operations of a row of activations, bytes of the weights that are read for it.
struct matrix_work {
  f64 int8_ops = 0.0, bf16_ops = 0.0, f32_ops = 0.0, bytes = 0.0;
};

/// The parts of a model by when they are needed.
struct model_work {
  matrix_work layers, output;  ///< for every token; for every row of logits
  f64 n_params = 0.0, bytes = 0.0;
  u32 main_type = 0;  ///< of most bytes
};

/// Counts matrices; of experts only those that a token meets. Norms, scans and attention are not counted.
inline model_work count_work(const gguf::file_set& file, const hparams& hp) {
  model_work w;
  f64 by_type[64] = {};
  const bool tied = !file.has_tensor("output.weight");
  for (const gguf::tensor_info& t : file.tensors()) {
    const f64 n = f64(t.ne[0]) * f64(t.ne[1]) * f64(t.ne[2]) * f64(t.ne[3]);
    w.n_params += n;
    w.bytes += f64(t.bytes);
    if (t.type < 64) by_type[t.type] += f64(t.bytes);
    const bool embedding = t.name.find("token_embd") != t.name.npos;
    const bool output = t.name == "output.weight" || (tied && t.name == "token_embd.weight");
    if (t.ne[1] * t.ne[2] == 1 || (embedding && !output)) continue;
    f64 part = 1.0;
    if (t.n_dims == 3 && hp.n_expert != 0 && t.ne[2] == hp.n_expert) part = f64(hp.n_expert_used) / f64(hp.n_expert);
    matrix_work& to = output ? w.output : w.layers;
    const std::string_view type = find_block_info(t.type)->name;
    (type == "f32" ? to.f32_ops : type == "f16" || type == "bf16" ? to.bf16_ops : to.int8_ops) += 2.0 * n * part;
    to.bytes += f64(t.bytes) * part;
  }
  for (u32 i = 0; i < 64; ++i)
    if (by_type[i] > by_type[w.main_type]) w.main_type = i;
  return w;
}

/// Seconds for the operations of `rows` rows of activations; without the loop for a kind, that of f32 counts.
inline f64 ops_seconds(const matrix_work& w, f64 rows, const ceilings& c) {
  const auto of = [&](f64 ops, f64 ceiling) {
    return ops == 0.0 ? 0.0 : ops * rows / (ceiling != 0.0 ? ceiling : c.f32);
  };
  return of(w.int8_ops, c.int8) + of(w.bf16_ops, c.bf16) + of(w.f32_ops, c.f32);
}

}  // namespace jig::bench
