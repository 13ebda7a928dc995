#pragma once
// The list of all block types. A new type is one header and one line in a list here (and a line in type_info.hpp).

#include "jig/quant/bf16.hpp"
#include "jig/quant/f16.hpp"
#include "jig/quant/f32.hpp"
#include "jig/quant/iq1_m.hpp"
#include "jig/quant/iq1_s.hpp"
#include "jig/quant/iq2_s.hpp"
#include "jig/quant/iq2_xs.hpp"
#include "jig/quant/iq2_xxs.hpp"
#include "jig/quant/iq3_s.hpp"
#include "jig/quant/iq3_xxs.hpp"
#include "jig/quant/iq4_nl.hpp"
#include "jig/quant/iq4_xs.hpp"
#include "jig/quant/mxfp4.hpp"
#include "jig/quant/nvfp4.hpp"
#include "jig/quant/q1_0.hpp"
#include "jig/quant/q2_0.hpp"
#include "jig/quant/q2_k.hpp"
#include "jig/quant/q3_k.hpp"
#include "jig/quant/q4_0.hpp"
#include "jig/quant/q4_1.hpp"
#include "jig/quant/q4_k.hpp"
#include "jig/quant/q5_0.hpp"
#include "jig/quant/q5_1.hpp"
#include "jig/quant/q5_k.hpp"
#include "jig/quant/q6_k.hpp"
#include "jig/quant/q8_0.hpp"
#include "jig/quant/q8_1.hpp"
#include "jig/quant/q8_k.hpp"
#include "jig/quant/tq1_0.hpp"
#include "jig/quant/tq2_0.hpp"
#include "jig/quant/type_info.hpp"

namespace jig {

/// Every type that weights come in.
struct all_quants : quants<  //
    f32,
    f16_block,
    bf16_block,
    q4_0,
    q4_1,
    q5_0,
    q5_1,
    q8_0,
    q1_0,
    q2_0,
    q2_k,
    q3_k,
    q4_k,
    q5_k,
    q6_k,
    iq1_s,
    iq1_m,
    iq2_xxs,
    iq2_xs,
    iq2_s,
    iq3_xxs,
    iq3_s,
    iq4_nl,
    iq4_xs,
    tq1_0,
    tq2_0,
    mxfp4,
    nvfp4> {};

/// The types to which only activations are encoded.
using activation_quants = type_list<q8_1, q8_k>;

}  // namespace jig
