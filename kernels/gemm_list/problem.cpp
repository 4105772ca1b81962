#include "gemm_list/problem.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "gemm/host.hpp"

namespace quarry {
namespace {

double tiles_of(int m, int n, Tile tile) {
  return static_cast<double>(tiles_along(m, tile.m)) * tiles_along(n, tile.n);
}

/// Sums over the problems that have elements.
struct Sums {
  int count = 0;
  double m = 0;
  double n = 0;
  double elements = 0;
  double work = 0;
  double tiles = 0;
};

/// The extents of the bounds alone.
GemmParams bounds_of(const GemmProblem& problem) {
  GemmParams bounds = {};
  bounds.m = problem.m;
  bounds.n = problem.n;
  bounds.k = problem.k;
  return bounds;
}

Sums sums_of(const GemmListProblem& problem, Tile tile) {
  const GemmParams bounds = bounds_of(problem.gemm);
  Sums sums;
  for (int i = 0; i < problem.gemm.batch; ++i) {
    const ListExtents own = host_extents(problem, bounds, i);
    if (own.m == 0 || own.n == 0) continue;
    const double elements = static_cast<double>(own.m) * own.n;
    ++sums.count;
    sums.m += own.m;
    sums.n += own.n;
    sums.elements += elements;
    sums.work += elements * own.k;
    sums.tiles += tiles_of(own.m, own.n, tile);
  }
  return sums;
}

int rounded(double value) { return static_cast<int>(std::lround(std::max(value, 1.0))); }

}  // namespace

Status check_leading(const GemmTraits& kernel, const GemmListProblem& problem) {
  const GemmProblem& p = problem.gemm;
  if (!problem.has_leading || p.k == 0) return {};
  const int promised = problem.leading_alignment;
  const int lines_a = kernel.layouts.a == Layout::row ? p.m : p.k;
  const int lines_b = kernel.layouts.b == Layout::row ? p.k : p.n;
  const auto refused = [&](int needed) {
    return Status(StatusCode::unsupported, Reason::leading_alignment, Operand::leading, needed, promised);
  };
  if (lines_a > 1 && kernel.alignment.a > promised) return refused(kernel.alignment.a);
  if (lines_b > 1 && kernel.alignment.b > promised) return refused(kernel.alignment.b);
  return {};
}

Status check_halves(const GemmTraits& kernel, const GemmListProblem& problem) {
  const WideNeeds& wide = problem.gemm.wide;
  const int alignment = kernel.alignment.b;
  if (!wide.gated || wide.eights || kernel.layouts.b != Layout::row || alignment <= 1) return {};
  const std::string halves = "The halves of operand `b` are a gated pair: ";
  if (problem.host_sizes == nullptr) {
    return {StatusCode::unsupported,
            halves + "a kernel that needs a multiple of " + std::to_string(alignment) +
                " columns each must know the problems' N, and `host_sizes` is empty"};
  }
  const GemmParams bounds = bounds_of(problem.gemm);
  for (int i = 0; i < problem.gemm.batch; ++i) {
    const int columns = host_extents(problem, bounds, i).n / 2;
    if (columns % alignment == 0) continue;
    return {StatusCode::unsupported, halves + "expected a multiple of " + std::to_string(alignment) +
                                         " columns each, got " + std::to_string(columns) + " in problem " +
                                         std::to_string(i)};
  }
  return {};
}

EqualProblems equal_problems(const GemmListProblem& problem, Tile tile) {
  EqualProblems equal = {problem.gemm, 1};
  GemmProblem& batch = equal.batch;
  batch.controls = {.mode = Mode::gemm, .split_k_slices = 1};
  if (problem.host_sizes == nullptr) return equal;
  const Sums sums = sums_of(problem, tile);
  batch.batch = std::max(sums.count, 1);
  batch.m = rounded(sums.m / batch.batch);
  batch.n = rounded(sums.n / batch.batch);
  batch.k = sums.work > 0 ? rounded(sums.work / sums.elements) : 0;
  equal.tiles = std::max(sums.tiles, 1.0) / (tiles_of(batch.m, batch.n, tile) * batch.batch);
  return equal;
}

ListStretches stretches_of(const GemmListProblem& problem, Tile tile) {
  const GemmParams bounds = bounds_of(problem.gemm);
  const int count = problem.gemm.batch;
  ListStretches list = {.problems = (count + list_stretches - 1) / list_stretches, .ends = {}};
  long long tiles = 0;
  int problem_number = 0;
  for (long long& end : list.ends) {
    for (int i = 0; i < list.problems && problem_number < count; ++i, ++problem_number) {
      const ListExtents own = host_extents(problem, bounds, problem_number);
      tiles += static_cast<long long>(tiles_along(own.m, tile.m)) * tiles_along(own.n, tile.n);
    }
    end = tiles;
  }
  return list;
}

}  // namespace quarry
