#pragma once
// Errors as values: `result<T>` is either a T or an `error` that says what was wrong and where.
//
// Nothing in jig throws, aborts or prints on bad input; the throwing convenience lives in host/.
// An error carries a code, the name of the thing at fault (a key, tensor, option, file), the value that was
// found and the byte position, as far as each is known. Names are copied (and cut) into the error, so it
// stays valid after the file is gone, and no heap is needed.

#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "jig/core/errc.hpp"
#include "jig/core/types.hpp"

namespace jig {

/// What was wrong and where. Built fluently: `fail(errc::bad_value, "llama.block_count").got(0).at(96)`.
struct [[nodiscard]] error {
  static constexpr u64 unknown = ~u64{0};
  static constexpr usize max_name = 95;  ///< longer names are cut, the cut is marked with '~'

  errc code = errc::ok;
  u64 value = unknown;     ///< the offending value, `unknown` if there is none
  u64 position = unknown;  ///< byte offset in the input, `unknown` if there is none
  char name_[max_name + 1] = {};

  constexpr std::string_view name() const noexcept { return {name_, std::char_traits<char>::length(name_)}; }
  constexpr error& got(u64 v) noexcept { value = v; return *this; }
  constexpr error& at(u64 p) noexcept { position = p; return *this; }
};

/// An error with a code and the name of the thing at fault. (Out of line: programs call it at some hundred places.)
[[gnu::noinline, gnu::cold]] constexpr error fail(errc code, std::string_view name = {}) noexcept {
  error e;
  e.code = code;
  const usize n = name.size() < error::max_name ? name.size() : error::max_name;
  for (usize i = 0; i < n; ++i) e.name_[i] = name[i] ? name[i] : '?';
  if (name.size() > n) e.name_[n - 1] = '~';
  return e;
}

/// A T or an error. Test with `if (r)`, take the value with `*r`; `r.error()` only when the test failed.
template <class T>
class [[nodiscard]] result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<T, jig::error>);

 public:
  using value_type = T;

  constexpr result(T v) noexcept : value_(std::move(v)), ok_(true) {}
#if defined(__GNUC__) && !defined(__clang__)  // GCC 12 at -O3 loses sight of an inlined error's initialisation
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
  constexpr result(const error& e) noexcept : error_(e), ok_(false) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  constexpr result(const result&) noexcept requires std::is_trivially_copyable_v<T> = default;
  constexpr result& operator=(const result&) noexcept requires std::is_trivially_copyable_v<T> = default;

  result(result&& o) noexcept requires(!std::is_trivially_copyable_v<T>) : ok_(o.ok_) {
    if (ok_) ::new (static_cast<void*>(&value_)) T(std::move(o.value_));
    else ::new (static_cast<void*>(&error_)) jig::error(o.error_);
  }
  result& operator=(result&& o) noexcept requires(!std::is_trivially_copyable_v<T>) {
    if (this != &o) {
      this->~result();
      ::new (static_cast<void*>(this)) result(std::move(o));
    }
    return *this;
  }
  constexpr ~result() requires std::is_trivially_destructible_v<T> = default;
  constexpr ~result() { if (ok_) value_.~T(); }

  constexpr explicit operator bool() const noexcept { return ok_; }
  constexpr T& operator*() & noexcept { return value_; }
  constexpr const T& operator*() const& noexcept { return value_; }
  constexpr T&& operator*() && noexcept { return std::move(value_); }
  constexpr T* operator->() noexcept { return &value_; }
  constexpr const T* operator->() const noexcept { return &value_; }
  constexpr const jig::error& error() const noexcept { return error_; }

 private:
  union {
    T value_;
    jig::error error_;
  };
  bool ok_;
};

/// Success, or an error.
template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;
  constexpr result() noexcept = default;
  constexpr result(const jig::error& e) noexcept : error_(e) {}
  constexpr explicit operator bool() const noexcept { return error_.code == errc::ok; }
  constexpr void operator*() const noexcept {}
  constexpr const jig::error& error() const noexcept { return error_; }

 private:
  jig::error error_ {};
};

}  // namespace jig

#define JIG_CAT2_(a, b) a##b
#define JIG_CAT_(a, b) JIG_CAT2_(a, b)

/// `JIG_TRY(const u32 v, r.read_u32());` declares v, or returns the error from the enclosing function.
#define JIG_TRY(decl, ...)                                   \
  auto JIG_CAT_(jig_try_, __LINE__) = (__VA_ARGS__);         \
  if (!JIG_CAT_(jig_try_, __LINE__)) return JIG_CAT_(jig_try_, __LINE__).error(); \
  decl = *std::move(JIG_CAT_(jig_try_, __LINE__))

/// `JIG_CHECK(r.skip(n));` returns the error of a result<void> from the enclosing function.
#define JIG_CHECK(...)                                       \
  do {                                                       \
    if (auto jig_check_ = (__VA_ARGS__); !jig_check_) return jig_check_.error(); \
  } while (0)
