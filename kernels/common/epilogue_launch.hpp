/// What a launch says of the outputs and the epilogue, whatever the sums are of. Host only.
#pragma once

#include "common/config_parts.hpp"
#include "common/epilogue_params.hpp"
#include "launch.hpp"

namespace quarry {

/// The use of a matrix operand whose address must be a multiple of so many elements.
constexpr PlanOperandNeed matrix_use(Operand operand, DType type, const MatrixParams& matrix, int elements) {
  const bool is_array = is_pointer_array(matrix);
  const int bytes = is_array ? static_cast<int>(sizeof(void*)) : static_cast<int>(bytes_for(type, elements));
  return {operand, type, is_array, static_cast<std::uint16_t>(bytes)};
}

/// Relocations of C, the output and the epilogue's operands. @param params GemmParams or ReduceParams in the
/// image
template <class Params, class Problem>
void relocate_epilogue(Launch& launch, const Params& params, const Problem& problem) {
  const EpilogueParams& e = params.epilogue;
  if (problem.has_c) relocate(launch, params.c.data, Operand::c);
  relocate(launch, params.out.data, Operand::out);
  if (problem.has_bias) relocate(launch, e.bias, Operand::bias);
  if (problem.has_scale) relocate(launch, e.scale.data, Operand::scale);
  if (problem.has_residual) relocate(launch, e.residual.data, Operand::residual);
  if (problem.has_aux) relocate(launch, e.aux.data, Operand::aux);
  if (e.alpha_pointer != nullptr) relocate(launch, e.alpha_pointer, Operand::alpha);
  if (e.beta_pointer != nullptr) relocate(launch, e.beta_pointer, Operand::beta);
}

/// The uses of the same operands. (alpha and beta are what they were unless a run says otherwise.)
/// @param compute type that the epilogue computes in
template <class Params, class Problem>
void use_epilogue(Launch& launch, const Params& params, const Problem& problem, DType out, DType compute) {
  const EpilogueParams& e = params.epilogue;
  const auto vector = [](Operand operand, DType type) {
    return PlanOperandNeed{operand, type, false, static_cast<std::uint16_t>(bytes_of(type))};
  };
  if (problem.has_c) launch.uses.add(matrix_use(Operand::c, out, params.c, 1));
  launch.uses.add(matrix_use(Operand::out, out, params.out, 1)).is_output = true;
  if (problem.has_bias) launch.uses.add(vector(Operand::bias, out));
  if (problem.has_scale) launch.uses.add(vector(Operand::scale, compute));
  if (problem.has_residual) launch.uses.add(matrix_use(Operand::residual, out, e.residual, 1));
  if (problem.has_aux) launch.uses.add(matrix_use(Operand::aux, out, e.aux, 1)).is_output = true;
}

}  // namespace quarry
