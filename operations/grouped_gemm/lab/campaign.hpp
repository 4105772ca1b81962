/// What a campaign asks of grouped GEMMs.
#pragma once

#include <string>

#include "operations/grouped_gemm/lab/problem.hpp"
#include "quarry/device_model.hpp"
#include "quarry/grouped_gemm.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab::grouped_gemm {

/// As CampaignSource says.
std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const GroupedGemmArguments& arguments, const DeviceModel& device);
std::string fault_of_empty_answer(const Status& status, const GroupedGemmArguments& arguments);

}  // namespace quarry::lab::grouped_gemm
