#pragma once
// The parameters of all samplers of a list, with the field's names and defaults.
//
// Each sampler brings its own `options`; the struct is their sum, so a new sampler's parameters appear here by its
// line in the list.

#include "jig/sample/all.hpp"

namespace jig::sample {

template <class List>
struct basic_params;

/// Fields: those of S::options (top_k, top_p, min_p, temp, ...), and the two that samplers share.
template <class... S>
struct basic_params<type_list<S...>> : S::options... {
  u32 seed = random_seed;  ///< random_seed asks for a random one: see host::resolve_seed()
  usize min_keep = 0;      ///< truncating samplers keep at least so many candidates
};

using params = basic_params<builtin>;

/// The field's defaults: top_k 40, top_p 0.95, min_p 0.05, temp 0.8.
constexpr params defaults() noexcept { return {}; }

}  // namespace jig::sample
