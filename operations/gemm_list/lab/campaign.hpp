/// What a campaign asks of lists of GEMMs.
#pragma once

#include <string>

#include "operations/gemm_list/lab/problem.hpp"
#include "quarry/device_model.hpp"
#include "quarry/gemm_list.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab::gemm_list {

/// As CampaignSource says.
std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const GemmListArguments& arguments, const DeviceModel& device);
std::string fault_of_empty_answer(const Status& status, const GemmListArguments& arguments);

}  // namespace quarry::lab::gemm_list
