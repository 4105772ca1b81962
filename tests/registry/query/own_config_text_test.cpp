/// Configs as a user writes them, right and wrong.

#include "lab/problems/fresh_seed.hpp"
#include "quarry/quarry.hpp"
#include "registry/query/own_entries.hpp"
#include "support/catch_compat.hpp"
#include "support/random_config.hpp"

using namespace quarry;

namespace {

const std::string good =
    R"({"family": "gemm_sm80", "a": "f16", "b": "f16", "accumulator": "f32", "out": "f16", "layouts": "rcr", )"
    R"("tile": [96, 64, 48], "warps": [2, 2, 1], "stages": 3, "alignment": [8, 8]})";
/// Of a family with words; those left out are tma and direct.
const std::string good_sm90 =
    R"({"family": "gemm_sm90", "a": "bf16", "b": "bf16", "accumulator": "f32", "out": "bf16", )"
    R"("layouts": "rcr", "tile": [128, 96, 64], "cluster": [2, 1], "stages": 5, "schedule": "ping_pong", )"
    R"("alignment": [8, 8]})";
const std::string good_sm90_name = "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x96x64_c2x1_s5_ping_pong_a8x8";
const std::string good_name = "gemm_sm80_f16_f16_f32_f16_rcr_96x64x48_w2x2x1_s3_a8x8";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != text.npos);
  return text.replace(at, what.size(), by);
}

/// The message of a text that cannot be read.
std::string refused(std::string_view text) {
  const Result<Kernel> kernel = make_kernel(text);
  INFO(text.substr(0, 300));
  REQUIRE(!kernel);
  INFO(kernel.status().message());
  CHECK(kernel.status().code() == StatusCode::parse_error);
  return kernel.status().message();
}

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

TEST_CASE("a config that breaks a constraint is refused with the constraint", "[own]") {
  const auto check = [](const std::string& what, const std::string& name) {
    const Result<Kernel> kernel = make_kernel(name);
    INFO(name);
    REQUIRE(!kernel);
    CHECK(kernel.status().code() == StatusCode::unsupported);
    CHECK_THAT(kernel.status().message(), Catch::Contains("`" + name + "`: ") && Catch::Contains(what));
    CHECK(!find_kernel(name));
  };
  const std::string sm80 = "gemm_sm80_f16_f16_f32_f16_rcr_";
  check("no matrix instruction", "gemm_sm80_f16_bf16_f32_f16_rcr_64x64x32_w2x2x1_s3_a8x8");
  check("no matrix instruction", "gemm_sm80_s8_s8_f32_s32_rcr_64x64x64_w2x2x1_s3_a8x8");
  check("no matrix instruction", "gemm_sm80_s8_u8_s32_f16_rcr_64x64x64_w2x2x1_s3_a8x8");
  check("no instruction transposes", "gemm_sm80_s8_s8_s32_s32_rrr_64x64x64_w2x2x1_s3_a8x8");
  check("no instruction transposes", "gemm_sm80_s8_s8_s32_s32_crc_64x64x64_w2x2x1_s3_a8x8");
  check("a multiple of 32 along K", "gemm_sm80_s8_s8_s32_s32_rcr_64x64x16_w2x2x1_s3_a8x8");
  check("1, 2, 4, 8 or 16", "gemm_sm80_s8_s8_s32_s32_rcr_64x64x64_w2x2x1_s3_a32x8");
  check("no matrix instruction", "gemm_sm80_f32_f32_f32_f32_rcr_64x64x32_w2x2x1_s3_a8x8");
  check("only for f16 and bf16", "gemm_sm80_f64_f64_f64_f64_rcr_64x64x16_w2x2x1_s3_m16n8k8_a2x2");
  check("only for f64", sm80 + "64x64x32_w2x2x1_s3_m16n8k16_a8x8");
  check("multiple of 16 along K", "gemm_sm80_f64_f64_f64_f64_rcr_64x64x16_w2x2x2_s3_m16n8k16_a2x2");
  check("not a multiple of the warps", sm80 + "64x64x32_w3x2x1_s3_a8x8");
  check("multiple of 16 along M and N", sm80 + "64x64x32_w8x2x1_s3_a8x8");
  check("multiple of 16 along K", sm80 + "64x64x32_w2x2x4_s3_a8x8");
  check("128 accumulators", sm80 + "128x128x32_w1x2x1_s3_a8x8");
  check("1024 threads", sm80 + "256x256x32_w8x8x1_s3_a8x8");
  check("stages must be 2 to 8", sm80 + "64x64x32_w2x2x1_s1_a8x8");
  check("stages must be 2 to 8", sm80 + "64x64x32_w2x2x1_s9_a8x8");
  check("alignment must be", sm80 + "64x64x32_w2x2x1_s3_a16x8");
  check("fast_clamp can be chosen only for s8", sm80 + "64x64x32_w2x2x1_s3_fast_clamp_a8x8");
  check("fast_clamp can be chosen only for s8",
        "gemm_sm80_s8_s8_s32_s32_rcr_64x64x64_w2x2x1_s3_fast_clamp_a16x16");
  check("alignment must be", sm80 + "64x64x32_w2x2x1_s3_a8x3");
  check("shared memory", sm80 + "256x128x64_w4x2x1_s5_a8x8");
  check("share the copies of the tile of a evenly", sm80 + "96x32x64_w3x1x1_s3_a8x8");
  check("too few to copy the tile of a", sm80 + "64x16x256_w1x1x1_s2_a2x8");
  check("too few to copy the tile of b", sm80 + "16x64x128_w1x1x1_s2_a8x1");

  const std::string simt = "gemm_simt_f32_f32_f32_f32_rcr_";
  check("beside bytes, an operand is f16 or bf16", "gemm_simt_s8_f32_f32_f32_rcr_64x64x16_t4x4");
  check("beside bytes, an operand is f16 or bf16", "gemm_simt_s8_f16_f32_bf16_rcr_64x64x16_t4x4");
  check("no matrix instruction", "gemm_sm80_s8_f16_f16_f16_rcr_64x64x64_w2x2x1_s3_a16x8");
  check("no instruction transposes", "gemm_sm80_f16_s8_f32_f16_rrr_64x64x64_w2x2x1_s3_a8x16");
  check("1, 2, 4, 8 or 16", "gemm_sm80_f16_s8_f32_f16_rcr_64x64x64_w2x2x1_s3_a8x32");
  check("both f16, bf16, f32 or f64, or both s8 or u8", "gemm_simt_s32_s32_s32_s32_rcr_64x64x16_t4x4");
  check("must be f16, bf16, f32 or f64", "gemm_simt_f16_f16_s32_f16_rcr_64x64x16_t4x4");
  check("must be f16, bf16, f32 or f64", "gemm_simt_f16_f16_f32_s8_rcr_64x64x16_t4x4");
  check("summed in s32", "gemm_simt_s8_s8_f32_f32_rcr_64x64x16_t4x4");
  for (const std::string type : {"e4m3", "e5m2", "s4", "u4"}) {
    const std::string types = type + "_" + type + "_f32_f32";
    check("no matrix instruction", "gemm_sm80_" + types + "_rcr_64x64x64_w2x2x1_s3_a8x8");
    check("no matrix instruction", "gemm_sm80_f16_f16_f32_" + type + "_rcr_64x64x64_w2x2x1_s3_a8x8");
    const bool is_half_byte = type.front() != 'e';
    const std::string half_bytes = "s4 and u4 operands go with f16 or bf16";
    if (is_half_byte) check(half_bytes, "gemm_simt_" + types + "_rcr_64x64x16_t4x4");
    check("must be f16, bf16, f32 or f64", "gemm_simt_f16_f16_f32_" + type + "_rcr_64x64x16_t4x4");
    check("must be s32, s8, u8 or f32", "gemm_simt_s8_s8_s32_" + type + "_rcr_64x64x16_t4x4");
    check(is_half_byte ? half_bytes : "beside bytes, an operand is f16 or bf16",
          "gemm_simt_s8_" + type + "_f32_f32_rcr_64x64x16_t4x4");
  }
  for (const std::string types :
       {"e5m2_f16_f32_f16", "f32_e5m2_f32_f32", "e4m3_e4m3_f16_f16", "e4m3_e5m2_f32_f64"})
    check("e4m3 and e5m2 operands go with one another", "gemm_simt_" + types + "_rcr_64x64x16_t4x4");
  check("must be s32, s8, u8 or f32", "gemm_simt_u8_s8_s32_f16_rcr_64x64x16_t4x4");
  check("multiple of 4 along K", "gemm_simt_s8_s8_s32_s8_rcr_64x64x18_t4x4");
  check("f64", "gemm_simt_f64_f64_f32_f32_rcr_64x64x16_t4x4");
  check("f64", "gemm_simt_f64_f32_f32_f32_rcr_64x64x16_t4x4");
  check("f64", "gemm_simt_f32_f32_f64_f64_rcr_64x64x16_t4x4");
  check("sums must be", "gemm_simt_bf16_bf16_bf16_bf16_rcr_64x64x16_t4x4");
  check("multiple of a thread's part", simt + "64x64x16_t5x4");
  check("multiple of 4", simt + "66x64x16_t2x4");
  check("multiple of 4", simt + "64x66x16_t4x2");
  check("1024 threads", simt + "128x128x16_t2x2");
  check("whole warps", simt + "20x20x16_t4x4");
  check("128 accumulators", simt + "128x256x16_t8x32");
  check("shared memory", simt + "512x256x64_t16x8");
  check("2048 multiplications", simt + "64x64x64_t8x8");
  check("64 elements", simt + "8x64x64_t4x4");
  check("tile.k must divide 128", simt + "64x64x48_t4x4_block_scales");
  check("an s32 output is computed in s32", "gemm_simt_s8_s8_s32_s32_rcr_64x64x64_t4x4_block_scales");
  check("tile.k must divide 32", simt + "64x64x64_t4x4_group_scales");
  for (const std::string weights : {"s4", "u4"}) {
    const std::string types = "f16_" + weights + "_f32_f16_";
    check("are for GEMM kernels", "grouped_gemm_simt_" + types + "rcr_64x64x16_t4x4");
    check("are for GEMM kernels", "gemm_list_simt_" + types + "rcr_64x64x16_t4x4");
    check("are for GEMM kernels", "conv2d_simt_fprop_" + types + "64x64x16_t4x4");
  }
}

TEST_CASE("a family that reads no groups of scales has no word for them", "[own]") {
  for (const std::string name :
       {"gemm_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x1_s3_a8x8",
        "gemm_sm90_bf16_bf16_f32_bf16_rcr_64x64x64_c1x1_s6_one_tile_a8x8",
        "grouped_gemm_simt_f16_f16_f32_f16_rcr_64x64x16_t4x4",
        "grouped_gemm_sm90_e4m3_e4m3_f32_bf16_rcr_64x128x128_c1x1_s4_ping_pong_a16x16"}) {
    INFO(name);
    CHECK(make_kernel(name + "_block_scales").status().code() != StatusCode::parse_error);
    CHECK_FALSE(make_kernel(name + "_group_scales"));
  }
}

TEST_CASE("a gemm_narrow_sm80 config that breaks a constraint is refused with the constraint", "[own]") {
  const auto check = [](const std::string& what, const std::string& name) {
    const Result<Kernel> kernel = make_kernel("gemm_narrow_sm80_" + name);
    INFO(name);
    REQUIRE(!kernel);
    CHECK(kernel.status().code() == StatusCode::unsupported);
    CHECK_THAT(kernel.status().message(), Catch::Contains(what));
  };
  CHECK(make_kernel("gemm_narrow_sm80_bf16_u4_f32_f32_rcr_16x96x384_w1x1x3_s5"));
  for (const std::string types : {"s4_f16_f32_f16", "f16_s8_f32_f16", "f16_s4_f16_f16", "f16_s4_f32_bf16",
                                  "f16_f16_f32_f16", "f32_s4_f32_f32", "f16_s4_f32_s8"})
    check("A must be f16 or bf16 and B s4 or u4", types + "_rcr_16x64x512_w1x1x4_s4");
  const std::string types = "f16_s4_f32_f16_";
  for (const std::string layouts : {"rrr", "ccr", "rcc"})
    check("weights are contiguous along K", types + layouts + "_16x64x512_w1x1x4_s4");
  check("one along M", types + "rcr_16x64x512_w2x1x4_s4");
  check("tile.k must be 128 for each warp", types + "rcr_16x64x256_w1x1x4_s4");
  check("more than 1024 threads", types + "rcr_64x256x640_w1x8x5_s2");
  check("multiple of 8 up to 128", types + "rcr_12x64x512_w1x1x4_s4");
  check("multiple of 8 up to 128", types + "rcr_136x64x512_w1x1x4_s4");
  check("multiple of 32 a warp", types + "rcr_16x48x512_w1x1x4_s4");
  check("multiple of 32 a warp", types + "rcr_16x512x128_w1x8x1_s2");
  check("cannot share the copies of A", types + "rcr_8x96x128_w1x3x1_s2");
  check("more than 2048 sums", types + "rcr_128x32x128_w1x1x1_s2");
  check("stages must be 2 to 8", types + "rcr_16x64x512_w1x1x4_s9");
  check("stages must be 2 to 8", types + "rcr_16x64x512_w1x1x4_s1");
  check("more shared memory", types + "rcr_64x256x128_w1x8x1_s8");
}

/// No kernel of gemm_sm90 has this config, and the message says why.
static void check_refused_on_hopper(const std::string& what, const std::string& name) {
  const Result<Kernel> kernel = make_kernel("gemm_sm90_" + name);
  INFO(name);
  REQUIRE(!kernel);
  CHECK(kernel.status().code() == StatusCode::unsupported);
  CHECK_THAT(kernel.status().message(), Catch::Contains(what));
}

TEST_CASE("a gemm_sm90 config with scales that breaks a constraint is refused with the constraint", "[own]") {
  const auto check = check_refused_on_hopper;
  const std::string e4m3 = "e4m3_e4m3_f32_bf16_rcr_", bf16 = "bf16_bf16_f32_bf16_rcr_";
  check("registers for sums", e4m3 + "128x256x128_c1x1_s3_cooperative_a16x16_block_scales");
  check("tile.k must be 64 or 128", e4m3 + "64x32x256_c1x1_s4_one_tile_a16x16_block_scales");
  check("block_scales need 3 stages", e4m3 + "64x32x128_c1x1_s2_one_tile_a16x16_block_scales");
  check("brings no scales", bf16 + "64x64x64_c1x1_s4_one_tile_cp_async_a4x4_vector_scales");
  check("sums that are scaled", "f16_f16_f16_f16_rcr_128x128x64_c1x1_s4_cooperative_a8x8_vector_scales");
  check("an s32 output is computed in s32",
        "s8_s8_s32_s32_rcr_64x32x128_c1x1_s4_one_tile_a16x16_vector_scales");
}

TEST_CASE("a gemm_sm90 config with weights that breaks a constraint is refused with the constraint",
          "[own]") {
  const auto check = check_refused_on_hopper;
  const std::string types = "f16_s4_f32_f16_", shape = "rcr_16x128x128_c1x1_s4_one_tile_exchanged_a8x32";
  CHECK(make_kernel("gemm_sm90_" + types + "rcr_96x64x256_c1x1_s3_one_tile_exchanged_a8x32_group_scales"));
  for (const std::string wrong : {"f16_s4_f16_f16_", "f16_s4_f32_bf16_", "f32_u4_f32_f32_"})
    check("no matrix instruction has these types", wrong + shape + "_group_scales");
  check("weights have group_scales", types + shape);
  check("weights have group_scales", types + shape + "_vector_scales");
  check("group_scales are for weights", "f16_f16_f32_f16_rcr_64x64x64_c1x1_s6_one_tile_a8x8_group_scales");
  check("weights are B", "s4_f16_f32_f16_" + shape + "_group_scales");
  check("orientation is exchanged", types + "rcr_128x16x128_c1x1_s4_one_tile_a8x32_group_scales");
  check("orientation is exchanged", types + "rcr_128x16x128_c1x1_s4_one_tile_a8x32");
  const auto refused = [&](const std::string& what, const std::string& name) {
    check(what, types + name + "_exchanged_a8x32_group_scales");
  };
  for (const std::string layouts : {"rrr", "ccr", "crr"})
    refused("weights are contiguous along K", layouts + "_16x128x128_c1x1_s4_one_tile");
  refused("brings no weights", "rcr_16x128x128_c1x1_s4_one_tile_cp_async");
  refused("no ping_pong schedule", "rcr_64x128x128_c1x1_s4_ping_pong");
  refused("tile.k must be 128 or 256 with weights", "rcr_16x128x64_c1x1_s4_one_tile");
  refused("tile.m must be 8, 16, 32, 64, 96, 128 or 256 with weights", "rcr_24x128x128_c1x1_s4_one_tile");
  check("alignment must be 8 and 32", types + "rcr_16x128x128_c1x1_s4_one_tile_exchanged_a8x16_group_scales");
}

TEST_CASE("a gemm_sm90 config whose K groups break a constraint is refused with the constraint", "[own]") {
  const auto check = check_refused_on_hopper;
  const std::string weights = "f16_s4_f32_f16_rcr_", end = "_exchanged_a8x32_group_scales";
  const auto refused = [&](const std::string& what, const std::string& shape, const std::string& groups) {
    check(what, weights + shape + end + groups);
  };
  CHECK(make_kernel("gemm_sm90_" + weights + "16x128x128_c1x1_s8_one_tile" + end + "_k2"));
  check("k_groups are for weights", "f16_f16_f32_f16_rcr_64x64x64_c1x1_s6_one_tile_a8x8_k2");
  refused("k_groups are for weights", "16x128x128_c1x1_s4_cooperative", "_k2");
  refused("stages must be a multiple of k_groups", "16x64x128_c1x1_s8_one_tile", "_k3");
  refused("more than 1024 threads", "16x128x128_c1x1_s8_one_tile", "_k4");
  refused("the sums of k_groups do not fit", "128x128x128_c1x1_s3_one_tile", "_k3");
}

TEST_CASE("a gemm_sm90 config that breaks a constraint is refused with the constraint", "[own]") {
  const auto check = [](const std::string& what, const std::string& name) {
    const Result<Kernel> kernel = make_kernel("gemm_sm90_" + name);
    INFO(name);
    REQUIRE(!kernel);
    CHECK(kernel.status().code() == StatusCode::unsupported);
    CHECK_THAT(kernel.status().message(),
               Catch::Contains("`gemm_sm90_" + name + "`: ") && Catch::Contains(what));
  };
  check("no matrix instruction", "f16_bf16_f32_f16_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "f32_f32_f32_f32_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "f16_f16_f32_bf16_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "f16_f16_f16_f32_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "bf16_bf16_bf16_bf16_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "s8_s8_s32_f16_rcr_128x128x64_c1x1_s4_cooperative_a16x16");

  const std::string rcr = "bf16_bf16_f32_bf16_rcr_", rrr = "bf16_bf16_f32_bf16_rrr_";
  const std::string ccr = "bf16_bf16_f32_bf16_ccr_";
  check("tile.m must be 64, 128, 192 or 256", rcr + "96x128x64_c1x1_s4_cooperative_a8x8");
  check("tile.m must be 64, 128, 192 or 256", rcr + "320x64x64_c1x1_s2_cooperative_a8x8");
  check("tile.n must be 64, 128, 192 or 256", rcr + "128x96x64_c1x1_s4_cooperative_exchanged_a8x8");
  check("tile.n must be a multiple of 8", rcr + "128x100x64_c1x1_s4_cooperative_a8x8");
  check("tile.n must be a multiple of 8", rcr + "128x264x64_c1x1_s2_cooperative_a8x8");
  check("tile.m must be a multiple of 8", rcr + "12x128x64_c1x1_s4_cooperative_exchanged_a8x8");
  check("tile.n must be a multiple of 16", rrr + "128x136x64_c1x1_s4_cooperative_a8x8");
  check("tile.m must be a multiple of 16", ccr + "24x128x64_c1x1_s4_cooperative_exchanged_a8x8");
  check("tile.k must be a multiple of 16", rcr + "128x128x40_c1x1_s4_cooperative_a8x8");
  check("tile.k must be a multiple of 16", rcr + "64x64x320_c1x1_s2_one_tile_a8x8");
  check("tile.k must be up to 64 or a multiple of 64", rcr + "128x128x96_c1x1_s4_cooperative_a8x8");

  check("cluster must be", rcr + "128x128x64_c4x1_s4_cooperative_a8x8");
  check("cluster must be", rcr + "128x128x64_c1x3_s4_cooperative_a8x8");
  check("cannot share the copies", rcr + "128x24x64_c2x1_s4_cooperative_a8x8");
  check("cannot share the copies", rrr + "24x128x64_c1x2_s4_cooperative_exchanged_a8x8");

  check("cooperative schedule needs", rcr + "64x128x64_c1x1_s4_cooperative_a8x8");
  check("tile.n must be 128 or more", rcr + "128x64x64_c1x1_s4_cooperative_exchanged_a8x8");
  check("ping_pong schedule", rcr + "192x64x64_c1x1_s4_ping_pong_a8x8");
  check("needs tile.n 64 or 128", rcr + "64x256x64_c1x1_s4_ping_pong_exchanged_a8x8");
  check("256 registers for sums", rcr + "256x256x64_c1x1_s2_cooperative_a8x8");
  check("256 registers for sums", rcr + "128x256x64_c1x1_s3_ping_pong_a8x8");
  check("208 registers for sums", rcr + "256x208x64_c1x1_s2_cooperative_a8x8");

  check("alignment must be 8 and 8", rcr + "128x128x64_c1x1_s4_cooperative_a8x4");
  check("alignment must be 8 and 8", rcr + "128x128x64_c1x1_s4_cooperative_a16x16");
  check("cp_async needs 3 stages", rcr + "128x128x64_c1x1_s2_cooperative_cp_async_a4x4");
  check("cp_async needs 3 stages", rcr + "64x64x64_c1x1_s2_one_tile_cp_async_a2x4");
  check("cluster must be 1x1", rcr + "128x128x64_c2x1_s4_cooperative_cp_async_a4x4");
  check("no ping_pong schedule", rcr + "128x128x64_c1x1_s4_ping_pong_cp_async_a4x4");
  check("alignment must be 2 or 4", rcr + "128x128x64_c1x1_s4_cooperative_cp_async_a8x8");
  check("alignment must be 2 or 4", rcr + "128x128x64_c1x1_s4_cooperative_cp_async_a1x4");
  check("tile.k must be 64", rcr + "128x128x32_c1x1_s4_cooperative_cp_async_a4x4");
  check("multiple of 64", rrr + "128x96x64_c1x1_s4_cooperative_cp_async_a4x4");

  check("stages must be 2 to 12", rcr + "64x64x64_c1x1_s1_one_tile_a8x8");
  check("stages must be 2 to 12", rcr + "64x16x16_c1x1_s13_one_tile_a8x8");
  check("multiple of 1024 bytes", rcr + "64x8x16_c1x1_s4_one_tile_a8x8");
  check("bytes of shared memory, more than any device has", rcr + "128x256x64_c1x1_s5_cooperative_a8x8");
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
    const SettingValues values = test::random_values(random, space);
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
  CHECK(kernels > 0);
}
