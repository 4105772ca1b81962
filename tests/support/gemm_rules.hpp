// The rules of GEMM as tests call them: with the list of operands made here.
#pragma once

#include "operations/gemm/normalise.hpp"
#include "operations/gemm/operation.hpp"
#include "operations/reduce_split_k/operation.hpp"
#include "registry/device/memory.hpp"
#include "registry/operation.hpp"
#include "registry/query/operation_info.hpp"

namespace quarry::test {

inline Status normalise(const GemmArguments& args, GemmProblem& problem) {
  detail::OperandList operands;
  detail::gemm::Rules::operands(args, operands);
  return detail::normalise(args, operands, problem);
}

inline Status resolve(const detail::Row& row, const GemmArguments& args, const Controls& of_kernel,
                      const DeviceModel& device, GemmProblem& problem, ChosenControls& controls) {
  detail::OperandList operands;
  detail::gemm::Rules::operands(args, operands);
  return detail::resolve<detail::gemm::Rules>(row, args, operands, of_kernel, device, problem, controls);
}

inline Status resolve(const detail::Row& row, const ReduceSplitKArguments& args, const DeviceModel& device,
                      ReduceProblem& problem) {
  detail::OperandList operands;
  detail::reduce_split_k::Rules::operands(args, operands);
  ChosenControls none;
  return detail::resolve<detail::reduce_split_k::Rules>(row, args, operands, {}, device, problem, none);
}

/// An answer that is found now, whatever this thread asked before.
inline CandidateList find_afresh(Arguments arguments, const Filter& filter, const FindOptions& options) {
  return detail::find(arguments, {filter, options, detail::Recall::no});
}

inline Result<detail::RunPlace> place_of(Arguments arguments) {
  detail::OperandList operands;
  detail::info_of(arguments.operation()).operands(arguments.data(), operands);
  return detail::place_of(operands);
}

}  // namespace quarry::test
