// A story from a model in flash: the same source for every board and for the PC.
//
//   arguments: [-n TOKENS] [--temp T] [-s SEED] [-p PROMPT...]     -p comes last and takes the rest of the line
//
// Everything is sized by the compiler: extents and weights come from the header that jig_embed_model() made, the
// activations' arena from the plan of the very forward pass that runs. No heap, no exceptions.

#include "jig/core/message.hpp"
#include "jig/sample/dist.hpp"
#include "jig/sample/greedy.hpp"
#include "jig/sample/temperature.hpp"
#include "jig/session/session.hpp"
#include "jig/text/stream.hpp"
#include "jig/text/tokenize.hpp"
#include "kernels.hpp"
#include "platform.hpp"
#include "story_model.hpp"

using namespace jig;

namespace {

using model = static_model<story_model::architecture, story_model>;
using kernels = firmware_kernels<story_model::quants, type_list<type_with_id<JIG_KV_TYPE, kv_types>>>;

constexpr session_config config{
    .context = 256, .batch = 8, .page_tokens = 256, .kv_type = JIG_KV_TYPE};  // one page: nobody shares it
constexpr session_plan need = plan_session<kernels>(model{}, config);
using device_session = basic_session<need.paged.window_page_bytes != 0>;
static_assert(need.paged.page_bytes != 0 && need.activation_bytes < 1u << 24);

constexpr u32 max_line = 512;  // bytes of the command line, so of the prompt

// RAM, all of it but the stack. The names are found in the map file.
alignas(64) u8 activations[need.activation_bytes];
alignas(64) u8 key_value_memory[need.kv_bytes];
u32 session_words[need.words];
sequence_view sequence_views[1];
sample::candidate sampler_candidates[story_model::hp.n_vocab];
alignas(8) std::byte tokenizer_scratch[8192];
i32 token_ids[config.context];
char command_line[max_line];

struct options {
  std::string_view prompt = "Once upon a time";
  u32 n_predict = 200;
  f32 temp = 0.0f;  ///< 0: greedy
  u32 seed = 1;
};

void print(std::string_view text) { platform::write(text); }
void print(u64 v) {
  char digits[20];
  print(text_writer(digits).put(v).view());
}
void print_error(const error& e) {
  char line[256];
  print("\nerror: ");
  print(message(e, line));
  print("\n");
}

std::string_view next_word(std::string_view& line) {
  const usize end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line = end == line.npos ? std::string_view() : line.substr(end + 1);
  return word;
}

/// A decimal number without sign and exponent. Errors: bad_argument.
result<f32> parse_number(std::string_view name, std::string_view text) {
  f32 v = 0.0f, unit = 1.0f;
  bool fraction = false;
  for (char c : text) {
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') return fail(errc::bad_argument, name);
    v = v * 10.0f + static_cast<f32>(c - '0');
    if (fraction) unit *= 10.0f;
  }
  if (text.empty() || v > 1e9f) return fail(errc::bad_argument, name);
  return v / unit;
}

/// Errors: bad_argument (unknown option, or not a number).
result<options> parse(std::string_view line) {
  options o;
  while (!line.empty()) {
    const std::string_view name = next_word(line);
    if (name == "-p") {
      o.prompt = line;
      break;
    }
    JIG_TRY(const f32 v, parse_number(name, next_word(line)));
    if (name == "-n") o.n_predict = static_cast<u32>(v);
    else if (name == "--temp") o.temp = v;
    else if (name == "-s") o.seed = static_cast<u32>(v);
    else return fail(errc::bad_argument, name);
  }
  return o;
}

class storyteller {
 public:
  explicit storyteller(const options& o) : options_(o), warmth_{o.temp}, draw_(o.seed) {}

  /// Prints the story, then its ids and the cost. Errors: those of tokenize, device_session::make and decode.
  result<void> tell() {
    JIG_TRY(session_, device_session::make(config, need, activations, key_value_memory, session_words, sequence_views));
    JIG_TRY(const usize n_prompt,
            tokenize(story_model::vocabulary, options_.prompt, {}, token_ids, tokenizer_scratch));
    print(options_.prompt);
    const u64 start = platform::nanoseconds();
    JIG_TRY(mat logits, read({token_ids, n_prompt}));
    const u64 after_prompt = platform::nanoseconds();
    JIG_TRY(const u32 n, write(logits));
    const u64 end = platform::nanoseconds();

    print("\n\nids:");
    for (u32 i = 0; i < n; ++i) print(" "), print(static_cast<u64>(token_ids[i]));
    report("\nprompt", n_prompt, after_prompt - start);
    report("\ngenerated", n, end - after_prompt);
    const platform::stack_use stack = platform::stack();
    print("\nstack: "), print(stack.used), print(" bytes of "), print(stack.reserved), print("\n");
    return {};
  }

 private:
  static void report(std::string_view what, u64 n, u64 ns) {
    print(what), print(": "), print(n), print(" tokens, "), print(n ? ns / n : 0), print(" ns per token");
  }

  /// Feeds tokens in batches; the last one's logits.
  result<mat> read(std::span<const i32> ids) {
    mat logits;
    while (!ids.empty()) {
      const usize n = ids.size() < config.batch ? ids.size() : config.batch;
      batch_item items[config.batch];
      for (usize i = 0; i < n; ++i) items[i] = {ids[i], 0, i + 1 == ids.size()};
      JIG_TRY(logits, session_.decode(kernels_, model{}, std::span<const batch_item>(items, n)));
      ids = ids.subspan(n);
    }
    return logits;
  }

  /// Generates until the story or the memory ends; the ids replace the prompt's. Returns their number.
  result<u32> write(mat logits) {
    text_stream text(story_model::vocabulary, {.continues = true});
    const auto n = continue_story(logits, text);
    text.finish(print_text);  // whichever way it ended
    return n;
  }
  result<u32> continue_story(mat logits, text_stream& text) {
    u32 n = 0;
    while (n < options_.n_predict) {
      const i32 id = choose({logits.row(0), logits.cols});
      if (story_model::vocabulary.is_end_of_generation(id)) break;
      token_ids[n++] = id;
      JIG_CHECK(text.push(id, print_text));
      if (n == options_.n_predict || session_.length(0) == config.context) break;
      const batch_item item{id, 0, true};
      JIG_TRY(logits, session_.decode(kernels_, model{}, std::span<const batch_item>(&item, 1)));
    }
    return n;
  }
  static void print_text(std::string_view s) { print(s); }

  i32 choose(std::span<const f32> logits) {
    const auto c = sample::from_logits(logits, sampler_candidates);
    if (!c) return -1;
    sample::candidates rest = *c;
    if (options_.temp > 0.0f) warmth_.apply(rest), draw_.apply(rest);
    else sample::greedy{}.apply(rest);
    return rest.id();
  }

  options options_;
  sample::temperature warmth_;
  sample::dist<sample::pcg32> draw_;
  kernels kernels_;
  device_session session_;
};

}  // namespace

/// The program; its result is the exit code.
int firmware_main() {
  const auto o = parse(platform::arguments(command_line));
  if (!o) return print_error(o.error()), 1;
  const auto told = storyteller(*o).tell();
  if (!told) return print_error(told.error()), 1;
  return 0;
}
