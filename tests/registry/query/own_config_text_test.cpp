/// Configs as a user writes them, right and wrong.
#include "lab/problems/fresh_seed.hpp"
#include "quarry/quarry.hpp"
#include "registry/query/own_entries.hpp"
#include "support/catch_compat.hpp"
#include "support/own_config_texts.hpp"
#include "support/random_config.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

/// Checks what is said of a text, in one line, and that it says so of the place where `at` stands.
void check_refused(const std::string& text, const std::string& says, const std::string& at) {
  const std::string message = refused(text);
  INFO(message);
  CHECK_THAT(message, Catch::Contains(says));
  CHECK(message.find('\n') == message.npos);
  constexpr std::string_view place = ", at byte ";
  const std::size_t found = message.rfind(place);
  REQUIRE(found != message.npos);
  std::size_t end = 0;
  const std::size_t offset = std::stoul(message.substr(found + place.size()), &end);
  CHECK(message.substr(found + place.size() + end).starts_with(": `" + at));
  REQUIRE(offset < text.size());
  if (at != "?") CHECK(text.substr(offset).starts_with(at));
}

}  // namespace

TEST_CASE("blanks and the order of keys do not matter", "[own]") {
  REQUIRE(make_kernel(good));
  CHECK(make_kernel(good)->name() == good_name);
  std::string wide = "\r\n\t ";
  for (const char c : good) {
    const bool mark = std::string_view("{}[]:,").find(c) != std::string_view::npos;
    wide += mark ? std::string("\n ") + c + " \t" : std::string(1, c);
  }
  std::string dense;
  for (const char c : good) dense += c == ' ' ? "" : std::string(1, c);
  for (const std::string& text : {wide, dense}) {
    const Result<Kernel> kernel = make_kernel(text);
    REQUIRE(kernel);
    CHECK(kernel->name() == good_name);
  }
}

TEST_CASE("words are said, or left out where they are the usual ones", "[own]") {
  REQUIRE(make_kernel(good_sm90));
  CHECK(make_kernel(good_sm90)->name() == good_sm90_name);
  const std::string said =
      replaced(good_sm90, "\"alignment\"", R"("orientation": "direct", "copy_engine": "tma", "alignment")");
  CHECK(make_kernel(said)->name() == good_sm90_name);
  std::string other = replaced(said, "\"direct\"", "\"exchanged\"");
  other = replaced(replaced(other, "128, 96, 64", "96, 128, 64"), "[2, 1]", "[1, 2]");
  REQUIRE(make_kernel(other));
  CHECK(make_kernel(other)->name() ==
        "gemm_sm90_bf16_bf16_f32_bf16_rcr_96x128x64_c1x2_s5_ping_pong_exchanged_a8x8");
}

TEST_CASE("words that are none are refused", "[own]") {
  check_refused(replaced(good_sm90, "ping_pong", "pingpong"),
                "`schedule`: unknown word `pingpong`; did you mean `ping_pong`?", "\"pingpong\"");
  check_refused(replaced(good_sm90, "ping_pong", "tma"),
                "`schedule`: unknown word `tma`; expected `cooperative`, `ping_pong` or `one_tile`",
                "\"tma\"");
  check_refused(replaced(good_sm90, "ping_pong", ""), "`schedule`: unknown word ``", "\"\"");
  check_refused(replaced(good_sm90, "\"ping_pong\"", "1"), "`schedule`: expected a string, got a number",
                "1,");
  check_refused(replaced(good_sm90, "\"ping_pong\"", "[\"ping_pong\"]"),
                "`schedule`: expected a string, got a list", "[\"ping_pong\"]");
  check_refused(replaced(good_sm90, "\"schedule\": \"ping_pong\", ", ""), "key `schedule` is missing", "{");
  check_refused(replaced(good_sm90, "\"alignment\"", R"("orientation": "left", "alignment")"),
                "`orientation`: unknown word `left`", "\"left\"");
  check_refused(replaced(good_sm90, "\"alignment\"", R"("copy": "tma", "alignment")"), "unknown key `copy`",
                "\"copy\"");
}

TEST_CASE("JSON that is cut short is refused at every length", "[own]") {
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::string message = refused(good.substr(0, length));
    CHECK(message.find('\n') == message.npos);
    if (length > 0) CHECK_THAT(message, Catch::Contains(", at "));
  }
}

TEST_CASE("text that is no JSON is refused where it is wrong", "[own]") {
  check_refused(good + "x", "the end of the text", "x");
  check_refused(good + good, "the end of the text", "{");
  check_refused("{]", "a key in double quotes", "]");
  check_refused("{family: \"gemm_sm80\"}", "a key in double quotes", "family");
  check_refused("{'family': 'gemm_sm80'}", "a key in double quotes", "'family'");
  check_refused(replaced(good, "\"stages\":", "\"stages\""), "`:`", "3");
  check_refused(replaced(good, "\"f16\",", "\"f16\""), "`,` or `}`", "\"b\"");
  check_refused(replaced(good, "[8, 8]}", "[8, 8],}"), "a key", "}");
  check_refused(replaced(good, "[8, 8]", "[8, 8,]"), "a value", "]");
  check_refused(replaced(good, "[8, 8]", "[8 8]"), "`,` or `]`", "8]");
  check_refused(replaced(good, "[8, 8]", "[8, [8]]"), "list within a list", "[8]]");
  check_refused(replaced(good, "[8, 8]", "{\"a\": 8, \"b\": 8}"), "object within an object", "{");
  check_refused(replaced(good, "3,", "03,"), "start with 0", "03");
  check_refused(replaced(good, "3,", "+3,"), "a value", "+3");
  check_refused(replaced(good, "3,", "-,"), "a digit", ",");
  check_refused(replaced(good, "3,", "3.,"), "a digit", ",");
  check_refused(replaced(good, "3,", "three,"), "double quotes", "three");
  check_refused(replaced(good, "3,", "NaN,"), "double quotes", "NaN");
  check_refused(replaced(good, "3,", ","), "a value", ",");
  check_refused(replaced(good, "\"rcr\"", "\"rcr"), "`,` or `}`", "tile");
  check_refused(replaced(good, "\"rcr\"", "\"r\\u0063r\""), "escapes", "\\u0063");
  check_refused(replaced(good, "\"rcr\"", "\"r\ncr\""), "control character", "?");
  check_refused(replaced(good, "3,", "3, // three\n"), "a key", "//");
  check_refused(std::string("{\"a\": \0}", 8), "a value", "?");
}

TEST_CASE("configs with wrong keys or values are refused where they are wrong", "[own]") {
  check_refused("{}", "key `family` is missing", "{");
  check_refused(replaced(good, "gemm_sm80", "gemm_sm81"), "did you mean `gemm_sm80`", "\"gemm_sm81\"");
  check_refused(replaced(good, "\"gemm_sm80\"", "80"), "`family`: expected a string, got a number", "80");
  check_refused(replaced(good, "stages", "stage"), "unknown key `stage`; did you mean `stages`?",
                "\"stage\"");
  check_refused(replaced(good, "stages", "thread"), "unknown key `thread`", "\"thread\"");
  check_refused(replaced(good, "stages", "Stages"), "did you mean `stages`?", "\"Stages\"");
  check_refused(replaced(good, "stages", "\xc3\xa9tages"), "unknown key `\xc3\xa9tages`", "\"\xc3\xa9");
  check_refused(replaced(good, "stages", ""), "unknown key ``", "\"\"");
  check_refused(replaced(good, "\"stages\": 3, ", ""), "key `stages` is missing", "{");
  check_refused(replaced(replaced(good, "\"stages\": 3, ", ""), "\"a\": \"f16\", ", ""),
                "keys `a` and `stages` are missing", "{");
  check_refused(replaced(good, "\"b\"", "\"a\""), "key `a` is there twice", "\"a\"");
  check_refused(replaced(good, "3,", "\"3\","), "`stages`: expected a whole number, got a string", "\"3\"");
  check_refused(replaced(good, "3,", "[3],"), "`stages`: expected a whole number, got a list", "[3]");
  check_refused(replaced(good, "3,", "3.0,"), "`stages`: expected a whole number", "3.0");
  check_refused(replaced(good, "3,", "3e0,"), "`stages`: expected a whole number", "3e0");
  check_refused(replaced(good, "3,", "null,"), "`stages`: expected a whole number, got null", "null");
  check_refused(replaced(good, "[8, 8]", "8"), "`alignment`: expected a list of 2 numbers, got a number",
                "8");
  check_refused(replaced(good, "[8, 8]", "[8]"), "`alignment`: expected a list of 2 numbers, got 1", "[8]");
  check_refused(replaced(good, "[8, 8]", "[]"), "`alignment`: expected a list of 2 numbers, got 0", "[]");
  check_refused(replaced(good, "96, 64, 48", "96, 64, 48, 1"), "list of 3 numbers, got 4", "[96");
  check_refused(replaced(good, "48", "true"), "`tile`: expected a whole number, got true", "true");
  check_refused(replaced(good, "\"rcr\"", "\"rxr\""), "three letters of r, c, R and C", "\"rxr\"");
  check_refused(replaced(good, "\"rcr\"", "\"rc\""), "three letters of r, c, R and C", "\"rc\"");
  check_refused(replaced(good, "\"rcr\"", "[\"r\", \"c\", \"r\"]"), "expected a string, got a list",
                "[\"r\"");
  check_refused(replaced(good, "\"f32\"", "\"fp32\""), "unknown type `fp32`; did you mean `f32`", "\"fp32\"");
  check_refused(replaced(good, "\"f32\"", "\"none\""), "unknown type `none`", "\"none\"");
  check_refused(replaced(good, "\"f32\"", "false"), "`accumulator`: expected a string, got false", "false");
}

TEST_CASE("numbers of any size are read or refused", "[own]") {
  for (const std::string number : {"0", "-1", "1025", "4294967299", "9223372036854775807",
                                   "-9223372036854775809", "18446744073709551619", "-0"}) {
    check_refused(replaced(good, "3,", number + ","), "`stages`: expected 1 to 1024", number);
    check_refused(replaced(good, "[96", "[" + number), "`tile`: expected 1 to 1024", number);
  }
  const std::string digits(2000, '9');
  CHECK_THAT(refused(replaced(good, "3,", digits + ",")), Catch::Contains("expected 1 to 1024"));
  CHECK_THAT(refused(replaced(good, "3,", "1e" + digits + ",")), Catch::Contains("a whole number"));
}

TEST_CASE("long and deep texts are refused", "[own]") {
  const auto repeated = [](std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  for (const int times : {2, 100, 1'000, 1'000'000}) {
    refused(repeated("{", times));
    refused(repeated("{\"a\":", times));
    refused("{\"a\": " + repeated("[", times));
    refused("{\"a\": [" + repeated("1,", times));
    refused("{\"" + repeated("a", times));
    refused(repeated(" ", times));
    refused(repeated("gemm_sm80_", times));
    refused("gemm_sm80_" + repeated("f16_", times));
    refused("gemm_sm80_" + repeated("9", times));
  }
  std::string keys = "{";
  for (int i = 0; i < 40; ++i) keys += "\"k" + std::to_string(i) + "\": 1, ";
  CHECK_THAT(refused(keys), Catch::Contains("fewer keys"));
  CHECK_THAT(refused(good + repeated(" ", 5000)), Catch::Contains("bytes"));
}

TEST_CASE("names that are none are refused", "[own]") {
  CHECK_THAT(refused(""), Catch::Contains("got nothing") && Catch::Contains("`gemm_sm80`"));
  CHECK_THAT(refused("foo"), Catch::Contains("`foo`"));
  CHECK_THAT(refused("gemm_sm800_f16"), Catch::Contains("`gemm_sm800_f16`"));
  CHECK_THAT(refused("\xef\xbb\xbf" + good), Catch::Contains("begins with"));  // a byte order mark
  CHECK_THAT(refused("\xff\xfe"), Catch::Contains("`??`"));
  CHECK_THAT(refused("f\xc3\xbcr"), Catch::Contains("`f\xc3\xbcr`"));
  CHECK_THAT(refused("gemm_sm80"), Catch::Contains("expected `a`"));
  CHECK_THAT(refused(good_name + "_"), Catch::Contains("the end"));
  CHECK_THAT(refused(" " + good_name), Catch::Contains("begins with"));
  CHECK_THAT(refused(replaced(good_name, "s3", "s0")), Catch::Contains("`stages`"));
  CHECK_THAT(refused(replaced(good_name, "s3", "s03")), Catch::Contains("`stages`"));
  CHECK_THAT(refused(replaced(good_name, "s3", "s1025")), Catch::Contains("`stages`"));
  CHECK_THAT(refused(replaced(good_name, "f32", "none")), Catch::Contains("`accumulator`"));
  for (std::size_t length = 0; length < good_name.size(); ++length) refused(good_name.substr(0, length));
}

TEST_CASE("any text is a kernel or is refused with a message", "[own]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  const std::string_view pieces[] = {"{",  "}",    "[",        "]",          ":",     ",",   "\"",  "\\", "1",
                                     "0",  "-",    "1e9",      "null",       "f16",   "rcr", "_",   "x",  " ",
                                     "\n", "\xc3", "\"tile\"", "\"family\"", "gemm_", "s3",  "\x01"};
  int kernels = 0;
  for (int i = 0; i < 20'000; ++i) {
    const ConfigSpace& space = test::any_space(random);
    const SettingValues values =
        test::coin(random) ? test::random_values(random, space) : test::values_near_registered(random, space);
    std::string text = test::coin(random) ? config_name(space, values) : test::json_of(random, space, values);
    for (auto damages = random() % 4; damages > 0; --damages) {
      const std::size_t at = random() % text.size();
      if (test::coin(random)) text.erase(at, random() % 4);
      text.insert(std::min(at, text.size()), test::one_of(random, pieces));
    }
    const Result<Kernel> kernel = make_kernel(text);
    CAPTURE(text);
    if (kernel) {
      ++kernels;
      REQUIRE(kernel->metadata().design.threads <= 1024);
      REQUIRE(kernel->metadata().design.shared_memory <= 227 * 1024);
      continue;
    }
    const StatusCode code = kernel.status().code();
    REQUIRE((code == StatusCode::parse_error || code == StatusCode::unsupported));
    REQUIRE(!kernel.status().message().empty());
  }
  CHECK(kernels > 20);
}
