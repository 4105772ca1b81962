/// What a campaign asks of convolutions.
#pragma once

#include <string>

#include "quarry/conv2d.hpp"
#include "quarry/device_model.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab::conv2d {

/// A direction, types in the order of the operands, and whether channels lie in groups of 32.
struct TypeKey {
  Direction direction;
  DType a, b, accumulator, out;
  bool interleaved = false;
  friend auto operator<=>(const TypeKey&, const TypeKey&) = default;
};

/// The types of arguments, and of a kernel.
TypeKey type_key(const Conv2dArguments& arguments);
TypeKey type_key(const KernelMetadata& kernel);

/// As CampaignSource says.
std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const Conv2dArguments& arguments, const DeviceModel& device);
std::string fault_of_empty_answer(const Status& status, const Conv2dArguments& arguments);

}  // namespace quarry::lab::conv2d
