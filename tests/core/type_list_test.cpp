// jig/core/type_list.hpp: order, membership, and the one place where run-time ids meet types.
#include "jig/core/type_list.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace jig;

namespace {

template <u32 Id, int Mark>
struct item {
  static constexpr u32 id = Id;
  static constexpr int mark = Mark;
};
using list = type_list<item<3, 30>, item<1, 10>, item<3, 31>>;

}  // namespace

TEST_CASE("type_list: size and membership") {
  static_assert(list::size == 3 && type_list<>::size == 0);
  static_assert(list::contains<item<1, 10>> && !list::contains<item<2, 20>>);
}

TEST_CASE("type_list: for_each_type visits all in order, visit_id the first match only") {
  std::vector<int> seen;
  for_each_type(list{}, [&]<class T>(type_tag<T>) { seen.push_back(T::mark); });
  CHECK(seen == std::vector<int>{30, 10, 31});

  seen.clear();
  CHECK(visit_id(list{}, 3, [&]<class T>(type_tag<T>) { seen.push_back(T::mark); }));
  CHECK(seen == std::vector<int>{30});
  CHECK_FALSE(visit_id(list{}, 2, [&]<class T>(type_tag<T>) { seen.push_back(T::mark); }));
  CHECK_FALSE(visit_id(type_list<>{}, 3, [](auto) {}));
  CHECK(seen.size() == 1);
}
