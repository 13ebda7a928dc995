#pragma once
// What running a model will take, by kind, before anything is loaded: only the file's header is read.
//
//   JIG_TRY(memory_plan p, plan_memory<model>("tiny.gguf", {.context = 4096}));
//
// The session's part comes from plan_session_memory(), by which text_session allocates, so plan and run agree.

#include <string>
#include <vector>

#include "jig/host/model.hpp"
#include "jig/host/session_memory.hpp"

namespace jig::host {

/// All bytes by kind. Weights lie in the mapped file and can be shared by processes; the rest is allocated.
struct memory_plan {
  struct weights_of_type {
    u32 type = 0;
    u64 tensors = 0, bytes = 0;
  };
  std::string architecture;
  u32 threads = 1, trained_context = 0;
  std::vector<weights_of_type> weights;  ///< by ascending type number
  u64 weight_bytes = 0;
  u64 packed_bytes = 0;      ///< matrices laid out for fast products, see load_options::repack
  u64 replaced_bytes = 0;    ///< of weight_bytes: what packed matrices replace, so that it need not stay in memory
  u64 converted_bytes = 0;   ///< copies of weights in this machine's byte order, where the file has the other one
  u64 slot_bytes = 0;        ///< table of tensors
  u64 vocabulary_bytes = 0;  ///< look-up tables; the texts lie in the file
  session_memory session;

  u64 allocated() const noexcept {
    return packed_bytes + converted_bytes + slot_bytes + vocabulary_bytes + session.total();
  }
  u64 total() const noexcept { return weight_bytes - replaced_bytes + allocated(); }
};

namespace detail {

inline void sum_weights(const gguf::file_set& file, memory_plan& p) {
  for (const block_info& info : block_infos) {
    memory_plan::weights_of_type sum{info.id};
    for (const gguf::tensor_info& t : file.tensors())
      if (t.type == info.id) ++sum.tensors, sum.bytes += t.bytes;
    if (sum.tensors == 0) continue;
    p.weights.push_back(sum);
    p.weight_bytes += sum.bytes;
  }
}

}  // namespace detail

/// The plan for a model file and one session on `threads` threads (0: as many as loading would take); repack: as
/// load_options::repack.
/// Errors: as loaded::open and text_session::make, short of running out of memory.
template <class Model>
result<memory_plan> plan_memory(const std::string& path, const session_options& options = {}, u32 threads = 0,
                                bool repack = true) {
  JIG_TRY(model_file opened, open_model_file(path));
  JIG_TRY(const loaded<Model> m, loaded<Model>::open_header(std::move(opened), repack));
  const gguf::file_set file = m.file();
  memory_plan p;
  p.threads = std::min(threads != 0 ? threads : default_threads(), pool::max_threads);
  p.architecture = m.architecture();
  p.trained_context = m.hp().n_ctx_train;
  p.slot_bytes = m.slot_bytes();
  p.packed_bytes = m.packed_bytes();
  p.replaced_bytes = m.packed_source_bytes();
  JIG_TRY(p.session, m.plan(options, p.threads));
  detail::sum_weights(file, p);
  if (!usable_in_place(file)) p.converted_bytes = p.weight_bytes;
  if (file.has("tokenizer.ggml.model")) {
    JIG_TRY(p.vocabulary_bytes, vocab_bytes_needed(file.files().front()));
  }
  return p;
}

}  // namespace jig::host
