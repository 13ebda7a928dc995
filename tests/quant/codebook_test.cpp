#include <sstream>

#include "quant/support.hpp"

using namespace quant_test;

namespace {

template <class Grid>
std::vector<u8> expanded() {
  std::vector<u8> out;
  for (u16 entry : Grid::entries) {
    for (usize j = 0; j < Grid::coordinates; ++j) out.push_back(static_cast<u8>(codebook::grid_value<Grid>(entry, j)));
  }
  return out;
}

/// Compares with the digest in golden.txt, which comes from the kit's codebooks.json.
template <class Grid>
void check_grid(const std::string& name, usize bytes) {
  INFO(name);
  CHECK(sizeof Grid::entries == bytes);
  for (usize i = 1; i < std::size(Grid::entries); ++i) CHECK(Grid::entries[i - 1] < Grid::entries[i]);
  std::ifstream f(data + "golden.txt");
  std::string line, key, what, hash;
  usize entries = 0;
  bool found = false;
  while (std::getline(f, line)) {
    std::istringstream in(line);
    if (!(in >> key >> what) || key != "grid" || what != name) continue;
    in >> entries >> hash;
    found = true;
    CHECK(entries == std::size(Grid::entries));
    const auto e = expanded<Grid>();
    CHECK(std::stoull(hash, nullptr, 16) == fnv(e.data(), e.size()));
  }
  CHECK(found);
}

template <class Grid>
bool even_levels(u32 level_mask) {  // the sum of (level & mask) is even in every entry
  for (u32 entry : Grid::entries) {
    u32 sum = 0;
    for (usize j = 0; j < Grid::coordinates; ++j) sum += (entry >> (Grid::bits * j)) & level_mask;
    if (sum % 2) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("codebooks: packed grids expand to the kit's") {
  check_grid<codebook::iq2_xxs_grid>("iq2_xxs_grid", 512);
  check_grid<codebook::iq2_xs_grid>("iq2_xs_grid", 1024);
  check_grid<codebook::iq2_s_grid>("iq2_s_grid", 2048);
  check_grid<codebook::iq3_xxs_grid>("iq3_xxs_grid", 512);
  check_grid<codebook::iq3_s_grid>("iq3_s_grid", 1024);
  check_grid<codebook::iq1_grid>("iq1_grid", 4096);
}

TEST_CASE("codebooks: parity rules of the grids hold") {
  CHECK(even_levels<codebook::iq2_xxs_grid>(1));
  CHECK(even_levels<codebook::iq2_xs_grid>(1));
  CHECK(even_levels<codebook::iq2_s_grid>(1));
  CHECK(even_levels<codebook::iq3_xxs_grid>(7));
  CHECK_FALSE(even_levels<codebook::iq3_s_grid>(7));
}

TEST_CASE("codebooks: sign bytes keep the index and have an even number of bits") {
  CHECK(codebook::sign7(1) == 129);
  CHECK(codebook::sign7(3) == 3);
  CHECK(codebook::sign7(127) == 255);
  for (u32 i = 0; i < 128; ++i) {
    u32 ones = 0;
    for (u32 k = 0; k < 8; ++k) ones += (codebook::sign7(i) >> k) & 1;
    CHECK((codebook::sign7(i) & 127) == i);
    CHECK(ones % 2 == 0);
  }
}
