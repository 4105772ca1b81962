/// The generator's table of embedded sources: which files, what changes it, what is refused.
#include "config_text.hpp"
#include "generator/generator_run.hpp"
#include "support/catch_compat.hpp"

using namespace quarry::test;
namespace fs = std::filesystem;

namespace {

/// A tree with a kernel.cuh for every family of the generator, all alike.
struct Tree {
  ScratchFolder scratch;
  fs::path kernels = scratch.path() / "kernels";
  fs::path include = scratch.path() / "include";
  fs::path out = scratch.path() / "sources.cpp";

  Tree() {
    for (const quarry::ConfigSpace* space : quarry::config_spaces())
      write_file(kernels / space->family / "kernel.cuh", "#include \"common/one.hpp\"\n");
    write_file(kernels / "common/one.hpp", "  #  include \"quarry/types.hpp\" // words\n");
    write_file(kernels / "common/unused.hpp", "");
    write_file(include / "quarry/types.hpp", "enum X { no };  // )source\" in a \\ comment\n");
  }
  Outcome run() const {
    return run_generator(scratch.path(), {"sources", "--kernels", kernels, "--include", include, "--out", out,
                                          "--depfile", out.string() + ".d"});
  }
  /// The digest of what it wrote.
  std::string digest() const { return digest_after("sources_digest() { return \""); }
  std::string digest_of(const std::string& family) const { return digest_after("{\"" + family + "\"sv, \""); }
  std::string digest_with_expression(const std::string& family) const {
    return digest_after("{\"" + family + "\"sv, \"" + digest_of(family) + "\"sv, \"");
  }
  std::string digest_after(const std::string& before) const {
    REQUIRE(run().exit_code == 0);
    const std::string text = read_file(out);
    const auto begin = text.find(before);
    REQUIRE(begin != std::string::npos);
    return text.substr(begin + before.size(), 32);
  }
};

}  // namespace

TEST_CASE("the embedded sources are those that kernels reach", "[generator]") {
  const Tree tree;
  const Outcome outcome = tree.run();
  INFO(outcome.error);
  REQUIRE(outcome.exit_code == 0);
  const std::string text = read_file(tree.out);
  const std::size_t files = quarry::config_spaces().size() + 2;
  CHECK_THAT(text, Catch::Contains("std::array<SourceFile, " + std::to_string(files) + ">"));
  CHECK_THAT(text, Catch::Contains("{\"common/one.hpp\"sv, R\""));
  CHECK_THAT(text, Catch::Contains("enum X { no };  // )source\" in a \\ comment\n"));
  CHECK_THAT(text, !Catch::Contains("unused"));
  const std::string depfile = read_file(tree.out.string() + ".d");
  CHECK_THAT(depfile, Catch::Contains(tree.out.string() + ":"));
  CHECK_THAT(depfile, Catch::Contains((tree.include / "quarry/types.hpp").string()));
  CHECK_THAT(depfile, !Catch::Contains("unused"));
}

TEST_CASE("a family's digest changes with what its entries include, and with nothing else", "[generator]") {
  const Tree tree;
  const auto spaces = quarry::config_spaces();
  REQUIRE(spaces.size() > 2);
  const std::string first(spaces[0]->family);
  const std::string other(spaces[1]->family);
  REQUIRE(first != other);
  const std::string before = tree.digest_of(first);
  const std::string others = tree.digest_of(other);
  CHECK(tree.digest_with_expression(first) == before);
  write_file(tree.kernels / first / "expression.cuh", "");
  const std::string with_expression = tree.digest_with_expression(first);
  CHECK(with_expression != before);
  CHECK(tree.digest_of(first) == before);  // entries without an expression do not include it
  CHECK(tree.digest_of(other) == others);
  CHECK(tree.digest_with_expression(other) == others);
  write_file(tree.kernels / "common/one.hpp", "\n");
  CHECK(tree.digest_of(first) != before);
  CHECK(tree.digest_with_expression(first) != with_expression);
  CHECK(tree.digest_of(other) != others);
}

TEST_CASE("what entries with an expression include is embedded, where a family has it", "[generator]") {
  const Tree tree;
  const std::string before = tree.digest();
  const std::string family(quarry::config_spaces().front()->family);
  write_file(tree.kernels / family / "expression.cuh", "#include \"common/written.cuh\"\n");
  write_file(tree.kernels / "common/written.cuh", "struct Written {};\n");
  CHECK(tree.digest() != before);
  CHECK_THAT(read_file(tree.out), Catch::Contains("{\"" + family + "/expression.cuh\"sv"));
  CHECK_THAT(read_file(tree.out), Catch::Contains("struct Written {};"));
}

TEST_CASE("the digest follows every byte of a source, and its name", "[generator]") {
  const Tree tree;
  const std::string digest = tree.digest();
  CHECK(tree.digest() == digest);
  write_file(tree.kernels / "common/unused.hpp", "int x;");
  CHECK(tree.digest() == digest);
  const fs::path file = tree.include / "quarry/types.hpp";
  const std::string text = read_file(file);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'x' ? 'y' : 'x';
    write_file(file, changed);
    INFO(i);
    CHECK(tree.digest() != digest);
  }
  write_file(file, text);
  CHECK(tree.digest() == digest);
}

TEST_CASE("device code that includes anything else is refused", "[generator]") {
  const Tree tree;
  REQUIRE(tree.run().exit_code == 0);
  const std::string before = read_file(tree.out);
  const auto refused = [&](const std::string& line, const std::string& why) {
    write_file(tree.kernels / "common/one.hpp", "// first\n" + line + "\n");
    const Outcome outcome = tree.run();
    INFO(line);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.error, Catch::Contains(why) && Catch::Contains("one.hpp:2"));
    CHECK(read_file(tree.out) == before);
  };
  refused("#include <cstdint>", "<cstdint>");
  refused("#include \"quarry/nothing.hpp\"", "`quarry/nothing.hpp`");
  refused("#include \"quarry\"", "`quarry`");
  refused("#include", "``");
  refused("#include MACRO", "`");
  CHECK(run_generator(tree.scratch.path(), {"sources", "--kernels", "k", "--out", "o"}).exit_code == 2);
}
