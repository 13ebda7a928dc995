#pragma once
// Texts as vectors: embeddings for search and comparison, or scores of a reranking model. Hosted.
//
//   auto m = jig::host::load<model>("embeddings.gguf");
//   JIG_TRY(auto e, jig::host::embedder<model>::make(m));
//   JIG_TRY(auto vectors, e.embed(texts));          // texts: token ids, one list each

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "jig/host/session.hpp"

namespace jig::host {

struct embedding_options {
  std::optional<pooling> pool = {};  ///< nothing: what the file says, or the mean where it says nothing
  u32 context = 0;              ///< tokens of the longest text; 0: what the model was trained for, at most 2048
  u32 together = 8;             ///< texts computed together, as far as their tokens fit into the context
};

/// Computes vectors with a loaded model, which must outlive it. Move-only.
template <class Model>
class embedder {
 public:
  /// Errors: those of text_session::make; not_supported (scores of a model without a classification head).
  static result<embedder> make(const loaded<Model>& m, const embedding_options& options = {}) {
    JIG_TRY(auto kernels, Model::make_kernels());
    return make(m, options, kernels);
  }
  /// On other kernels of the backend's type.
  static result<embedder> make(const loaded<Model>& m, const embedding_options& options,
                               const typename Model::kernels& kernels) {
    const hparams& hp = m.hp();
    const pooling trained = hp.pooling_type == 0 ? pooling::mean : static_cast<pooling>(hp.pooling_type);
    session_options o;
    o.output = output_kind::states;
    o.pool = options.pool.value_or(trained);
    o.context = o.batch = options.context ? options.context : std::min(hp.n_ctx_train, u32{2048});
    o.sequences = std::max(options.together, u32{1});
    o.outputs = o.pool == pooling::none ? o.batch : o.sequences;
    o.total_tokens = o.batch;
    o.kv_type = 0;
    o.kept_states = 0;
    JIG_TRY(auto session, text_session<Model>::make(m, o, kernels));
    return embedder(std::move(session), o);
  }

  pooling pool() const noexcept { return options_.pool; }
  /// Tokens of the longest text.
  u32 context() const noexcept { return options_.context; }

  /// One vector for each text, in order; without pooling one for each token, the texts' tokens one after the other.
  /// Errors: those of session::decode; bad_argument (an empty text; got: its index), context_full (a text longer than
  /// the context; got: its tokens).
  result<std::vector<std::vector<f32>>> embed(std::span<const std::vector<i32>> texts) {
    std::vector<std::vector<f32>> out;
    for (usize done = 0; done < texts.size();) {
      u32 n = 0;
      items_.clear();
      while (done + n < texts.size() && n < options_.sequences) {
        const std::vector<i32>& text = texts[done + n];
        if (text.empty()) return fail(errc::bad_argument, "empty text").got(done + n);
        if (text.size() > options_.context) return fail(errc::context_full, "text").got(text.size());
        if (items_.size() + text.size() > options_.context) break;
        for (usize i = 0; i < text.size(); ++i) items_.push_back({text[i], n, wanted(i, text.size())});
        ++n;
      }
      const auto rows = session_.decode(items_);
      for (u32 s = 0; s < n; ++s) static_cast<void>(session_.core().truncate(s, 0));
      if (!rows) return rows.error();
      for (u32 r = 0; r < rows->rows; ++r) out.emplace_back(rows->row(r), rows->row(r) + rows->cols);
      done += n;
    }
    return out;
  }

 private:
  embedder(text_session<Model> session, const session_options& options)
      : session_(std::move(session)), options_(options) {}

  /// Whether the result is made for token i of a text of n.
  bool wanted(usize i, usize n) const noexcept {
    switch (options_.pool) {
      case pooling::none: return true;
      case pooling::last: return i + 1 == n;
      case pooling::mean:
      case pooling::cls:
      case pooling::rank: break;
    }
    return i == 0;
  }

  text_session<Model> session_;
  session_options options_;
  std::vector<batch_item> items_;
};

/// The ids of a query and a text as rerankers read them: BOS, query, EOS, SEP, text, EOS, as far as the vocabulary puts
/// such tokens in by itself. Errors: those of vocab::tokenize.
inline result<std::vector<i32>> rerank_ids(const vocab& v, std::string_view query, std::string_view text) {
  const special_ids& ids = v.view().ids;
  const vocab_flags& flags = v.view().flags;
  std::vector<i32> out;
  const auto put = [&](bool wanted, i32 id) {
    if (wanted && id >= 0) out.push_back(id);
  };
  put(flags.add_bos, ids.bos);
  const std::string_view parts[] = {query, text};
  for (int i = 0; i < 2; ++i) {
    JIG_TRY(const std::vector<i32> own, v.tokenize(parts[i]));
    out.insert(out.end(), own.begin(), own.end());
    put(flags.add_eos, ids.eos);
    put(flags.add_sep && i == 0, ids.sep);
  }
  return out;
}

/// v / |v|; a vector of zeros stays.
inline void normalize(std::span<f32> v) noexcept {
  f64 square = 0.0;
  for (f32 x : v) square += f64(x) * f64(x);
  if (square == 0.0) return;
  for (f32& x : v) x = static_cast<f32>(f64(x) / std::sqrt(square));
}

/// The cosine of the angle between two vectors of the same length; 0 if one of them is zero.
inline f64 cosine(std::span<const f32> a, std::span<const f32> b) noexcept {
  f64 dot = 0.0, aa = 0.0, bb = 0.0;
  for (usize i = 0; i < a.size() && i < b.size(); ++i) {
    dot += f64(a[i]) * f64(b[i]);
    aa += f64(a[i]) * f64(a[i]);
    bb += f64(b[i]) * f64(b[i]);
  }
  return aa == 0.0 || bb == 0.0 ? 0.0 : dot / std::sqrt(aa * bb);
}

}  // namespace jig::host
