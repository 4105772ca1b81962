/// What a campaign asks of an operation: problems, and whether answers to them are true.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/problems/operands.hpp"
#include "quarry/device_model.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

/// A problem that was drawn.
struct DrawnProblem {
  /// Fake tensors.
  HeldArguments arguments;
  /// Operands that are the first output's own memory.
  std::vector<Operand> in_place = {};
  /// Operands whose values belong to the problem.
  std::vector<GivenValues> given = {};
  /// Its scalars (OperandList::scalars) are to be read through pointers, as values of this type; none: they
  /// are values.
  DType scalars_in_memory = DType::none;
  /// The problem in a line: "300x7x1024 batch 3, a f16 (7168, 1024, 1) align 8, ...".
  std::string text = {};
};

/// The problems of one operation: whatever a user could ask for, whether or not some kernel takes it. Safe to
/// be asked by several threads.
class CampaignSource {
 public:
  virtual ~CampaignSource() = default;

  /// The problem of a seed.
  virtual DrawnProblem draw(std::uint64_t seed) const = 0;

  /// A text of a kernel's types, and of those that kernels for a problem may have: some of these kernels are
  /// asked, too.
  virtual std::string types_of(const KernelMetadata& kernel) const = 0;
  virtual std::vector<std::string> types_for(const Arguments& arguments) const = 0;
  /// Whether some kernel must take a valid problem.
  virtual bool is_always_taken(const Arguments& arguments) const = 0;

  /// What is wrong with the refusal of these arguments by a kernel of this operation: that it names no
  /// operand, control, type or limit in its message, or names one that is as the kernel needs it. Empty where
  /// nothing is.
  virtual std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                                       const Arguments& arguments, const DeviceModel& device) const = 0;
  /// What is wrong with the answer that there is no kernel at all; empty where nothing is.
  virtual std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const = 0;
};

}  // namespace quarry::lab
