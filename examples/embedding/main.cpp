// jig-embedding: texts as vectors, and reranking. See docs/embedding.md.
//
// Exit status: 0 done, 1 an error, 2 a wrong command line.

#include <exception>

#include "jig/host/compiled.hpp"
#include "jig/host/console.hpp"
#include "jig/host/read_text.hpp"
#include "options.hpp"
#include "show.hpp"

namespace {

using namespace jig;
using namespace jig::embedding;
using any_model = host::compiled_model;

constexpr int failed = 1, wrong_usage = 2;

int usage_error(const std::string& what) {
  host::note(fmt::format("error: {}\n(jig-embedding --help lists the options)", what));
  return wrong_usage;
}

int print(const std::string& s) {
  host::output out;
  if (out.write(s) || out.gone()) return 0;
  return host::report(out.failure()), failed;
}

/// The texts of the command line, or what is wrong with them. Empty lines of separated texts are none.
std::string read_texts(const settings& s, std::vector<std::string>& texts) {
  std::string all;
  if (s.prompt) {
    all = *s.prompt;
  } else {
    auto read = host::read_text(s.file.value_or("-"));
    if (!read) return host::to_string(read.error());
    all = *std::move(read);
  }
  if (!s.json_in) {
    for (usize at = 0; at <= all.size();) {
      const usize end = std::min(all.find(s.separator, at), all.size());
      if (end > at) texts.push_back(all.substr(at, end - at));
      at = end + s.separator.size();
    }
    return texts.empty() ? "no texts" : "";
  }
  const auto j = nlohmann::json::parse(all, nullptr, false);
  if (j.is_discarded()) return "the input is not JSON";
  const auto& list = j.is_object() && j.contains("input") ? j["input"] : j;
  if (!list.is_array()) return "the input must be a JSON array of strings, or an object with one as \"input\"";
  for (const auto& entry : list) {
    if (!entry.is_string()) return fmt::format("entry {} of the input is not a string", texts.size());
    texts.push_back(entry.get<std::string>());
  }
  return texts.empty() ? "no texts" : "";
}

/// The ids of a text, or of a query and a text as a reranker reads them.
result<std::vector<i32>> ids_of(const host::vocab& vocabulary, const settings& s, const std::string& text) {
  if (s.query) return host::rerank_ids(vocabulary, *s.query, text);
  return vocabulary.tokenize(text, {.add_special = true});
}

int run(const settings& s) {
  std::vector<std::string> texts;
  if (const std::string wrong = read_texts(s, texts); !wrong.empty()) return usage_error(wrong);
  const auto m = host::try_load<any_model>(s.model, {.threads = s.threads, .repack = s.repack});
  if (!m) return host::report(m.error(), s.model), failed;
  auto e = host::embedder<any_model>::make(*m, s.embedding);
  if (!e) return host::report(e.error()), failed;
  std::vector<std::vector<i32>> ids;
  for (const std::string& text : texts) {
    auto tokens = ids_of(m->vocabulary(), s, text);
    if (!tokens) return host::report(tokens.error(), fmt::format("text {}", ids.size())), failed;
    ids.push_back(*std::move(tokens));
  }
  auto v = e->embed(ids);
  if (!v) {
    host::report(v.error(), {}, v.error().code == errc::context_full ? "; choose a larger -c" : "");
    return failed;
  }
  if (e->pool() == pooling::rank) return print(shown_scores(*v, texts, s));
  for (auto& one : *v) normalize(one, s.normalize);
  return print(shown(*v, s));
}

int start(std::span<const char* const> words) {
  settings s;
  if (const std::string wrong = host::parse(std::span<const row>(table), words, s); !wrong.empty())
    return usage_error(wrong);
  if (s.help)
    return print("jig-embedding prints texts as vectors, or scores them against a query.\n\n"
                 "  jig-embedding -m FILE.gguf -p TEXT\n\n" +
                 host::help_text(std::span<const row>(table)));
  if (const std::string wrong = check(s); !wrong.empty()) return usage_error(wrong);
  return run(s);
}

}  // namespace

int main(int argc, char** argv) try {
  return start({argv + 1, argv + (argc > 0 ? argc : 1)});
} catch (const std::exception& e) {
  host::note(fmt::format("error: {}", e.what()));
  return failed;
}
