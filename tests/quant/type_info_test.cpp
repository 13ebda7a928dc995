#include "jig/quant/type_info.hpp"

#include "quant/support.hpp"

using namespace quant_test;

TEST_CASE("type_info: every block struct agrees with its line in the table") {
  usize structs = 0;
  each<all_blocks>([&]<class T>(type_tag<T>) {
    const block_info* info = find_block_info(T::id);
    REQUIRE(info != nullptr);
    CHECK(info->name == T::name);
    CHECK(info->size == T::size);
    CHECK(info->bytes == sizeof(T));
    CHECK(alignof(T) == 1);
    CHECK(info->kind == (activation_quants::contains<T> ? block_kind::activation : block_kind::weight));
    ++structs;
  });
  usize lines = 0;
  for (const block_info& info : block_infos) lines += info.kind != block_kind::number;
  CHECK(lines == structs);
  CHECK(all_quants::size == 28);
}

TEST_CASE("type_info: partner formats are those of the format page") {
  each<all_quants>([]<class T>(type_tag<T>) {
    using A = typename T::dot_with;
    if constexpr (T::size == 1) CHECK(std::is_same_v<A, T>);
    else if constexpr (T::size == 256) CHECK(std::is_same_v<A, q8_k>);
    else CHECK(std::is_same_v<A, std::conditional_t<has_min<T>, q8_1, q8_0>>);
    CHECK(encodable<A>);
  });
}

TEST_CASE("type_info: numbers ascend and are unique, retired and unknown ones are refused") {
  for (usize i = 1; i < std::size(block_infos); ++i) CHECK(block_infos[i - 1].id < block_infos[i].id);
  for (u32 id : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u, 43u, 255u, ~0u}) {
    CHECK(find_block_info(id) == nullptr);
    const auto r = row_bytes(id, 256);
    REQUIRE_FALSE(r);
    CHECK(r.error().code == errc::unknown_tensor_type);
    CHECK(r.error().value == id);
  }
}

TEST_CASE("type_info: types are found by name, in any case") {
  CHECK(find_block_info("q4_K")->id == 12);
  CHECK(find_block_info("Q4_K")->id == 12);
  CHECK(find_block_info("q4_k")->id == 12);
  CHECK(find_block_info("BF16")->id == 30);
  CHECK(find_block_info("q4_") == nullptr);
  CHECK(find_block_info("") == nullptr);
}

TEST_CASE("type_info: the bytes of a row are checked without overflow") {
  CHECK(*row_bytes(2, 64) == 36);
  CHECK(*row_bytes(14, 512) == 420);
  CHECK(*row_bytes(27, 3) == 24);
  CHECK(*row_bytes(0, 0) == 0);
  const auto partial = row_bytes(2, 63);
  REQUIRE_FALSE(partial);
  CHECK(partial.error().code == errc::partial_block);
  CHECK(partial.error().name() == "q4_0");
  for (u64 n : {u64{1} << 61, u64{1} << 62, u64{1} << 63, ~u64{0}}) {
    const auto r = row_bytes(0, n);
    REQUIRE_FALSE(r);
    CHECK(r.error().code == errc::bad_dimension);
  }
  CHECK(*row_bytes(24, u64{1} << 62) == u64{1} << 62);
}

TEST_CASE("quants: plain float stands for f32_block") {
  CHECK(std::is_same_v<quants<q4_0, f32>, type_list<q4_0, f32_block>>);
}
