// jig/host/pool.hpp: every index once, visibility, nesting, several callers, parking, crowded pools.
// cmake/check_tsan.sh runs this file under the thread sanitizer.
#include "jig/host/pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace jig;
using host::pool;
using host::pool_options;
using namespace std::chrono_literals;

namespace {

/// Runs `rounds` times and checks that every index of every run is executed once and its writes are visible.
void check_rounds(pool& p, int rounds, std::chrono::microseconds pause = 0us) {
  const parallel par = p.handle();
  std::vector<u64> hits(p.threads());  // plain memory: the sanitizer sees a missing happens-before
  u64 input = 0;
  for (int r = 1; r <= rounds; ++r) {
    input = static_cast<u64>(r);
    par.run([&](u32 index, u32 count) {
      if (count == hits.size()) hits[index] += input;
    });
    const u64 want = static_cast<u64>(r) * (static_cast<u64>(r) + 1) / 2;
    for (u64 h : hits) REQUIRE(h == want);
    if (pause > 0us) std::this_thread::sleep_for(pause);
  }
}

}  // namespace

TEST_CASE("pool: one thread runs the task on the caller") {
  pool p({.threads = 1});
  CHECK(p.threads() == 1);
  const auto me = std::this_thread::get_id();
  p.handle().run([&](u32 index, u32 count) {
    CHECK(index == 0);
    CHECK(count == 1);
    CHECK(std::this_thread::get_id() == me);
  });
}

TEST_CASE("pool: by default it has as many threads as the machine allows") {
  pool p;
  CHECK(p.threads() == host::default_threads());
}

TEST_CASE("pool: every index is executed exactly once per run, for every size and way of waiting") {
  for (u32 threads : {2u, 3u, 4u, 8u})
    for (u32 usable : {1u, 2u, 3u, 16u})
      for (auto spin : {0us, 5us, 50us}) {
        CAPTURE(threads);
        CAPTURE(usable);
        pool p({.threads = threads, .usable = usable, .spin = spin});
        REQUIRE(p.threads() == threads);
        check_rounds(p, 300);
      }
}

TEST_CASE("pool: workers that have parked take part again") {
  for (u32 usable : {2u, 8u}) {
    pool p({.threads = 4, .usable = usable, .spin = 1us});
    check_rounds(p, 50, 300us);
    // The caller holds its own part until somebody else has executed one: only possible if a worker wakes up.
    std::this_thread::sleep_for(5ms);
    std::atomic<bool> other{false};
    const auto me = std::this_thread::get_id();
    const auto limit = std::chrono::steady_clock::now() + 10s;
    p.handle().run([&](u32 index, u32) {
      if (std::this_thread::get_id() != me) other = true;
      else if (index == 0)
        while (!other && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    });
    CHECK(other);
  }
}

TEST_CASE("pool: a run inside a run is executed by one thread, also across pools") {
  pool a({.threads = 4, .usable = 4}), b({.threads = 3, .usable = 3});
  std::atomic<int> inner{0}, wrong{0};
  a.handle().run([&](u32, u32) {
    for (pool* p : {&a, &b})
      p->handle().run([&](u32 index, u32 count) {
        ++inner;
        if (index != 0 || count != 1) ++wrong;
      });
  });
  CHECK(inner == 8);
  CHECK(wrong == 0);
  check_rounds(a, 10);
}

TEST_CASE("pool: several callers share it, one run at a time") {
  pool p({.threads = 3, .usable = 3});
  std::atomic<int> active{0}, overlaps{0};
  std::vector<std::thread> callers;
  std::vector<u64> sums(4);
  for (usize c = 0; c < sums.size(); ++c)
    callers.emplace_back([&, c] {
      for (int r = 0; r < 200; ++r) {
        std::vector<u64> parts(3);
        p.handle().run([&](u32 index, u32) {
          if (index == 0 && active.fetch_add(1) != 0) ++overlaps;
          parts[index] = index + 1;
          if (index == 0) active.fetch_sub(1);
        });
        sums[c] += parts[0] + parts[1] + parts[2];
      }
    });
  for (auto& t : callers) t.join();
  for (u64 s : sums) CHECK(s == 1200);
  CHECK(overlaps == 0);
}

TEST_CASE("pool: pools that are never used, or used once, end at once") {
  for (int i = 0; i < 50; ++i) {
    pool p({.threads = 4, .usable = static_cast<u32>(i % 5 + 1)});
    if (i % 2) check_rounds(p, 1);
  }
}

TEST_CASE("pool: uneven parts are waited for") {
  pool p({.threads = 4, .usable = 4, .spin = 2us});
  for (int r = 0; r < 20; ++r) {
    std::vector<int> done(4);
    p.handle().run([&](u32 index, u32) {
      std::this_thread::sleep_for(std::chrono::microseconds(index * 150));
      done[index] = 1;
    });
    CHECK(done == std::vector<int>(4, 1));
  }
}

TEST_CASE("pool: for_rows over a pool covers all rows once") {
  pool p({.threads = 4, .usable = 4});
  for (u64 n : {1u, 7u, 64u, 1000u}) {
    std::vector<u32> hits(n);
    p.handle().for_rows(n, 8, [&](u64 begin, u64 end) {
      for (u64 i = begin; i < end; ++i) ++hits[i];
    });
    CHECK(hits == std::vector<u32>(n, 1));
  }
}

TEST_CASE("pool: absurd thread counts are limited") {
  CHECK(pool::max_threads <= 1024);
  pool p({.threads = 200, .usable = 2});
  CHECK(p.threads() > 1);
  CHECK(p.threads() <= 200);
  check_rounds(p, 20);
}

// The address sanitizer ends a program whose own mappings are refused.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JIG_ASAN
#endif
#endif
#if defined(__linux__) && !defined(JIG_TSAN) && !defined(JIG_ASAN) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("pool: where the system refuses threads it works with those it got") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // 100 MiB more address space than now: room for the stacks of a few threads. A limit of threads does not bind root.
    rlimit space{};
    long pages = 0;
    if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(f, "%ld", &pages) != 1) pages = 0;
      std::fclose(f);
    }
    const rlim_t now = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
    space.rlim_cur = space.rlim_max = now + (100u << 20);
    setrlimit(RLIMIT_AS, &space);
    // qemu-user accepts the limit and does not enforce it.
    if (mmap(nullptr, 1u << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) _exit(77);
    pool p({.threads = 64, .usable = 64});
    std::vector<int> hits(p.threads());
    p.handle().run([&](u32 index, u32 count) {
      if (count == hits.size()) hits[index] = 1;
    });
    bool all = p.threads() < 64;
    for (int h : hits) all = all && h == 1;
    _exit(all ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    MESSAGE("skipped: refused threads, because this system does not enforce RLIMIT_AS");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
}
#endif
