#include "generator/generator_run.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "config_text.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "quarry_generator_XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Outcome run_generator(const fs::path& scratch, const std::vector<std::string>& words) {
  const auto quoted = [](const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
  };
  std::string command = quoted(QUARRY_GENERATE);
  for (const std::string& word : words) command += " " + quoted(word);
  command += " >" + quoted(scratch / "stdout") + " 2>" + quoted(scratch / "stderr");
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return {code >= 128 ? -1 : code, read_file(scratch / "stdout"), read_file(scratch / "stderr")};
}

void write_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::map<std::string, std::string> read_folder(const fs::path& folder) {
  std::map<std::string, std::string> files;
  if (!fs::exists(folder)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path().lexically_relative(folder)] = read_file(entry.path());
  }
  return files;
}

const std::string Spaces::small_sm80 = R"({
  "family": "gemm_sm80",
  "axes": {
    "types": [{"a": "f16", "b": "f16", "accumulator": "f32", "out": ["f16", "f32"]}],
    "layouts": ["rcr"],
    "shapes": [{"tile": [128, 128, 32], "warps": [2, 2, 1]}],
    "stages": [3, 4],
    "alignment": [[8, 8]]
  },
  "constraints": ["stages >= 3"]
})";

const std::string Spaces::small_sm90 = R"({
  "family": "gemm_sm90",
  "axes": {
    "types": [{"a": "bf16", "b": "bf16", "accumulator": "f32", "out": "bf16"}],
    "layouts": ["rcr", "rcc"],
    "shapes": [{"tile": [128, 128, 64], "cluster": [1, 1], "stages": 4}],
    "schedule": ["ping_pong"],
    "orientation": ["direct", "exchanged"],
    "alignment": [[8, 8]]
  }
})";

Spaces::Spaces(const fs::path& folder) : folder_(folder) {
  for (const ConfigSpace* space : config_spaces()) {  // all of a family that has no little one below
    const fs::path file = fs::path(space->family) / "space.json";
    write_file(folder / file, read_file(fs::path(QUARRY_SOURCE_DIR) / "kernels" / file));
  }
  write_file(folder / "gemm_simt" / "space.json", R"({
  "family": "gemm_simt",
  "axes": {
    "types": [{"a": "f32", "b": "f32", "accumulator": "f32", "out": "f32"}],
    "layouts": ["rrr", "rrc"],
    "tile": [[64, 64, 16]],
    "thread": [[4, 4]]
  }
})");
  set_sm80(small_sm80);
  set_sm90(small_sm90);
  write_file(folder / "reduce_split_k" / "space.json", R"({
  "family": "reduce_split_k",
  "axes": {"partials": ["f32"], "out": ["f16", "bf16", "f32"]}
})");
}

void Spaces::set_sm80(const std::string& json) const {
  write_file(folder_ / "gemm_sm80" / "space.json", json);
}

void Spaces::set_sm90(const std::string& json) const {
  write_file(folder_ / "gemm_sm90" / "space.json", json);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace quarry::test
