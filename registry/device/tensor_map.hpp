/// Tensor maps as the driver encodes them. No CUDA header is needed to include this.
#pragma once

#include <cstddef>
#include <string_view>

#include "arch/tensor_map.hpp"
#include "launch.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Encodes a tensor map; does not touch the tensor. Fails with unsupported where the fields are past what a
/// map can hold (TensorMapFields says what that is), no_device without a driver, device_error where the
/// driver does not know tensor maps or refuses this one.
Status encode_tensor_map(const TensorMapFields& fields, TensorMap& map);

/// The arguments of cuTensorMapEncodeTiled that are enumerators, by their names in <cuda.h>.
struct TensorMapWords {
  std::string_view type;
  std::string_view interleave;
  std::string_view swizzle;
  std::string_view promotion;
  std::string_view fill;
};

/// Those with which such a tensor map is encoded. `type` is empty for a type that there are no tensors of.
TensorMapWords words_of(const TensorMapFields& fields);

/// Encodes the tensor maps of a launch into their slots of an image. Where an operand has no data yet, any
/// address is taken instead, for move_tensor_maps to replace.
Status encode_tensor_maps(const Launch& launch, const PlanOperands& pointers, std::byte* image);

/// Points encoded maps of an image at these operands, which are aligned to 16 bytes; all else stays.
Status move_tensor_maps(const Launch& launch, const PlanOperands& pointers, std::byte* image);

}  // namespace quarry::detail
