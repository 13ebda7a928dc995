#pragma once
// Where the time goes: a kernel table whose functions call another's and take the time of each.

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "jig/backend/cpu/dispatch.hpp"

namespace jig::bench {

namespace detail {

/// An entry of the table.
template <auto Member>
struct operation {
  const char* name;
};

using kt = cpu::kernel_table;
inline constexpr std::tuple operations = {
    operation<&kt::embed>{"embed"}, operation<&kt::prepare>{"prepare"}, operation<&kt::matmul>{"matmul"},
    operation<&kt::matmul_experts>{"matmul_experts"}, operation<&kt::add>{"add"}, operation<&kt::scale>{"scale"},
    operation<&kt::softcap>{"softcap"}, operation<&kt::gated>{"gated"}, operation<&kt::activate>{"activate"},
    operation<&kt::multiply>{"multiply"}, operation<&kt::clamp>{"clamp"}, operation<&kt::fill>{"fill"},
    operation<&kt::temperature>{"temperature"}, operation<&kt::expand>{"expand"}, operation<&kt::norm>{"norm"},
    operation<&kt::rope_table>{"rope_table"}, operation<&kt::rope>{"rope"}, operation<&kt::store_kv>{"store_kv"},
    operation<&kt::load_keys>{"load_keys"}, operation<&kt::attend>{"attend"}, operation<&kt::select>{"select"},
    operation<&kt::attend_chosen>{"attend_chosen"}, operation<&kt::compress>{"compress"},
    operation<&kt::attend_compressed>{"attend_compressed"}, operation<&kt::route>{"route"},
    operation<&kt::route_tokens>{"route_tokens"}, operation<&kt::combine>{"combine"},
    operation<&kt::sinkhorn>{"sinkhorn"}, operation<&kt::conv>{"conv"}, operation<&kt::scan>{"scan"},
    operation<&kt::spread_biases>{"spread_biases"}, operation<&kt::dot_groups>{"dot_groups"},
    operation<&kt::average>{"average"}, operation<&kt::gather>{"gather"}};

struct op_time {
  const char* name = "";
  f64 seconds = 0.0;
  u64 calls = 0;
};
inline std::array<op_time, std::tuple_size_v<decltype(operations)>> op_times;
inline const cpu::kernel_table* profiled = nullptr;

/// Replaces entry number I of a table by one that takes the time.
template <usize I, auto Member, class... Args>
void replace(cpu::kernel_table& t, void (*)(Args...), const operation<Member>& o) {
  op_times[I] = {o.name};
  t.*Member = [](Args... args) {
    const auto start = std::chrono::steady_clock::now();
    (profiled->*Member)(args...);
    op_times[I].seconds += std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count();
    ++op_times[I].calls;
  };
}
template <usize I, auto Member>
void replace(cpu::kernel_table& t, const operation<Member>& o) {
  replace<I>(t, t.*Member, o);
}

}  // namespace detail

/// A table that computes what `t` does and takes the times; one at a time.
inline const cpu::kernel_table& with_profile(const cpu::kernel_table& t) {
  static cpu::kernel_table timed;
  timed = t;
  detail::profiled = &t;
  [&]<usize... I>(std::index_sequence<I...>) {
    (detail::replace<I>(timed, std::get<I>(detail::operations)), ...);
  }(std::make_index_sequence<detail::op_times.size()>{});
  return timed;
}

/// Forgets the times that were taken.
inline void reset_profile() {
  for (detail::op_time& o : detail::op_times) o.seconds = 0.0, o.calls = 0;
}

/// The shares of `seconds` that each operation took, the largest first; what no operation took is "between".
inline std::string profile_text(f64 seconds) {
  auto times = detail::op_times;
  f64 sum = 0.0;
  for (const auto& o : times) sum += o.seconds;
  std::sort(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  std::string s;
  for (const auto& o : times)
    if (o.calls != 0) s += fmt::format("  {:5.1f}%  {} ({} calls)\n", 100.0 * o.seconds / seconds, o.name, o.calls);
  return s + fmt::format("  {:5.1f}%  between\n", 100.0 * std::max(0.0, seconds - sum) / seconds);
}

}  // namespace jig::bench
