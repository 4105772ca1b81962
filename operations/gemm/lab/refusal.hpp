/// Whether a refusal says what is wrong, and says the truth.
#pragma once

#include <string>

#include "quarry/device_model.hpp"
#include "quarry/gemm.hpp"
#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry::lab::gemm {

/// What is wrong with a kernel's refusal of these arguments: that it names no operand, control, type or limit
/// in its message, or names one that is as the kernel needs it. Empty where nothing is. The arguments'
/// tensors are fake. @pre the status is a failure
std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const GemmArguments& arguments, const DeviceModel& device);

/// What is wrong with the answer that there is no kernel at all; empty where nothing is.
std::string fault_of_empty_answer(const Status& status, const GemmArguments& arguments);

}  // namespace quarry::lab::gemm
