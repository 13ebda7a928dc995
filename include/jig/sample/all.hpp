#pragma once
// The samplers that can be chosen at run time, in their default order. A new one is a header and a line here; see
// docs/extending.md. Those that draw (greedy, dist) end a chain and have no place in the list.

#include "jig/core/type_list.hpp"
#include "jig/sample/dist.hpp"
#include "jig/sample/greedy.hpp"
#include "jig/sample/min_p.hpp"
#include "jig/sample/temperature.hpp"
#include "jig/sample/top_k.hpp"
#include "jig/sample/top_n_sigma.hpp"
#include "jig/sample/top_p.hpp"

namespace jig::sample {

using builtin = type_list<  //
    top_n_sigma,            //
    top_k,                  //
    top_p,                  //
    min_p,                  //
    temperature>;

}  // namespace jig::sample
