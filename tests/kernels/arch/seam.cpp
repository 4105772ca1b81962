#include "tests/kernels/arch/seam.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace quarry::test {
namespace {

/// Without comments and lines of the preprocessor, each stretch of white space as one blank.
std::string plain(const std::string& source) {
  static const std::regex noise(R"(//[^\n]*|(^|\n)[ \t]*#([^\n]*\\\n)*[^\n]*)");
  static const std::regex blanks(R"(\s+)");
  return std::regex_replace(std::regex_replace(source, noise, "\n"), blanks, " ");
}

std::string without(const std::string& text, const char* pattern) {
  return std::regex_replace(text, std::regex(pattern), "");
}

std::vector<SeamFunction> without_keys(const std::string& source) {
  static const std::regex function(
      R"((template <[^>]*> )?QUARRY_DEVICE ([^(){};]*?)([\w]+(<\w+(, \w+)*(<[\w, ]+>)?>)?)\(([^{};]*)\) \{)");
  std::vector<SeamFunction> found;
  const std::string text = plain(source);
  for (std::sregex_iterator i(text.begin(), text.end(), function), end; i != end; ++i) {
    const std::smatch& match = *i;
    const std::string parameters =
        without(match[7], R"((, )?const emulator::Site& \w+( = emulator::Site::current\(\))?)");
    SeamFunction& added = found.emplace_back();
    added.name = match[3];
    added.first_type = without(parameters.substr(0, parameters.find(',')), R"(^const |&| ?\w+$)");
    added.declaration = match[1].str() + match[2].str() + added.name + "(" + parameters + ")";
  }
  return found;
}

void add_keys(std::vector<SeamFunction>& functions) {
  for (SeamFunction& each : functions) {
    const bool alone = std::ranges::count(functions, each.name, &SeamFunction::name) == 1;
    each.key = alone ? each.name : each.name + "(" + each.first_type + ")";
  }
}

}  // namespace

std::vector<SeamFunction> functions_of(const std::string& source) {
  std::vector<SeamFunction> found = without_keys(source);
  add_keys(found);
  return found;
}

std::vector<SeamFunction> functions_in(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".hpp") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<SeamFunction> found;
  for (const std::filesystem::path& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::ranges::copy(without_keys(text.str()), std::back_inserter(found));
  }
  add_keys(found);
  return found;
}

}  // namespace quarry::test
