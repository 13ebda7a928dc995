// session/states.hpp: which recurrent states are kept, given back and shared.
#include <doctest/doctest.h>

#include <vector>

#include "jig/session/states.hpp"

using namespace jig;

namespace {

/// A store of states of 3 floats, with the current state of each sequence in plain sight.
struct fixture {
  explicit fixture(u32 sequences, u32 kept)
      : memory(state_store::floats(3, sequences, kept), 9.0f),
        lengths(state_store::words(sequences, kept)),
        store(memory.data(), 3, lengths.data(), sequences, kept) {}
  void set(u32 sequence, f32 v) {
    for (u32 i = 0; i < 3; ++i) store.current(sequence)[i] = v + f32(i);
  }
  bool is(u32 sequence, f32 v) const {
    const f32* s = store.current(sequence);
    return s[0] == v && s[1] == v + 1 && s[2] == v + 2;
  }

  std::vector<f32> memory;
  std::vector<u32> lengths;
  state_store store;
};

}  // namespace

TEST_CASE("states: a kept state comes back at its length, and longer ones are forgotten") {
  fixture f(2, 2);
  f.set(0, 10), f.set(1, 500);
  CHECK(f.store.keep(0, 10));
  f.set(0, 20);
  CHECK(f.store.keep(0, 20));
  f.set(0, 30);
  CHECK(f.store.nearest(0, 9) == 0);
  CHECK(f.store.nearest(0, 19) == 10);
  CHECK(f.store.nearest(0, 25) == 20);
  f.store.restore(0, 10);
  CHECK(f.is(0, 10));
  CHECK(f.is(1, 500));
  CHECK(f.store.nearest(0, 25) == 10);
  f.store.restore(0, 0);
  CHECK((f.store.current(0)[0] == 0 && f.store.current(0)[1] == 0 && f.store.current(0)[2] == 0));
  CHECK(f.store.nearest(0, 25) == 0);
}

TEST_CASE("states: without room the shortest goes; keeping a length twice keeps one; none is kept without slots") {
  fixture f(1, 2);
  for (u32 length : {1u, 2u, 2u, 3u}) {
    f.set(0, f32(100 * length));
    CHECK(f.store.keep(0, length));
  }
  CHECK(f.store.nearest(0, 1) == 0);
  CHECK(f.store.nearest(0, 2) == 2);
  f.store.restore(0, 2);
  CHECK(f.is(0, 200));
  fixture none(1, 0);
  CHECK(!none.store.keep(0, 1));
  CHECK(none.store.nearest(0, 5) == 0);
}

TEST_CASE("states: a fork has the same states and goes its own way") {
  fixture f(3, 1);
  f.set(0, 10);
  f.store.keep(0, 4);
  f.set(0, 20);
  f.store.fork(0, 2);
  f.set(0, 30);
  CHECK(f.is(2, 20));
  f.store.restore(2, 4);
  CHECK(f.is(2, 10));
  CHECK(f.is(0, 30));
}
