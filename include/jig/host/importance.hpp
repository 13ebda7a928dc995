#pragma once
// Importance matrices: how much each input column of a matrix matters, as mean squares of activations. Read from the
// GGUF form of llama-imatrix:
//
//   general.type = "imatrix"; for each matrix NAME: NAME.in_sum2 f32 [columns, matrices] and NAME.counts f32
//   [1, matrices], a sum of squares for each column and by how many rows of activations it came about
//
// Stacked experts have a row for each. One that saw no activation counts all columns alike.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "jig/host/model_file.hpp"
#include "jig/quant/all.hpp"
#include "jig/quant/rows.hpp"

namespace jig::host {

/// Weights of columns by the tensor's name.
class importance_matrix {
 public:
  /// Errors: those of open_model_file; wrong_tensor_type, wrong_shape (a tensor's name), bad_value (the file is no
  /// importance matrix, or a number in it is negative or not finite).
  static result<importance_matrix> open(const std::string& path) {
    JIG_TRY(const model_file file, open_model_file(path));
    const gguf::file_set set = file.set();
    const auto type = set.get<std::string_view>("general.type");
    if (!type || *type != "imatrix") return fail(errc::bad_value, "general.type is not imatrix");
    importance_matrix m;
    for (const gguf::tensor_info& sums : set.tensors()) {
      constexpr std::string_view ending = ".in_sum2";
      if (!sums.name.ends_with(ending)) continue;
      const std::string name(sums.name.substr(0, sums.name.size() - ending.size()));
      JIG_TRY(const gguf::tensor_info counts, set.find_tensor(name + ".counts"));
      JIG_TRY(std::vector<f32> values, numbers_of(sums));
      JIG_TRY(const std::vector<f32> n, numbers_of(counts));
      if (n.size() != sums.rows()) return fail(errc::wrong_shape, counts.name).got(n.size());
      const usize columns = static_cast<usize>(sums.ne[0]);
      for (usize i = 0; i < values.size(); ++i) {
        const f32 count = n[i / columns];
        values[i] = count > 0.0f ? values[i] / count : 1.0f;
        if (!(values[i] >= 0.0f && values[i] <= std::numeric_limits<f32>::max()))
          return fail(errc::bad_value, sums.name).got(i);
      }
      m.rows_.emplace(name, row{columns, std::move(values)});
    }
    if (m.rows_.empty()) return fail(errc::bad_value, "no tensor ends in .in_sum2");
    return m;
  }

  usize size() const noexcept { return rows_.size(); }
  /// The weights of matrix `index` of a tensor, `columns` of them; null if there are none or they are of another size.
  const f32* find(std::string_view name, u64 columns, u64 index) const noexcept {
    const auto at = rows_.find(name);
    if (at == rows_.end() || at->second.columns != columns) return nullptr;
    const u64 first = index * columns;
    return first + columns <= at->second.values.size() ? at->second.values.data() + first : nullptr;
  }

 private:
  struct row {
    usize columns;
    std::vector<f32> values;
  };
  static result<std::vector<f32>> numbers_of(const gguf::tensor_info& t) {
    if (t.type != f32_block::id) return fail(errc::wrong_tensor_type, t.name).got(t.type);
    std::vector<f32> values(static_cast<usize>(t.elements()));
    for (usize i = 0; i < values.size(); ++i)
      values[i] = std::bit_cast<f32>(gguf::load<u32>(t.data.data() + 4 * i, t.order));
    return values;
  }

  std::map<std::string, row, std::less<>> rows_;
};

}  // namespace jig::host
