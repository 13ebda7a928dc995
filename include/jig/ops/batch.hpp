#pragma once
// A batch: the tokens of one forward pass, from any number of sequences, and the memory they attend to.
//
// The key/value memory is cut into pages of `page_tokens` tokens that hold all layers. A sequence is a list of
// pages; its tokens occupy cells 0, 1, 2, ... A token sees the cells up to its own (or all, if not causal), so
// no mask is ever built. Page lists are made by session/kv.hpp; kernels only read them.

#include "jig/core/types.hpp"

namespace jig {

/// Where keys and values lie. Page p starts at `data + p * page_bytes`.
/// Inside a page, layer after layer: [page_tokens][n_head_kv] key rows, then as many value rows, then [page_tokens]
/// rows of index keys if the layer has an indexer; every row is a whole number of blocks of `type`, the last one padded
/// with zeros. Layers with compressed attention have more (arch/memory.hpp).
struct kv_memory {
  u8* data = nullptr;
  u64 page_bytes = 0;
  u32 page_tokens = 0;
  u32 type = 0;  ///< GGUF type id of the elements
  bool windows_apart = false;  ///< windowed layers lie in pages of their own, see batch::windows
};

/// Where recurrent states lie: `stride` floats for each sequence, layer after layer.
struct state_memory {
  f32* data = nullptr;
  u64 stride = 0;
  constexpr f32* of(u32 sequence) const noexcept { return data + sequence * stride; }
};

/// One sequence as kernels see it.
struct sequence_view {
  const u32* pages = nullptr;  ///< page numbers in order
  u32 length = 0;              ///< cells in use, the batch's own tokens included
  u32 source = 0;              ///< so many first cells are the source, which a decoder reads by cross attention
};

/// What a forward pass gives for the tokens that are wanted: logits, or hidden states.
enum class output_kind : u8 { logits, states };

/// How states become one vector per sequence; the numbers are those of the key pooling_type.
enum class pooling : u8 {
  none,  ///< a vector for each token that is wanted
  mean,  ///< of all tokens of the sequence in the batch
  cls,   ///< of the token that is wanted: the first of the sequence
  last,  ///< the same: the last
  rank,  ///< scores of a classification head, made of the wanted token's state or of the mean
};

/// The tokens of one forward pass. All arrays have n_tokens entries unless noted.
struct batch {
  u32 n_tokens = 0;
  u32 n_outputs = 0;                 ///< rows whose logits are wanted
  const i32* tokens = nullptr;       ///< ids, each < n_vocab
  const u32* position = nullptr;     ///< for position encodings
  const u32* cell = nullptr;         ///< where the token's key and value go in its sequence
  const u32* sequence = nullptr;     ///< index into `sequences`
  const u32* output_rows = nullptr;  ///< [n_outputs] ascending token indices
  const sequence_view* sequences = nullptr;
  kv_memory memory = {};
  state_memory states = {};
  /// The same batch with the memory and pages of windowed layers, whose first pages may be gone; null: they have none.
  const batch* windows = nullptr;
  u32 context = 0;     ///< tokens that a sequence may have in this session
  bool causal = true;  ///< otherwise every token sees its whole sequence
  output_kind output = output_kind::logits;
  pooling pool = pooling::none;  ///< of states; with mean, one token of every sequence is wanted
};

}  // namespace jig
