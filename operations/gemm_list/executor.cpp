#include "operations/gemm_list/executor.hpp"

#include <exception>
#include <vector>

#include "operations/gemm/host_expression.hpp"
#include "operations/gemm_list/host_problem.hpp"

namespace quarry::host {
namespace {

Status execute_problem(const HostKernel& kernel, const ListedGemm& listed, const GemmExpression* expression) {
  if (expression == nullptr) return execute(kernel, listed.gemm, listed.scales, 1);
  const GemmExpression own = {expression->graph, listed.tensors, expression->all};
  return execute(kernel, listed.gemm, {}, 1, 0, &own);
}

/// The problems, and then what is made of all elements of all of them.
Status execute_expressed(const HostKernel& kernel, const std::vector<ListedGemm>& problems,
                         const GemmExpression& expression) {
  AllOfParts all(expression);
  const GemmExpression of_all = {expression.graph, expression.params, &all.executor()};
  for (const ListedGemm& each : problems) {
    if (Status s = execute_problem(kernel, each, &of_all); !s) return s;
  }
  all.executor().finish_all();
  return {};
}

}  // namespace

Status execute(const HostKernel& kernel, Alignment alignment, const GemmListParams& params,
               const OperandScales& scales, const GemmExpression* expression, int unit) {
  try {
    std::vector<ListedGemm> problems;
    if (Status s = list_problems(kernel, alignment, params, scales, expression, unit, problems); !s) return s;
    if (Status s = check_list_overlaps(kernel, params, expression, problems); !s) return s;
    if (expression != nullptr) return execute_expressed(kernel, problems, *expression);
    for (const ListedGemm& each : problems) {
      if (Status s = execute_problem(kernel, each, nullptr); !s) return s;
    }
    return {};
  } catch (const std::exception&) {
    return {StatusCode::device_error, "Out of memory for a list of GEMMs"};
  }
}

}  // namespace quarry::host
