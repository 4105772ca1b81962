/// What a campaign asks of reductions.
#pragma once

#include <string>

#include "quarry/device_model.hpp"
#include "quarry/kernel.hpp"
#include "quarry/reduce_split_k.hpp"

namespace quarry::lab::reduce_split_k {

/// Whether each stride is the product of the extents behind it; strides of extents of 1 may be any.
bool is_packed(const TensorView& partials);

/// As CampaignSource says.
std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const ReduceSplitKArguments& arguments, const DeviceModel& device);
std::string fault_of_empty_answer(const Status& status, const ReduceSplitKArguments& arguments);

}  // namespace quarry::lab::reduce_split_k
