#pragma once
// Hosted: the blob of an embedded model: arrays one after the other, each known to the header by its symbol.

#include <span>
#include <string>
#include <vector>

#include "jig/core/types.hpp"

namespace jig::host::detail {

/// An array of the blob: known to the header by its symbol.
struct blob_array {
  std::string symbol, type;
  const char* section;
  usize count, offset, bytes;
};

/// Collects arrays, each aligned to 32 bytes.
class blob_builder {
 public:
  template <class T>
  void add(const std::string& symbol, const char* type, const char* section, std::span<const T> values) {
    while (bytes.size() % 32 != 0) bytes.push_back(0);
    arrays.push_back({symbol, type, section, values.size(), bytes.size(), values.size_bytes()});
    const u8* raw = reinterpret_cast<const u8*>(values.data());
    bytes.insert(bytes.end(), raw, raw + values.size_bytes());
  }
  std::vector<blob_array> arrays;
  std::vector<u8> bytes;
};

}  // namespace jig::host::detail
