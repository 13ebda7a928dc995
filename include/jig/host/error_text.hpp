#pragma once
// An error as text that owns itself.

#include <string>

#include "jig/core/message.hpp"

namespace jig::host {

/// The error as one line: what, which thing, the value found and where.
inline std::string to_string(const error& e) {
  char buffer[256];
  return std::string(message(e, buffer));
}

}  // namespace jig::host
