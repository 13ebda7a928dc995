#pragma once
// qwen4exp: Qwen 4 experimental (Qwen3.8-Flash-Next): Qwen 3.5 with experts in hyper connections, without other norms;
// attention to what an indexer chooses, by one key for every few cells; one layer reads embeddings of n-grams.

#include "jig/arch/blocks/engram.hpp"
#include "jig/arch/qwen35.hpp"

namespace jig::arch {

struct qwen4exp : qwen35moe {
  static constexpr std::string_view name = "qwen4exp";
  static constexpr bool shares_index_keys = true;
  static constexpr u64 rank(const hparams& hp, u32) { return hp.n_lora_stream; }
  static constexpr bool selects(const hparams& hp, u32 il) { return is_not_delta(hp, il) && hp.cell_groups[il] != 0; }

  static constexpr auto keys =
      join(qwen35moe::keys, keys::streams, keys::indexer, keys::engram,
           std::array{key_row{"hyper_connection.low_rank", &hparams::n_lora_stream, need::required, 1, 1 << 16},
                      key_row{"attention.compress_ratios", &hparams::cell_groups, need::optional, 0, 4096}});

  /// How the streams are read: each is normed, times a gate that all of them give in two steps, and their mean is
  /// taken; and with what weights a branch's result is added to each.
  template <fixed_name Prefix>
  struct connection {
    static constexpr tensor_tag<Prefix + fixed_name("_norm")> norm{};
    static constexpr tensor_tag<Prefix + fixed_name("_down")> down{};
    static constexpr tensor_tag<Prefix + fixed_name("_up")> up{};
    static constexpr tensor_tag<Prefix + fixed_name("_inject")> inject{};
    static constexpr std::array reads = {numbers(norm.name, {d::all_streams}),
                                         matrix(down.name, {d::all_streams, rank}),
                                         matrix(up.name, {rank, d::all_streams})};
    static constexpr auto tensors = join(reads, tensors::one({inject.name, {d::all_streams, d::streams}}));
  };
  using around_mixer = connection<"blk.{}.hc_attn">;
  using around_experts = connection<"blk.{}.hc_ffn">;
  using behind_layers = connection<"output_hc">;

  static constexpr auto tensors =
      join(tensors::embedding, tensors::one({"output", {d::embd, d::vocab}, bias::none, need::optional}),
           around_mixer::tensors, around_experts::tensors, behind_layers::reads, mixers, projections, experts,
           std::array{matrix("blk.{}.indexer.q_proj", {d::embd, d::index_q}, is_not_delta),
                      matrix("blk.{}.indexer.k_proj", {d::embd, d::dim_index}, is_not_delta),
                      numbers("blk.{}.indexer.q_norm", {d::dim_index}, is_not_delta),
                      numbers("blk.{}.indexer.k_norm", {d::dim_index}, is_not_delta)},
           tensors::engram);
  static constexpr decoder_spec spec{.rope = rope_kind::neox, .index_norm = norm_kind::rms};

  static result<void> complete(hparams& hp) noexcept {
    JIG_CHECK(qwen35moe::complete(name, hp));
    JIG_CHECK(check_engram(name, hp));
    u32 shared = 0;
    for (u32 il = 0; il < hp.n_layer; ++il) {
      if (!selects(hp, il)) continue;
      if (shared != 0 && hp.cell_groups[il] != shared)
        return fail(errc::inconsistent, "qwen4exp.attention.compress_ratios").got(hp.cell_groups[il]);
      shared = hp.cell_groups[il];
    }
    if (shared != 0) hp.index_shared = shared;
    hp.index_top_k += hp.index_shared - 1;  // for the cells that have no key yet
    return check_indexer(name, hp);
  }
  static constexpr recurrent_state state(const hparams& hp, u32 il) {
    recurrent_state s = qwen35moe::state(hp, il);
    s.other = engram_state(hp, il);
    return s;
  }

  template <class X, class M>
  static constexpr value mix(X& x, const M& m, const batch& b, u32 il, const mat& n, const rope_tables& tables) {
    if (is_delta(m.hp(), il)) return delta_net(x, m, b, il, n, true, activation::sigmoid);
    return attention(x, spec, m, b, il, n, tables);
  }

  /// What is read of the streams through connection C: [tokens, n_embd]. `back` gets the weights of the result in each,
  /// [tokens, n_streams], unless it is null.
  template <class C, class X, class M>
  static constexpr value read(X& x, const M& m, u32 il, const hyper_streams<X>& streams, value* back) {
    const hparams& hp = m.hp();
    const f32 share = 1.0f / static_cast<f32>(hp.n_streams);
    const value unit = x.norm(streams.all(), norm_of_streams(hp, m.get(C::norm, il).w));
    if (back != nullptr) {
      *back = x.matmul(unit, m.get(C::inject, il));
      x.scale(*back, share);
      x.activate(*back, activation::sigmoid);
      x.scale(*back, 2.0f);
    }
    value gate = x.matmul(unit, m.get(C::down, il));
    x.scale(gate, share);
    x.activate(gate, activation::silu);
    gate = x.matmul(gate, m.get(C::up, il));
    x.activate(gate, activation::sigmoid);
    x.multiply(unit, gate);
    const value shares = x.make(unit.rows(), hp.n_streams);
    x.fill(shares, share);
    return x.combine(mat(unit).heads(hp.n_streams, 0, hp.n_embd), shares);
  }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    const hparams& hp = m.hp();
    return decoder_around(x, spec, m, b, [&](value& h, const rope_tables& tables) {
      hyper_streams<X> streams(x, h, hp.n_streams);
      value back;
      for (u32 il = 0; il < hp.n_layer; ++il) {
        if (reads_engram(hp, il)) add_engram(x, m, b, il, streams);
        h = read<around_mixer>(x, m, il, streams, &back);
        h = mix(x, m, b, il, h, tables);
        streams.add(h, back);
        h = read<around_experts>(x, m, il, streams, &back);
        h = feed_forward(x, spec, m, il, h, {});
        streams.add(h, back);
        x.name("l_out", il, streams.all());
      }
      h = read<behind_layers>(x, m, 0, streams, nullptr);
    });
  }
};

}  // namespace jig::arch
