/// The text of convolutions.
#include <string>

#include "lab/operation.hpp"
#include "lab/tune/problem_lines.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab;

TEST_CASE("the direction is the first word of the shape, or a flag", "[conv2d]") {
  for (const std::string direction : {"fprop", "dgrad", "wgrad"}) {
    INFO(direction);
    const std::string sizes = "32x56x56x64 64x3x3 --type bf16";
    const auto by_word = parse_command_text("conv2d " + direction + " " + sizes);
    const auto by_flag = parse_command_text("conv2d " + sizes + " --direction " + direction);
    const auto by_both =
        parse_command_text("conv2d " + direction + " " + sizes + " --direction " + direction);
    REQUIRE(by_word);
    REQUIRE(by_flag);
    REQUIRE(by_both);
    CHECK(command_text(*by_flag) == command_text(*by_word));
    CHECK(command_text(*by_both) == command_text(*by_word));
    CHECK(command_text(*by_word).starts_with("conv2d " + direction));
  }
}

TEST_CASE("no direction, or two, are refused", "[conv2d]") {
  const auto message = [](const std::string& text) {
    return parse_command_text("conv2d " + text).status().message();
  };
  CHECK(message("dgrad 2x9x8x12 20x3x3 --type f32 --direction wgrad") ==
        "--direction wgrad contradicts the shape, which begins with dgrad");
  CHECK(message("2x9x8x12 20x3x3 --type f32").find("which direction?") != std::string::npos);
  CHECK(message("2x9x8x12 20x3x3 --type f32 --direction sideways").find("sideways") != std::string::npos);
  CHECK(message("2x9x8x12 --type f32 --direction fprop") != "");
}
