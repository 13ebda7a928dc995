// jig-embedding from outside: inputs, formats, errors.
#include "program.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#ifndef JIG_EMBEDDING
TEST_CASE("jig-embedding") { MESSAGE("skipped: this build has no jig-embedding (JIG_BUILD_EXAMPLES is off)"); }
#else

namespace {

using json = nlohmann::json;

outcome run(std::vector<std::string> words, const std::string& input = {}) {
  std::vector<std::string> all = {JIG_EMBEDDING, "-m", JIG_MODELS "/demo/jig-demo-q8_0.gguf"};
  all.insert(all.end(), words.begin(), words.end());
  program p(all, {});
  return p.finish(input);
}
json array_of(std::vector<std::string> words, const std::string& input = {}) {
  words.insert(words.end(), {"--embd-output-format", "array"});
  const outcome o = run(std::move(words), input);
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  return json::parse(o.out);
}
double length(const json& v) {
  double sum = 0;
  for (const auto& x : v) sum += x.get<double>() * x.get<double>();
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("jig-embedding: one vector of length 1 per line, whatever the way in") {
  const json lines = array_of({"-p", "A cat sat.\n\nThe moon is far."});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].size() == 256);
  CHECK(length(lines[0]) == doctest::Approx(1.0).epsilon(1e-4));
  CHECK(array_of({}, "A cat sat.\nThe moon is far.\n") == lines);
  CHECK(array_of({"--json-input"}, R"(["A cat sat.", "The moon is far."])") == lines);
  CHECK(array_of({"--json-input"}, R"({"input": ["A cat sat.", "The moon is far."]})") == lines);
  CHECK(array_of({"-p", "A cat sat.;The moon is far.", "--embd-separator", ";"}) == lines);
  CHECK(array_of({"-p", "A cat sat.", "--pooling", "none"}).size() > 2);
  CHECK(length(array_of({"-p", "A cat sat.", "--embd-normalize", "-1"})[0]) > 2.0);
}

TEST_CASE("jig-embedding: json as a server answers, with cosines; text; raw numbers") {
  const outcome o = run({"-p", "a\nb", "--embd-output-format", "json", "--similarity"});
  const json j = json::parse(o.out);
  CHECK(j["object"] == "list");
  REQUIRE(j["data"].size() == 2);
  CHECK(j["data"][1]["index"] == 1);
  CHECK(j["cosineSimilarity"][0][0].get<double>() == doctest::Approx(1.0));
  CHECK(j["cosineSimilarity"][0][1] == j["cosineSimilarity"][1][0]);
  CHECK(run({"-p", "a", "--similarity"}).out.find("cosine similarity:\n  1.000\n") != std::string::npos);
  const outcome raw = run({"-p", "a", "--embd-output-format", "raw"});
  CHECK(std::count(raw.out.begin(), raw.out.end(), ' ') == 255);
}

TEST_CASE("jig-embedding: wrong options have status 2, what fails at work status 1, each with its reason") {
  const auto fails = [](std::vector<std::string> words, int status, const std::string& reason) {
    const outcome o = run(words, "");
    CAPTURE(o.err);
    CHECK(o.status == status);
    CHECK(o.err.find(reason) != std::string::npos);
    CHECK(o.out.empty());
  };
  fails({"--pooling", "most"}, 2, "--pooling: must be one of none, mean");
  fails({"-p", "a", "-f", "b"}, 2, "give the texts once");
  fails({"-p", ""}, 2, "no texts");
  fails({"--json-input", "-p", "[1]"}, 2, "entry 0 of the input is not a string");
  fails({"--json-input", "-p", "{"}, 2, "not JSON");
  fails({"-p", "a", "--query", "b", "--pooling", "mean"}, 2, "needs --pooling rank");
  fails({"-p", "a", "--query", "b"}, 1, "not supported by this model");
  fails({"-p", "a long text about many things", "-c", "4"}, 1, "choose a larger -c");
  fails({"-p", "a", "-m", "/nowhere"}, 1, "/nowhere");
}

#endif
