/// What the cache on disk costs: a load and a store of one entry, and looking after the bound of a full
/// cache. Usage: quarry_bench_disk_cache_bench [FOLDER to work in, a new one below TMPDIR unless told]
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "registry/compile/disk_cache.hpp"
#include "registry/compile/disk_cache_bound.hpp"

namespace {

using namespace quarry::detail;
using Clock = std::chrono::steady_clock;

/// Prints median and 99th percentile of the times that `work(i)` takes.
template <class Work>
void measure(const char* what, int times, const Work& work) {
  std::vector<double> each;
  for (int i = 0; i < times; ++i) {
    const auto start = Clock::now();
    work(i);
    each.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::ranges::sort(each);
  std::printf("%-52s %9.1f us   99%%: %9.1f us\n", what, each[each.size() / 2], each[each.size() * 99 / 100]);
}

ArtifactData artifact_of(const std::string& key, std::size_t bytes) {
  ArtifactData artifact;
  artifact.entry = "gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s4_a8x8";
  artifact.config = std::string(200, 'c');
  artifact.compiler = "nvrtc 13.0";
  artifact.key = key;
  artifact.target = 90;
  artifact.owned.assign(bytes, std::byte{42});
  artifact.code = artifact.owned;
  return artifact;
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = (std::filesystem::temp_directory_path() / "quarry_bench_XXXXXX").string();
  const std::string folder = argc > 1 ? argv[1] : mkdtemp(name.data());
  const auto key = [](int i) { return std::string(300, 'k') + std::to_string(i); };
  DiskCache cache({.folder = folder + "/cache", .found = {}});
  volatile std::size_t found = 0;  // so that nothing can be left out

  measure("store of 40 KB, synced", 200, [&](int i) { cache.store(artifact_of(key(i), 40000)); });
  measure("load of 40 KB", 2000, [&](int i) { found = found + (cache.load(key(i % 200)) ? 1 : 0); });
  measure("load of 40 KB, first of a process", 200, [&](int i) {
    DiskCache first({.folder = folder + "/cache", .found = {}});
    found = found + (first.load(key(i)) ? 1 : 0);
  });
  measure("load of what is not there", 2000,
          [&](int i) { found = found + (cache.load(key(-i - 1)) ? 1 : 0); });
  const auto opened = open_cache_folder(folder + "/full", true);
  if (!opened) return 1;
  for (int i = 0; i < 26000; ++i) {  // as many as fit into the usual bound
    std::FILE* const file = std::fopen((folder + "/full/" + entry_name(key(i))).c_str(), "w");
    if (file == nullptr) return 1;
    std::fclose(file);
  }
  measure("looking after the bound of 26,000 entries", 20, [&](int) { keep_within(**opened, 1000, ""); });
  std::printf("%zu of 2,200 loads found their entry\n", static_cast<std::size_t>(found));
  if (argc <= 1) std::filesystem::remove_all(folder);
  return found == 2200 ? 0 : 1;
}
