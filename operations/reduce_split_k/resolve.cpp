#include "operations/reduce_split_k/resolve.hpp"

#include "operations/gemm/resolve.hpp"
#include "operations/reduce_split_k/problem.hpp"

namespace quarry::detail {

const DeviceModel& model_for(const ReduceSplitKArguments& arguments) {
  return model_for(in_gemm_roles(arguments));
}

Status check_signature(const Row& row, const ReduceProblem& problem) {
  if (Status s = check_operation(row, Operation::reduce_split_k); !s) return s;
  const OperandsMetadata& operands = row.metadata.operands;
  if (Status s = check_type(Operand::partials, operands.accumulator, problem.partials); !s) return s;
  if (Status s = check_type(Operand::out, operands.out.dtype, problem.out); !s) return s;
  if (operands.out.layout == problem.layout) return {};
  return {StatusCode::unsupported, Reason::layout, Operand::out, static_cast<int>(operands.out.layout),
          static_cast<int>(problem.layout)};
}

Status check_constraints(const Row& row, const ReduceProblem& problem, const DeviceModel& device) {
  if (Status s = check_compute_capability(row.metadata, device.cc); !s) return s;
  return reduce_family(row).supports(row.entry_config, problem);
}

Status resolve(const Row& row, const ReduceSplitKArguments& arguments, const DeviceModel& device,
               ReduceProblem& problem) {
  if (Status s = check_operation(row, Operation::reduce_split_k); !s) return s;
  if (Status s = normalise(arguments, problem); !s) return s;
  if (Status s = check_model(device); !s) return s;
  if (Status s = check_signature(row, problem); !s) return s;
  return check_constraints(row, problem, device);
}

}  // namespace quarry::detail
