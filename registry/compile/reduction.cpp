#include "registry/compile/reduction.hpp"

#include "operations/gemm/operation.hpp"

namespace quarry::detail {

std::string_view reduction_of(const Row& row) {
  if (!row.metadata.modes.split_k_parallel) return {};
  // The family itself says it, of a problem that can be split.
  GemmProblem problem;
  problem.m = problem.n = 1;
  problem.k = 2 * row.metadata.design.tile.k;
  return gemm::family_of(row).launch(row.entry_config, problem, {Mode::split_k_parallel, 2, 1}).reduce_entry;
}

}  // namespace quarry::detail
