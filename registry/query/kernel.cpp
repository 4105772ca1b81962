// The parts of Kernel that need no device.
#include "quarry/kernel.hpp"

#include "operations/gemm/normalise.hpp"
#include "operations/gemm/resolve.hpp"
#include "operations/reduce_split_k/resolve.hpp"

namespace quarry {

using namespace detail;

const KernelMetadata& Kernel::metadata() const { return row_->metadata; }

bool Kernel::precompiled(int cc) const { return is_precompiled(*row_, cc); }

Status Kernel::supports(const GemmArguments& arguments) const {
  if (Status s = check_operation(*row_, Operation::gemm); !s) return s;
  GemmProblem problem;
  if (Status s = normalise(arguments, problem); !s) return s;
  if (Status s = check_signature(*row_, problem); !s) return s;
  const DeviceModel& device = model_for(arguments);
  return row_->exchanged ? check_constraints(*row_, exchanged(problem), device)
                         : check_constraints(*row_, problem, device);
}

Status Kernel::supports(const ReduceSplitKArguments& arguments) const {
  ReduceProblem problem;
  return resolve(*row_, arguments, model_for(arguments), problem);
}

Result<std::size_t> Kernel::workspace_size(const ReduceSplitKArguments& arguments) const {
  if (Status s = supports(arguments); !s) return s;
  return std::size_t{0};
}

Result<std::size_t> Kernel::workspace_size(const GemmArguments& arguments) const {
  GemmProblem problem;
  ChosenControls chosen;
  if (Status s = resolve(*row_, arguments, controls_, model_for(arguments), problem, chosen); !s) return s;
  return gemm_family(*row_).workspace_size(row_->entry_config, problem, chosen);
}

}  // namespace quarry
