#include "arch/models.hpp"

#include "jig/arch/all.hpp"
#include "jig/arch/load.hpp"
#include "jig/backend/cpu/make_table.hpp"
#include "jig/ops/reference.hpp"

namespace models {

namespace {

template <class Arch>
struct bound_as final : any_bound {
  explicit bound_as(const bound_model<Arch>& m) : model(m) {}
  const hparams& hp() const override { return model.hp(); }
  session_plan plan(const session_config& c, u32 threads) const override {
    return plan_session<kernel_set>(model, c, threads);
  }
  result<mat> decode(session& s, kernel_set& k, std::span<const batch_item> items, const parallel& p) const override {
    return s.decode(k, model, items, p);
  }
  bound_model<Arch> model;
};

template <class Arch>
result<std::unique_ptr<any_bound>> bind_as(const gguf::file_set& file, std::vector<weight>& slots) {
  JIG_TRY(const hparams hp, read_hparams<Arch>(file));
  slots.resize(slot_map<Arch>::count(hp));
  JIG_TRY(const bound_model<Arch> m, (bind<Arch, quants<f32>>(file, hp, slots)));
  return std::unique_ptr<any_bound>(new bound_as<Arch>(m));
}

}  // namespace

const cpu::kernel_table& reference_table() {
  static constexpr cpu::kernel_table table = cpu::table_of<reference_kernels<quants<f32>>, quants<f32>>("reference");
  return table;
}

const cpu::kernel_table& cpu_table() {
  static constexpr cpu::kernel_table table = cpu::make_table<isa::native, quants<f32>>();
  return table;
}

bool knows(std::string_view architecture) {
  bool known = false;
  for_each_type(all_archs{}, [&]<class A>(type_tag<A>) { known = known || A::name == architecture; });
  return known;
}

result<std::unique_ptr<any_bound>> bind_any(const gguf::file_set& file, std::vector<weight>& slots) {
  JIG_TRY(const std::string_view name, file.get<std::string_view>("general.architecture"));
  result<std::unique_ptr<any_bound>> outcome = fail(errc::unknown_architecture, name);
  for_each_type(all_archs{}, [&]<class A>(type_tag<A>) {
    if (A::name == name) outcome = bind_as<A>(file, slots);
  });
  return outcome;
}

}  // namespace models
