#pragma once
// Tracing: an observer that hands every named intermediate value of a forward pass to a function, to compare a
// run with another engine's or with another executor's. Names are those the field uses: "attn_norm", "ffn_out"...

#include <string_view>

#include "jig/ops/executor.hpp"

namespace jig {

/// Calls `sink(name, layer, matrix)`; pass it to an executor as its observer: `executor<K, trace<F>>`.
template <class Sink>
struct trace {
  static constexpr bool watches = true;
  Sink sink;
  void operator()(std::string_view name, u32 layer, const mat& v) { sink(name, layer, v); }
};

template <class Sink>
trace(Sink) -> trace<Sink>;

}  // namespace jig
