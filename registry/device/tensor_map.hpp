/// Tensor maps as the driver encodes them. No CUDA header is needed to include this.
#pragma once

#include "arch/tensor_map.hpp"
#include "gemm/family.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Encodes a tensor map; does not touch the tensor. Fails with unsupported where the fields are past what a
/// map can hold (TensorMapFields says what that is), no_device without a driver, device_error where the
/// driver does not know tensor maps or refuses this one.
Status encode_tensor_map(const TensorMapFields& fields, TensorMap& map);

/// The maps of a launch, encoded; those without a box are left alone.
struct TensorMaps {
  TensorMap a = {};
  TensorMap b = {};
  TensorMap out = {};
};

/// Encodes what the launch has of maps. Where fields have no data yet, any address is taken instead, for
/// move_tensor_maps to replace.
Status encode_tensor_maps(const GemmLaunch& launch, TensorMaps& maps);

/// Points encoded maps at the data of the launch's operands, which is aligned to 16 bytes; all else stays.
Status move_tensor_maps(const GemmLaunch& launch, TensorMaps& maps);

}  // namespace quarry::detail
