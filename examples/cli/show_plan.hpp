#pragma once
// The memory plan for people and as JSON.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "jig/host/memory_plan.hpp"
#include "jig/host/progress.hpp"

namespace jig::cli {

/// One line: what, exact bytes, the same for people.
inline std::string plan_line(std::string_view what, u64 bytes) {
  return fmt::format("{:<44} {:>16} {:>10}\n", what, bytes, host::readable_bytes(bytes));
}

inline std::string plan_text(const host::memory_plan& p) {
  const host::session_memory& s = p.session;
  const session_config& c = s.config;
  const auto plural = [](u64 n) { return n == 1 ? "" : "s"; };
  std::string out =
      fmt::format("{}, context {} of {}, batch {}, {} thread{}\n\n{:<44} {:>16}\n", p.architecture, c.context,
                  p.trained_context, c.batch, p.threads, plural(p.threads), "memory", "bytes");
  for (const auto& w : p.weights) {
    const std::string_view type = find_block_info(w.type)->name;
    out += plan_line(fmt::format("  {} in {} tensor{}", type, w.tensors, plural(w.tensors)), w.bytes);
  }
  out += plan_line("weights (mapped file)", p.weight_bytes);
  if (p.packed_bytes != 0) {
    out += plan_line("  of which packed ones take the place", p.replaced_bytes);
    out += plan_line("packed weights", p.packed_bytes);
  }
  if (p.converted_bytes != 0) out += plan_line("weights in this machine's byte order", p.converted_bytes);
  out += plan_line(fmt::format("keys and values, {}", find_block_info(c.kv_type)->name), s.plan.kv_bytes);
  if (s.plan.state_bytes != 0) out += plan_line("recurrent states", s.plan.state_bytes);
  out += plan_line("activations", s.plan.activation_bytes);
  out += plan_line("  of which logits", s.logit_bytes);
  out += plan_line("page index", s.index_bytes);
  out += plan_line("sampler candidates", s.candidate_bytes);
  out += plan_line("vocabulary tables", p.vocabulary_bytes);
  out += plan_line("tensor table", p.slot_bytes);
  out += plan_line("allocated, without mapped weights", p.allocated());
  return out + plan_line("total", p.total());
}

inline std::string plan_json(const host::memory_plan& p) {
  const host::session_memory& s = p.session;
  nlohmann::ordered_json types = nlohmann::ordered_json::array();
  for (const auto& w : p.weights)
    types.push_back({{"type", find_block_info(w.type)->name}, {"tensors", w.tensors}, {"bytes", w.bytes}});
  const nlohmann::ordered_json j = {
      {"architecture", p.architecture},
      {"context", s.config.context},
      {"trained_context", p.trained_context},
      {"batch", s.config.batch},
      {"threads", p.threads},
      {"kv_type", find_block_info(s.config.kv_type)->name},
      {"bytes",
       {{"weights", p.weight_bytes},
        {"weights_by_type", types},
        {"packed_weights", p.packed_bytes},
        {"replaced_by_packed", p.replaced_bytes},
        {"converted_weights", p.converted_bytes},
        {"key_value_memory", s.plan.kv_bytes},
        {"recurrent_states", s.plan.state_bytes},
        {"activations", s.plan.activation_bytes},
        {"logits_in_activations", s.logit_bytes},
        {"page_index", s.index_bytes},
        {"sampler_candidates", s.candidate_bytes},
        {"vocabulary", p.vocabulary_bytes},
        {"tensor_table", p.slot_bytes},
        {"allocated", p.allocated()},
        {"total", p.total()}}}};
  return j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace jig::cli
