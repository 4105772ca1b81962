/// What kernels of convolutions take, by their metadata.
#pragma once

#include <cstdint>

#include "common/config_parts.hpp"
#include "quarry/metadata.hpp"

namespace quarry::lab::conv2d {

/// Whether a kernel takes the part of the epilogue.
inline bool takes_scale(const KernelMetadata& kernel) { return kernel.epilogue.scale; }
inline bool takes_residual(const KernelMetadata& kernel) { return kernel.epilogue.residual; }
inline bool takes_aux(const KernelMetadata& kernel) { return kernel.epilogue.aux; }

/// Kernels whose copies walk over pixels, and what these do not take.
inline bool walks(const KernelMetadata& kernel) { return kernel.design.copy_engine == CopyEngine::tma; }

/// Kernels of tensors with channels in groups of 32.
inline bool has_channel_groups(const KernelMetadata& kernel) {
  return is_interleaved(kernel.operands.out.layout);
}

/// Kernels of convolutions in groups.
inline bool takes_groups(const KernelMetadata& kernel) {
  return !walks(kernel) && !has_channel_groups(kernel);
}

/// Kernels whose scale may begin a group's channels within a quad.
inline bool scales_any_groups(const KernelMetadata& kernel) {
  return takes_groups(kernel) && takes_scale(kernel) && kernel.design.math_unit == MathUnit::simt;
}

/// The greatest stride of kernels that walk over pixels.
inline std::int64_t most_step(const KernelMetadata& kernel) {
  return kernel.design.strides == WindowStrides::unity ? 1 : 8;
}

/// Kernels that bring all pixels of a tile at once.
inline bool brings_patches(const KernelMetadata& kernel) {
  return kernel.design.iterator == WindowIterator::window;
}

/// The same of wgrad, which cut K, outputs, where it is long.
inline bool brings_gradients(const KernelMetadata& kernel) {
  return brings_patches(kernel) && kernel.direction == Direction::wgrad;
}

/// Kernels that write filters as a matrix: taps follow one another.
inline bool writes_matrix(const KernelMetadata& kernel) {
  return brings_gradients(kernel) || (walks(kernel) && kernel.direction == Direction::wgrad);
}

}  // namespace quarry::lab::conv2d
