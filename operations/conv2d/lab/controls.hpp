/// Which controls kernels of convolutions take.
#pragma once

#include <cstdint>
#include <optional>

#include "quarry/conv2d.hpp"
#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry::lab::conv2d {

/// Whether swizzle and raster do not change how a kernel walks its tiles.
bool has_one_order(const KernelMetadata& kernel);

/// K tiles that a kernel has at least for a convolution; 1 at least. Where K is padded or counted in tiles of
/// outputs there are more.
std::int64_t least_k_tiles(const KernelMetadata& kernel, const Conv2dArguments& arguments);

/// Whether the controls have what a kernel was refused for; nothing where the status names no control.
std::optional<bool> breaks_controls(const Status& status, const KernelMetadata& kernel,
                                    const Conv2dArguments& arguments);

}  // namespace quarry::lab::conv2d
