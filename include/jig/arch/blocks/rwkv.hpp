#pragma once
// RWKV: time mixing of version 6 (https://arxiv.org/abs/2404.05892) and 7 (https://arxiv.org/abs/2503.14456), channel
// mixing, and the decoder of their layers. Every input is interpolated between a token and the one before it; decay and
// rates are made from the token by small two-step projections. n: [tokens, n_embd], normed.

#include "jig/arch/blocks/decoder.hpp"

namespace jig {

namespace t {
inline constexpr tensor_tag<"blk.{}.time_mix_w0"> time_mix_w0{};
inline constexpr tensor_tag<"blk.{}.time_mix_w1"> time_mix_w1{};
inline constexpr tensor_tag<"blk.{}.time_mix_w2"> time_mix_w2{};
inline constexpr tensor_tag<"blk.{}.time_mix_a0"> time_mix_a0{};
inline constexpr tensor_tag<"blk.{}.time_mix_a1"> time_mix_a1{};
inline constexpr tensor_tag<"blk.{}.time_mix_a2"> time_mix_a2{};
inline constexpr tensor_tag<"blk.{}.time_mix_v0"> time_mix_v0{};
inline constexpr tensor_tag<"blk.{}.time_mix_v1"> time_mix_v1{};
inline constexpr tensor_tag<"blk.{}.time_mix_v2"> time_mix_v2{};
inline constexpr tensor_tag<"blk.{}.time_mix_g1"> time_mix_g1{};
inline constexpr tensor_tag<"blk.{}.time_mix_g2"> time_mix_g2{};
inline constexpr tensor_tag<"blk.{}.time_mix_k_k"> time_mix_k_k{};
inline constexpr tensor_tag<"blk.{}.time_mix_k_a"> time_mix_k_a{};
inline constexpr tensor_tag<"blk.{}.time_mix_r_k"> time_mix_r_k{};
inline constexpr tensor_tag<"blk.{}.time_mix_lerp_x"> time_mix_lerp_x{};
inline constexpr tensor_tag<"blk.{}.time_mix_lerp_fused"> time_mix_lerp_fused{};
inline constexpr tensor_tag<"blk.{}.time_mix_lerp_w"> time_mix_lerp_w{};
inline constexpr tensor_tag<"blk.{}.time_mix_lerp_k"> time_mix_lerp_k{};
inline constexpr tensor_tag<"blk.{}.time_mix_lerp_v"> time_mix_lerp_v{};
inline constexpr tensor_tag<"blk.{}.time_mix_lerp_r"> time_mix_lerp_r{};
inline constexpr tensor_tag<"blk.{}.time_mix_lerp_g"> time_mix_lerp_g{};
inline constexpr tensor_tag<"blk.{}.time_mix_first"> time_mix_first{};
inline constexpr tensor_tag<"blk.{}.time_mix_decay"> time_mix_decay{};
inline constexpr tensor_tag<"blk.{}.time_mix_decay_w1"> time_mix_decay_w1{};
inline constexpr tensor_tag<"blk.{}.time_mix_decay_w2"> time_mix_decay_w2{};
inline constexpr tensor_tag<"blk.{}.time_mix_key"> time_mix_key{};
inline constexpr tensor_tag<"blk.{}.time_mix_value"> time_mix_value{};
inline constexpr tensor_tag<"blk.{}.time_mix_receptance"> time_mix_receptance{};
inline constexpr tensor_tag<"blk.{}.time_mix_gate"> time_mix_gate{};
inline constexpr tensor_tag<"blk.{}.time_mix_ln"> time_mix_ln{};
inline constexpr tensor_tag<"blk.{}.time_mix_output"> time_mix_output{};
inline constexpr tensor_tag<"blk.{}.channel_mix_lerp_k"> channel_mix_lerp_k{};
inline constexpr tensor_tag<"blk.{}.channel_mix_lerp_r"> channel_mix_lerp_r{};
inline constexpr tensor_tag<"blk.{}.channel_mix_key"> channel_mix_key{};
inline constexpr tensor_tag<"blk.{}.channel_mix_value"> channel_mix_value{};
inline constexpr tensor_tag<"blk.{}.channel_mix_receptance"> channel_mix_receptance{};
}  // namespace t

namespace keys {
inline constexpr std::array wkv = {
    key_row{"wkv.head_size", &hparams::wkv_head, need::required, 1, 1 << 14},
    key_row{"token_shift_count", &hparams::n_shifts, need::optional, 1, 2},
    key_row{"rescale_every_n_layers", &hparams::rescale_every, need::optional, 0, 2048},
};
inline constexpr std::array rwkv6 = {
    key_row{"time_mix_extra_dim", &hparams::n_lora_mix, need::required, 1, 1 << 16},
    key_row{"time_decay_extra_dim", &hparams::n_lora_decay, need::required, 1, 1 << 16},
};
inline constexpr std::array rwkv7 = {
    key_row{"attention.decay_lora_rank", &hparams::n_lora_decay, need::required, 1, 1 << 16},
    key_row{"attention.iclr_lora_rank", &hparams::n_lora_rate, need::required, 1, 1 << 16},
    key_row{"attention.value_residual_mix_lora_rank", &hparams::n_lora_value, need::required, 1, 1 << 16},
    key_row{"attention.gate_lora_rank", &hparams::n_lora_gate, need::optional, 0, 1 << 16},
};
}  // namespace keys

namespace d {
constexpr u64 five(const hparams&, u32) { return 5; }
constexpr u64 wkv_head(const hparams& hp, u32) { return hp.wkv_head; }
constexpr u64 wkv_heads(const hparams& hp, u32) { return hp.n_embd / hp.wkv_head; }
/// Columns of keys and values: of all heads, or of those that several share.
constexpr u64 wkv_kv(const hparams& hp, u32) {
  return hp.wkv_heads_kv ? u64{hp.wkv_heads_kv} * hp.wkv_head : u64{hp.n_embd};
}
constexpr u64 lora_mix(const hparams& hp, u32) { return hp.n_lora_mix; }
constexpr u64 lora_mix5(const hparams& hp, u32) { return u64{5} * hp.n_lora_mix; }
constexpr u64 lora_decay(const hparams& hp, u32) { return hp.n_lora_decay; }
constexpr u64 lora_rate(const hparams& hp, u32) { return hp.n_lora_rate; }
/// The first layer's tensors of this width are in the files, but nothing reads them.
constexpr u64 lora_value(const hparams& hp, u32 il) { return il == 0 ? hp.n_lora_rate : hp.n_lora_value; }
constexpr u64 lora_gate(const hparams& hp, u32) { return hp.n_lora_gate; }
constexpr u64 wkv_inputs(const hparams& hp, u32) { return hp.n_lora_gate ? 6 : 5; }
}  // namespace d

namespace tensors {
constexpr bool has_wkv_gate(const hparams& hp, u32) { return hp.n_lora_gate != 0; }

/// What versions 6 and 7 share: the projections. kv: columns of keys and values.
inline constexpr std::array wkv_projections = {
    tensor_row{"blk.{}.time_mix_key", {d::embd, d::wkv_kv}, bias::optional},
    tensor_row{"blk.{}.time_mix_value", {d::embd, d::wkv_kv}, bias::optional},
    tensor_row{"blk.{}.time_mix_receptance", {d::embd, d::embd}, bias::optional},
    tensor_row{"blk.{}.time_mix_output", {d::embd, d::embd}},
};
inline constexpr std::array time_mix6 =
    join(wkv_projections,
         std::array{tensor_row{"blk.{}.time_mix_gate", {d::embd, d::embd}},
                    tensor_row{"blk.{}.time_mix_w1", {d::embd, d::lora_mix5}},
                    tensor_row{"blk.{}.time_mix_w2", {d::lora_mix, d::embd, d::five}},
                    numbers("blk.{}.time_mix_lerp_x", {d::embd}), numbers("blk.{}.time_mix_decay", {d::embd}),
                    tensor_row{"blk.{}.time_mix_decay_w1", {d::embd, d::lora_decay}},
                    tensor_row{"blk.{}.time_mix_decay_w2", {d::lora_decay, d::embd}}});
inline constexpr std::array time_mix7 =
    join(wkv_projections,
         std::array{numbers("blk.{}.time_mix_w0", {d::embd}),
                    tensor_row{"blk.{}.time_mix_w1", {d::embd, d::lora_decay}},
                    tensor_row{"blk.{}.time_mix_w2", {d::lora_decay, d::embd}},
                    numbers("blk.{}.time_mix_a0", {d::embd}),
                    tensor_row{"blk.{}.time_mix_a1", {d::embd, d::lora_rate}},
                    tensor_row{"blk.{}.time_mix_a2", {d::lora_rate, d::embd}},
                    numbers("blk.{}.time_mix_v0", {d::embd}),
                    tensor_row{"blk.{}.time_mix_v1", {d::embd, d::lora_value}},
                    tensor_row{"blk.{}.time_mix_v2", {d::lora_value, d::embd}},
                    matrix("blk.{}.time_mix_g1", {d::embd, d::lora_gate}, has_wkv_gate),
                    matrix("blk.{}.time_mix_g2", {d::lora_gate, d::embd}, has_wkv_gate),
                    numbers("blk.{}.time_mix_lerp_fused", {d::embd, d::one, d::one, d::wkv_inputs}),
                    numbers("blk.{}.time_mix_k_k", {d::embd}), numbers("blk.{}.time_mix_k_a", {d::embd}),
                    numbers("blk.{}.time_mix_r_k", {d::embd})});
inline constexpr std::array time_mix_ln = {
    tensor_row{"blk.{}.time_mix_ln", {d::embd}, bias::required},
};
inline constexpr std::array channel_mix = {
    numbers("blk.{}.channel_mix_lerp_k", {d::embd}),
    tensor_row{"blk.{}.channel_mix_key", {d::embd, d::ff}},
    tensor_row{"blk.{}.channel_mix_value", {d::ff, d::embd}},
};
}  // namespace tensors

/// The rows before each token and the state of the heads.
constexpr recurrent_state wkv_state(const hparams& hp) noexcept {
  return {u64{hp.n_shifts} * hp.n_embd, u64{hp.n_embd} * hp.wkv_head};
}

/// Whether heads divide the width and each other; `complete` of the families. Errors: inconsistent, with the key.
inline result<void> complete_wkv(std::string_view arch, const hparams& hp) noexcept {
  const auto bad = [&](std::string_view key, u32 got) {
    return fail(errc::inconsistent, key_name(arch, key).view()).got(got);
  };
  if (hp.n_embd % hp.wkv_head != 0) return bad("wkv.head_size", hp.wkv_head);
  if (hp.wkv_heads_kv != 0 && hp.n_embd / hp.wkv_head % hp.wkv_heads_kv != 0)
    return bad("attention.head_count_kv", hp.wkv_heads_kv);
  return {};
}

namespace detail {

/// One of several rows of n numbers in w.
constexpr weight slice(weight w, u32 i, u32 n) noexcept {
  if (!std::is_constant_evaluated() && w.data != nullptr) w.data += u64{i} * n * sizeof(f32);
  w.cols = n, w.rows = w.count = 1;
  return w;
}

/// Version 6: the factors of the inputs of decay, key, value, receptance, gate; in older files vectors by themselves.
template <class M>
constexpr weight lerp_factors(const M& m, u32 il, u32 i, u32 n) noexcept {
  if (const weight fused = m.get(t::time_mix_lerp_fused, il).w) return slice(fused, i, n);
  const linear each[] = {m.get(t::time_mix_lerp_w, il), m.get(t::time_mix_lerp_k, il), m.get(t::time_mix_lerp_v, il),
                         m.get(t::time_mix_lerp_r, il), m.get(t::time_mix_lerp_g, il)};
  return each[i].w;
}

/// The rows of the tokens before those of n, minus n. `which` of the layer's shifts.
template <class X, class M>
constexpr value shift(X& x, const M& m, const batch& b, u32 il, const mat& n, u32 which) {
  value before = x.conv(n, {2, state_floats_in(m, il) + u64{which} * n.cols, {}}, b);
  x.add(before, n, -1.0f);
  return before;
}

/// n + difference * factors.
template <class X>
constexpr value lerp(X& x, const mat& n, const mat& difference, const weight& factors) {
  value out = x.make(n.rows, n.cols);
  x.copy(out, difference);
  x.multiply(out, row_of(factors, n.rows));
  x.add(out, n);
  return out;
}

/// up(act(down v)) + offset; act: none or an activation.
template <class X>
constexpr value two_step(X& x, const mat& v, const linear& down, const linear& up, const weight& offset,
                         const activation* act) {
  const value low = x.matmul(v, down);
  if (act) x.activate(low, *act);
  value y = x.matmul(low, up);
  if (offset) x.add(y, row_of(offset, y.rows()));
  return y;
}
inline constexpr activation tanh_step = activation::tanh, sigmoid_step = activation::sigmoid;

/// The heads' results normalised one by one, where the family does so.
template <class X>
constexpr void norm_wkv(X& x, const mat& y, const linear& ln, u32 head) {
  if (!ln) return;
  x.norm_inplace(y, {.kind = norm_kind::layer, .eps = 64e-5f, .group = head});
  x.multiply(y, row_of(ln.w, y.rows));
  x.add(y, row_of(ln.bias, y.rows));
}

/// Heads of v repeated so that each of n heads has its own.
template <class X>
constexpr value repeat_heads(X& x, value v, u32 n, u32 head) {
  if (v.cols() == n * head) return v;
  const u32 each = n * head / v.cols();
  value out = x.make(v.rows(), n * head);
  for (u32 h = 0; h < n; ++h) x.copy(out.columns(h * head, head), v.columns(h / each * head, head));
  return out;
}

}  // namespace detail

/// Time mixing of version 6; with keys and values that heads share and no bonus, that of QRWKV 6 (gated linear
/// attention, https://arxiv.org/abs/2312.06635).
template <class X, class M>
constexpr value time_mix6(X& x, const M& m, const batch& b, u32 il, const mat& n) {
  const hparams& hp = m.hp();
  const u32 width = hp.n_embd, head = hp.wkv_head, heads = width / head, extra = hp.n_lora_mix;
  const linear first = m.get(t::time_mix_first, il);
  value all = x.make(n.rows, 5 * width);
  {
    const value difference = detail::shift(x, m, b, il, n, 0);
    const value mixed = detail::lerp(x, n, difference, m.get(t::time_mix_lerp_x, il).w);
    const value low = x.matmul(mixed, m.get(t::time_mix_w1, il));
    x.activate(low, activation::tanh);
    x.matmul_heads(mat(low).heads(5, 0, extra), m.get(t::time_mix_w2, il), mat(all).heads(5, 0, width));
    for (u32 i = 0; i < 5; ++i) {
      const mat part = all.columns(i * width, width);
      x.add(part, row_of(detail::lerp_factors(m, il, i, width), n.rows));
      x.multiply(part, difference);
      x.add(part, n);
    }
  }
  const value decay = detail::two_step(x, all.columns(0, width), m.get(t::time_mix_decay_w1, il),
                                       m.get(t::time_mix_decay_w2, il), m.get(t::time_mix_decay, il).w,
                                       &detail::tanh_step);
  x.activate(decay, activation::exp);
  x.scale(decay, -1.0f);
  x.activate(decay, activation::exp);
  value k = x.matmul(all.columns(width, width), m.get(t::time_mix_key, il));
  value v = x.matmul(all.columns(2 * width, width), m.get(t::time_mix_value, il));
  const value r = x.matmul(all.columns(3 * width, width), m.get(t::time_mix_receptance, il));
  const value gate = x.matmul(all.columns(4 * width, width), m.get(t::time_mix_gate, il));
  all = value();
  x.activate(gate, first ? activation::silu : activation::sigmoid);
  k = detail::repeat_heads(x, std::move(k), heads, head);
  v = detail::repeat_heads(x, std::move(v), heads, head);
  if (!first) {  // k *= 1 - decay
    const value kept = x.make(n.rows, width);
    x.copy(kept, k);
    x.multiply(kept, decay);
    x.add(k, kept, -1.0f);
  }
  scan_args a{.n_head = heads, .n_head_k = heads, .dim_k = head, .dim_v = head};
  a.state_offset = state_floats_in(m, il) + state_of(m, il).conv;
  a.bonus = first.w;
  if (!first) a.scale = inverse_sqrt(head);
  const value y = x.scan(a, {.q = r, .k = k, .v = v, .decay = decay}, b);
  detail::norm_wkv(x, y, m.get(t::time_mix_ln, il), head);
  x.multiply(y, gate);
  return x.matmul(y, m.get(t::time_mix_output, il));
}

/// Time mixing of version 7. The first layer leaves its values in first_values; later ones blend theirs with them.
template <class X, class M>
constexpr value time_mix7(X& x, const M& m, const batch& b, u32 il, const mat& n, value& first_values) {
  const hparams& hp = m.hp();
  const u32 width = hp.n_embd, head = hp.wkv_head, heads = width / head;
  value difference = detail::shift(x, m, b, il, n, 0);
  const weight lerps = m.get(t::time_mix_lerp_fused, il).w;
  const auto input = [&](u32 i) { return detail::lerp(x, n, difference, detail::slice(lerps, i, width)); };
  const auto product = [&](u32 i, const linear& w) {
    const value in = input(i);
    return x.matmul(in, w);
  };
  const value r = product(0, m.get(t::time_mix_receptance, il));
  value decay = input(1);
  decay = detail::two_step(x, decay, m.get(t::time_mix_w1, il), m.get(t::time_mix_w2, il),
                           m.get(t::time_mix_w0, il).w, &detail::tanh_step);
  x.activate(decay, activation::sigmoid);
  x.scale(decay, -0.606531f);  // e^-0.5
  x.activate(decay, activation::exp);
  const value k = product(2, m.get(t::time_mix_key, il));
  value v;
  {
    const value in = input(3);
    v = x.matmul(in, m.get(t::time_mix_value, il));
    if (il == 0) {
      first_values = x.make(n.rows, width);
      x.copy(first_values, v);
    } else {
      const value share = detail::two_step(x, in, m.get(t::time_mix_v1, il), m.get(t::time_mix_v2, il),
                                           m.get(t::time_mix_v0, il).w, nullptr);
      x.activate(share, activation::sigmoid);
      const value rest = x.make(n.rows, width);
      x.copy(rest, first_values);
      x.add(rest, v, -1.0f);
      x.multiply(rest, share);
      x.add(v, rest);
    }
  }
  value rate = input(4);
  rate = detail::two_step(x, rate, m.get(t::time_mix_a1, il), m.get(t::time_mix_a2, il), m.get(t::time_mix_a0, il).w,
                          nullptr);
  x.activate(rate, activation::sigmoid);
  value gate;
  if (const linear g1 = m.get(t::time_mix_g1, il)) {
    gate = input(5);
    gate = detail::two_step(x, gate, g1, m.get(t::time_mix_g2, il), {}, &detail::sigmoid_step);
  }
  difference = value();

  const value erase = x.make(n.rows, width), write = x.make(n.rows, width);
  x.copy(erase, k);
  x.multiply(erase, row_of(m.get(t::time_mix_k_k, il).w, n.rows));
  x.norm_inplace(erase, {.kind = norm_kind::l2, .eps = 1e-12f, .group = head});
  x.copy(write, k);  // k += k_a k (rate - 1)
  x.multiply(write, row_of(m.get(t::time_mix_k_a, il).w, n.rows));
  x.add(k, write, -1.0f);
  x.multiply(write, rate);
  x.add(k, write);
  x.copy(write, erase);
  x.multiply(write, rate);

  scan_args a{.n_head = heads, .n_head_k = heads, .dim_k = head, .dim_v = head, .erase = scan_erase::before_decay};
  a.state_offset = state_floats_in(m, il) + state_of(m, il).conv;
  value y = x.scan(a, {.q = r, .k = k, .v = v, .decay = decay, .erase = erase, .write = write}, b);
  detail::norm_wkv(x, y, m.get(t::time_mix_ln, il), head);
  x.multiply(k, row_of(m.get(t::time_mix_r_k, il).w, n.rows));
  const value own = x.dot_groups(k, r, heads);
  x.multiply(v, own);
  x.add(y, v);
  if (gate.cols() != 0) x.multiply(y, gate);
  return x.matmul(y, m.get(t::time_mix_output, il));
}

/// Channel mixing: value(relu(key x)^2), times a gate of its own in version 6.
template <class X, class M>
constexpr value channel_mix(X& x, const M& m, const batch& b, u32 il, const mat& n) {
  const value difference = detail::shift(x, m, b, il, n, 1);
  const value in = detail::lerp(x, n, difference, m.get(t::channel_mix_lerp_k, il).w);
  const value k = x.matmul(in, m.get(t::channel_mix_key, il));
  x.activate(k, activation::relu_sqr);
  value y = x.matmul(k, m.get(t::channel_mix_value, il));
  if (const linear gate = m.get(t::channel_mix_receptance, il)) {
    const value own = detail::lerp(x, n, difference, m.get(t::channel_mix_lerp_r, il).w);
    const value r = x.matmul(own, gate);
    x.activate(r, activation::sigmoid);
    x.multiply(y, r);
  }
  return y;
}

/// Layers of time mixing, of the version that the tensors say, and of channel mixing or a dense feed-forward, each
/// behind a norm; h is halved every so many layers if the file was made so.
template <class X, class M>
constexpr value rwkv_decoder(X& x, const decoder_spec& spec, const M& m, const batch& b) {
  const hparams& hp = m.hp();
  return decoder_around(x, spec, m, b, [&](value& h, const rope_tables&) {
    value first_values;
    for (u32 il = 0; il < hp.n_layer; ++il) {
      value n = normed(x, spec, hp, h, m.get(t::attn_norm, il));
      if constexpr (has_tensor<M>(t::time_mix_decay)) n = time_mix6(x, m, b, il, n);
      else n = time_mix7(x, m, b, il, n, first_values);
      x.add(h, n);
      const linear second = m.get(t::attn_norm_2, il);
      n = normed(x, spec, hp, h, second ? second : m.get(t::ffn_norm, il));
      if constexpr (has_tensor<M>(t::channel_mix_key)) n = channel_mix(x, m, b, il, n);
      else n = dense(x, spec, m, il, n);
      x.add(h, n);
      if (hp.rescale_every != 0 && (il + 1) % hp.rescale_every == 0) x.scale(h, 0.5f);
      x.name("l_out", il, h);
    }
  });
}

/// Base of the families: their tables say the rest.
struct rwkv_arch {
  static constexpr auto complete = complete_wkv;
  static constexpr recurrent_state state(const hparams& hp, u32) { return wkv_state(hp); }

  /// Token ids -> logits [n_outputs, n_vocab].
  template <class X, class M>
  static constexpr value forward(X& x, const M& m, const batch& b) {
    return rwkv_decoder(x, M::architecture::spec, m, b);
  }
};

}  // namespace jig
