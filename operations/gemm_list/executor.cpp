#include "operations/gemm_list/executor.hpp"

#include <exception>
#include <vector>

#include "operations/gemm_list/host_problem.hpp"

namespace quarry::host {

Status execute(const HostKernel& kernel, Alignment alignment, const GemmListParams& params,
               const OperandScales& scales) {
  try {
    std::vector<ListedGemm> problems;
    if (Status s = list_problems(kernel, alignment, params, scales, problems); !s) return s;
    if (Status s = check_list_overlaps(kernel, params, problems); !s) return s;
    for (const ListedGemm& each : problems) {
      if (Status s = execute(kernel, each.gemm, each.scales, 1); !s) return s;
    }
    return {};
  } catch (const std::exception&) {
    return {StatusCode::device_error, "Out of memory for a list of GEMMs"};
  }
}

}  // namespace quarry::host
