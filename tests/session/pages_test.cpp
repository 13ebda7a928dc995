// session/pages.hpp: page lists by hand, errors, and random operations against a naive model.
#include "jig/session/pages.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

using namespace jig;

namespace {
constexpr auto no_copy = [](u32, u32) {};
}

TEST_CASE("pages: tokens fill pages one after the other, and truncation gives whole pages back") {
  std::vector<u32> memory(page_index::words({2, 4, 8, 32}));
  page_index p = *page_index::make({2, 4, 8, 32}, memory);
  REQUIRE(p.extend(0, 8, no_copy));
  CHECK(p.free_pages() == 3);
  REQUIRE(p.extend(0, 1, no_copy));
  CHECK(p.free_pages() == 2);
  CHECK(p.view(0).length == 9);
  CHECK(p.view(0).pages[0] != p.view(0).pages[1]);
  REQUIRE(p.truncate(0, 8));
  CHECK(p.free_pages() == 3);
  REQUIRE(p.truncate(0, 0));
  CHECK(p.free_pages() == 4);
}

TEST_CASE("pages: a fork shares pages until one side writes; the partly filled last page is copied, once") {
  std::vector<u32> memory(page_index::words({2, 4, 8, 32}));
  page_index p = *page_index::make({2, 4, 8, 32}, memory);
  REQUIRE(p.extend(0, 12, no_copy));
  REQUIRE(p.fork(0, 1));
  CHECK(p.free_pages() == 2);
  CHECK(p.view(1).pages[1] == p.view(0).pages[1]);
  std::vector<std::pair<u32, u32>> copies;
  const u32 shared = p.view(0).pages[1];
  REQUIRE(p.extend(1, 1, [&](u32 to, u32 from) { copies.emplace_back(to, from); }));
  REQUIRE(copies.size() == 1);
  CHECK(copies[0] == std::pair{p.view(1).pages[1], shared});
  CHECK(p.view(0).pages[1] == shared);
  CHECK(p.view(0).pages[0] == p.view(1).pages[0]);
  REQUIRE(p.extend(0, 1, [](u32, u32) { FAIL("the original owns its page again"); }));
}

TEST_CASE("pages: a source is shared by forks and forgotten as a whole") {
  std::vector<u32> memory(page_index::words({2, 8, 8, 32}));
  page_index p = *page_index::make({2, 8, 8, 32}, memory);
  REQUIRE(p.extend(0, 10, no_copy));
  p.set_source(0, 10);
  REQUIRE(p.extend(0, 3, no_copy));
  REQUIRE(p.fork(0, 1));
  CHECK((p.view(1).source == 10 && p.view(1).length == 13));
  CHECK(p.truncate(0, 9).error().code == errc::bad_argument);
  CHECK((p.length(0) == 13 && p.source(0) == 10));
  REQUIRE(p.truncate(0, 10));
  CHECK(p.source(0) == 10);
  REQUIRE(p.truncate(0, 0));
  CHECK((p.source(0) == 0 && p.source(1) == 10));
}

TEST_CASE("pages: what lies before a cell is given back, once nobody shares it") {
  std::vector<u32> memory(page_index::words({2, 8, 8, 64}));
  page_index p = *page_index::make({2, 8, 8, 64}, memory);
  REQUIRE(p.extend(0, 30, no_copy));
  p.drop_before(0, 7);
  CHECK((p.free_pages() == 4 && p.first(0) == 7));
  REQUIRE(p.fork(0, 1));
  p.drop_before(0, 17);
  CHECK((p.free_pages() == 4 && p.first(0) == 17 && p.first(1) == 7));
  CHECK((p.view(0).pages[1] == page_index::none && p.view(1).pages[1] != page_index::none));
  p.drop_before(0, 3);  // already gone
  CHECK(p.first(0) == 17);
  p.drop_before(1, 16);
  CHECK(p.free_pages() == 6);
  std::vector<std::pair<u32, u32>> copies;
  REQUIRE(p.own(1, 0, [&](u32 to, u32 from) { copies.emplace_back(to, from); }));
  CHECK((copies.size() == 2 && p.free_pages() == 4));
  REQUIRE(p.truncate(0, 20));
  REQUIRE(p.truncate(0, 0));
  CHECK((p.free_pages() == 6 && p.first(0) == 0));
  REQUIRE(p.truncate(1, 0));
  CHECK(p.free_pages() == 8);
}

TEST_CASE("pages: what does not fit or exist is refused and changes nothing") {
  std::vector<u32> memory(page_index::words({3, 4, 8, 16}));
  page_index p = *page_index::make({3, 4, 8, 16}, memory);
  CHECK(p.extend(0, 17, no_copy).error().code == errc::context_full);
  CHECK(p.extend(3, 1, no_copy).error().code == errc::bad_sequence);
  REQUIRE(p.extend(0, 16, no_copy));
  REQUIRE(p.extend(1, 9, no_copy));
  CHECK(p.extend(2, 1, no_copy).error().code == errc::context_full);  // no page is free
  CHECK(p.length(2) == 0);
  CHECK(p.truncate(0, 17).error().code == errc::bad_argument);
  CHECK(p.fork(0, 1).error().code == errc::bad_sequence);  // not empty
  CHECK(p.fork(0, 0).error().code == errc::bad_sequence);
  CHECK(p.fork(0, 7).error().code == errc::bad_sequence);
  CHECK(page_index::make({1, 1, 8, 8}, std::span<u32>()).error().code == errc::buffer_too_small);
  CHECK(page_index::make({1, 1, 0, 8}, memory).error().code == errc::bad_argument);
}

TEST_CASE("pages: random operations keep every sequence's tokens, as a naive model with copies does") {
  const page_config config{5, 24, 4, 64};
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<u32> memory(page_index::words(config));
    page_index p = *page_index::make(config, memory);
    std::vector<std::vector<int>> cells(config.n_pages, std::vector<int>(config.page_tokens, -1));
    std::vector<std::vector<int>> naive(config.n_sequences);
    int next = 0;
    for (int step = 0; step < 300; ++step) {
      const u32 s = random() % config.n_sequences, other = random() % config.n_sequences;
      switch (random() % 4) {
        case 0:
        case 1: {
          const u32 n = random() % 7, before = p.length(s);
          if (!p.extend(s, n, [&](u32 to, u32 from) { cells[to] = cells[from]; })) break;
          for (u32 i = before; i < before + n; ++i) {
            naive[s].push_back(next);
            cells[p.view(s).pages[i / 4]][i % 4] = next++;
          }
          break;
        }
        case 2: {
          const u32 to = static_cast<u32>(random() % (p.length(s) + 1));
          REQUIRE(p.truncate(s, to));
          naive[s].resize(to);
          break;
        }
        default:
          if (p.fork(s, other)) naive[other] = naive[s];
      }
      u32 used = 0;
      std::map<u32, int> pages;
      for (u32 q = 0; q < config.n_sequences; ++q) {
        REQUIRE(p.length(q) == naive[q].size());
        for (u32 i = 0; i < p.length(q); ++i) {
          REQUIRE(cells[p.view(q).pages[i / 4]][i % 4] == naive[q][i]);
          pages[p.view(q).pages[i / 4]] = 1;
        }
      }
      for (const auto& page : pages) used += page.second > 0;
      REQUIRE(used + p.free_pages() == config.n_pages);
    }
  }
}
