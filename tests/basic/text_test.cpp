/// Texts for messages.
#include "basic/text.hpp"

#include "support/catch_compat.hpp"

using namespace quarry;

TEST_CASE("an error in a text fits one line", "[text]") {
  const auto line = [](std::string_view text, std::size_t offset) {
    return detail::error_in_line(StatusCode::parse_error, "wrong", text, offset).message();
  };
  CHECK(line("abc", 1) == "wrong, at byte 1: `bc`");
  CHECK(line("abc", 3) == "wrong, at the end of the text");
  CHECK(line("", 0) == "wrong, at the end of the text");
  CHECK(line("a\n\x1b[1m\xff", 1) == "wrong, at byte 1: `??[1m?`");
  CHECK(line(std::string(100, 'x'), 4) == "wrong, at byte 4: `" + std::string(32, 'x') + "...`");
  // No character is cut in two.
  CHECK(line(std::string(31, 'x') + "\xc3\xa9y", 0) ==
        "wrong, at byte 0: `" + std::string(31, 'x') + "\xc3\xa9...`");
}

TEST_CASE("a text for a terminal keeps its lines and nothing that steers", "[text]") {
  CHECK(detail::printable("a\n\tb\r\x1b\x7f\xff \xc3\xa9") == "a\n\tb???? \xc3\xa9");
  CHECK(detail::printable("").empty());
}
