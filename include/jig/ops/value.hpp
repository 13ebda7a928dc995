#pragma once
// What an executor gives: matrices and lists that live in its arena as long as somebody holds them.

#include <type_traits>
#include <utility>

#include "jig/core/arena.hpp"
#include "jig/ops/selection.hpp"
#include "jig/ops/tensor.hpp"

namespace jig {

/// The activations of a matrix product: as f32 and, if the kernels want it, quantised to the weights' partner type.
struct activations {
  mat x;
  u32 type = 0;  ///< type id of `prepared`
  const u8* prepared = nullptr;
};

/// A range of arena bytes, given back on destruction. Move-only.
class buffer {
 public:
  constexpr buffer() noexcept = default;
  constexpr buffer(arena_map& map, u64 offset, u8* data) noexcept : map_(&map), offset_(offset), data_(data) {}
  constexpr buffer(buffer&& o) noexcept
      : map_(std::exchange(o.map_, nullptr)), offset_(o.offset_), data_(std::exchange(o.data_, nullptr)) {}
  constexpr buffer& operator=(buffer&& o) noexcept {
    std::swap(map_, o.map_);
    std::swap(offset_, o.offset_);
    std::swap(data_, o.data_);
    return *this;
  }
  constexpr ~buffer() {
    if (map_) map_->give(offset_);
  }
  constexpr u8* data() const noexcept { return data_; }

 private:
  arena_map* map_ = nullptr;
  u64 offset_ = 0;
  u8* data_ = nullptr;
};

/// A [rows, cols] matrix of activations in the arena. Converts to the view that kernels take.
class value {
 public:
  constexpr value() noexcept = default;
  constexpr value(buffer memory, u32 rows, u32 cols) noexcept : memory_(std::move(memory)), rows_(rows), cols_(cols) {}
  constexpr u32 rows() const noexcept { return rows_; }
  constexpr u32 cols() const noexcept { return cols_; }
  constexpr operator mat() const noexcept {
    // In a constant expression (the planner) there is no memory to point to.
    if (std::is_constant_evaluated()) return {nullptr, rows_, cols_, cols_};
    return {reinterpret_cast<f32*>(memory_.data()), rows_, cols_, cols_};
  }
  constexpr mat columns(u32 from, u32 n) const noexcept { return mat(*this).columns(from, n); }
  /// The same memory for whole numbers, such as the arrays of a batch; null in plans.
  constexpr u32* numbers() const noexcept {
    return std::is_constant_evaluated() ? nullptr : reinterpret_cast<u32*>(memory_.data());
  }

 private:
  buffer memory_;
  u32 rows_ = 0, cols_ = 0;
};

/// What an indexer chose for the tokens of a batch, in the arena. Tests false if all cells are seen.
class cell_choice {
 public:
  constexpr cell_choice() noexcept = default;
  constexpr cell_choice(buffer memory, u32 lists, u32 stride, u32 block) noexcept
      : memory_(std::move(memory)), lists_(lists), stride_(stride), block_(block) {}
  constexpr explicit operator bool() const noexcept { return stride_ != 0; }
  constexpr operator chosen_blocks() const noexcept {
    if (std::is_constant_evaluated()) return {nullptr, lists_, stride_, block_};
    return {reinterpret_cast<u32*>(memory_.data()), lists_, stride_, block_};
  }

 private:
  buffer memory_;
  u32 lists_ = 0, stride_ = 0, block_ = 1;
};

}  // namespace jig
