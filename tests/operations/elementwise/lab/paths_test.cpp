/// Problems of paths of elementwise expressions: lines that show what the path is about.
#include <random>

#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/elementwise/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using Elementwise = lab::elementwise::Problem;

TEST_CASE("elementwise: problems of paths have several lines, which end within a vector", "[elementwise]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const lab::OperationLab& lab = lab::lab_of(Operation::elementwise);
  for (const Kernel& kernel : get_kernels(*Filter::parse("operation == elementwise"))) {
    for (std::int64_t number = 0; number < std::ssize(lab.paths); ++number) {
      const lab::Path& path = lab.paths[static_cast<std::size_t>(number)];
      if (!path.is_of(kernel.metadata())) continue;
      const Elementwise p = lab.emulated(kernel.metadata(), random(), number).as<Elementwise>();
      INFO(path.name << ", " << kernel.name());
      const std::size_t rank = p.extents.size();
      if (rank == 1) {
        CHECK(p.extents[0] >= 200);
        continue;
      }
      // As many rows as a warp reduces, and more columns.
      CHECK(p.extents[rank - 2] > 16);
      CHECK(p.extents[rank - 1] > (path.name == "lines" ? 2048 : 128));
      CHECK(p.extents[rank - 1] % 2 == 1);
    }
  }
}
