/// The embedded sources, and the sources that instantiate kernels.
#include "registry/compile/sources.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "lab/problems/fresh_seed.hpp"
#include "operations/common/row.hpp"
#include "support/catch_compat.hpp"

namespace quarry::detail {
namespace {

std::string read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The names that a text includes.
std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> names;
  constexpr std::string_view directive = "#include ";
  for (auto at = text.find(directive); at != text.npos; at = text.find(directive, at + 1)) {
    const auto begin = at + directive.size();
    names.push_back(text.substr(begin, text.find('\n', begin) - begin));
  }
  return names;
}

TEST_CASE("The embedded sources are the files of the tree", "[sources]") {
  CHECK(kernel_sources().size() > 20);
  for (const SourceFile& file : kernel_sources()) {
    INFO(file.name);
    const std::string root = file.name.starts_with("quarry/") ? "/include/" : "/kernels/";
    const bool same = file.text == read(QUARRY_SOURCE_DIR + root + std::string(file.name));
    CHECK(same);  // the texts would be a long message
    CHECK(file.name.data()[file.name.size()] == '\0');
    CHECK(file.text.data()[file.text.size()] == '\0');
  }
  CHECK(std::ranges::is_sorted(kernel_sources(), std::ranges::less_equal(), &SourceFile::name));
}

TEST_CASE("What an embedded source includes is embedded, and all that is embedded is reached", "[sources]") {
  std::set<std::string, std::less<>> known, reached;
  for (const SourceFile& file : kernel_sources()) known.emplace(file.name);
  for (const SourceFile& file : kernel_sources()) {
    INFO(file.name);
    // What generated entries include.
    if (file.name.ends_with("/kernel.cuh") || file.name.ends_with("/expression.cuh"))
      reached.emplace(file.name);
    for (const std::string& include : includes_of(std::string(file.text))) {
      REQUIRE(include.size() > 2);
      const std::string name = include.substr(1, include.size() - 2);
      if (name.starts_with("arch/emulated/")) continue;  // the CPU's side of the seam
      INFO(include);
      CHECK(include.front() == '"');
      CHECK(known.contains(name));
      reached.insert(name);
    }
  }
  CHECK(reached == known);
}

TEST_CASE("The digest is a long hexadecimal number", "[sources]") {
  CHECK(sources_digest().size() == 32);
  CHECK(sources_digest().find_first_not_of("0123456789abcdef") == std::string_view::npos);
}

TEST_CASE("An entry's digest is that of its family", "[sources]") {
  std::set<std::string_view> digests;
  for (const FamilyDigest& one : family_digests()) {
    CHECK(one.plain.size() == 32);
    CHECK(one.with_expression.size() == 32);
    CHECK(sources_digest(std::string(one.family) + "_f16") == one.plain);
    digests.insert(one.plain);
  }
  CHECK(digests.size() == family_digests().size());
  for (const Entry& entry : entries()) REQUIRE(digests.contains(sources_digest(entry.name)));
  CHECK(sources_digest("nothing") == sources_digest());
}

TEST_CASE("Every entry has a source, which defines it", "[sources]") {
  for (const Entry& entry : entries()) {
    const std::string name(entry.name);
    INFO(name);
    const Result<EntrySource> source = entry_source(name);
    REQUIRE(source);
    const auto folder = source->text.substr(10, source->text.find('/') - 10);
    REQUIRE(name.starts_with(folder + "_"));
    REQUIRE(source->config.starts_with("quarry::" + folder + "::Config{"));
    REQUIRE(source->text.starts_with("#include \"" + folder + "/kernel.cuh\"\n\nQUARRY_ENTRY(" + name +
                                     ", quarry::"));
    REQUIRE(source->text.ends_with(", quarry::" + folder + "::kernel,\n             (" + source->config +
                                   "))\n"));
  }
}

TEST_CASE("The source of a precompiled entry is what it was compiled from", "[sources]") {
  std::string units;
  std::error_code none;  // where nothing is precompiled there is no folder
  for (const auto& unit : std::filesystem::directory_iterator(QUARRY_BINARY_DIR "/generated/units", none))
    units += read(unit.path().string());
  for (const Entry& entry : entries()) {
    if (entry.unit < 0) continue;
    INFO(entry.name);
    const std::string text = entry_source(entry.name)->text;
    REQUIRE(units.find(text.substr(text.find("QUARRY_ENTRY"))) != std::string::npos);
  }
}

TEST_CASE("A config that is not registered has a source too", "[sources]") {
  const std::string name = "gemm_sm80_f16_f16_f32_f16_rcr_128x64x32_w2x2x1_s7_a8x2";
  CHECK(std::ranges::count(entries(), name, &Entry::name) == 0);
  const Result<EntrySource> source = entry_source(name);
  REQUIRE(source);
  CHECK_THAT(source->text, Catch::Contains("QUARRY_ENTRY(" + name + ", "));
  CHECK_THAT(source->config, Catch::Contains("{128, 64, 32}, {2, 2, 1}, 7, {8, 2}}"));
  CHECK(source->shared_memory == 7 * (128 + 64) * 32 * 2);
}

TEST_CASE("A name that no family makes has no source", "[sources]") {
  const auto refused = [](const std::string& name, const std::string& why) {
    const Result<EntrySource> source = entry_source(name);
    INFO(name);
    REQUIRE_FALSE(source);
    CHECK(source.status().code() == StatusCode::not_found);
    CHECK_THAT(source.status().message(), Catch::Contains(why));
  };
  refused("", "no family");
  refused("gemm", "no family");
  refused("reduce_split_k_f16_f32", "partial sums are f32, f64 or s32");
  refused("reduce_split_k_f32_f16_", "expected the end");
  refused("gemm_sm80", "no family");
  refused("gemm_sm80_", "expected `a`");
  refused("gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s4_a8x8_", "expected the end");
  refused("gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s9_a8x8", "stages must be 2 to 8");
  refused("gemm_sm80_f16_f16_f32_f16_rcc_128x64x32_w2x2x1_s4_a8x8",
          "runs `gemm_sm80_f16_f16_f32_f16_rcr_64x128x32_w2x2x1_s4_a8x8`");
  refused(std::string(100000, 'x'), "no family");
}

TEST_CASE("A name with a mistake never gives another function's source", "[sources]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const std::string letters = "abcdefrsw0123456789x_\"\\\n";
  for (int i = 0; i < 3000; ++i) {
    std::string name(entries()[below(entries().size())].name);
    for (std::size_t change = 0; change <= below(3); ++change) {
      const std::size_t at = below(name.size());
      if (below(2) == 0) {
        name[at] = letters[below(letters.size())];
      } else {
        name.erase(at, 1);
      }
    }
    const Result<EntrySource> source = entry_source(name);
    INFO(name);
    if (source) {
      REQUIRE(source->text.find("QUARRY_ENTRY(" + name + ",") != std::string::npos);
    } else {
      REQUIRE(source.status().code() == StatusCode::not_found);
    }
  }
}

}  // namespace
}  // namespace quarry::detail
