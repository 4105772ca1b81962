/// Every way in which a space can be wrong: exit 2, a message that says where, nothing written.
#include <random>

#include "generator/generator_run.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry::test;

namespace {

struct BadSpace {
  const char* what;
  /// What to replace in the valid space, and by what.
  std::string from;
  std::string to;
  /// All of these stand in the message.
  std::vector<std::string> message;
};

const std::vector<BadSpace> bad_spaces = {
    {"a missing comma", R"("f32",)", R"("f32")", {"space.json:4:", "syntax error"}},
    {"an unknown key", R"("axes")", R"("axis")", {"unknown key `axis`", "did you mean `axes`?"}},
    {"an unknown key of a setting", R"("warps")", R"("wraps")", {"axes.shapes[0]", "`wraps`", "`warps`"}},
    {"a key that stands twice",
     R"("layouts": ["rcr"],)",
     R"("layouts": ["rcr"], "layouts": ["rrr"],)",
     {"`layouts` stands twice"}},
    {"an unknown type", R"("a": "f16")", R"("a": "fp16")", {"axes.types[0].a", "`fp16`", "`f16`"}},
    {"no type at all", R"("a": "f16")", R"("a": "none")", {"axes.types[0].a", "`none`"}},
    {"unknown layouts", R"("rcr")", R"("rcx")", {"axes.layouts[0]", "`rcx`"}},
    {"a word where a number belongs",
     R"([3, 4])",
     R"(["three"])",
     {"axes.stages[0]", "a whole number", "a string"}},
    {"a fraction", R"([3, 4])", R"([3.5])", {"axes.stages[0]", "a whole number"}},
    {"a negative number", R"([3, 4])", R"([-3])", {"axes.stages[0]", "-3"}},
    {"zero", R"([3, 4])", R"([0])", {"axes.stages[0]", "got 0"}},
    {"a huge number", R"([3, 4])", R"([99999999999])", {"axes.stages[0]", "99999999999"}},
    {"too few numbers", R"([128, 128, 32])", R"([128, 128])", {"axes.shapes[0].tile", "3 numbers, got 2"}},
    {"a number where a list belongs",
     R"([128, 128, 32])",
     R"(128)",
     {"axes.shapes[0].tile", "an array of 3 numbers"}},
    {"an axis that is no list", R"([3, 4])", R"(3)", {"axes.stages", "a list of values"}},
    {"axes that are no object",
     R"("constraints": ["stages >= 3"])",
     R"("spaces": [{"axes": []}])",
     {"spaces[0].axes", "an object"}},
    {"an empty axis", R"([3, 4])", R"([])", {"axes.stages", "an empty axis"}},
    {"an empty choice", R"(["f16", "f32"])", R"([])", {"axes.types[0].out", "an empty list"}},
    {"an empty value",
     R"({"tile": [128, 128, 32], "warps": [2, 2, 1]})",
     R"({})",
     {"axes.shapes[0]", "without settings"}},
    {"a value that names no setting",
     R"([{"tile": [128, 128, 32], "warps": [2, 2, 1]}])",
     R"([128])",
     {"axes.shapes[0]", "an object of settings", "`shapes`"}},
    {"values that make different settings",
     R"("warps": [2, 2, 1]})",
     R"("warps": [2, 2, 1]}, {"tile": [64, 64, 32]})",
     {"axes.shapes[1]", "same settings"}},
    {"a setting that no axis makes", R"("stages": [3, 4],)", "", {"no axis makes", "`stages`"}},
    {"a setting made twice",
     R"("warps": [2, 2, 1]})",
     R"("warps": [2, 2, 1], "stages": 3})",
     {"axes.stages", "axis `shapes` too"}},
    {"a duplicate value", R"([3, 4])", R"([3, 4, 3])", {"axes.stages[2]", "duplicate config"}},
    {"a duplicate in a choice",
     R"(["f16", "f32"])",
     R"(["f16", "f16"])",
     {"axes.types[0]", "duplicate config"}},
    {"two spaces that make one config",
     R"("constraints": ["stages >= 3"])",
     R"("spaces": [{}, {"constraints": ["stages == 3"]}])",
     {"duplicate config", "_s3_a8x8"}},
    {"a constraint that does not parse",
     R"(stages >= 3)",
     R"(stages >= )",
     {"constraints[0]", "stages >= ", "^"}},
    {"a constraint on an unknown field",
     R"(stages >= 3)",
     R"(stagse >= 3)",
     {"constraints[0]", "stagse", "stages"}},
    {"a constraint that is no string", R"("stages >= 3")", R"(3)", {"constraints[0]", "a number"}},
    {"constraints that are no list", R"(["stages >= 3"])", R"("stages >= 3")", {"constraints", "a list"}},
    {"a constraint that rejects everything",
     R"("stages >= 3")",
     R"("stages >= 3", "tile.m > 1000")",
     {"`tile.m > 1000`", "rejects every config"}},
    {"constraints that together reject everything",
     R"("stages >= 3")",
     R"("stages == 3", "stages == 4")",
     {"together reject every config"}},
    {"configs that cannot exist",
     R"([2, 2, 1])",
     R"([3, 2, 1])",
     {"no config is possible", "not a multiple of the warps"}},
    {"another family's space", R"("gemm_sm80")", R"("gemm_sm8")", {"family", "`gemm_sm80`", "`gemm_sm8`"}},
    {"no family", R"("family": "gemm_sm80",)", "", {"`family` is missing"}},
    {"a family that is no string", R"("gemm_sm80")", R"(80)", {"family", "a string"}},
    {"spaces that are no list", R"("constraints": ["stages >= 3"])", R"("spaces": {})", {"spaces", "a list"}},
    {"no spaces in the list",
     R"("constraints": ["stages >= 3"])",
     R"("spaces": [])",
     {"spaces", "an empty list"}},
    {"a family without mirrored configs",
     R"("constraints": ["stages >= 3"])",
     R"("mirror": true)",
     {"mirror", "`gemm_sm80` have no mirrored ones"}},
    {"an unknown key of a space",
     R"("constraints": ["stages >= 3"])",
     R"("spaces": [{"axis": {}}])",
     {"spaces[0]", "`axis`"}},
};

/// The same of the space of gemm_sm90, whose settings may be words, and which has mirrored configs.
const std::vector<BadSpace> bad_words = {
    {"an unknown word",
     R"(["ping_pong"])",
     R"(["pingpong"])",
     {"axes.schedule[0]", "`pingpong`", "did you mean `ping_pong`?"}},
    {"a word of another setting",
     R"(["ping_pong"])",
     R"(["tma"])",
     {"axes.schedule[0]", "expected `cooperative`, `ping_pong` or `one_tile`"}},
    {"no word", R"(["ping_pong"])", R"([""])", {"axes.schedule[0]", "``"}},
    {"a number where a word belongs", R"(["ping_pong"])", R"([1])", {"axes.schedule[0]", "a string"}},
    {"a list in the place of a word",
     R"(["direct", "exchanged"])",
     R"([["direct", "exchanged"], ["direct"]])",
     {"axes.orientation[1]", "duplicate config"}},
    {"a word that must be said", R"("schedule": ["ping_pong"],)", "", {"no axis makes", "`schedule`"}},
    {"a word twice",
     R"(["direct", "exchanged"])",
     R"(["direct", "direct"])",
     {"axes.orientation[1]", "duplicate config"}},
    {"a pair of one number",
     R"("cluster": [1, 1])",
     R"("cluster": [1])",
     {"axes.shapes[0].cluster", "2 numbers, got 1"}},
    {"configs that cannot exist",
     R"("cluster": [1, 1])",
     R"("cluster": [3, 1])",
     {"no config is possible", "cluster must be"}},
    {"a mirror that is no boolean",
     R"("axes": {)",
     R"("mirror": "yes", "axes": {)",
     {"mirror", "expected true or false, got a string"}},
    {"a mirror of one space that is no boolean",
     R"("alignment": [[8, 8]]
  })",
     R"("alignment": [[8, 8]]
  }, "spaces": [{"mirror": 1}])",
     {"spaces[0].mirror", "expected true or false, got a number"}},
    {"a config that is another's mirrored one",
     R"("axes": {)",
     R"("mirror": true, "axes": {)",
     {"duplicate config: two spaces, or one and its mirror, make gemm_sm90_"}},
};

/// Exit 2 with a message, and a folder of output as it was.
void check_refused(const ScratchFolder& scratch, const Spaces& spaces,
                   const std::vector<std::string>& message) {
  const auto out = scratch.path() / "out";
  const auto before = read_folder(out);
  const Outcome outcome =
      run_generator(scratch.path(), {"table", "--kernels", spaces.folder(), "--out", out});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out == "");
  for (const std::string& part : message) CHECK_THAT(outcome.error, Catch::Contains(part));
  CHECK(read_folder(out) == before);
}

}  // namespace

TEST_CASE("a wrong space is refused with the place, and nothing is written", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  const auto out = scratch.path() / "out";
  const bool written_before = GENERATE(false, true);
  if (written_before) {
    REQUIRE(run_generator(scratch.path(), {"table", "--kernels", spaces.folder(), "--out", out}).exit_code ==
            0);
  }
  for (const BadSpace& bad : bad_spaces) {
    INFO(bad.what);
    spaces.set_sm80(replaced(Spaces::small_sm80, bad.from, bad.to));
    std::vector<std::string> message = bad.message;
    message.push_back((spaces.folder() / "gemm_sm80" / "space.json").string());
    check_refused(scratch, spaces, message);
  }
}

TEST_CASE("a space with wrong words is refused with the place", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  for (const BadSpace& bad : bad_words) {
    INFO(bad.what);
    spaces.set_sm90(replaced(Spaces::small_sm90, bad.from, bad.to));
    std::vector<std::string> message = bad.message;
    message.push_back((spaces.folder() / "gemm_sm90" / "space.json").string());
    check_refused(scratch, spaces, message);
  }
}

TEST_CASE("files that are no spaces are refused", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  for (const std::string text :
       {"", "[]", "null", "{", "\xff\xfe{}", "{\"family\": \"\xc3\x28\"}", "{} {}"}) {
    CAPTURE(text);
    spaces.set_sm80(text);
    check_refused(scratch, spaces, {"space.json"});
  }
  spaces.set_sm80(std::string(100'000, '['));
  check_refused(scratch, spaces, {"space.json"});
}

TEST_CASE("what a file holds never disturbs the terminal", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  for (const std::string text : {"{\"\xff\x9b", "{\"a\x1b[31m", "\x7f\x07", "{\"\xc2\x9b\": 1}"}) {
    spaces.set_sm80(text);
    const Outcome outcome = run_generator(scratch.path(), {"table", "--kernels", spaces.folder()});
    CAPTURE(outcome.error);
    CHECK(outcome.exit_code == 2);
    for (const char c : {'\x1b', '\x07', '\x7f', '\x9b', '\xff'})
      CHECK(outcome.error.find(c) == outcome.error.npos);
  }
}

TEST_CASE("a space of too many configs ends at once", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  std::string numbers;
  for (int i = 1; i <= 1024; ++i) numbers += std::to_string(i) + (i < 1024 ? ", " : "");
  std::string tiles;
  for (int i = 1; i <= 1024; ++i) tiles += "[16, 16, " + std::to_string(i) + (i < 1024 ? "], " : "]");
  spaces.set_sm80(replaced(replaced(Spaces::small_sm80, "[3, 4]", "[" + numbers + "]"), "[128, 128, 32]",
                           "[" + tiles + "]"));
  check_refused(scratch, spaces, {"more than 1000000 configs"});
}

TEST_CASE("a damaged space is read or refused, never worse", "[generator]") {
  const unsigned seed = quarry::lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  const auto out = scratch.path() / "out";
  for (int i = 0; i < 150; ++i) {
    const bool sm90 = random() % 2 == 0;
    std::string text = sm90 ? Spaces::small_sm90 : Spaces::small_sm80;
    for (auto damages = 1 + random() % 3; damages > 0; --damages) {
      const std::size_t at = random() % text.size();
      const std::size_t length = std::min<std::size_t>(random() % 12, text.size() - at);
      const std::string other = text.substr(random() % text.size(), random() % 12);
      text.replace(at, length, other);
    }
    spaces.set_sm80(sm90 ? Spaces::small_sm80 : text);
    spaces.set_sm90(sm90 ? text : Spaces::small_sm90);
    std::filesystem::remove_all(out);
    const Outcome outcome =
        run_generator(scratch.path(), {"table", "--kernels", spaces.folder(), "--out", out});
    INFO(text);
    INFO(outcome.error);
    REQUIRE((outcome.exit_code == 0 || outcome.exit_code == 2));
    CHECK(std::filesystem::exists(out) == (outcome.exit_code == 0));
    CHECK(outcome.error.empty() == (outcome.exit_code == 0));
  }
}
