#include "jig/host/command_line.hpp"

#include <doctest/doctest.h>

using namespace jig;
using namespace jig::host;

namespace {

struct settings {
  u32 n = 7;
  f32 x = 0.5f;
  bool flag = false;
  std::string text;
};

constexpr option<settings> table[] = {
    {"-n, --number", "N", "a number", [](settings& s, std::string_view v) { return read_number<u32>(v, 1, 100, s.n); }},
    {"--real", "X", "a real", [](settings& s, std::string_view v) { return read_number(v, 0.0f, 1.0f, s.x); }},
    {"-no-flag, --no-flag", "", "a flag",
     [](settings& s, std::string_view) -> std::string { s.flag = true; return ""; }},
    {"-t, --text", "TEXT", "a text",
     [](settings& s, std::string_view v) -> std::string { s.text = v; return ""; }},
};

std::string parse_words(std::vector<const char*> words, settings& s) {
  return parse(std::span<const option<settings>>(table), words, s);
}

}  // namespace

TEST_CASE("command line: values, flags, single-dash words and the last one wins") {
  settings s;
  CHECK(parse_words({"-n", "3", "--real", "0.25", "-no-flag", "-t", "-n", "--number=100"}, s) == "");
  CHECK(s.n == 100);
  CHECK(s.x == 0.25f);
  CHECK(s.flag);
  CHECK(s.text == "-n");  // a value may look like an option
  CHECK(parse_words({"--text=a=b"}, s) == "");
  CHECK(s.text == "a=b");
  CHECK(parse_words({}, s) == "");
}

TEST_CASE("command line: every mistake names the option as it was typed") {
  settings s;
  const auto wrong = [&](std::vector<const char*> words) { return parse_words(std::move(words), s); };
  CHECK(wrong({"-n"}) == "-n: the value is missing (N)");
  CHECK(wrong({"-n", "0"}) == "-n: must be a whole number from 1 to 100, not \"0\"");
  for (const char* v : {"101", "-1", "", "1.5", "1x", " 1", "99999999999999999999", "0x10", "+1"})
    CHECK_MESSAGE(wrong({"--number", v}).starts_with("--number: must be a whole number"), v);
  for (const char* v : {"nan", "inf", "-0.1", "1.1", "", "0,5", "1e99"})
    CHECK_MESSAGE(wrong({"--real", v}).starts_with("--real: must be a number from 0 to 1"), v);
  CHECK(wrong({"--no-flag=1"}) == "--no-flag: takes no value");
  CHECK(wrong({"--nubmer", "1"}) == "unknown option --nubmer; did you mean --number?");
  CHECK(wrong({"--something-else"}) == "unknown option --something-else");
  CHECK(wrong({"-n=3"}).starts_with("unknown option -n=3"));
  CHECK(wrong({"word"}).starts_with("\"word\" stands alone"));
  CHECK(wrong({""}).starts_with("\"\" stands alone"));
  CHECK(wrong({"-"}).starts_with("\"-\" stands alone"));
  CHECK(s.n == 7);
}

TEST_CASE("command line: the help has one line for each option") {
  const std::string help = help_text(std::span<const option<settings>>(table));
  CHECK(help.starts_with("  -n, --number N                  a number\n"));
  CHECK(std::count(help.begin(), help.end(), '\n') == 4);
}
