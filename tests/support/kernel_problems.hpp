/// Kernels of an operation and random problems for them, for tests that hold of every operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "lab/operation.hpp"
#include "quarry/registry.hpp"

namespace quarry::test {

/// Some kernels of an operation, drawn.
inline std::vector<Kernel> some_kernels(Operation operation, std::size_t count, std::mt19937_64& random) {
  std::vector<Kernel> all = get_kernels();
  std::erase_if(all, [&](const Kernel& kernel) { return kernel.metadata().operation != operation; });
  std::shuffle(all.begin(), all.end(), random);
  if (all.size() > count) all.erase(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  return all;
}

/// Problem `number` for a kernel, as verify makes it.
inline lab::Problem problem_for(const Kernel& kernel, std::uint64_t seed, std::int64_t number) {
  const KernelMetadata& metadata = kernel.metadata();
  const lab::OperationLab& lab = lab::lab_of(metadata.operation);
  const lab::Problem problem = lab.stored(lab.random(metadata, seed, number), metadata, seed);
  return lab::with(lab.controls_for(metadata, problem), problem);
}

}  // namespace quarry::test
