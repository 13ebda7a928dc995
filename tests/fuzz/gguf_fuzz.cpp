// Fuzzes the GGUF reader: arbitrary bytes are opened, indexed and walked; whatever opens must be written back
// byte for byte. Corpus: tests/fuzz/corpus/gguf and, as further seeds, tests/data/malformed.

#include <algorithm>
#include <vector>

#include "jig/gguf/data_check.hpp"
#include "jig/gguf/split_writer.hpp"

using namespace jig;

namespace {

/// Reads every byte that an entry points to, so that the sanitizers see each range.
u64 touch(const gguf::file& f) {
  u64 sum = 0;
  for (const gguf::value& v : f.keys()) {
    for (const u8 b : v.payload()) sum += b;
    if (const auto strings = v.strings())
      for (const std::string_view s : *strings) sum += s.empty() ? 0 : static_cast<u8>(s.back());
    if (const auto s = v.as<std::string_view>()) sum += s->size();
    for (u64 i = 0; i < std::min<u64>(v.count(), 4); ++i) {
      if (const auto n = v.element<i64>(i)) sum += static_cast<u64>(*n);
      if (const auto x = v.element<f32>(i)) sum += *x > 0;
      if (const auto b = v.element<bool>(i)) sum += *b;
    }
    const auto found = f.find(v.key());
    if (!found) __builtin_trap();
  }
  for (const gguf::tensor_info& t : f.tensors()) {
    for (const u8 b : t.data) sum += b;
    if (!f.find_tensor(t.name)) __builtin_trap();
    if (gguf::check_data(t, f.bytes())) ++sum;
  }
  return sum;
}

/// An indexed file must be written back as it was, and survive being split and joined and turned to big-endian.
void rewrite(const gguf::file& f) {
  const auto same = gguf::writer::from(f).bytes();
  if (!same || !std::equal(same->begin(), same->end(), f.bytes().begin(), f.bytes().end())) __builtin_trap();
  gguf::writer turned = gguf::writer::from(f);
  turned.order = f.order() == gguf::byte_order::little ? gguf::byte_order::big : gguf::byte_order::little;
  const auto other = turned.bytes();
  if (!other) __builtin_trap();
  const auto again = gguf::open(*other);
  if (!again || again->key_count() != f.key_count() || again->tensor_count() != f.tensor_count()) __builtin_trap();
  const gguf::file_set set(f);
  if (const auto plan = gguf::plan_split(set, {2, 256})) {
    if (const auto parts = gguf::split_model(set, *plan))
      for (const gguf::writer& w : *parts)
        if (const auto part = w.bytes(); !part || !gguf::open(*part)) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, usize size) {
  auto f = gguf::open({data, size});
  if (!f) return 0;
  volatile u64 sum = 0;
  std::vector<u32> memory(f->index_words());
  if (!f->build_index(memory)) return 0;
  sum = touch(*f);
  rewrite(*f);
  (void)gguf::read_split_info(*f);
  return sum == 1;
}
