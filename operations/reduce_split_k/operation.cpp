#include "operations/reduce_split_k/operation.hpp"

#include <string>

#include "operations/common/expression/tensors.hpp"
#include "operations/common/row_checks.hpp"
#include "operations/gemm/expression_code.hpp"
#include "operations/reduce_split_k/executor.hpp"
#include "operations/reduce_split_k/operands.hpp"
#include "operations/reduce_split_k/problem.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::reduce_split_k {

void Rules::operands(const ReduceSplitKArguments& arguments, OperandList& list) {
  list_operands(arguments, list);
}

Status Rules::check(const ReduceSplitKArguments& arguments, const OperandList& operands,
                    ReduceProblem& problem) {
  return normalise(arguments, operands, problem);
}

void Rules::describe(const ReduceSplitKArguments& arguments, ReduceProblem& problem) {
  detail::describe(arguments, problem);
}

Status Rules::no_kernel(const ReduceProblem& problem) {
  return {StatusCode::no_kernel,
          "No kernel is registered for partials " + std::string(to_string(problem.partials)) + ", out " +
              std::string(to_string(problem.out)) + " " + std::string(to_string(problem.layout)) +
              ": partial sums are f32 or f64 for a floating-point output, s32 for s32, s8, u8 or f32, "
              "which may be column_interleaved32"};
}

Status Rules::check_signature(const Row& row, const ReduceProblem& problem) {
  const OperandsMetadata& operands = row.metadata.operands;
  if (Status s = check_type(Operand::partials, operands.accumulator, problem.partials); !s) return s;
  if (Status s = check_type(Operand::out, operands.out.dtype, problem.out); !s) return s;
  if (operands.out.layout == problem.layout) return {};
  return {StatusCode::unsupported, Reason::layout, Operand::out, static_cast<int>(operands.out.layout),
          static_cast<int>(problem.layout)};
}

Status Rules::check_constraints(const Row& row, const ReduceProblem& problem, const DeviceModel&) {
  return family_of(row).supports(row.entry_config, problem);
}

Estimate Rules::estimate(const Row& row, const ReduceProblem& problem, const DeviceModel& device,
                         std::size_t) {
  return {.controls = {}, .seconds = family_of(row).account(row.entry_config, problem, device).seconds};
}

Account Rules::account(const Row& row, const ReduceProblem& problem, const DeviceModel& device, std::size_t) {
  return family_of(row).account(row.entry_config, problem, device);
}

void Rules::launch(const Row& row, const ReduceProblem& problem, const ChosenControls&, Launch& launch) {
  family_of(row).launch(row.entry_config, problem, launch);
}

Status Rules::run_on_host(const Row& row, const Launch& launch, const std::byte* image) {
  return host::execute(row.metadata, params_of<ReduceParams>(image, *kernel_step(launch)));
}

Result<std::string> Rules::expression_code(const Expression& expression, std::string_view name) {
  if (is_wide(expression))
    return Status(StatusCode::unsupported,
                  "Kernels that add up slices compute each element by itself: the expression has gated pairs "
                  "or reductions");
  return gemm::code_of(expression, name);
}

}  // namespace quarry::detail::reduce_split_k
