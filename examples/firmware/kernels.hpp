#pragma once
// Which kernels the program runs on.

#include "jig/ops/reference.hpp"

template <class Quants>
using firmware_kernels = jig::reference_kernels<Quants>;
