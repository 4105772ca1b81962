#include "lab/trials/compile_missing.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "lab/progress.hpp"
#include "quarry/artifact.hpp"

namespace quarry::lab {

void compile_missing(std::span<const Kernel> kernels, int cc) {
  std::vector<Kernel> missing;
  std::ranges::copy_if(kernels, std::back_inserter(missing),
                       [&](const Kernel& kernel) { return !kernel.precompiled(cc); });
  if (missing.empty()) return;
  Progress progress("compile", missing.size());
  std::size_t before = 0;
  (void)compile(missing, {.target = cc}, [&](std::size_t done, std::size_t, const Kernel&) {
    progress.advance(done - before);
    before = done;
  });
}

}  // namespace quarry::lab
