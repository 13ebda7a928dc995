#pragma once
// Brings a model's weights into memory: matrices that products read are packed (backend/cpu/packed) where the kernels
// take that, the others stay in the mapped file and are read in.

#include <algorithm>
#include <functional>
#include <vector>

#include "jig/arch/load.hpp"
#include "jig/host/aligned.hpp"
#include "jig/host/model_file.hpp"
#include "jig/ops/parallel.hpp"

namespace jig::host::detail {

/// Kernels that take packed weights, and may be asked whether they do on this machine.
template <class K>
concept packing_kernels = requires(const K& k, const weight& w) {
  { k.packs() } -> std::convertible_to<bool>;
  k.pack(parallel{}, w, nullptr);
};

/// Tables from which rows are looked up, which no product reads. token_embd is one if there is an output matrix.
inline bool only_looked_up(std::string_view row, bool has_output) noexcept {
  return (row == t::token_embd.name && has_output) || row == t::per_layer_token_embd.name ||
         row == t::position_embd.name || row == t::token_types.name;
}

/// A weight that shall be packed.
struct packing {
  weight* slot;
  std::span<const u8> source;  ///< in the file
  u64 bytes;                   ///< of its tiles
};

/// What shall be packed for kernels of type K.
template <class K>
std::vector<packing> plan_packing(const arch_info& info, const hparams& hp, std::span<weight> slots) {
  std::vector<packing> list;
  bool has_output = false;
  const auto each = [&](auto&& f) {
    static_cast<void>(for_each_tensor(info, hp, [&](const expected_tensor& e) -> result<void> {
      if (slots[e.slot] && !e.is_f32) f(e, slots[e.slot]);
      return {};
    }));
  };
  each([&](const expected_tensor& e, const weight&) { has_output = has_output || e.row.name == t::output.name; });
  each([&](const expected_tensor& e, weight& w) {
    const u64 bytes = K::packed_bytes(w);
    const auto row = row_bytes(w.type, w.cols);
    if (bytes == 0 || !row || only_looked_up(e.row.name, has_output)) return;
    list.push_back({&w, {w.data, static_cast<usize>(*row * w.rows * w.count)}, bytes});
  });
  return list;
}

/// Reports and asks; see load_options::progress. Errors: cancelled.
class load_progress {
 public:
  load_progress(const std::function<bool(u64, u64)>& f, u64 total) : f_(f), total_(total) {}
  result<void> add(u64 bytes) {
    done_ += bytes;
    if (f_ && !f_(done_, total_)) return fail(errc::cancelled, "loading");
    return {};
  }

 private:
  const std::function<bool(u64, u64)>& f_;
  u64 total_, done_ = 0;
};

/// Packs the weights of a list into one block of memory, tensor by tensor on all threads, and lets the file's pages go
/// as they are done with, so that no more than one tensor is in memory twice.
/// Errors: out_of_memory, cancelled.
template <class K>
result<aligned_bytes> pack_weights(const K& kernels, std::span<const packing> list, const model_file& file,
                                   const parallel& threads, load_progress& progress) {
  u64 total = 0;
  for (const packing& p : list) total += p.bytes;
  if (total == 0) return aligned_bytes();
  JIG_TRY(aligned_bytes memory, aligned_bytes::make(total, "packed weights"));
  memory.prefer_huge_pages();
  u8* at = memory.bytes().data();
  for (const packing& p : list) {
    kernels.pack(threads, *p.slot, at);
    p.slot->data = at;
    p.slot->type = K::packed_type(p.slot->type);
    at += p.bytes;
    file.release(p.source);
    JIG_CHECK(progress.add(p.source.size()));
  }
  return memory;
}

/// Reads in the pages of a tensor that stays in the file.
inline result<void> touch(std::span<const u8> data, load_progress& progress) {
  constexpr usize page = 4096, step = usize{1} << 22;
  for (usize at = 0; at < data.size(); at += step) {
    const usize end = std::min(data.size(), at + step);
    const volatile u8* bytes = data.data();
    for (usize i = at; i < end; i += page) static_cast<void>(bytes[i]);
    JIG_CHECK(progress.add(end - at));
  }
  return {};
}

}  // namespace jig::host::detail
