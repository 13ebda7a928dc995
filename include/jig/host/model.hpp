#pragma once
// A model loaded from disk: the mapped file, its hyperparameters, weights, vocabulary and threads.
//
// What a program is built with is a type, `jig::model<archs, quants, backend>`; which of its architectures a file
// has is found out here, once. Everything below runs the same templates as firmware does.
//
//   using model = jig::model<jig::arch::llama>;
//   auto m = jig::host::try_load<model>("tiny.gguf");      // result; host::load throws instead

#include <functional>
#include <memory>

#include "jig/arch/all.hpp"
#include "jig/arch/headers.hpp"
#include "jig/arch/load.hpp"
#include "jig/gguf/data_order.hpp"
#include "jig/gguf/sha256.hpp"
#include "jig/host/detail/pack_weights.hpp"
#include "jig/host/model_file.hpp"
#include "jig/host/pool.hpp"
#include "jig/host/session_memory.hpp"
#include "jig/host/vocab.hpp"
#include "jig/model.hpp"
#include "jig/session/session.hpp"

namespace jig::host {

/// How to load. `progress(done, total)` is called with bytes of weights while they are brought into memory; when it
/// returns false loading ends with errc::cancelled.
struct load_options {
  u32 threads = 0;  ///< 0: as many as the machine has cores for this process
  map_mode mode = map_mode::automatic;
  bool touch = true;  ///< read all weights in now, not at first use
  /// Lay the matrices out for fast products, in memory of their own: they load more slowly, and processes do not share
  /// them. Otherwise they stay in the mapped file as they are.
  bool repack = true;
  std::function<bool(u64 done, u64 total)> progress = {};
};

namespace detail {

/// "llama, qwen2".
inline std::string names_of(std::span<const arch_info> infos) {
  std::string all;
  for (const arch_info& info : infos) (all += all.empty() ? "" : ", ") += info.name;
  return all;
}

/// The architecture of a file among those of a program.
/// Errors: missing_key, unknown_architecture (the file's; the header that adds it, if there is one; and those that this
/// program has).
inline result<const arch_info*> find_architecture(std::span<const arch_info> infos, const gguf::file_set& file) {
  JIG_TRY(const std::string_view name, file.get<std::string_view>("general.architecture"));
  if (const arch_info* info = find_arch(infos, name)) return info;
  const std::string_view header = header_of(name);
  const std::string hint = header.empty() ? "" : "jig/arch/" + std::string(header) + ".hpp adds it; ";
  return fail(errc::unknown_architecture, std::string(name) + " (" + hint + "built in: " + names_of(infos) + ")");
}

}  // namespace detail

/// A loaded model of the configuration Model. Move-only; sessions refer to it and must end before it.
template <class Model>
class loaded {
 public:
  using configuration = Model;
  using kernels = typename Model::kernels;

  /// A model file, or a split one by any of its parts. Errors: those of open_model_file, read_hparams, bind and
  /// load_vocab; unknown_architecture (the file's architecture and those that this program has).
  static result<loaded> open(const std::string& path, const load_options& options = {}) {
    JIG_TRY(model_file file, open_model_file(path, options.mode));
    return open(std::move(file), options);
  }
  /// A model that lies in memory; the bytes must outlive it. Errors as for a file.
  static result<loaded> open(std::span<const u8> bytes, const load_options& options = {}) {
    JIG_TRY(model_file file, open_model_bytes(bytes));
    return open(std::move(file), options);
  }
  static result<loaded> open(model_file file, const load_options& options);

  /// Checks the file as far as its header goes: for plan(), hp() and architecture(), not for sessions. No weight is
  /// read, no thread is started, and there is no vocabulary. repack: as load_options::repack; such matrices are known
  /// by their types then.
  static result<loaded> open_header(model_file file, bool repack = true);

  gguf::file_set file() const noexcept { return file_.set(); }
  const host::vocab& vocabulary() const noexcept { return vocab_; }
  parallel threads() const noexcept { return pool_->handle(); }
  std::string_view architecture() const noexcept { return info_->name; }
  const hparams& hp() const noexcept { return hp_; }
  u64 slot_bytes() const noexcept { return slots_.size() * sizeof(weight); }
  /// Bytes of packed matrices, and of the file's that they replace.
  u64 packed_bytes() const noexcept { return packed_bytes_; }
  u64 packed_source_bytes() const noexcept { return packed_source_bytes_; }
  /// Whether these kernels can compute with the weights as they are.
  bool accepts(const kernels& k) const noexcept {
    if constexpr (detail::packing_kernels<kernels>) return packed_bytes_ == 0 || k.packs();
    else return true;
  }
  /// A number by which saved sequences know their model: made of the architecture, and of every tensor's name, type,
  /// shape and first and last bytes.
  u64 fingerprint() const {
    sha256 hash;
    const auto text = [&](std::string_view s) { hash.update({reinterpret_cast<const u8*>(s.data()), s.size()}); };
    text(info_->name);
    for (const gguf::tensor_info& t : file().tensors()) {
      text(t.name);
      for (u64 n : t.ne) text({reinterpret_cast<const char*>(&n), sizeof n});
      text({reinterpret_cast<const char*>(&t.type), sizeof t.type});
      const usize some = std::min<usize>(64, t.data.size());
      hash.update(t.data.first(some));
      hash.update(t.data.last(some));
    }
    const auto digest = hash.digest();
    u64 out = 0;
    std::memcpy(&out, digest.data(), sizeof out);
    return out;
  }

  /// Where a page of this memory has what.
  std::vector<kv_part> kv_parts(const kv_memory& memory) const {
    std::vector<kv_part> parts;
    visit([&](const auto& m) { each_kv_part(m, memory, [&](const kv_part& p) { parts.push_back(p); }); });
    return parts;
  }

  /// What a session takes. Errors: see plan_session_memory.
  result<session_memory> plan(const session_options& options, u32 threads) const noexcept;
  /// One batch of a session of this model; see session::decode.
  result<mat> decode(session& s, kernels& k, std::span<const batch_item> items) const noexcept;
  /// Whether a full sequence can make room, see session::shift.
  bool shifts() const noexcept {
    return visit([]<class M>(const M&) { return can_shift<M>; });
  }
  result<void> shift(session& s, kernels& k, u32 sequence, u32 keep, u32 discard) const noexcept;
  /// Whether the model is an encoder and a decoder: prompts are then sources, see session::encode.
  bool encodes_source() const noexcept {
    return visit([]<class M>(const M&) { return reads_source<M>; });
  }
  /// The sources of sequences of this model; see session::encode.
  result<void> encode(session& s, kernels& k, std::span<const batch_item> items) const noexcept;

  /// Calls f with the bound_model of the file's architecture.
  template <usize I = 0, class F>
  decltype(auto) visit(F&& f) const {
    if constexpr (I + 1 < Model::archs::size)
      if (info_ != &infos[I]) return visit<I + 1>(std::forward<F>(f));
    return std::forward<F>(f)(bound_model<type_at<I, typename Model::archs>>(hp_, slots_));
  }

 private:
  static constexpr auto& infos = arch_infos<typename Model::archs>;

  result<void> bind(model_file file);
  result<void> turn_byte_order();
  result<void> bring_in(const load_options& options);
  /// What shall be packed on the kernels of this machine; nothing where there are none, which a session reports.
  std::vector<detail::packing> packings();

  model_file file_;
  const arch_info* info_ = nullptr;
  hparams hp_;
  std::vector<weight> slots_;
  std::vector<std::vector<u8>> turned_;
  aligned_bytes packed_;
  u64 packed_bytes_ = 0, packed_source_bytes_ = 0;
  host::vocab vocab_;
  std::unique_ptr<pool> pool_;
};

// Defined here and not in the class, so that they are not inline: jig::compiled then spares programs their compilation.

template <class Model>
result<void> loaded<Model>::bind(model_file opened) {
  file_ = std::move(opened);
  JIG_TRY(info_, detail::find_architecture(infos, file()));
  JIG_TRY(hp_, read_hparams(*info_, file()));
  slots_.resize(info_->slots().count(hp_));
  return bind_weights(*info_, type_bits(typename Model::quants{}), file(), hp_, slots_);
}

template <class Model>
std::vector<detail::packing> loaded<Model>::packings() {
  std::vector<detail::packing> list;
  if constexpr (detail::packing_kernels<kernels>) {
    const auto k = Model::make_kernels();
    if (k && k->packs() && usable_in_place(file())) list = detail::plan_packing<kernels>(*info_, hp_, slots_);
  }
  for (const detail::packing& p : list) packed_bytes_ += p.bytes, packed_source_bytes_ += p.source.size();
  return list;
}

template <class Model>
result<loaded<Model>> loaded<Model>::open_header(model_file opened, bool repack) {
  loaded m;
  JIG_CHECK(m.bind(std::move(opened)));
  if constexpr (detail::packing_kernels<kernels>)
    if (repack)
      for (const detail::packing& p : m.packings()) p.slot->type = kernels::packed_type(p.slot->type);
  return m;
}

template <class Model>
result<loaded<Model>> loaded<Model>::open(model_file opened, const load_options& options) {
  loaded m;
  JIG_CHECK(m.bind(std::move(opened)));
  if (!usable_in_place(m.file())) JIG_CHECK(m.turn_byte_order());
  JIG_TRY(m.vocab_, host::vocab::load(m.file()));
  m.pool_ = std::make_unique<pool>(pool_options{.threads = options.threads});
  JIG_CHECK(m.bring_in(options));
  return m;
}

/// Packs what shall be packed and reads in the rest.
template <class Model>
result<void> loaded<Model>::bring_in(const load_options& options) {
  u64 total = 0;
  for (const gguf::tensor_info& t : file().tensors()) total += t.bytes;
  detail::load_progress progress(options.progress, total);
  std::vector<detail::packing> list;
  if (options.repack) list = packings();
  if constexpr (detail::packing_kernels<kernels>)
    if (!list.empty()) {
      JIG_TRY(const auto k, Model::make_kernels());
      JIG_TRY(packed_, detail::pack_weights(k, list, file_, threads(), progress));
    }
  if (!options.touch) return {};
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.source.data() < b.source.data(); });
  for (const gguf::tensor_info& t : file().tensors()) {
    const auto before = [](const detail::packing& p, const u8* data) { return p.source.data() < data; };
    const auto at = std::lower_bound(list.begin(), list.end(), t.data.data(), before);
    if (at == list.end() || at->source.data() != t.data.data()) JIG_CHECK(detail::touch(t.data, progress));
  }
  return {};
}

/// Copies every tensor and turns the copy: blocks to little-endian, numbers that are read as f32 to the host's order.
template <class Model>
result<void> loaded<Model>::turn_byte_order() {
  const bool big_file = file().order() == gguf::byte_order::big;
  return for_each_tensor(*info_, hp_, [&](const expected_tensor& e) -> result<void> {
    weight& w = slots_[e.slot];
    if (!w) return {};
    JIG_TRY(const u64 row, row_bytes(w.type, w.cols));
    std::vector<u8>& copy = turned_.emplace_back(w.data, w.data + row * w.rows * w.count);
    if (big_file != (e.is_f32 && std::endian::native == std::endian::big))
      JIG_CHECK(gguf::swap_byte_order(w.type, copy));
    w.data = copy.data();
    return {};
  });
}

template <class Model>
result<session_memory> loaded<Model>::plan(const session_options& options, u32 threads) const noexcept {
  return visit([&](const auto& m) { return plan_session_memory<kernels>(m, options, threads); });
}

template <class Model>
result<mat> loaded<Model>::decode(session& s, kernels& k, std::span<const batch_item> items) const noexcept {
  return visit([&](const auto& m) { return s.decode(k, m, items, threads()); });
}

template <class Model>
result<void> loaded<Model>::shift(session& s, kernels& k, u32 sequence, u32 keep, u32 discard) const noexcept {
  return visit([&](const auto& m) { return s.shift(k, m, sequence, keep, discard, threads()); });
}

template <class Model>
result<void> loaded<Model>::encode(session& s, kernels& k, std::span<const batch_item> items) const noexcept {
  return visit([&](const auto& m) { return s.encode(k, m, items, threads()); });
}

/// Loads a model file (or a split one, by any of its parts), or a model in memory. See loaded::open for the errors.
template <class Model>
result<loaded<Model>> try_load(const std::string& path, const load_options& options = {}) {
  return loaded<Model>::open(path, options);
}
template <class Model>
result<loaded<Model>> try_load(std::span<const u8> bytes, const load_options& options = {}) {
  return loaded<Model>::open(bytes, options);
}

}  // namespace jig::host
