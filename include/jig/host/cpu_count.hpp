#pragma once
// How many threads pay off here: physical cores inside the affinity mask and the cgroup CPU quota.
//
// Sources: sched_getaffinity(2); /sys/devices/system/cpu/cpuN/topology/core_cpus_list (older kernels:
// thread_siblings_list); /proc/self/cgroup and /proc/self/mountinfo for the control group, then cpu.max (cgroup v2)
// or cpu.cfs_quota_us and cpu.cfs_period_us (v1), in the group and all groups above it. Elsewhere than on Linux the
// number of hardware threads is all that is known. The parsers are pure; readers take a root folder for tests.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#include "jig/core/types.hpp"

namespace jig::host {

/// What the machine lets this process use.
struct cpu_budget {
  u32 logical = 1;    ///< hardware threads in the affinity mask
  u32 cores = 1;      ///< distinct physical cores among them
  f64 quota = 0;      ///< CPU time per time that the control groups allow; 0 = no limit
  u32 usable = 1;     ///< threads that can make progress at once: logical, limited by the quota
  u32 preferred = 1;  ///< the default thread count: cores, limited by the quota
};

/// A quota of CPUs as a thread count, to nearest but at least 1. With 1.5 CPUs two threads run three quarters of each
/// period: half a core gained. With 1.2 the second thread would gain a fifth of a core, and everything would stand
/// still for two fifths of each period while a part of the quota goes into waiting.
constexpr u32 threads_for_quota(f64 quota) noexcept {
  if (!(quota >= 1.5)) return 1;
  return quota > 1e6 ? 1'000'000u : static_cast<u32>(quota + 0.5);
}

/// Combines the three limits; `quota` <= 0 means none.
constexpr cpu_budget budget(u32 logical, u32 cores, f64 quota) noexcept {
  cpu_budget b;
  b.logical = std::max(logical, 1u);
  b.cores = std::clamp(cores, 1u, b.logical);
  b.quota = quota > 0 ? quota : 0;
  const u32 limit = quota > 0 ? threads_for_quota(quota) : ~0u;
  b.usable = std::min(b.logical, limit);
  b.preferred = std::min(b.cores, limit);
  return b;
}

/// Numbers of a kernel CPU list such as "0-3,8,10-11\n"; stops at the first malformed part. At most 2^16 numbers.
inline std::vector<u32> parse_cpu_list(std::string_view s) {
  constexpr usize most = 65536;
  std::vector<u32> out;
  const char *p = s.data(), *end = p + s.size();
  while (p < end) {
    u32 first = 0;
    auto [q, bad] = std::from_chars(p, end, first);
    if (bad != std::errc{}) break;
    u32 last = first;
    if (q < end && *q == '-') {
      auto [q2, bad2] = std::from_chars(q + 1, end, last);
      if (bad2 != std::errc{} || last < first) break;
      q = q2;
    }
    for (u64 cpu = first; cpu <= last && out.size() < most; ++cpu) out.push_back(static_cast<u32>(cpu));
    if (q == end || *q != ',') break;
    p = q + 1;
  }
  return out;
}

/// CPUs allowed by a quota and a period in microseconds; 0 = no limit (negative or zero quota, or no period).
constexpr f64 quota_cpus(i64 quota_us, i64 period_us) noexcept {
  return quota_us > 0 && period_us > 0 ? static_cast<f64>(quota_us) / static_cast<f64>(period_us) : 0;
}

/// The integer at the beginning of a one-line file such as cpu.cfs_quota_us; `otherwise` if there is none.
inline i64 parse_integer(std::string_view s, i64 otherwise) noexcept {
  i64 v = 0;
  return std::from_chars(s.data(), s.data() + s.size(), v).ec == std::errc{} ? v : otherwise;
}

/// CPUs allowed by the text of a cgroup v2 cpu.max ("150000 100000", "max 100000"); 0 = no limit.
inline f64 parse_cpu_max(std::string_view s) noexcept {
  const usize space = s.find(' ');
  const i64 period = space == s.npos ? 100000 : parse_integer(s.substr(space + 1), 100000);
  return quota_cpus(parse_integer(s.substr(0, space), 0), period);
}

/// Where a control group of this process lies: a path below the hierarchy's root, e.g. "/user.slice/a".
struct cgroup_paths {
  std::string v2, v1_cpu;  ///< empty = not a member
};

/// Reads /proc/self/cgroup: lines "id:controllers:path"; the line with no controllers is version 2.
inline cgroup_paths parse_proc_cgroup(std::string_view s) {
  cgroup_paths out;
  while (!s.empty()) {
    const std::string_view line = s.substr(0, s.find('\n'));
    s.remove_prefix(std::min(line.size() + 1, s.size()));
    const usize a = line.find(':'), b = a == line.npos ? a : line.find(':', a + 1);
    if (b == line.npos) continue;
    const std::string controllers = "," + std::string(line.substr(a + 1, b - a - 1)) + ",";
    if (controllers == ",,") out.v2 = line.substr(b + 1);
    if (controllers.find(",cpu,") != controllers.npos) out.v1_cpu = line.substr(b + 1);
  }
  return out;
}

/// A mounted cgroup hierarchy: `root` is the group that appears at `point` ("/" outside containers).
struct cgroup_mount {
  std::string root, point;
  bool v2 = false;
};

namespace detail {

/// Undoes the octal escapes (\040 for a space) of /proc/self/mountinfo.
inline std::string unescape_octal(std::string_view s) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (usize i = 0; i < s.size(); ++i) {
    if (s[i] == '\\' && i + 3 < s.size() && octal(s[i + 1]) && octal(s[i + 2]) && octal(s[i + 3])) {
      out += static_cast<char>((s[i + 1] - '0') * 64 + (s[i + 2] - '0') * 8 + (s[i + 3] - '0'));
      i += 3;
    } else {
      out += s[i];
    }
  }
  return out;
}

inline std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    if (!word.empty()) out.push_back(word);
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  return out;
}

/// The whole file, or nothing if it cannot be read. (C streams: std::ifstream would add 400 KB of locales.)
inline std::string read_text(const std::string& path) {
  std::string out;
  std::FILE* in = std::fopen(path.c_str(), "rb");
  if (in == nullptr) return out;
  char part[512];
  for (usize n; (n = std::fread(part, 1, sizeof part, in)) > 0;) out.append(part, n);
  std::fclose(in);
  return out;
}

inline f64 stricter(f64 a, f64 b) noexcept { return a > 0 && (b <= 0 || a < b) ? a : b; }

}  // namespace detail

/// The cgroup v2 mounts and the v1 mounts with the cpu controller in a /proc/self/mountinfo (see proc(5)):
/// "id parent major:minor ROOT POINT options optional... - TYPE source SUPER-OPTIONS".
inline std::vector<cgroup_mount> parse_mountinfo(std::string_view s) {
  std::vector<cgroup_mount> out;
  while (!s.empty()) {
    const std::string_view line = s.substr(0, s.find('\n'));
    s.remove_prefix(std::min(line.size() + 1, s.size()));
    const auto w = detail::words(line);
    const auto dash = std::find(w.begin(), w.end(), std::string_view("-"));
    if (w.size() < 6 || w.end() - dash < 4) continue;
    const std::string super = "," + std::string(dash[3]) + ",";
    const bool v2 = dash[1] == "cgroup2", v1 = dash[1] == "cgroup" && super.find(",cpu,") != super.npos;
    if (v1 || v2) out.push_back({detail::unescape_octal(w[3]), detail::unescape_octal(w[4]), v2});
  }
  return out;
}

/// The strictest CPU quota of this process's control group and all groups above it that are visible; 0 = none.
/// `root` is put before every absolute path.
inline f64 cgroup_quota(const std::string& root = {}) {
  const cgroup_paths paths = parse_proc_cgroup(detail::read_text(root + "/proc/self/cgroup"));
  f64 quota = 0;
  for (const cgroup_mount& m : parse_mountinfo(detail::read_text(root + "/proc/self/mountinfo"))) {
    std::string group = m.v2 ? paths.v2 : paths.v1_cpu;
    if (group.empty()) continue;
    // In a container the mount shows the group itself; the part that is the mount's root must not be repeated.
    if (m.root != "/" && (group == m.root || group.starts_with(m.root + "/"))) group.erase(0, m.root.size());
    while (group.size() > 1 && group.back() == '/') group.pop_back();
    if (group == "/") group.clear();
    for (;;) {
      const std::string folder = root + m.point + group + "/";
      const f64 here = m.v2 ? parse_cpu_max(detail::read_text(folder + "cpu.max"))
                            : quota_cpus(parse_integer(detail::read_text(folder + "cpu.cfs_quota_us"), 0),
                                         parse_integer(detail::read_text(folder + "cpu.cfs_period_us"), 100000));
      quota = detail::stricter(here, quota);
      if (group.empty()) break;
      const usize slash = group.rfind('/');
      group.resize(slash == group.npos ? 0 : slash);
    }
  }
  return quota;
}

/// Distinct physical cores among the given CPUs; a CPU whose topology is not readable counts as a core.
inline u32 physical_cores(const std::vector<u32>& cpus, const std::string& root = {}) {
  std::vector<u32> firsts;  // a core is named by its lowest hardware thread
  for (const u32 cpu : cpus) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    auto siblings = parse_cpu_list(detail::read_text(folder + "core_cpus_list"));
    if (siblings.empty()) siblings = parse_cpu_list(detail::read_text(folder + "thread_siblings_list"));
    firsts.push_back(siblings.empty() ? cpu : *std::min_element(siblings.begin(), siblings.end()));
  }
  std::sort(firsts.begin(), firsts.end());
  return static_cast<u32>(std::unique(firsts.begin(), firsts.end()) - firsts.begin());
}

/// The CPUs this thread may run on; empty if the system does not say.
inline std::vector<u32> affinity() {
  std::vector<u32> out;
#if defined(__linux__)
  // The kernel refuses masks that are smaller than its own, so the mask grows until it fits.
  for (usize bytes = 128; bytes <= 65536 / 8; bytes *= 2) {
    std::vector<unsigned long> mask(bytes / sizeof(unsigned long));
    if (sched_getaffinity(0, bytes, reinterpret_cast<cpu_set_t*>(mask.data())) != 0) continue;
    constexpr usize width = 8 * sizeof(unsigned long);
    for (usize cpu = 0; cpu < mask.size() * width; ++cpu)
      if (mask[cpu / width] >> (cpu % width) & 1) out.push_back(static_cast<u32>(cpu));
    break;
  }
#endif
  return out;
}

/// What this process may use at this moment. Reads a few small files: call it once per program or pool.
inline cpu_budget measure_cpus() {
  const std::vector<u32> cpus = affinity();
  if (cpus.empty()) {
    const u32 n = std::max(std::thread::hardware_concurrency(), 1u);
    return budget(n, n, 0);
  }
  return budget(static_cast<u32>(cpus.size()), physical_cores(cpus), cgroup_quota());
}

/// The thread count to use when the user gives none: at least 1.
inline u32 default_threads() { return measure_cpus().preferred; }

}  // namespace jig::host
