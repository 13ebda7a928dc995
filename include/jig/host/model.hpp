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
#include <variant>

#include "jig/arch/all.hpp"
#include "jig/arch/load.hpp"
#include "jig/gguf/data_order.hpp"
#include "jig/host/model_file.hpp"
#include "jig/host/pool.hpp"
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
  std::function<bool(u64 done, u64 total)> progress = {};
};

namespace detail {

template <class List>
struct bound_variant;
template <class... Archs>
struct bound_variant<type_list<Archs...>> {
  using type = std::variant<std::monostate, bound_model<Archs>...>;
};

/// The names of a list of architectures, for errors: "llama, qwen2".
template <class... Archs>
std::string names_of(type_list<Archs...>) {
  std::string all;
  ((all += all.empty() ? "" : ", ", all += Archs::name), ...);
  return all;
}

/// Calls f(type_tag<Arch>) -> result<void> for the architecture of a file.
/// Errors: those of f, missing_key, unknown_architecture (the file's, and those that this program has).
template <class Archs, class F>
result<void> visit_architecture(const gguf::file_set& file, F&& f) {
  JIG_TRY(const std::string_view name, file.get<std::string_view>("general.architecture"));
  result<void> outcome =
      fail(errc::unknown_architecture, std::string(name) + " (built in: " + names_of(Archs{}) + ")");
  for_each_type(Archs{}, [&]<class Arch>(type_tag<Arch> tag) {
    if (Arch::name == name) outcome = f(tag);
  });
  return outcome;
}

/// Brings the pages of all tensors into memory.
inline result<void> touch_weights(const gguf::file_set& file, const load_options& options) {
  constexpr usize page = 4096, step = usize{1} << 22;
  u64 total = 0, done = 0;
  for (const gguf::tensor_info& t : file.tensors()) total += t.bytes;
  for (const gguf::tensor_info& t : file.tensors()) {
    for (usize at = 0; at < t.data.size(); at += step) {
      const usize end = std::min(t.data.size(), at + step);
      const volatile u8* bytes = t.data.data();
      for (usize i = at; i < end; i += page) static_cast<void>(bytes[i]);
      done += end - at;
      if (options.progress && !options.progress(done, total)) return fail(errc::cancelled, "loading");
    }
  }
  return {};
}

}  // namespace detail

/// A loaded model of the configuration Model. Move-only; sessions refer to it and must end before it.
template <class Model>
class loaded {
 public:
  using configuration = Model;
  using kernels = typename Model::kernels;

  /// Errors: those of open_model_file, read_hparams, bind and load_vocab; unknown_architecture (the file's
  /// architecture and those that this program has).
  static result<loaded> open(const std::string& path, const load_options& options = {});

  gguf::file_set file() const noexcept { return file_.set(); }
  const host::vocab& vocabulary() const noexcept { return vocab_; }
  parallel threads() const noexcept { return pool_->handle(); }
  std::string_view architecture() const noexcept;
  const hparams& hp() const noexcept;

  /// Calls f with the bound_model of the file's architecture. (Not std::visit, which may throw: open() never returns a
  /// model that is not bound.)
  template <usize I = 1, class F>
  decltype(auto) visit(F&& f) const {
    const auto* m = std::get_if<I>(&bound_);
    if constexpr (I + 1 < std::variant_size_v<decltype(bound_)>)
      if (m == nullptr) return visit<I + 1>(std::forward<F>(f));
    return std::forward<F>(f)(*m);
  }

 private:
  result<void> bind_weights();

  template <class Arch>
  result<void> bind_as(const gguf::file_set& file) {
    JIG_TRY(const hparams hp, read_hparams<Arch>(file));
    slots_.resize(slot_map<Arch>::count(hp));
    JIG_TRY(bound_, (bind<Arch, typename Model::quants>(file, hp, slots_)));
    return usable_in_place(file) ? result<void>() : turn_byte_order(file.order());
  }

  /// Copies every tensor and turns the copy: to little-endian blocks, and f32 vectors to the host's order.
  result<void> turn_byte_order(gguf::byte_order order) {
    for (weight& w : slots_) {
      if (!w) continue;
      JIG_TRY(const u64 row, row_bytes(w.type, w.cols));
      turned_.emplace_back(w.data, w.data + row * w.rows * w.count);
      if (order == gguf::byte_order::big) JIG_CHECK(gguf::swap_byte_order(w.type, turned_.back()));
      const bool is_vector = w.type == f32_block::id && w.rows == 1;
      if (is_vector && std::endian::native == std::endian::big)
        JIG_CHECK(gguf::swap_byte_order(w.type, turned_.back()));
      w.data = turned_.back().data();
    }
    return {};
  }

  model_file file_;
  std::vector<weight> slots_;
  std::vector<std::vector<u8>> turned_;
  typename detail::bound_variant<typename Model::archs>::type bound_;
  host::vocab vocab_;
  std::unique_ptr<pool> pool_;
};

// Defined here and not in the class, so that they are not inline: jig::compiled then spares programs their compilation.

template <class Model>
result<loaded<Model>> loaded<Model>::open(const std::string& path, const load_options& options) {
  loaded m;
  JIG_TRY(m.file_, open_model_file(path, options.mode));
  JIG_CHECK(m.bind_weights());
  JIG_TRY(m.vocab_, host::vocab::load(m.file_.set()));
  if (options.touch) JIG_CHECK(detail::touch_weights(m.file_.set(), options));
  m.pool_ = std::make_unique<pool>(pool_options{.threads = options.threads});
  return m;
}

template <class Model>
std::string_view loaded<Model>::architecture() const noexcept {
  return visit([](const auto& m) { return std::remove_cvref_t<decltype(m)>::architecture::name; });
}

template <class Model>
const hparams& loaded<Model>::hp() const noexcept {
  return visit([](const auto& m) -> const hparams& { return m.hp(); });
}

template <class Model>
result<void> loaded<Model>::bind_weights() {
  const gguf::file_set file = file_.set();
  return detail::visit_architecture<typename Model::archs>(
      file, [&]<class Arch>(type_tag<Arch>) { return bind_as<Arch>(file); });
}

/// Loads a model file (or a split one, by any of its parts). See loaded::open for the errors.
template <class Model>
result<loaded<Model>> try_load(const std::string& path, const load_options& options = {}) {
  return loaded<Model>::open(path, options);
}

}  // namespace jig::host
