/// What a plan is inside: one kind for each operation.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>

#include "quarry/kernel.hpp"

namespace quarry::detail {

/// What a plan's copies share. Immutable.
struct PlanState {
  virtual ~PlanState() = default;
  virtual std::size_t workspace_size() const = 0;
  /// As Plan::run.
  virtual Status run(const PlanOperands& operands, CUstream_st* stream, const Workspace& workspace) const = 0;
};

/// Where operands are said to lie nowhere, nobody knows where a plan of theirs would run.
Status unknown_place();

/// Whether a pointer of a run is a multiple of so many bytes, as the plan's operand was; @param type the
/// operand's, of whose elements the failure speaks
Status check_alignment(Operand operand, DType type, const void* data, std::size_t bytes);

/// A plan around its state; device_error where there is no memory for it.
template <class State>
Result<Plan> make_plan(const State& state) {
  try {
    return Plan(std::make_shared<const State>(state));
  } catch (const std::exception&) {
    return Status(StatusCode::device_error, "Out of memory for a plan");
  }
}

}  // namespace quarry::detail
