/// docs/expressions.md: its examples are expressions with device code, and its tables name all functions.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "operations/common/expression/device_code.hpp"
#include "operations/common/expression/functions.hpp"
#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

std::string page() {
  std::ifstream file(std::string(QUARRY_SOURCE_DIR) + "/docs/expressions.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Example {
  std::string text;
  std::string tensors;
};

/// The indented lines that assign, each with the list behind `with` in the next line, if there is one.
std::vector<Example> examples(const std::string& text) {
  std::vector<Example> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.starts_with("    with ")) {
      REQUIRE_FALSE(found.empty());
      found.back().tensors = line.substr(9);
    } else if (line.starts_with("    ") && line.find(" = ") != line.npos && line.find("| ") == line.npos &&
               line.find('"') == line.npos) {
      found.push_back({line.substr(4), ""});
    }
    at = end + 1;
  }
  return found;
}

TEST_CASE("The page's examples are expressions", "[expression]") {
  const std::vector<Example> all = examples(page());
  CHECK(all.size() == 11);
  for (const Example& example : all) {
    INFO(example.text << "\nwith " << example.tensors);
    const auto declared = expression::Declarations::parse(example.tensors);
    INFO(declared.status().message());
    REQUIRE(declared);
    const auto e = Expression::parse(example.text, *declared);
    INFO(e.status().message());
    REQUIRE(e);
    CHECK(detail::device_code(e->graph(), "Example"));
  }
}

TEST_CASE("The page names every function, with its operands", "[expression]") {
  const std::string text = page();
  const auto counts = [&](std::string_view name, int operands) {
    const std::string begin = "`" + std::string(name) + "(";
    for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
      const std::string_view list = std::string_view(text).substr(at, text.find(')', at) - at);
      if (std::count(list.begin(), list.end(), ',') + 1 == operands) return true;
    }
    return false;
  };
  for (const detail::Function& f : detail::functions()) {
    INFO(f.name << " of " << f.operands);
    CHECK((f.is_operator() ? text.find("`" + std::string(f.name) + "`") != text.npos
                           : counts(f.name, f.operands)));
  }
  for (const detail::Reduction& r : detail::reductions()) CHECK(counts(r.name, 1));
}

}  // namespace
}  // namespace quarry
