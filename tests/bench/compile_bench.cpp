/// What it costs to ask for machine code that is there: in memory, and in the cache on disk in a process that
/// has not asked before. Usage: quarry_bench_compile_bench, twice with the same QUARRY_CACHE_DIR: the first
/// run compiles.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "quarry/quarry.hpp"

namespace {

double seconds() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

}  // namespace

int main() {
  using namespace quarry;
  std::vector<Kernel> kernels = get_kernels(*Filter::parse("family == gemm_sm80 and stages == 5"));
  std::erase_if(kernels, [](const Kernel& kernel) { return kernel.precompiled(90); });
  if (kernels.empty()) {
    std::puts("every kernel is precompiled: nothing to measure");
    return 0;
  }
  const Kernel kernel = kernels.front();
  const double before = seconds();
  const Result<Artifact> first = kernel.compile({.target = 90});
  const double took = seconds() - before;
  if (!first) {
    std::printf("%s\n", first.status().message().c_str());
    return 1;
  }
  std::printf("%-40s %10.3f ms (%s)\n", "compile() the first time in a process", took * 1e3,
              std::string(to_string(first->origin())).c_str());

  std::vector<double> samples;
  for (int burst = 0; burst < 101; ++burst) {
    constexpr int calls = 1000;
    const double begin = seconds();
    for (int i = 0; i < calls; ++i) {
      if (!kernel.compile({.target = 90})) return 1;
    }
    samples.push_back((seconds() - begin) / calls);
  }
  std::ranges::nth_element(samples, samples.begin() + 50);
  std::printf("%-40s %10.1f ns\n", "compile() again", samples[50] * 1e9);
  return 0;
}
