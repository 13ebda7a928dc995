// Streaming over the bundled demo model: every way in which a generation ends, with nothing lost.
#include "jig/host/generation.hpp"

#include "demo.hpp"
#include "jig/text/utf8.hpp"

using namespace jig;
using namespace jig::host;

namespace {

constexpr const char* chinese = "<|im_start|>user\n日本的首都是哪里？<|im_end|>\n<|im_start|>assistant\n";

std::vector<i32> copy(std::span<const i32> ids) { return {ids.begin(), ids.end()}; }

/// Strict UTF-8, by the table of the standard.
bool valid_utf8(std::string_view s) {
  for (usize i = 0; i < s.size();) {
    const u8 c = static_cast<u8>(s[i]);
    const usize n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (n == 0 || i + n > s.size()) return false;
    for (usize k = 1; k < n; ++k)
      if ((static_cast<u8>(s[i + k]) & 0xc0) != 0x80) return false;
    i += n;
  }
  return true;
}

}  // namespace

TEST_CASE("generation: an answer of the model, ended by the model") {
  const auto m = demo::load();
  auto s = demo::make(m);
  auto g = s.generate(chinese, demo::greedy(100));
  CHECK(demo::all_text(g) == "日本的首都是东京。");
  CHECK(g.reason() == stop_reason::end_of_text);
  CHECK(g.stats().generated_tokens == g.ids().size());
  CHECK(g.stats().generate_decodes == g.ids().size());  // the last one gave the end
  CHECK(!g.advance());
  CHECK(g.piece().empty());
}

TEST_CASE("generation: for every limit the pieces are whole characters and together the ids' text") {
  const auto m = demo::load();
  for (u32 n = 0; n < 14; ++n) {
    auto s = demo::make(m, {.context = 64});
    auto g = s.generate(chinese, demo::greedy(n));
    std::string text;
    for (std::string_view piece : g) {
      CHECK(valid_utf8(piece));
      text += piece;
    }
    CHECK(g.reason() == (n <= 10 ? stop_reason::length : stop_reason::end_of_text));
    CHECK(g.ids().size() == std::min<usize>(n, 10));
    text_stream stream(m.vocabulary().view(), {.continues = true});
    std::string expected;
    const auto add = [&](std::string_view t) { expected += t; };
    for (i32 id : g.ids()) CHECK(stream.push(id, add));
    stream.finish(add);
    CHECK(text == expected);
  }
}

TEST_CASE("generation: ends when the context is full, with the last token shown") {
  const auto m = demo::load();
  auto wide = demo::make(m);
  auto all = wide.generate("The capital of France is", demo::greedy(40));
  const std::string whole = demo::all_text(all);
  for (u32 context : {5, 6, 20}) {
    auto s = demo::make(m, {.context = context});
    auto g = s.generate("The capital of France is", demo::greedy(40));
    const std::string text = demo::all_text(g);
    CHECK(g.reason() == stop_reason::context_full);
    CHECK(g.ids().size() == context - 5 + 1);  // the token behind the last cell is drawn, not fed
    CHECK(whole.starts_with(text));
    CHECK(s.core().length(0) == context);
  }
}

TEST_CASE("generation: a prompt that does not fit is an error before anything is computed") {
  const auto m = demo::load();
  auto s = demo::make(m, {.context = 4});
  auto g = s.generate("The capital of France is", demo::greedy(40));
  CHECK(demo::all_text(g).empty());
  CHECK(g.reason() == stop_reason::failed);
  CHECK(g.failure().code == errc::context_full);
  CHECK(g.failure().value == 5);
  CHECK(s.core().length(0) == 0);
}

TEST_CASE("generation: an empty prompt is an error for a vocabulary without BOS") {
  const auto m = demo::load();
  auto s = demo::make(m);
  auto g = s.generate("", demo::greedy(4));
  CHECK(!g.advance());
  CHECK(g.reason() == stop_reason::failed);
  CHECK(g.failure().name() == "the prompt is empty");
}

TEST_CASE("generation: cancelled between tokens, in the prompt, and before it begins") {
  const auto m = demo::load();
  auto s = demo::make(m, {.batch = 2});
  std::atomic<bool> cancel = false;
  auto options = demo::greedy(40);
  options.cancel = &cancel;
  {
    auto g = s.generate("One day, a girl", options);
    std::string text;
    for (int i = 0; i < 5 && g.advance(); ++i) text += g.piece();
    cancel = true;
    while (g.advance()) text += g.piece();
    CHECK(g.reason() == stop_reason::cancelled);
    auto fresh = demo::make(m);
    auto same = fresh.generate("One day, a girl", demo::greedy(static_cast<u32>(g.ids().size())));
    CHECK(demo::all_text(same) == text);
  }
  auto g = s.generate(" and", options);
  CHECK(demo::all_text(g).empty());
  CHECK(g.reason() == stop_reason::cancelled);
}

TEST_CASE("generation: a second one goes on where the first ended, however it ended") {
  const auto m = demo::load();
  auto straight = demo::make(m);
  auto whole = straight.generate("One day, a girl", demo::greedy(30));
  const std::string text = demo::all_text(whole);

  auto s = demo::make(m);
  std::vector<i32> ids;
  std::string parts;
  const auto take = [&](std::string_view prompt, u32 n, u32 pieces) {
    auto g = s.generate(prompt, demo::greedy(n));
    for (u32 i = 0; i < pieces && g.advance(); ++i) parts += g.piece();
    ids.insert(ids.end(), g.ids().begin(), g.ids().end());
  };
  take("One day, a girl", 10, 100);  // to its limit
  take("", 100, 7);                  // left early
  take("", static_cast<u32>(30 - ids.size()), 100);
  CHECK(ids == copy(whole.ids()));
  CHECK(parts == text);
}

TEST_CASE("generation: a seed repeats a run, and a random one is told") {
  const auto m = demo::load();
  const auto run = [&](u32 seed) {
    auto s = demo::make(m);
    generate_options o{.max_tokens = 30};
    o.sampling.seed = seed;
    o.sampling.temp = 1.5f;
    auto g = s.generate("One day, a girl", o);
    demo::all_text(g);
    return std::pair(copy(g.ids()), g.seed());
  };
  const auto [ids, seed] = run(sample::random_seed);
  CHECK(seed != sample::random_seed);
  CHECK(run(seed).first == ids);
  CHECK(run(1).first != run(2).first);
}

TEST_CASE("generation: a full context shifts and goes on, with the tokens that are kept in front") {
  const auto m = demo::load();
  auto s = demo::make(m, {.context = 24});
  auto options = demo::greedy(80);
  options.context_shift = true;
  options.keep = 3;
  auto g = s.generate("The capital of France is a city and", options);
  CHECK(valid_utf8(demo::all_text(g)));
  CHECK((g.reason() == stop_reason::length || g.reason() == stop_reason::end_of_text));
  CHECK(s.core().length(0) <= 24);
  // As long as nothing was forgotten the text is the same.
  auto wide = demo::make(m);
  auto all = wide.generate("The capital of France is a city and", demo::greedy(80));
  demo::all_text(all);
  const usize same = 24 - g.prompt_ids().size();
  REQUIRE(g.ids().size() > same + 12);
  CHECK(std::equal(g.ids().begin(), g.ids().begin() + same, all.ids().begin()));
  // Nothing can be forgotten if all is kept.
  auto full = demo::make(m, {.context = 10});
  options.keep = ~0u;
  auto stuck = full.generate("The capital of France is a city and", options);
  demo::all_text(stuck);
  CHECK((stuck.reason() == stop_reason::length || stuck.reason() == stop_reason::context_full ||
         stuck.reason() == stop_reason::end_of_text));
}
