#pragma once
// All architectures behind one interface, instantiated once (models.cpp): the tests choose kernels through a function
// table and never instantiate a forward pass themselves.

#include <memory>
#include <string>
#include <vector>

#include "jig/arch/hparams.hpp"
#include "jig/backend/cpu/table.hpp"
#include "jig/gguf/file_set.hpp"
#include "jig/session/session.hpp"

namespace models {

using namespace jig;
using kernel_set = cpu::dispatched_kernels<quants<f32>>;

/// The reference kernels, and the CPU's for the flags of this build, as tables.
const cpu::kernel_table& reference_table();
const cpu::kernel_table& cpu_table();

/// A bound model of some architecture.
struct any_bound {
  virtual ~any_bound() = default;
  virtual const hparams& hp() const = 0;
  virtual session_plan plan(const session_config& c, u32 threads) const = 0;
  virtual result<mat> decode(session& s, kernel_set& k, std::span<const batch_item> items, const parallel& p) const = 0;
};

/// Whether all_archs has this architecture.
bool knows(std::string_view architecture);

/// Reads the keys and binds the tensors of a file as its architecture asks; the error of whatever fails.
/// unknown_architecture if all_archs does not have it. The slots must outlive the model.
result<std::unique_ptr<any_bound>> bind_any(const gguf::file_set& file, std::vector<weight>& slots);

}  // namespace models
