#pragma once
// The throwing convenience: load, session and generate in three lines, errors as exceptions of type jig::host::failure.

#include <memory>
#include <stdexcept>

#include "jig/host/error_text.hpp"
#include "jig/host/generation.hpp"

namespace jig::host {

/// An error thrown. what() is its message, why() the error itself.
class failure : public std::runtime_error {
 public:
  explicit failure(const error& e) : std::runtime_error(to_string(e)), error_(e) {}
  const error& why() const noexcept { return error_; }

 private:
  error error_;
};

/// The value, or its error thrown.
template <class T>
T take(result<T>&& r) {
  if (!r) throw failure(r.error());
  return *std::move(r);
}

template <class Model>
class session_handle;

/// A loaded model; copies share it.
template <class Model>
class model_handle {
 public:
  explicit model_handle(loaded<Model>&& m) : model_(std::make_shared<const loaded<Model>>(std::move(m))) {}
  const loaded<Model>& operator*() const noexcept { return *model_; }
  const loaded<Model>* operator->() const noexcept { return model_.get(); }
  /// Throws failure: bad_argument, out_of_memory.
  session_handle<Model> session(const session_options& options = {}) const { return {model_, options}; }

 private:
  std::shared_ptr<const loaded<Model>> model_;
};

/// A session that keeps its model alive.
template <class Model>
class session_handle {
 public:
  session_handle(std::shared_ptr<const loaded<Model>> m, const session_options& options)
      : model_(std::move(m)), session_(take(text_session<Model>::make(*model_, options))) {}
  text_session<Model>& operator*() noexcept { return session_; }
  text_session<Model>* operator->() noexcept { return &session_; }
  /// A range of pieces of text; ends early on an error, which generation::failure() then tells.
  generation<Model> generate(std::string_view prompt, const sample::params& sampling = {}, u32 max_tokens = ~u32{0}) {
    return session_.generate(prompt, {.sampling = sampling, .max_tokens = max_tokens});
  }

 private:
  std::shared_ptr<const loaded<Model>> model_;
  text_session<Model> session_;
};

/// Loads a model file. Throws failure; see loaded::open for the errors.
template <class Model>
model_handle<Model> load(const std::string& path, const load_options& options = {}) {
  return model_handle<Model>(take(try_load<Model>(path, options)));
}

}  // namespace jig::host
