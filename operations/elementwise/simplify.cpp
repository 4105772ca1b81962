#include <algorithm>
#include <utility>

#include "operations/common/expression/graph.hpp"
#include "operations/elementwise/problem.hpp"
#include "quarry/expression.hpp"

namespace quarry::detail::elementwise {
namespace {

constexpr int last = elementwise_extents - 1;

void swap_extents(ElementwiseProblem& problem, int one, int other) {
  ElementwiseParams& p = problem.params;
  std::swap(p.extents[one], p.extents[other]);
  for (int i = 0; i < problem.tensors; ++i) std::swap(p.tensors[i].strides[one], p.tensors[i].strides[other]);
}

/// Whether extent `outer` should stand behind extent `inner`: extents of 1 stand in front, then the first
/// output's strides fall.
bool out_of_order(const ElementwiseProblem& problem, int outer, int inner) {
  const ElementwiseParams& p = problem.params;
  if (p.extents[inner] == 1) return p.extents[outer] != 1;
  if (p.extents[outer] == 1) return false;
  const long long* const strides = p.tensors[problem.inputs].strides;
  return strides[outer] < strides[inner];
}

void sort_extents(ElementwiseProblem& problem) {
  for (int end = last; end > 0; --end) {
    for (int i = 0; i < end; ++i) {
      if (out_of_order(problem, i, i + 1)) swap_extents(problem, i, i + 1);
    }
  }
}

bool are_one(const ElementwiseProblem& problem, int outer, int inner) {
  const ElementwiseParams& p = problem.params;
  for (int i = 0; i < problem.tensors; ++i) {
    const long long* const strides = p.tensors[i].strides;
    if (strides[outer] != strides[inner] * p.extents[inner]) return false;
  }
  return true;
}

/// Makes extent `outer` a part of the one behind it.
void merge(ElementwiseProblem& problem, int outer) {
  ElementwiseParams& p = problem.params;
  p.extents[outer + 1] *= p.extents[outer];
  for (int from = outer; from > 0; --from) {
    p.extents[from] = p.extents[from - 1];
    for (int i = 0; i < problem.tensors; ++i) p.tensors[i].strides[from] = p.tensors[i].strides[from - 1];
  }
  p.extents[0] = 1;
  for (int i = 0; i < problem.tensors; ++i) p.tensors[i].strides[0] = 0;
}

bool is_copy(const ElementwiseProblem& problem) {
  const ElementwiseParams& p = problem.params;
  return problem.tensors == 2 && problem.inputs == 1 && problem.operands[0].name != Operand::none &&
         problem.operands[0].type == problem.operands[1].type &&
         problem.expression->graph().nodes.size() == 1 && p.tensors[0].strides[last] == 1 &&
         p.tensors[1].strides[last] == 1;
}

void describe_as_bytes(ElementwiseProblem& problem) {
  const int bytes = bytes_of(problem.operands[0].type);
  ElementwiseParams& p = problem.params;
  p.extents[last] *= bytes;
  for (int i = 0; i < problem.tensors; ++i) {
    for (int k = 0; k < last; ++k) p.tensors[i].strides[k] *= bytes;
  }
  problem.expression = nullptr;
}

}  // namespace

void simplify(ElementwiseProblem& problem) {
  if (element_count(problem) == 0 || problem.reductions.has_any()) return;
  if (std::ranges::any_of(problem.operands, &ElementwiseOperand::is_gathered)) return;
  sort_extents(problem);
  for (int outer = last - 1; outer >= 0; --outer) {
    while (problem.params.extents[outer] > 1 && are_one(problem, outer, outer + 1)) merge(problem, outer);
  }
  if (is_copy(problem)) describe_as_bytes(problem);
}

}  // namespace quarry::detail::elementwise
