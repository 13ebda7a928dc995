#pragma once
// A model file in other block types: which types is a mix's matter (mix.hpp); the tensors are encoded one after the
// other while the file is written, so that memory stays small whatever the model's size.
//
//   JIG_TRY(quantization q, quantization::plan(file.set(), {.mix = mix::q4_k_m}));
//   JIG_TRY(gguf::writer w, q.writer(threads));     // w.write(sink)

#include <functional>
#include <string>
#include <vector>

#include "jig/gguf/file_set.hpp"
#include "jig/gguf/writer.hpp"
#include "jig/host/importance.hpp"
#include "jig/host/mix.hpp"
#include "jig/ops/parallel.hpp"
#include "jig/quant/search/rows.hpp"

namespace jig::host {

/// What happens to one tensor.
struct quantized_tensor {
  gguf::tensor_info from;
  u32 type = 0;
  u64 bytes = 0;  ///< in the new type
};

struct quantize_options {
  mix_request request = {};
  const importance_matrix* importance = nullptr;
  bool from_quantised = false;  ///< accept sources that were quantised before
};

/// A planned quantisation. Refers to the file, which must outlive it.
class quantization {
 public:
  /// Errors: partial_block (see assign_types), not_supported (a type that cannot be encoded, by the tensor's name; a
  /// source that was quantised before), missing_tensor (the importance matrix lacks a tensor that needs it, or there is
  /// none), missing_key.
  static result<quantization> plan(const gguf::file_set& file, const quantize_options& o) {
    quantization q(file, o);
    JIG_TRY(const std::string_view architecture, file.get<std::string_view>("general.architecture"));
    const std::string prefix = std::string(architecture) + ".";
    mix_facts facts{architecture};
    facts.n_layer = q.number(prefix + "block_count");
    facts.n_head = q.number(prefix + "attention.head_count");
    facts.n_head_kv = file.has(prefix + "attention.head_count_kv") ? q.number(prefix + "attention.head_count_kv")
                                                                   : facts.n_head;
    facts.n_expert = q.number(prefix + "expert_count");
    std::vector<mix_tensor> tensors;
    for (const gguf::tensor_info& t : file.tensors())
      tensors.push_back({t.name, {t.ne[0], t.ne[1], t.ne[2], t.ne[3]}, t.type});
    mix_request request = o.request;
    request.importance = o.importance != nullptr;
    JIG_TRY(const std::vector<u32> types, assign_types(request, facts, tensors));
    auto type = types.begin();
    for (const gguf::tensor_info& t : file.tensors()) JIG_CHECK(q.add(t, *type++));
    return q;
  }

  const std::vector<quantized_tensor>& tensors() const noexcept { return tensors_; }

  /// The new file; its data are made while it is written, for which this plan must still be there.
  /// `progress(done, total)`: bytes of the source; false cancels. Errors: those of gguf::writer; cancelled while it is
  /// written.
  result<gguf::writer> writer(const parallel& threads,
                              const std::function<bool(u64 done, u64 total)>& progress = {}) const {
    gguf::writer out;
    for (const gguf::value& key : file_.keys())
      if (!key.key().starts_with("split.")) out.set(gguf::copy(key));
    out.set("general.quantization_version", u32{2});
    out.set("general.file_type", info_of(options_.request.mix).file_type);
    u64 total = 0, before = 0;
    for (const quantized_tensor& t : tensors_) total += t.from.bytes;
    for (const quantized_tensor& t : tensors_) {
      const auto report = [progress, before, total, &t](u64 rows) {
        return !progress || progress(before + rows * (t.from.bytes / t.from.rows()), total);
      };
      JIG_CHECK(out.add_tensor(t.from.name, std::span<const u64>(t.from.ne, t.from.n_dims), t.type,
                               [this, &t, threads, report](const gguf::byte_sink& sink) {
                                 return encode(t, threads, sink, report);
                               }));
      before += t.from.bytes;
    }
    return out;
  }

 private:
  quantization(const gguf::file_set& file, const quantize_options& o) : file_(file), options_(o) {}

  /// A whole number, or the first of a list; 0 if there is none.
  u32 number(const std::string& key) const {
    if (const auto n = file_.get<u32>(key)) return *n;
    const auto list = file_.find(key);
    if (!list || !list->is_array() || list->count() == 0) return 0;
    const auto first = list->element<u32>(0);
    return first ? *first : 0;
  }

  result<void> add(const gguf::tensor_info& t, u32 type) {
    JIG_TRY(const u64 row, row_bytes(type, t.ne[0]));
    if (type != t.type) {
      const block_info* const from = find_block_info(t.type);
      if (from->size > 1 && !options_.from_quantised)
        return fail(errc::not_supported, std::string("quantised before: ") + std::string(t.name)).got(t.type);
      if (!search::can_encode(type))
        return fail(errc::not_supported,
                    "encoder of " + std::string(find_block_info(type)->name) + ", for " + std::string(t.name));
      if (needs_importance(options_.request.mix, t.name, type) && weights_of(t, 0) == nullptr)
        return fail(errc::missing_tensor, "importance of " + std::string(t.name));
    }
    tensors_.push_back({t, type, row * t.rows()});
    return {};
  }

  const f32* weights_of(const gguf::tensor_info& t, u64 matrix) const noexcept {
    return options_.importance != nullptr ? options_.importance->find(t.name, t.ne[0], matrix) : nullptr;
  }

  /// Some rows at a time, shared out over the threads.
  template <class Report>
  result<void> encode(const quantized_tensor& t, const parallel& threads, const gguf::byte_sink& sink,
                      const Report& report) const {
    constexpr u64 values_at_once = u64{1} << 20;
    const u64 rows = t.from.rows(), columns = t.from.ne[0], source_row = t.from.bytes / rows, row = t.bytes / rows;
    const u64 step = std::max<u64>(1, values_at_once / columns);
    std::vector<u8> out;
    for (u64 first = 0; first < rows; first += step) {
      const u64 some = std::min(step, rows - first);
      std::span<const u8> source = t.from.data.subspan(static_cast<usize>(first * source_row),
                                                       static_cast<usize>(some * source_row));
      std::vector<u8> turned;
      if (t.from.order != gguf::byte_order::little) {
        turned.assign(source.begin(), source.end());
        JIG_CHECK(gguf::swap_byte_order(t.from.type, turned));
        source = turned;
      }
      if (t.type == t.from.type) {
        JIG_CHECK(sink(source));
      } else {
        out.resize(static_cast<usize>(some * row));
        threads.for_rows(some, 1, [&](u64 begin, u64 end) {
          std::vector<f32> x(static_cast<usize>(columns));
          for (u64 r = begin; r < end; ++r) {
            static_cast<void>(decode_row<all_quants>(
                t.from.type, source.subspan(static_cast<usize>(r * source_row), static_cast<usize>(source_row)), x));
            static_cast<void>(search::encode_row(
                t.type, x, weights_of(t.from, (first + r) / t.from.ne[1]),
                std::span(out).subspan(static_cast<usize>(r * row), static_cast<usize>(row))));
          }
        });
        JIG_CHECK(sink(out));
      }
      if (!report(first + some)) return fail(errc::cancelled, "quantising");
    }
    return {};
  }

  gguf::file_set file_;
  quantize_options options_;
  std::vector<quantized_tensor> tensors_;
};

}  // namespace jig::host
