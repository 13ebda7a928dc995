// Includes jig the way a user's program does and checks one answer.

#include <cstdio>

#include "jig/core/message.hpp"

int main() {
  char buffer[256];
  const auto line = jig::message(jig::fail(jig::errc::bad_value, "llama.block_count").got(0), buffer);
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  return line.starts_with("a metadata value is out of range") ? 0 : 1;
}
