/// What the launches of grouped GEMMs have in common. Host only.
#pragma once

#include "gemm/host.hpp"
#include "grouped_gemm/problem.hpp"
#include "launch.hpp"

namespace quarry {

/// Whether no tile is there to be computed, whatever the sizes say.
inline bool has_no_tiles(const GroupedGemmProblem& problem) {
  return is_empty(problem.gemm) || span_count(problem.groups) == 0;
}

/// The GEMM that gemm_launch makes steps of: none of tiles where there are none, but reductions of lines
/// leave values of nothing, too.
inline GemmProblem launched_gemm(const GroupedGemmProblem& problem) {
  GemmProblem gemm = problem.gemm;
  if (span_count(problem.groups) == 0) gemm.m = 0;
  return gemm;
}

/// Bytes of the workspace, all of it for reductions of lines: each block has all of K.
inline std::size_t workspace_of_groups(const GemmTraits& kernel, const GroupedGemmProblem& problem) {
  if (has_no_tiles(problem)) return 0;
  return gemm_workspace(kernel, problem.gemm, {.mode = Mode::gemm, .split_k_slices = 1}).bytes;
}

/// Tells the steps of a launch the groups. @tparam Params of the kernel, with `groups`
template <class Params>
void add_groups(Launch& launch, const GroupedGemmProblem& problem) {
  if (launch.is_empty()) return;
  for (const Step& step : launch.steps) {
    auto& params = params_of<Params>(launch, step);
    params.groups = problem.groups;
    if (problem.groups.groups > 0) relocate(launch, params.groups.sizes, Operand::sizes);
  }
  if (problem.groups.groups > 0) launch.uses.add({Operand::sizes, DType::s32, false, sizeof(int)});
}

}  // namespace quarry
