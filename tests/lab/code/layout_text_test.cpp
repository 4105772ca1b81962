// Layouts as tables.
#include <string>

#include "lab/code/layout_text.hpp"
#include "layout/swizzled_tile.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using lab::chunks_text;

TEST_CASE("chunks of any size stand where they lie", "[layout_text]") {
  for (const int bytes : {16, 32}) {
    const SwizzledTile tile = {4, bytes};
    const std::string text = chunks_text("k", 16, {tile.chunks_per_line, bytes, bytes / 4},
                                         [&](int line, int chunk) { return tile.offset(line, chunk); });
    std::vector<std::vector<std::string>> rows = {{"k \\ byte"}};
    for (int place = 0; place < 4; ++place) rows[0].push_back("+" + std::to_string(bytes * place));
    for (int line = 0; line < 8; ++line) {
      auto& cells = rows.emplace_back(5);
      cells[0] = std::to_string(line);
      for (int chunk = 0; chunk < 4; ++chunk)
        cells[static_cast<std::size_t>(chunk ^ tile.key(line)) + 1] = std::to_string(chunk * bytes / 4);
    }
    CHECK(text == lab::table_text(rows));
  }
}

TEST_CASE("fewer than eight lines are shown as they are", "[layout_text]") {
  const std::string text =
      chunks_text("m", 2, {2, 32, 4}, [](int line, int chunk) { return 64 * line + 32 * (1 - chunk); });
  CHECK(text == "  m \\ byte +0 +32\n         0  4   0\n         1  4   0\n");
}
