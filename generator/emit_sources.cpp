#include "emit_sources.hpp"

#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "basic/text.hpp"
#include "config_text.hpp"
#include "json_file.hpp"

namespace quarry::generator {
namespace {

namespace fs = std::filesystem;

/// What an include directive names; absent for any other line.
struct Include {
  std::string_view name;
  bool standard = false;  ///< <name>
};

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin);
}

std::optional<Include> read_include(std::string_view line) {
  line = without_blanks(line);
  if (!line.starts_with('#')) return {};
  line = without_blanks(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = without_blanks(line.substr(7));
  const bool standard = line.starts_with('<');
  if (!standard && !line.starts_with('"')) return Include{line};  // a macro, say: no file has such a name
  line.remove_prefix(1);
  return Include{line.substr(0, line.find(standard ? '>' : '"')), standard};
}

/// Texts by the names that they are included by.
using Texts = std::map<std::string, std::string, std::less<>>;

/// Reads files and what they include.
class Walk {
 public:
  explicit Walk(std::array<fs::path, 2> roots) : roots_(std::move(roots)) {}

  /// Whether there is a file of this name.
  bool has(std::string_view name) const { return root_of(name) != nullptr; }

  Status visit(std::string_view name, const std::string& from) {
    if (texts_.contains(name)) return {};
    const fs::path* const root = root_of(name);
    if (root == nullptr) {
      return {StatusCode::not_found,
              from + ": device code includes only our own files, by their names below " + roots_[0].string() +
                  " or " + roots_[1].string() + ", got " + detail::quoted(name)};
    }
    const fs::path path = *root / name;
    Result<std::string> text = read_text(path);
    if (!text) return text.status();
    files_.insert(path);
    const std::string& kept = texts_.emplace(name, *std::move(text)).first->second;
    return visit_includes(kept, path.string());
  }

  const Texts& texts() const { return texts_; }
  const std::set<fs::path>& files() const { return files_; }

 private:
  const fs::path* root_of(std::string_view name) const {
    for (const fs::path& root : roots_) {
      std::error_code error;
      if (fs::is_regular_file(root / name, error)) return &root;
    }
    return nullptr;
  }

  Status visit_includes(const std::string& text, const std::string& path) {
    std::istringstream lines(text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      const std::string place = path + ":" + std::to_string(++number);
      const std::optional<Include> include = read_include(line);
      if (!include || include->name.starts_with("arch/emulated/")) continue;  // the CPU's side of the seam
      if (include->standard) {
        return {StatusCode::not_found, place + ": device code includes only our own files, and no <" +
                                           std::string(include->name) + ">"};
      }
      if (Status ok = visit(include->name, place); !ok) return ok;
    }
    return {};
  }

  std::array<fs::path, 2> roots_;
  Texts texts_;
  std::set<fs::path> files_;
};

/// Two FNV-1a sums of 64 bits with different factors, in hexadecimal; a change of one byte changes both.
std::string digest(const Texts& texts) {
  std::array<std::uint64_t, 2> sums = {14695981039346656037U, 9650029242287828579U};
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      sums[0] = (sums[0] ^ static_cast<unsigned char>(c)) * 1099511628211U;
      sums[1] = (sums[1] ^ static_cast<unsigned char>(c)) * 6364136223846793005U;
    }
  };
  for (const auto& [name, text] : texts) {
    // Their sizes keep names and texts apart.
    add(name + '\n' + std::to_string(text.size()) + '\n');
    add(text);
  }
  std::string hexadecimal;
  for (const std::uint64_t sum : sums) {
    for (int shift = 60; shift >= 0; shift -= 4) hexadecimal += "0123456789abcdef"[sum >> shift & 15];
  }
  return hexadecimal;
}

/// A literal that holds any text: the word of its brackets does not occur in it.
std::string raw_literal(std::string_view text) {
  std::string word = "source";
  while (text.find(")" + word + "\"") != text.npos) word += "_";
  return "R\"" + word + "(" + std::string(text) + ")" + word + "\"sv";
}

/// Of what a family's entries include, without an expression and with one.
struct Digests {
  std::string plain;
  std::string with_expression;
};

std::string emit(const Texts& texts, const std::map<std::string, Digests>& digests) {
  std::ostringstream out;
  out << "// Written by quarry_generate.\n#include \"registry/compile/sources.hpp\"\n\n#include <array>\n\n"
      << "namespace quarry::detail {\nnamespace {\n\nusing namespace std::string_view_literals;\n\n"
      << "constinit const std::array<SourceFile, " << texts.size() << "> files = {{\n";
  for (const auto& [name, text] : texts) {
    out << "{\"" << name << "\"sv, " << raw_literal(text) << "},\n";
  }
  out << "}};\n\nconstinit const std::array<FamilyDigest, " << digests.size() << "> digests = {{\n";
  for (const auto& [family, of] : digests)
    out << "{\"" << family << "\"sv, \"" << of.plain << "\"sv, \"" << of.with_expression << "\"sv},\n";
  out << "}};\n\n}  // namespace\n\nstd::span<const SourceFile> kernel_sources() { return files; }\n"
      << "std::span<const FamilyDigest> family_digests() { return digests; }\n"
      << "std::string_view sources_digest() { return \"" << digest(texts)
      << "\"sv; }\n\n}  // namespace quarry::detail\n";
  return std::move(out).str();
}

/// Reads all that the entries of a family include, without an expression and then with one.
Status visit_family(Walk& walk, const std::string& folder, Digests& digests) {
  const std::string from = "the family " + detail::quoted(folder);
  if (Status ok = walk.visit(folder + "/kernel.cuh", from); !ok) return ok;
  digests.plain = digest(walk.texts());
  if (const std::string own = folder + "/expression.cuh"; walk.has(own)) {
    if (Status ok = walk.visit(own, from); !ok) return ok;
  }
  digests.with_expression = digest(walk.texts());
  return {};
}

}  // namespace

Result<EmbeddedSources> emit_sources(const fs::path& kernels, const fs::path& include) {
  std::set<std::string> folders;
  for (const ConfigSpace* space : config_spaces()) folders.emplace(space->family);
  Texts texts;
  std::set<fs::path> files;
  std::map<std::string, Digests> digests;
  for (const std::string& folder : folders) {
    Walk walk({kernels, include});
    if (Status ok = visit_family(walk, folder, digests[folder]); !ok) return ok;
    texts.insert(walk.texts().begin(), walk.texts().end());
    files.insert(walk.files().begin(), walk.files().end());
  }
  return EmbeddedSources{emit(texts, digests), files};
}

std::string emit_depfile(const fs::path& output, const std::set<fs::path>& files) {
  const auto escaped = [](const fs::path& path) {
    std::string text;
    for (const char c : path.string()) {
      if (c == ' ' || c == '#') text += '\\';
      if (c == '$') text += '$';
      text += c;
    }
    return text;
  };
  std::string text = escaped(output) + ":";
  for (const fs::path& file : files) text += " \\\n  " + escaped(file);
  return text + "\n";
}

}  // namespace quarry::generator
