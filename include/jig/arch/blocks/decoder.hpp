#pragma once
// The decoder-only transformer that most families are: embedding, layers of attention and feed-forward around a
// residual stream, final norm, logits. Which norms stand where is seen from the tensors that the family has.

#include "jig/arch/blocks/attention.hpp"
#include "jig/arch/blocks/feed_forward.hpp"
#include "jig/arch/blocks/latent_attention.hpp"
#include "jig/arch/blocks/states.hpp"

namespace jig {

/// Token ids -> hidden state [tokens, n_embd]: embedding, its scale and norm, learned positions.
template <class X, class M>
constexpr value embed(X& x, const decoder_spec& spec, const M& m, const batch& b) {
  const hparams& hp = m.hp();
  value h = x.embed(m.get(t::token_embd).w, b);
  if (hp.embedding_scale != 0.0f) x.scale(h, hp.embedding_scale);
  if (spec.embedding_norm) h = normed(x, spec, hp, h, {});
  if (weight w = m.get(t::token_types).w) {  // all text is of the first kind
    w.rows = 1;
    x.add(h, row_of(w, h.rows()));
  }
  if (const linear w = m.get(t::position_embd)) {
    const value p = x.positions(w.w, b);
    x.add(h, p);
  }
  if (const linear w = m.get(t::token_embd_norm); w && !spec.embedding_norm_last) h = normed(x, spec, hp, h, w);
  x.name("inp_embd", 0, h);
  return h;
}

// Nowhere here is a value made by a conditional expression: GCC 12, evaluating at compile time, then destroys it too
// early and plans too little memory.

/// The norm in front of a branch; no value where the family has no such norm, the branch then reads h itself.
template <class X>
constexpr value branch_norm(X& x, const decoder_spec& spec, const hparams& hp, const mat& h, const linear& w) {
  if (w || spec.norm_without_weight) return normed(x, spec, hp, h, w);
  return {};
}

/// The norm in front of the feed-forward, under the name that the family gives it.
template <class M>
constexpr linear norm_of_ffn(const decoder_spec& spec, const M& m, u32 il) {
  switch (spec.ffn_norm) {
    case ffn_norm_name::ffn_norm: break;
    case ffn_norm_name::post_attention_norm: return m.get(t::post_attention_norm, il);
    case ffn_norm_name::attn_output_norm: return m.get(t::attn_output_norm, il);
  }
  return m.get(t::ffn_norm, il);
}

/// The norm behind attention, if there is one, under the name that the family gives it.
template <class M>
constexpr linear post_norm_of_attention(const decoder_spec& spec, const M& m, u32 il) {
  const linear post = m.get(t::post_attention_norm, il), output = m.get(t::attn_output_norm, il);
  if (post && spec.ffn_norm != ffn_norm_name::post_attention_norm) return post;
  return output && spec.ffn_norm != ffn_norm_name::attn_output_norm ? output : linear{};
}

/// The norm behind the feed-forward, if there is one.
template <class M>
constexpr linear post_norm_of_ffn(const M& m, u32 il) {
  const linear post = m.get(t::post_ffw_norm, il);
  return post ? post : m.get(t::layer_output_norm, il);
}

/// h += scale * post_norm(y).
template <class X>
constexpr void add_branch(X& x, const decoder_spec& spec, const hparams& hp, const mat& h, value y,
                          const linear& post_norm) {
  if (post_norm) {
    const f32 eps = hp.post_norm_eps != 0.0f ? hp.post_norm_eps : hp.norm_eps;
    x.norm_inplace(y, {.kind = spec.norm, .eps = eps, .group = y.cols(), .w = post_norm.w, .b = post_norm.bias});
  }
  x.add(h, y, hp.residual_scale != 0.0f ? hp.residual_scale : 1.0f);
}

/// What stands between the tokens of layer il: the architecture's own mix(), or attention of the kind that its tensors
/// say. n: the layer's normed input [tokens, n_embd]; the result has the same shape.
template <class X, class M>
constexpr value mix(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, const mat& n,
                    const rope_tables& tables) {
  if constexpr (requires { M::architecture::mix(x, m, b, il, n, tables); })
    return M::architecture::mix(x, m, b, il, n, tables);
  else if constexpr (has_latent_attention<M>) return latent_attention(x, spec, m, b, il, n, tables);
  else return attention(x, spec, m, b, il, n, tables);
}

/// One layer: h is updated. `between(il, n)` is what stands between its tokens, see mix(); `ffn(il, n, scores)` is its
/// feed-forward; scores are router logits computed before attention, or empty.
template <class X, class M, class Between, class F>
constexpr void layer_around(X& x, const decoder_spec& spec, const M& m, u32 il, value& h, Between&& between, F&& ffn) {
  const hparams& hp = m.hp();
  // Where the norms stand: in front of the branches, or all behind them.
  const linear attn_norm = hp.norm_behind ? linear{} : m.get(t::attn_norm, il);
  const linear ffn_norm = hp.norm_behind ? linear{} : norm_of_ffn(spec, m, il);
  const linear attn_post = hp.norm_behind ? m.get(t::attn_norm, il) : post_norm_of_attention(spec, m, il);
  const linear ffn_post = hp.norm_behind ? m.get(t::ffn_norm, il) : post_norm_of_ffn(m, il);
  const bool parallel = hp.parallel || (spec.parallel && !ffn_norm);
  value routing;
  if (spec.route_before_attention) routing = x.matmul(h, m.get(t::ffn_gate_inp, il));
  value n = branch_norm(x, spec, hp, h, attn_norm);
  x.name("attn_norm", il, n);
  value own_norm;  // attention's own, if there are two; attn_norm is then the feed-forward's
  if (const linear second = m.get(t::attn_norm_2, il)) own_norm = normed(x, spec, hp, h, second);
  const mat read = own_norm.cols() ? own_norm : n.cols() ? n : h;
  value a = between(il, read);
  own_norm = value();
  x.name("attn_out", il, a);
  if (!parallel) {
    n = value();
    add_branch(x, spec, hp, h, std::exchange(a, value()), attn_post);
    x.name("ffn_inp", il, h);
  }
  if (!parallel || ffn_norm) n = branch_norm(x, spec, hp, h, ffn_norm);
  x.name("ffn_norm", il, n);
  value f = ffn(il, n.cols() ? n : h, routing);
  x.name("ffn_out", il, f);
  n = value();
  if (parallel) add_branch(x, spec, hp, h, std::exchange(a, value()), attn_post);
  add_branch(x, spec, hp, h, std::move(f), ffn_post);
  x.name("l_out", il, h);
}

/// The same with the architecture's mix() between the tokens.
template <class X, class M, class F>
constexpr void decoder_layer(X& x, const decoder_spec& spec, const M& m, const batch& b, u32 il, value& h,
                             const rope_tables& tables, F&& ffn) {
  const auto between = [&](u32 layer, const mat& n) { return mix(x, spec, m, b, layer, n, tables); };
  layer_around(x, spec, m, il, h, between, ffn);
}

/// Hidden state -> logits [n_outputs, n_vocab] of the rows that are wanted.
template <class X, class M>
constexpr value logits(X& x, const decoder_spec& spec, const M& m, const batch& b, value h) {
  const hparams& hp = m.hp();
  h = x.outputs(h, b);
  h = final_norm(x, spec, m, std::move(h));
  const linear output = m.get(t::output);
  value y = x.matmul(h, output ? output : m.get(t::token_embd));
  if (hp.logit_scale != 0.0f) x.scale(y, spec.logit_scale_divides ? 1.0f / hp.logit_scale : hp.logit_scale);
  if (hp.final_softcap != 0.0f) x.softcap(y, hp.final_softcap);
  x.name("result_output", 0, y);
  return y;
}

/// The end of a model: logits, or what the batch asks for in their place. Models of fixed extents give logits only.
template <class X, class M>
constexpr value ending(X& x, const decoder_spec& spec, const M& m, const batch& b, value h) {
  if constexpr (!gives_logits<M>) {
    return states(x, spec, m, b, std::move(h));
  } else {
    if constexpr (!requires { M::fixed_extents; })
      if (b.output == output_kind::states) return states(x, spec, m, b, std::move(h));
    return logits(x, spec, m, b, std::move(h));
  }
}

/// A model around any stack of layers, layers(h, tables): token ids -> logits [n_outputs, n_vocab], or see states().
template <class X, class M, class F>
constexpr value decoder_around(X& x, const decoder_spec& spec, const M& m, const batch& b, F&& layers) {
  value h = embed(x, spec, m, b);
  {
    const rope_tables tables =
        make_rope_tables(spec, m, b, [&](const rope_args& args) { return x.rope_table(args, b); });
    layers(h, tables);
  }
  return ending(x, spec, m, b, std::move(h));
}

/// A whole decoder with a feed-forward of its own, see decoder_layer: token ids -> logits [n_outputs, n_vocab].
template <class X, class M, class F>
constexpr value decoder_with(X& x, const decoder_spec& spec, const M& m, const batch& b, F&& ffn) {
  return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
    for (u32 il = 0; il < m.hp().n_layer; ++il) decoder_layer(x, spec, m, b, il, h, tables, ffn);
  });
}

/// A whole decoder: token ids -> logits [n_outputs, n_vocab].
template <class X, class M>
constexpr value decoder(X& x, const decoder_spec& spec, const M& m, const batch& b) {
  return decoder_with(x, spec, m, b, [&](u32 il, const mat& n, const value& scores) {
    return feed_forward(x, spec, m, il, n, scores);
  });
}

/// Base of the architectures that are a decoder as their `spec` says, and nothing else.
struct decoder_arch {
  /// Token ids -> logits [n_outputs, n_vocab]. The spec is that of the model's own family, not of one that it derives
  /// from.
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return decoder(x, M::architecture::spec, m, b);
  }
};

/// Base of the architectures whose layers are one branch each, their mix(): h += mix(norm(h)).
struct mixer_arch {
  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    constexpr const decoder_spec& spec = M::architecture::spec;
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      for (u32 il = 0; il < m.hp().n_layer; ++il) {
        value n = normed(x, spec, m.hp(), h, m.get(t::attn_norm, il));
        n = mix(x, spec, m, b, il, n, tables);
        x.add(h, n);
        x.name("l_out", il, h);
      }
    });
  }
};

}  // namespace jig
