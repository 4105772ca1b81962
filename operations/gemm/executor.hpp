/// The host executor: computes on the CPU what a kernel computes on the device.
///
/// It adds products in the kernel's order of K (instructions, warps along K, slices) in the kernel's
/// accumulator type, so that results differ from the device's only as far as one addition differs; integers
/// that fit are exact. Threads share the output's blocks, so that their number does not change a bit of the
/// result.
#pragma once

#include "gemm/operand_scale.hpp"
#include "gemm/params.hpp"
#include "operations/common/row.hpp"
#include "quarry/status.hpp"

namespace quarry::host {

/// What the executor needs to know of a kernel beside the launch. In the launch's orientation.
struct HostKernel {
  Types types = {};
  /// Only whether they are interleaved counts: strides say the rest.
  Layouts layouts = {};
  /// What it does to f32 operands. (Of 3xTF32, a step's three products are added one after another here.)
  Math math = Math::exact;
  /// Output tile of a block; what the order of sums depends on in mode stream_k alone.
  int tile_m = 1;
  int tile_n = 1;
  /// K extent of a pipeline stage, and how many groups of warps divide it among them.
  int tile_k = 1;
  int warps_k = 1;
  /// Products that one instruction adds up before they join the accumulator: the matrix instruction's K,
  /// or 1.
  int instruction_k = 1;
};

/// That of a registered kernel.
HostKernel host_kernel(const detail::Row& row);

/// An expression and its tensors, in the launch's orientation (operations/gemm/host_expression.hpp).
struct GemmExpression;

/// Computes what a kernel of these parameters does, whose pointers are host memory, and returns when it is
/// done. Needs no workspace, and goes by the kernel's parameters alone: a reduction that follows has
/// parameters that say the same. Slices are added in their order, in whatever mode; in stream_k, they are the
/// blocks' parts of a tile. Fails, with nothing written, with `unsupported` for types that the executor does
/// not know and `device_error` when memory runs out.
/// @param blocks of the launch's grid, of which mode stream_k alone depends
/// @param threads 0: one a processor
Status execute(const HostKernel& kernel, const GemmParams& params, unsigned blocks, int threads = 0);

/// The same of operands with scales, in the launch's orientation. Where scales are blocks, sums of 128
/// positions of K are multiplied by both scales and join sums of f32, or of f64 beside an f64 accumulator;
/// otherwise the whole sum is multiplied, in the type that the epilogue computes in. `unsupported`, too,
/// where that is s32. Zero points are taken off the operands' values first.
/// @param expression in the place of the parameters' epilogue; null: none
Status execute(const HostKernel& kernel, const GemmParams& params, const OperandScales& scales,
               unsigned blocks, int threads = 0, const GemmExpression* expression = nullptr);

}  // namespace quarry::host
