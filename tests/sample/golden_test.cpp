// Samplers, draws, chains and names against llama.cpp's results (tests/data/sampling).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jig/sample/sampler.hpp"

using namespace jig;
using namespace jig::sample;
using nlohmann::json;

namespace {

const json& data() {
  static const json all = [] {
    std::ifstream in(JIG_TEST_DATA "/sampling/reference.json");
    return json::parse(in, nullptr, false);
  }();
  return all;
}

f32 number(const json& v) { return v.is_string() ? -std::numeric_limits<f32>::infinity() : v.get<f32>(); }

struct bag {
  std::vector<candidate> memory;
  candidates c;
  explicit bag(const json& vector_name) {
    std::vector<f32> logits;
    for (const json& v : data()["logits"][vector_name.get<std::string>()]) logits.push_back(number(v));
    memory.resize(logits.size());
    c = *from_logits(logits, memory);
  }
};

/// Applies a sampler by its name in the data; stages without effect and unknown ones are told apart by the caller.
bool apply(candidates& c, const std::string& name, const json& p) {
  const auto keep = [&] { return p.contains("min_keep") ? p["min_keep"].get<usize>() : usize{0}; };
  if (name == "top_k") top_k{p["k"].get<i32>()}.apply(c);
  else if (name == "top_p") top_p{p["p"].get<f32>(), keep()}.apply(c);
  else if (name == "min_p") min_p{p["p"].get<f32>(), keep()}.apply(c);
  else if (name == "temp" || name == "temp_ext") temperature{p["t"].get<f32>()}.apply(c);
  else if (name == "top_n_sigma") top_n_sigma{p["n"].get<f32>()}.apply(c);
  else if (name == "greedy") greedy{}.apply(c);
  else if (name == "dist") dist<mt19937>{p["seed"].get<u32>()}.apply(c);
  else return false;
  return true;
}

/// A stage "name(arguments)" of chains.json as a sampler with parameters; empty name for stages that are switched off.
std::pair<std::string, json> stage(const std::string& text) {
  static const std::map<std::string, std::string> first{
      {"top_k", "k"}, {"top_p", "p"}, {"min_p", "p"}, {"temp_ext", "t"}, {"dist", "seed"}};
  for (const char* off : {"penalties(64,1,0,0)", "dry(0)", "top_n_sigma(-1)", "typ_p(1)", "xtc(0)"})
    if (text == off) return {"", {}};
  const auto open = text.find('(');
  const std::string name = text.substr(0, open);
  const json arguments = json::parse("[" + text.substr(open + 1, text.size() - open - 2) + "]");
  return {name, {{first.at(name), arguments[0]}}};
}

void compare(const candidates& c, const json& want) {
  const auto n = want["n"].get<usize>();
  REQUIRE(c.size() == n);
  CHECK(c.sorted == want["sorted"].get<bool>());
  candidates copy = c;
  std::vector<candidate> memory(c.items.begin(), c.items.end());
  copy.items = memory;
  softmax(copy);
  for (usize i = 0; i < n; ++i) {
    CHECK(c.items[i].id == want["ids"][i].get<i32>());
    const f32 logit = number(want["logits"][i]), got = c.items[i].logit;
    if (std::isinf(logit)) CHECK(got == logit);
    else CHECK(std::fabs(got - logit) <= 2e-6f * std::max(1.0f, std::fabs(logit)));
    CHECK(std::fabs(static_cast<f64>(copy.items[i].p) - want["probs"][i].get<f64>()) <= 1e-6);
  }
  if (want.contains("selected")) CHECK(c.id() == want["selected"].get<i32>());
}

}  // namespace

TEST_CASE("golden: single samplers") {
  REQUIRE(data().is_object());
  int count = 0;
  for (const json& test : data()["samplers"]) {
    const std::string name = test["sampler"], what = name + test["params"].dump();
    CAPTURE(what);
    bag b(test["logits_vector"]);
    REQUIRE(apply(b.c, name, test["params"]));
    compare(b.c, test["result"]);
    ++count;
  }
  CHECK(count == 55);
}

TEST_CASE("golden: sequences of draws") {
  int count = 0;
  for (const json& test : data()["draws"]) {
    const json& p = test["params"];
    dist<mt19937> d(p["seed"].get<u32>());
    for (const json& step : test["steps"]) {
      bag b(test["logits_vector"]);
      if (test["sampler"] == "top_k+dist") top_k{p["k"].get<i32>()}.apply(b.c);
      d.apply(b.c);
      CHECK(b.c.id() == step["id"].get<i32>());
      CHECK(b.c.size() == step["n"].get<usize>());
      ++count;
    }
  }
  CHECK(count == 9 * 40);
}

TEST_CASE("golden: chains, stage by stage and as one sampler in that order") {
  int count = 0;
  for (const json& test : data()["chains"]) {
    bag b(test["logits_vector"]), whole(test["logits_vector"]);
    params p;
    std::string order;
    i32 selected = -1;
    for (const json& s : test["stages"]) {
      const std::string text = s["stage"];
      CAPTURE(text);
      const auto [name, arguments] = stage(text);
      if (!name.empty()) REQUIRE(apply(b.c, name, arguments));
      compare(b.c, s);
      ++count;
      if (name == "dist") p.seed = arguments["seed"], selected = s["selected"];
      if (name.empty() || name == "dist") continue;
      order += (name == "temp_ext" ? "temp" : name) + ";";
      if (name == "top_k") p.top_k = arguments["k"];
      if (name == "top_p") p.top_p = arguments["p"];
      if (name == "min_p") p.min_p = arguments["p"];
      if (name == "temp_ext") p.temp = arguments["t"];
    }
    sampler one(p);
    REQUIRE(one.order_by_names(order));
    one.apply(whole.c);
    CHECK(whole.c.id() == selected);
  }
  CHECK(count == 34);
}

TEST_CASE("golden: accepted and refused spellings, letters, default order") {
  int known = 0;
  std::vector<std::string> canonical;
  for_each_type(builtin{}, [&](auto tag) { canonical.emplace_back(decltype(tag)::type::name); });
  for (const auto& [spelling, name] : data()["names"]["names"].items()) {
    CAPTURE(spelling);
    usize want = builtin::size;
    for (usize i = 0; i < builtin::size; ++i)
      if (name == canonical[i]) want = i;
    CHECK(find_name(builtin{}, spelling) == want);
    known += want < builtin::size;
  }
  CHECK(known == 21);
  for (const auto& [letter, name] : data()["names"]["letters"].items()) {
    const usize at = find_letter(builtin{}, letter[0]);
    if (at < builtin::size) CHECK(name == canonical[at]);
    else CHECK(std::find(std::begin(canonical), std::end(canonical), name.get<std::string>()) == std::end(canonical));
  }
  std::vector<std::string> order;
  for (const json& name : data()["names"]["default_order"])
    if (find_name(builtin{}, name.get<std::string>()) < builtin::size) order.push_back(name);
  const sampler s;
  REQUIRE(order.size() == s.steps_count());
  for (usize i = 0; i < order.size(); ++i) CHECK(s.step_name(i) == order[i]);
}
