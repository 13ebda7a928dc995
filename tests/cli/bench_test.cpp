// jig-bench from outside: tables, lists of values, synthetic models, errors. No test looks at a time.
#include "program.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#ifndef JIG_BENCH
TEST_CASE("jig-bench") { MESSAGE("skipped: this build has no jig-bench (JIG_BUILD_EXAMPLES is off)"); }
#else

namespace {

using json = nlohmann::json;

outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), JIG_BENCH);
  program p(words, {});
  return p.finish({});
}
outcome quick(std::vector<std::string> words) {
  words.insert(words.end(), {"-m", JIG_MODELS "/demo/jig-demo-q8_0.gguf", "-r", "2", "--no-ceilings"});
  return run(std::move(words));
}
std::vector<json> lines(const outcome& o) {
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  std::vector<json> all;
  std::istringstream in(o.out);
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
  return all;
}

}  // namespace

TEST_CASE("jig-bench: every combination of the lists is measured, with as many repetitions as asked for") {
  const auto all = lines(quick({"-p", "8,0,9", "-n", "2", "-pg", "4,3", "-d", "0,5", "-t", "1", "-t", "2", "-b", "4",
                                "-ctk", "f32,q8_0", "-o", "jsonl"}));
  REQUIRE(all.size() == 2 * 2 * 2 * 4);
  for (const json& j : all) {
    CHECK(j["samples_ns"].size() == 2);
    CHECK(j["avg_ts"].get<double>() > 0.0);
    CHECK(j["n_batch"] == 4);
    CHECK(j["percent_of_ceiling"].is_null());
  }
  CHECK(all[0]["n_prompt"] == 8);
  CHECK(all[0]["n_threads"] == 1);
  CHECK(all[0]["type_k"] == "f32");
  CHECK(all[0]["model_type"] == "llama q8_0");
  CHECK(all[3]["n_prompt"] == 4);
  CHECK(all[3]["n_gen"] == 3);
  CHECK(all[4]["n_depth"] == 5);
  CHECK(all[8]["type_v"] == "q8_0");
  CHECK(all[16]["n_threads"] == 2);
}

TEST_CASE("jig-bench: Markdown, CSV and JSON") {
  const outcome md = quick({"-p", "4", "-n", "2", "-d", "3"});
  REQUIRE(md.status == 0);
  CHECK(md.out.starts_with("| model | size | params |"));
  CHECK(md.out.find("| pp4 @ d3 |") != std::string::npos);
  CHECK(md.out.find("| tg2 @ d3 |") != std::string::npos);
  CHECK(std::count(md.out.begin(), md.out.end(), '\n') == 4);
  const outcome csv = quick({"-p", "4", "-n", "0", "-o", "csv"});
  CHECK(csv.out.starts_with("build,backends,isa,model_filename,"));
  CHECK(csv.out.find("\"llama q8_0\"") != std::string::npos);
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 2);
  const json all = json::parse(quick({"-p", "4", "-n", "2", "-o", "json"}).out);
  CHECK(all.size() == 2);
}

TEST_CASE("jig-bench: ceilings are measured and told, and each result is a part of one") {
  const outcome o = run({"-p", "4", "-n", "2", "-r", "1", "-t", "1", "-o", "json", "--profile"});
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK(o.err.find("ceilings of 1 thread: read ") != std::string::npos);
  CHECK(o.err.find("f32 ") != std::string::npos);
  CHECK(o.err.find("matmul (") != std::string::npos);  // --profile
  for (const json& j : json::parse(o.out)) {
    CHECK(j["percent_of_ceiling"].get<double>() > 0.0);
    CHECK(j["ceiling"] == (j["n_gen"] == 0 ? "int8 ops" : "read"));
  }
}

TEST_CASE("jig-bench: a synthetic model is a file that runs") {
  const std::string path = (std::filesystem::temp_directory_path() / "jig-bench-test.gguf").string();
  const outcome saved = run({"--synthetic", "qwen2-0.5b:q4_K", "--save", path});
  CAPTURE(saved.err);
  REQUIRE(saved.status == 0);
  const auto all =
      lines(run({"-m", path, "-p", "2", "-n", "0", "-r", "1", "--no-warmup", "--no-ceilings", "-o", "jsonl"}));
  CHECK(all[0]["model_n_params"] == 494032768u);
  CHECK(all[0]["model_type"] == "qwen2 q5_0");  // rows of 896 are no whole number of blocks of 256
  std::filesystem::remove(path);
}

TEST_CASE("jig-bench: wrong command lines and models are named") {
  const auto wrong = [](std::vector<std::string> words, const std::string& what) {
    const outcome o = run(std::move(words));
    CAPTURE(o.err);
    CHECK(o.status == 2);
    CHECK(o.err.find(what) != std::string::npos);
  };
  wrong({"-p", "1,x"}, "-p: must be a whole number");
  wrong({"-pg", "5"}, "-pg: must be two numbers");
  wrong({"-p", "0", "-n", "0"}, "nothing to measure");
  wrong({"-o", "xml"}, "-o: must be md, csv, json or jsonl");
  wrong({"-ctk", "q4_K"}, "-ctk: must be one of f32, f16");
  wrong({"--synthetic", "llama-2b:q4_0"}, "a shape of llama-1b, ");
  wrong({"--synthetic", "llama-1b:q8_1"}, "a type of f32, ");
  wrong({"--synthetic", "llama-1b"}, "a type of f32, ");
  wrong({"--save", "x.gguf"}, "--save: needs exactly one --synthetic");
  wrong({"--n-promt", "5"}, "did you mean --n-prompt?");
  const outcome none = run({"-m", "/nowhere.gguf", "--no-ceilings"});
  CHECK(none.status == 1);
  CHECK(none.err.find("/nowhere.gguf") != std::string::npos);
  const outcome full = run({"--synthetic", "qwen2-0.5b:q4_0", "--save", "/nowhere/x.gguf"});
  CHECK(full.status == 1);
}

#endif
