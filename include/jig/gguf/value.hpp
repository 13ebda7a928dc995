#pragma once
// One metadata entry of a validated GGUF file, as a view of the file's bytes: key, type, payload.
//
// Typed access checks the type and the range and names the key in its error:
//   result<u32> n = v.as<u32>();   // any integer type of the file that fits
//   for (std::string_view token : v.strings()) ...

#include <span>
#include <string_view>
#include <type_traits>

#include "jig/gguf/cursor.hpp"

namespace jig::gguf {

/// The strings of a string array in file order; a forward range, O(1) per step.
class string_range {
 public:
  class iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(const u8* at, u64 left, byte_order order) noexcept : at_(at), left_(left), order_(order) {}
    std::string_view operator*() const noexcept { return as_text(at_ + 8, length()); }
    iterator& operator++() noexcept {
      at_ += 8 + length();
      --left_;
      return *this;
    }
    iterator operator++(int) noexcept {
      iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.left_ == b.left_; }

   private:
    usize length() const noexcept { return static_cast<usize>(load<u64>(at_, order_)); }
    const u8* at_ = nullptr;
    u64 left_ = 0;
    byte_order order_ = byte_order::little;
  };

  string_range() = default;
  string_range(const u8* first, u64 count, byte_order order) noexcept : first_(first), count_(count), order_(order) {}
  iterator begin() const noexcept { return {first_, count_, order_}; }
  iterator end() const noexcept { return {nullptr, 0, order_}; }
  u64 size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }

 private:
  const u8* first_ = nullptr;
  u64 count_ = 0;
  byte_order order_ = byte_order::little;
};

/// A metadata entry: a view, valid as long as the file's bytes are.
class value {
 public:
  value() = default;
  /// For the reader: `payload` was checked against `element` and `count` (a scalar has count 1).
  value(std::string_view key, bool array, value_type element, u64 count, std::span<const u8> payload, byte_order order,
        u64 position) noexcept
      : key_(key),
        payload_(payload),
        count_(count),
        position_(position),
        element_(element),
        array_(array),
        order_(order) {}

  std::string_view key() const noexcept { return key_; }
  /// The type as written: `array` for arrays.
  value_type type() const noexcept { return array_ ? value_type::array : element_; }
  /// The elements' type for arrays, the type itself otherwise.
  value_type element_type() const noexcept { return element_; }
  constexpr bool is_array() const noexcept { return array_; }
  /// Elements of an array; 1 for everything else.
  u64 count() const noexcept { return count_; }
  /// The payload as it lies in the file: numbers in the file's byte order; strings each with a u64 length before them.
  std::span<const u8> payload() const noexcept { return payload_; }
  byte_order order() const noexcept { return order_; }
  /// Where the payload starts in the file.
  u64 position() const noexcept { return position_; }

  /// The value as a T: bool, an integer type (from any integer type of the file, range-checked), f32 or f64 (from
  /// either), or std::string_view. Errors: wrong_key_type, bad_value (out of T's range).
  template <class T>
  result<T> as() const noexcept {
    if (array_) return fail(errc::wrong_key_type, key_).at(position_);
    return convert<T>(payload_.data(), position_);
  }

  /// Element i of an array of numbers or bools (conversions as in `as`). Strings: use strings().
  /// Errors: wrong_key_type, bad_value (out of T's range), bad_argument (no element i).
  template <class T>
  result<T> element(u64 i) const noexcept {
    static_assert(std::is_arithmetic_v<T>);
    if (!array_) return fail(errc::wrong_key_type, key_).at(position_);
    if (i >= count_) return fail(errc::bad_argument, key_).got(i).at(position_);
    const u64 offset = i * size_of(element_);
    return convert<T>(payload_.data() + offset, position_ + offset);
  }

  /// Copies the whole array into `out`, converted. Errors: as `element`; inconsistent (got: the array's length) if
  /// the lengths differ.
  template <class T>
  result<void> copy(std::span<T> out) const noexcept {
    if (!array_) return fail(errc::wrong_key_type, key_).at(position_);
    if (count_ != out.size()) return fail(errc::inconsistent, key_).got(count_).at(position_);
    for (usize i = 0; i < out.size(); ++i) { JIG_TRY(out[i], element<T>(i)); }
    return {};
  }

  /// The strings of an array of strings. Errors: wrong_key_type.
  result<string_range> strings() const noexcept {
    if (!array_ || element_ != value_type::string) return fail(errc::wrong_key_type, key_).at(position_);
    return string_range(payload_.data(), count_, order_);
  }

 private:
  template <class T>
  result<T> convert(const u8* p, u64 position) const noexcept {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (element_ == value_type::string) return as_text(p + 8, static_cast<usize>(load<u64>(p, order_)));
    } else if constexpr (std::is_same_v<T, bool>) {
      if (element_ == value_type::boolean) return *p != 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      if (element_ == value_type::f32) return static_cast<T>(std::bit_cast<f32>(load<u32>(p, order_)));
      if (element_ == value_type::f64) return to_float<T>(std::bit_cast<f64>(load<u64>(p, order_)), position);
    } else {
      static_assert(std::is_integral_v<T>);
      if (is_integer(element_)) return to_integer<T>(p, position);
    }
    return fail(errc::wrong_key_type, key_).at(position);
  }

  template <class T>
  result<T> to_float(f64 v, u64 position) const noexcept {
    constexpr f64 most = static_cast<f64>(std::numeric_limits<T>::max());
    const bool finite = v - v == 0;
    if (finite && (v > most || v < -most)) return fail(errc::bad_value, key_).at(position);
    return static_cast<T>(v);
  }

  template <class T>
  result<T> to_integer(const u8* p, u64 position) const noexcept {
    const u64 raw = raw_integer(p);
    const bool fits = is_signed(element_) ? std::in_range<T>(static_cast<i64>(raw)) : std::in_range<T>(raw);
    if (!fits) return fail(errc::bad_value, key_).got(raw).at(position);
    return static_cast<T>(raw);
  }

  /// The integer, sign-extended to 64 bits if its type is signed.
  u64 raw_integer(const u8* p) const noexcept {
    switch (element_) {
      case value_type::u8: return *p;
      case value_type::i8: return static_cast<u64>(static_cast<i64>(static_cast<i8>(*p)));
      case value_type::u16: return load<u16>(p, order_);
      case value_type::i16: return static_cast<u64>(static_cast<i64>(static_cast<i16>(load<u16>(p, order_))));
      case value_type::u32: return load<u32>(p, order_);
      case value_type::i32: return static_cast<u64>(static_cast<i64>(static_cast<i32>(load<u32>(p, order_))));
      default: return load<u64>(p, order_);
    }
  }

  std::string_view key_;
  std::span<const u8> payload_;
  u64 count_ = 0;
  u64 position_ = 0;
  value_type element_ = value_type::u8;
  bool array_ = false;
  byte_order order_ = byte_order::little;
};

}  // namespace jig::gguf
