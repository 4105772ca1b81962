/// What the generator writes: the same for the same input, no more than what changed, one unit for one new
/// config.
#include <nlohmann/json.hpp>
#include <set>

#include "generator/generator_run.hpp"
#include "support/catch_compat.hpp"

using namespace quarry::test;
namespace fs = std::filesystem;

namespace {

const fs::path real_spaces = fs::path(QUARRY_SOURCE_DIR) / "kernels";

void generate(const ScratchFolder& scratch, const fs::path& kernels, const fs::path& out,
              const std::string& aot = "true", const std::string& targets = "80,90") {
  const Outcome outcome = run_generator(
      scratch.path(), {"table", "--kernels", kernels, "--out", out, "--aot", aot, "--targets", targets});
  INFO(outcome.error);
  REQUIRE(outcome.exit_code == 0);
}

nlohmann::json manifest(const fs::path& out) {
  return nlohmann::json::parse(read_file(out / "manifest.json"));
}

/// Paths of the files that differ between two folders, or that only one has.
std::set<std::string> changed(const std::map<std::string, std::string>& a,
                              const std::map<std::string, std::string>& b) {
  std::set<std::string> paths;
  for (const auto& [path, text] : a) {
    if (!b.contains(path) || b.at(path) != text) paths.insert(path);
  }
  for (const auto& [path, text] : b) {
    if (!a.contains(path)) paths.insert(path);
  }
  return paths;
}

/// A gemm_sm80 space of 40 entries of one group, and of `more` besides.
std::string sm80_with(const std::string& more) {
  return R"({"family": "gemm_sm80",
    "axes": {"types": [{"a": "f16", "b": "f16", "accumulator": "f32", "out": "f16"}], "layouts": ["rcr"]},
    "spaces": [
      {"axes": {"shapes": [{"tile": [[128, 128, 32], [64, 64, 32], [128, 64, 32], [64, 128, 32]], "warps": [2, 2, 1]}],
                "stages": [2, 3], "alignment": [[8, 8], [4, 4], [2, 2], [1, 1], [8, 1]]}})" +
         more + "]}";
}

}  // namespace

TEST_CASE("the project's own spaces make enough kernels of few entries", "[generator]") {
  const ScratchFolder scratch;
  generate(scratch, real_spaces, scratch.path() / "out");
  const nlohmann::json json = manifest(scratch.path() / "out");
  std::map<std::string, int> kernels_of;
  for (const auto& kernel : json["kernels"]) {
    const std::string name = kernel["name"].get<std::string>();
    ++kernels_of[name.substr(0, name.find('_', 5))];
  }
  CHECK(kernels_of["gemm_sm80"] >= 2000);
  CHECK(kernels_of["gemm_sm90"] >= 2000);
  CHECK(json["entries"].size() * 10 <= json["kernels"].size() * 6);
  std::set<std::string> names;
  for (const auto& kernel : json["kernels"]) names.insert(kernel["name"].get<std::string>());
  CHECK(names.size() == json["kernels"].size());
  std::set<std::string> entries;
  for (const auto& entry : json["entries"]) {
    entries.insert(entry["name"].get<std::string>());
    CHECK(entry["unit"].is_string());
  }
  CHECK(entries.size() == json["entries"].size());
  for (const auto& kernel : json["kernels"]) {
    CHECK(entries.contains(kernel["entry"].get<std::string>()));
    const auto name = kernel["name"].get<std::string>();
    const bool runs_anothers = kernel["entry"] != name;
    const bool multiplies = name.starts_with("gemm_");
    // Kernels of gemm_sm90 that copy operands first run another's entry, too.
    const bool copies = name.starts_with("gemm_sm90_") && name.find("_exchanged") == std::string::npos;
    CHECK(kernel["exchanged"].get<bool>() == (runs_anothers && multiplies && !copies));
  }
}

TEST_CASE("each entry stands in the unit that the manifest names, and in no other", "[generator]") {
  const ScratchFolder scratch;
  generate(scratch, real_spaces, scratch.path() / "out");
  const nlohmann::json json = manifest(scratch.path() / "out");
  std::map<std::string, std::string> units;
  for (const auto& [path, text] : read_folder(scratch.path() / "out" / "units")) units[path] = text;
  CHECK(units.size() == json["units"].size());
  std::map<std::string, std::size_t> entries_of;
  for (const auto& entry : json["entries"]) {
    const bool one_target = entry.contains("only_cc");
    const auto name = entry["name"].get<std::string>();
    const bool tf32 =
        name.find("_fast_tf32_") != std::string::npos || name.find("_fast_f32_") != std::string::npos;
    const std::string unit = entry["unit"].get<std::string>() + (one_target ? ".sm_90a.cu"
                                                                 : tf32     ? ".each.cu"
                                                                            : ".cu");
    const bool names_target =
        name.find("_sm90_") != std::string::npos ||
        (name.starts_with("gemm_sm80_f64_") && name.find("_m16n8k") != std::string::npos) ||
        name.ends_with("_direct");
    CHECK(one_target == names_target);
    ++entries_of[unit];
    REQUIRE(units.contains(unit));
    CHECK_THAT(units[unit], Catch::Contains("QUARRY_ENTRY(" + entry["name"].get<std::string>() + ","));
  }
  for (const auto& [path, text] : units) {
    std::size_t count = 0;
    for (auto at = text.find("QUARRY_ENTRY("); at != std::string::npos;
         at = text.find("QUARRY_ENTRY(", at + 1))
      ++count;
    CHECK(count == entries_of[path]);
    CHECK(count <= 32);
  }
}

TEST_CASE("the same input gives the same bytes", "[generator]") {
  const ScratchFolder scratch;
  generate(scratch, real_spaces, scratch.path() / "one");
  generate(scratch, real_spaces, scratch.path() / "two");
  const auto one = read_folder(scratch.path() / "one");
  CHECK(one.size() > 10);
  CHECK(one == read_folder(scratch.path() / "two"));
}

TEST_CASE("what did not change is not written again", "[generator]") {
  const ScratchFolder scratch;
  const fs::path out = scratch.path() / "out";
  generate(scratch, real_spaces, out);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  const auto files = read_folder(out);
  for (const auto& [path, text] : files) fs::last_write_time(out / path, long_ago);
  const auto kept = fs::last_write_time(out / "table.cpp");
  generate(scratch, real_spaces, out);
  for (const auto& [path, text] : files) CHECK(fs::last_write_time(out / path) == kept);
  write_file(out / "embed.S", "damaged");
  generate(scratch, real_spaces, out);
  CHECK(read_folder(out) == files);
}

TEST_CASE("a new config changes one unit, and its removal restores everything", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  const fs::path out = scratch.path() / "out";
  spaces.set_sm80(sm80_with(""));
  generate(scratch, spaces.folder(), out);
  const auto before = read_folder(out);
  for (const std::string stages : {"4", "5", "6", "7"}) {
    CAPTURE(stages);
    spaces.set_sm80(sm80_with(
        R"(, {"axes": {"shapes": [{"tile": [128, 128, 64], "warps": [2, 2, 1]}], "alignment": [[8, 8]],
                                 "stages": [)" +
        stages + "]}}"));
    generate(scratch, spaces.folder(), out);
    const auto paths = changed(before, read_folder(out));
    std::size_t units = 0;
    for (const std::string& path : paths) units += path.starts_with("units/") ? 1 : 0;
    CHECK(units == 1);
    CHECK(paths.contains("table.cpp"));
    CHECK(!paths.contains("embed.S"));
  }
  spaces.set_sm80(sm80_with(""));
  generate(scratch, spaces.folder(), out);
  CHECK(read_folder(out) == before);
}

TEST_CASE("units that are no longer needed are removed", "[generator]") {
  const ScratchFolder scratch;
  const fs::path out = scratch.path() / "out";
  generate(scratch, real_spaces, out);
  generate(scratch, real_spaces, out, "family == 'gemm_simt'");
  for (const auto& [path, text] : read_folder(out / "units")) CHECK(!path.starts_with("gemm_sm"));
  generate(scratch, real_spaces, out, "false");
  CHECK(read_folder(out / "units").empty());
  const nlohmann::json json = manifest(out);
  CHECK(json["aot"] == "false");
  CHECK(json["units"].empty());
  CHECK(json["kernels"].size() >= 2000);
  for (const auto& entry : json["entries"]) CHECK(entry["unit"].is_null());
}

TEST_CASE("an entry is compiled when any of its kernels is chosen, and the reduction that may follow it",
          "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  const fs::path out = scratch.path() / "out";
  generate(scratch, spaces.folder(), out, "family == 'gemm_simt' and out.layout == column");
  std::set<std::string> compiled;
  const nlohmann::json json = manifest(out);
  for (const auto& entry : json["entries"]) {
    if (!entry["unit"].is_null()) compiled.insert(entry["name"].get<std::string>());
  }
  CHECK(compiled ==
        std::set<std::string>{"gemm_simt_f32_f32_f32_f32_ccr_64x64x16_t4x4", "reduce_split_k_f32_f32"});
}

TEST_CASE("what is for one compute capability is compiled only where that is a target", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  const fs::path out = scratch.path() / "out";
  for (const std::string targets : {"80", "90", "80,90"}) {
    CAPTURE(targets);
    generate(scratch, spaces.folder(), out, "true", targets);
    const bool has_90 = targets != "80";
    const auto units = read_folder(out / "units");
    CHECK(units.contains("gemm_sm80_f16_f16_f32_f16_rcr_0.cu"));
    CHECK(units.contains("gemm_sm90_bf16_bf16_f32_bf16_rcr_0.sm_90a.cu") == has_90);
    const nlohmann::json json = manifest(out);
    int entries = 0;
    for (const auto& entry : json["entries"]) {
      if (!entry["name"].get<std::string>().starts_with("gemm_sm90")) continue;
      ++entries;
      CHECK(entry["unit"].is_string() == has_90);
      CHECK(entry["only_cc"] == 90);
    }
    CHECK(entries == 2);
  }
}

TEST_CASE("words that are left out have their usual value", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  const std::string without = replaced(Spaces::small_sm90, R"("orientation": ["direct", "exchanged"],)", "");
  spaces.set_sm90(without);
  generate(scratch, spaces.folder(), scratch.path() / "one");
  spaces.set_sm90(replaced(Spaces::small_sm90, R"("orientation": ["direct", "exchanged"],)",
                           R"("orientation": ["direct"], "copy_engine": ["tma"],)"));
  generate(scratch, spaces.folder(), scratch.path() / "two");
  CHECK(read_folder(scratch.path() / "one") == read_folder(scratch.path() / "two"));
  const std::string table = read_file(scratch.path() / "one" / "table.cpp");
  CHECK_THAT(table, Catch::Contains("rcr_128x128x64_c1x1_s4_ping_pong_a8x8") &&
                        Catch::Contains("quarry::Schedule::ping_pong, quarry::CopyEngine::tma, "
                                        "quarry::Orientation::direct"));
}

TEST_CASE("mirrored configs are those that the other orientation would be", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  const std::string both = R"("orientation": ["direct", "exchanged"],)";
  const auto unlike = [](const std::string& json) {  // its mirror shows
    return replaced(replaced(json, "[128, 128, 64]", "[128, 64, 64]"), "[1, 1]", "[2, 1]");
  };
  const std::string direct = unlike(replaced(Spaces::small_sm90, both, ""));
  const std::string at = R"("axes": {)";
  const std::string spelled_out = R"("axes": {
    "types": [{"a": "bf16", "b": "bf16", "accumulator": "f32", "out": "bf16"}],
    "layouts": ["rcr", "rcc"],
    "schedule": ["ping_pong"],
    "alignment": [[8, 8]]
  },
  "spaces": [
    {"axes": {"shapes": [{"tile": [128, 64, 64], "cluster": [2, 1], "stages": 4}]}},
    {"axes": {"shapes": [{"tile": [64, 128, 64], "cluster": [1, 2], "stages": 4}], "orientation": ["exchanged"]}}
  ]
})";
  const auto written = [&](const std::string& name, const std::string& json) {
    spaces.set_sm90(json);
    generate(scratch, spaces.folder(), scratch.path() / name);
    return read_folder(scratch.path() / name);
  };
  const auto expected = written("spelled_out", R"({"family": "gemm_sm90", )" + spelled_out);
  CHECK(written("mirror", replaced(direct, at, R"("mirror": true, )" + at)) == expected);
  const std::string end = direct.substr(0, direct.rfind('}'));
  CHECK(written("of_space", end + R"(, "spaces": [{"mirror": true}]})") == expected);
  const std::string not_of_space = end + R"(, "spaces": [{"mirror": false}]})";
  CHECK(written("not", replaced(not_of_space, at, R"("mirror": true, )" + at)) == written("direct", direct));
}

TEST_CASE("constraints are those of mirrored configs, too", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  const std::string direct = replaced(Spaces::small_sm90, R"("orientation": ["direct", "exchanged"],)", "");
  spaces.set_sm90(replaced(direct, R"("axes": {)",
                           R"("mirror": true, "constraints": ["orientation == exchanged"], "axes": {)"));
  const Outcome outcome = run_generator(scratch.path(), {"table", "--kernels", spaces.folder(), "--explain"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("gemm_sm90: 2 registered, 2 dropped"));
}

TEST_CASE("a selection that does not parse is refused with a caret", "[generator]") {
  const ScratchFolder scratch;
  const Outcome outcome = run_generator(scratch.path(), {"table", "--kernels", real_spaces, "--out",
                                                         scratch.path() / "out", "--aot", "tile.m >"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.error, Catch::Contains("--aot") && Catch::Contains("tile.m >") && Catch::Contains("^"));
  CHECK(!fs::exists(scratch.path() / "out"));
}

TEST_CASE("explain names each config that is dropped, and why", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  spaces.set_sm80(
      replaced(replaced(Spaces::small_sm80, "[3, 4]", "[2, 3, 9]"), "[2, 2, 1]", "[[2, 2, 1], [3, 1, 1]]"));
  const Outcome outcome = run_generator(scratch.path(), {"table", "--kernels", spaces.folder(), "--explain"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("gemm_sm80: 2 registered, 10 dropped"));
  CHECK_THAT(
      outcome.out,
      Catch::Contains("gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s2_a8x8: constraint `stages >= 3`"));
  CHECK_THAT(
      outcome.out,
      Catch::Contains("gemm_sm80_f16_f16_f32_f32_rcr_128x128x32_w2x2x1_s9_a8x8: stages must be 2 to 8"));
  CHECK_THAT(outcome.out, Catch::Contains("_w3x1x1_s3_a8x8: the tile is not a multiple of the warps"));
  CHECK_THAT(outcome.out, Catch::Contains("gemm_simt: 2 registered, 0 dropped"));
}

TEST_CASE("a command line that is wrong is refused", "[generator]") {
  const ScratchFolder scratch;
  const auto refused = [&](const std::vector<std::string>& words, const std::string& message) {
    const Outcome outcome = run_generator(scratch.path(), words);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.error, Catch::Contains(message));
  };
  refused({}, "quarry_generate table");
  refused({"tables"}, "`tables`");
  refused({"table"}, "--kernels is missing");
  refused({"table", "--kernels"}, "--kernels needs a value");
  refused({"table", "--kernel", "x"}, "did you mean `--kernels`?");
  refused({"table", "--kernels", "k", "--targets", "90,80"}, "--targets");
  refused({"table", "--kernels", "k", "--targets", "sm_90"}, "--targets");
  refused({"resources", "--manifest", "m", "--logs", "l", "--out", "o", "--targets", "90,80"}, "--targets");
  CHECK(run_generator(scratch.path(), {"table", "--kernels", scratch.path() / "nowhere"}).exit_code == 1);
  CHECK(run_generator(scratch.path(), {"--help"}).exit_code == 0);
}

TEST_CASE("the compiler's reports become a table", "[generator]") {
  const ScratchFolder scratch;
  const fs::path logs = scratch.path() / "logs";
  const fs::path out = scratch.path() / "resources.cpp";
  write_file(scratch.path() / "manifest.json", R"({"units": ["u"], "entries": [
      {"name": "first", "unit": "u"}, {"name": "second", "unit": null}, {"name": "third", "unit": "u"},
      {"name": "fourth", "unit": "u", "only_cc": 90}]})");
  const std::string report = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_80'
ptxas info    : Function properties for first
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 96 registers, used 1 barriers, 584 bytes cmem[0]
ptxas info    : Compiling entry function 'third' for 'sm_80'
ptxas info    : Function properties for third
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 584 bytes cmem[0]
)";
  write_file(logs / "u.log", report);
  const std::vector<std::string> words = {"resources", "--manifest", scratch.path() / "manifest.json",
                                          "--logs",    logs,         "--out",
                                          out,         "--targets",  "80"};
  const Outcome outcome = run_generator(scratch.path(), words);
  INFO(outcome.error);
  REQUIRE(outcome.exit_code == 0);
  const std::string text = read_file(out);
  CHECK_THAT(text, Catch::Contains("std::array<Resources, 1>, 4>"));
  const auto first = text.find("{96, 12}"), second = text.find("{0, 0}"), third = text.find("{255, 0}");
  CHECK((first < second && second < third && third != std::string::npos));

  // What is for one target has a report of that one.
  std::string both = report;
  for (const std::string part : {"'first'", "'third'"}) {
    const auto at = report.find("Compiling entry function " + part);
    both += replaced(report.substr(at, report.find("584 bytes", at) - at), "sm_80", "sm_90") + "\n";
  }
  both += "Compiling entry function 'fourth' for 'sm_90a'\nUsed 168 registers, used 1 barriers\n";
  write_file(logs / "u.log", both);
  std::vector<std::string> both_targets = words;
  both_targets.back() = "80,90";
  REQUIRE(run_generator(scratch.path(), both_targets).exit_code == 0);
  CHECK_THAT(read_file(out), Catch::Contains("{{{0, 0}, {168, 0}, }}"));
  write_file(logs / "u.log", report);
  REQUIRE(run_generator(scratch.path(), words).exit_code == 0);

  // A compiled entry that no report speaks of is an error: a table with a hole would pass for "not
  // precompiled".
  write_file(logs / "u.log", replaced(report, "'third'", "'other'"));
  const Outcome hole = run_generator(scratch.path(), words);
  CHECK(hole.exit_code == 1);
  CHECK_THAT(hole.error, Catch::Contains("third") && Catch::Contains("sm_80"));
  CHECK(read_file(out) == text);
}

TEST_CASE("a list names the kernels that are precompiled", "[generator]") {
  const ScratchFolder scratch;
  const Spaces spaces(scratch.path() / "kernels");
  const fs::path out = scratch.path() / "out";
  const fs::path list = scratch.path() / "list.txt";
  generate(scratch, spaces.folder(), out, "false");
  std::string name;
  std::string entry_name;
  const nlohmann::json all = manifest(out);
  for (const auto& kernel : all["kernels"]) {
    if (!kernel["name"].get<std::string>().starts_with("gemm_simt_")) continue;
    name = kernel["name"].get<std::string>();
    entry_name = kernel["entry"].get<std::string>();
  }
  REQUIRE(!name.empty());
  write_file(list, "# some kernels\n\n" + name + "\n");
  generate(scratch, spaces.folder(), out, "@" + list.string());
  const nlohmann::json json = manifest(out);
  CHECK(json["aot"] == "@list.txt");
  std::set<std::string> precompiled;
  for (const auto& entry : json["entries"]) {
    if (!entry["unit"].is_null()) precompiled.insert(entry["name"].get<std::string>());
  }
  CHECK(precompiled == std::set<std::string>{entry_name, "reduce_split_k_f32_f32"});
  const auto error_of = [&](const fs::path& path) {
    const Outcome outcome = run_generator(
        scratch.path(), {"table", "--kernels", spaces.folder(), "--out", out, "--aot", "@" + path.string()});
    CHECK(outcome.exit_code == 1);
    return outcome.error;
  };
  write_file(list, name + "\nno_such_kernel\n");
  CHECK_THAT(error_of(list), Catch::Contains("1 kernels that there are not, such as `no_such_kernel`"));
  CHECK_THAT(error_of(scratch.path() / "missing"), Catch::Contains("cannot read"));
}

TEST_CASE("the release's list names kernels that there are", "[generator]") {
  const ScratchFolder scratch;
  generate(scratch, real_spaces, scratch.path() / "out",
           "@" + (fs::path(QUARRY_SOURCE_DIR) / "registry" / "precompiled.txt").string());
}
