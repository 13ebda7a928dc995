#pragma once
// Paged memory of two sequences and a batch that attends to it, for the tests of attention.

#include "fixture.hpp"
#include "jig/ops/reference.hpp"

namespace cpu_test {

inline constexpr u32 kv_type_ids[] = {f32_block::id, f16_block::id, bf16_block::id, q8_0::id};

/// A batch of two sequences with scattered pages, whose cells before the batch are filled with random keys and values.
struct attention_scene {
  attend_args a;
  u32 page_tokens = 8;
  std::vector<u8> memory;
  std::vector<u32> pages_a{5, 0, 7, 2, 9, 11, 13, 15, 17, 19}, pages_b{1, 8, 3, 4, 6, 10, 12, 14, 16, 18};
  sequence_view sequences[2];
  std::vector<u32> position, cell, sequence;
  batch b;

  /// in_turn: tokens of both sequences alternate in the batch; else those of one come behind those of the other.
  attention_scene(u32 type, u32 heads, u32 heads_kv, u32 dim_k, u32 dim_v, u32 past, u32 tokens, bool in_turn = true) {
    a.n_head = heads, a.n_head_kv = heads_kv, a.dim_k = dim_k, a.dim_v = dim_v;
    a.scale = 1.0f / std::sqrt(static_cast<f32>(dim_k));
    const u64 layer = page_tokens * kv_token_bytes(type, heads_kv, dim_k, dim_v);
    a.page_offset = layer;  // the second of two layers
    b.memory = {nullptr, 2 * layer, page_tokens, type};
    memory.assign(20 * 2 * layer, 0xee);
    b.memory.data = memory.data();
    b.sequences = sequences;
    // all cells of both sequences first, then a batch with tokens of both in turn
    fill(0, past + tokens), fill(1, past + tokens);
    start();
    for (u32 i = 0; i < 2 * tokens; ++i) {
      if (in_turn) push(i % 2, past + i / 2);
      else push(i / tokens, past + i % tokens);
    }
    finish(past + tokens);
  }

  /// Attention of random queries over what the tokens see, or over what was chosen of it.
  std::vector<f32> run(const auto& k, const parallel& p = {}, const chosen_blocks* chosen = nullptr) {
    std::vector<f32> q = random_floats(b.n_tokens * a.n_head * a.dim_k, 77, 3.0f);
    std::vector<f32> out(b.n_tokens * a.n_head * a.dim_v, -7.0f);
    std::vector<u8> scratch(cpu::attend_scratch_bytes(a, p.threads) + 64, 0xcc);
    const mat from = view(q, b.n_tokens, a.n_head * a.dim_k), to = view(out, b.n_tokens, a.n_head * a.dim_v);
    if (chosen != nullptr) k.attend_chosen(p, a, b, from, *chosen, scratch.data(), to);
    else k.attend(p, a, b, from, scratch.data(), to);
    for (usize i = scratch.size() - 64; i < scratch.size(); ++i) REQUIRE(scratch[i] == 0xcc);
    return out;
  }

  /// Stores k ([cells, dim]) as an indexer's keys, from the first cell of sequence s on.
  void store_index(const select_args& index, u32 s, std::vector<f32>& k) {
    const u32 n = static_cast<u32>(k.size()) / index.dim;
    std::vector<u32> cells(n), own(n, s);
    for (u32 i = 0; i < n; ++i) cells[i] = i;
    batch all = b;
    all.n_tokens = n, all.position = all.cell = cells.data(), all.sequence = own.data();
    const mat rows = view(k, n, index.dim);
    reference_kernels<>().store_kv({}, index.keys(), all, rows, rows);
  }

 private:
  void start() { position.clear(), cell.clear(), sequence.clear(); }
  void push(u32 s, u32 at) { position.push_back(at), cell.push_back(at), sequence.push_back(s); }
  void finish(u32 length) {
    sequences[0] = {pages_a.data(), length};
    sequences[1] = {pages_b.data(), length};
    b.n_tokens = static_cast<u32>(cell.size());
    b.position = position.data(), b.cell = cell.data(), b.sequence = sequence.data();
  }
  void fill(u32 s, u32 n) {
    start();
    for (u32 i = 0; i < n; ++i) push(s, i);
    finish(n);
    std::vector<f32> k = random_floats(n * a.n_head_kv * a.dim_k, 5 + s),
                     v = random_floats(n * a.n_head_kv * a.dim_v, 7 + s);
    reference_kernels<>().store_kv({}, a, b, view(k, n, a.n_head_kv * a.dim_k), view(v, n, a.n_head_kv * a.dim_v));
  }
};

}  // namespace cpu_test
