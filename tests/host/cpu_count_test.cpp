// jig/host/cpu_count.hpp: parsers on text, readers on made-up file trees.
#include "jig/host/cpu_count.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace jig;
using namespace jig::host;
namespace fs = std::filesystem;

namespace {

/// A folder that stands for "/", removed at the end.
struct fake_root {
  fs::path path;
  explicit fake_root(const char* name) : path(fs::temp_directory_path() / (std::string("jig-cpu-") + name)) {
    fs::remove_all(path);
  }
  ~fake_root() { fs::remove_all(path); }
  void file(const std::string& where, const std::string& text) const {
    fs::create_directories((path / where).parent_path());
    std::ofstream(path / where, std::ios::binary) << text;
  }
};

}  // namespace

TEST_CASE("cpu list: single numbers, spans, the kernel's newline") {
  CHECK(parse_cpu_list("0-3,8,10-11\n") == std::vector<u32>{0, 1, 2, 3, 8, 10, 11});
  CHECK(parse_cpu_list("7\n") == std::vector<u32>{7});
  CHECK(parse_cpu_list("\n").empty());
}

TEST_CASE("cpu list: malformed text ends the list and huge spans are bounded") {
  CHECK(parse_cpu_list("2,x") == std::vector<u32>{2});
  CHECK(parse_cpu_list("5-2").empty());
  CHECK(parse_cpu_list("1-,3").empty());
  CHECK(parse_cpu_list("-1").empty());
  CHECK(parse_cpu_list("99999999999").empty());
  CHECK(parse_cpu_list("0-4294967295").size() == 65536);
}

TEST_CASE("quota: cgroup v2 and v1 spellings") {
  CHECK(parse_cpu_max("max 100000\n") == 0);
  CHECK(parse_cpu_max("150000 100000\n") == 1.5);
  CHECK(parse_cpu_max("50000\n") == 0.5);
  CHECK(parse_cpu_max("") == 0);
  CHECK(parse_cpu_max("100000 0") == 0);
  CHECK(quota_cpus(-1, 100000) == 0);
  CHECK(quota_cpus(300000, 100000) == 3);
}

TEST_CASE("quota: rounds to nearest, never below one") {
  CHECK(threads_for_quota(0.1) == 1);
  CHECK(threads_for_quota(1.49) == 1);
  CHECK(threads_for_quota(1.5) == 2);
  CHECK(threads_for_quota(7.6) == 8);
  CHECK(threads_for_quota(1e300) == 1'000'000);
}

TEST_CASE("budget: the smallest limit wins") {
  CHECK(budget(16, 8, 0).preferred == 8);
  CHECK(budget(16, 8, 0).usable == 16);
  CHECK(budget(16, 8, 2.6).preferred == 3);
  CHECK(budget(16, 8, 2.6).usable == 3);
  CHECK(budget(16, 8, 12).preferred == 8);
  CHECK(budget(16, 8, 12).usable == 12);
  CHECK(budget(0, 0, -1).preferred == 1);
}

TEST_CASE("proc cgroup: both versions, and cpu is not cpuset or cpuacct") {
  const auto a = parse_proc_cgroup("12:cpuset:/s\n4:cpu,cpuacct:/docker/abc\n2:cpuacct:/x\n0::/user.slice/a\n");
  CHECK(a.v1_cpu == "/docker/abc");
  CHECK(a.v2 == "/user.slice/a");
  const auto b = parse_proc_cgroup("garbage\n:\n3:cpuset:/s\n");
  CHECK(b.v1_cpu.empty());
  CHECK(b.v2.empty());
}

TEST_CASE("mountinfo: finds hierarchies, undoes escapes, ignores other controllers") {
  const auto m = parse_mountinfo(
      "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
      "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu rw master:9 - cgroup cgroup rw,cpu,cpuacct\n"
      "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
      "41 31 0:38 / /my\\040cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
      "broken line - cgroup2\n");
  REQUIRE(m.size() == 2);
  CHECK(m[0].point == "/sys/fs/cgroup/cpu");
  CHECK(m[0].root == "/docker/abc");
  CHECK_FALSE(m[0].v2);
  CHECK(m[1].point == "/my cgroup");
  CHECK(m[1].v2);
}

TEST_CASE("cgroup v2: the strictest group on the way up counts") {
  fake_root r("v2");
  r.file("proc/self/cgroup", "0::/a/b/c\n");
  r.file("proc/self/mountinfo", "1 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  r.file("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
  r.file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  r.file("sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
  CHECK(cgroup_quota(r.path.string()) == 2.5);
}

TEST_CASE("cgroup v1 in a container: the mount's root is not repeated") {
  fake_root r("v1");
  r.file("proc/self/cgroup", "4:cpu,cpuacct:/docker/abc/inner\n");
  r.file("proc/self/mountinfo", "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  r.file("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "-1\n");
  r.file("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000\n");
  r.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  r.file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(cgroup_quota(r.path.string()) == 0.5);
}

TEST_CASE("cgroup: a group that the mount does not show still finds the limits above it") {
  fake_root r("hidden");
  r.file("proc/self/cgroup", "0::/../elsewhere\n");
  r.file("proc/self/mountinfo", "1 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  r.file("sys/fs/cgroup/cpu.max", "400000 100000\n");
  CHECK(cgroup_quota(r.path.string()) == 4);
  fake_root none("none");
  CHECK(cgroup_quota(none.path.string()) == 0);
}

TEST_CASE("topology: hardware threads of one core count once, and only those in the mask") {
  fake_root r("topology");
  for (u32 cpu = 0; cpu < 8; ++cpu)
    r.file("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" +
               (cpu % 2 ? "core_cpus_list" : "thread_siblings_list"),
           std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4) + "\n");
  const std::string root = r.path.string();
  CHECK(physical_cores({0, 1, 2, 3, 4, 5, 6, 7}, root) == 4);
  CHECK(physical_cores({0, 4}, root) == 1);
  CHECK(physical_cores({1, 4, 5}, root) == 2);
  CHECK(physical_cores({100, 101}, root) == 2);
}

TEST_CASE("this machine: at least one thread, never more than the affinity mask") {
  const cpu_budget b = measure_cpus();
  CHECK(b.preferred >= 1);
  CHECK(b.preferred <= b.logical);
  CHECK(b.usable >= b.preferred);
#if defined(__linux__)
  CHECK(affinity().size() == b.logical);
#endif
}
