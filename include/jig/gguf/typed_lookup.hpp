#pragma once
// Look-ups that follow from find(key) and find_tensor(name): what `file` and `file_set` have in common.

#include "jig/gguf/tensor_info.hpp"
#include "jig/gguf/value.hpp"

namespace jig::gguf {

/// Base of Self, which has `result<value> find(key)` and `result<tensor_info> find_tensor(name)`.
template <class Self>
class typed_lookup {
 public:
  bool has(std::string_view key) const noexcept { return static_cast<bool>(self().find(key)); }
  bool has_tensor(std::string_view name) const noexcept { return static_cast<bool>(self().find_tensor(name)); }

  /// find(key) as a T, see value::as. Errors: missing_key, wrong_key_type, bad_value; with the key's name.
  template <class T>
  result<T> get(std::string_view key) const noexcept {
    JIG_TRY(const value v, self().find(key));
    return v.template as<T>();
  }
  /// As get, but a missing key gives `otherwise`; a key of the wrong type still is an error.
  template <class T>
  result<T> get_or(std::string_view key, T otherwise) const noexcept {
    const auto v = self().find(key);
    return v ? v->template as<T>() : result<T>(otherwise);
  }

 private:
  friend Self;
  typed_lookup() = default;
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace jig::gguf
