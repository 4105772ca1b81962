/// What the copy engine is told of a problem's operands, and which operands it can be told of. Host only.
#pragma once

#include "gemm/family.hpp"
#include "gemm/profile.hpp"
#include "gemm_sm90/config.hpp"
#include "gemm_sm90/params.hpp"
#include "quarry/status.hpp"

namespace quarry::gemm_sm90 {

/// Strides of a tensor map are below that, in bytes (CUDA driver API, cuTensorMapEncodeTiled).
inline constexpr long long map_stride_limit = 1LL << 40;

/// Whether strides of A and B are such that check_maps has nothing to refuse: nearly all are, and a query
/// asks this of every kernel.
constexpr bool has_plain_strides(const Layouts& layouts, const GemmProblem& problem) {
  const MatrixParams& a = problem.a.matrix;
  const MatrixParams& b = problem.b.matrix;
  const long long line_a = layouts.a == Layout::row ? a.row_stride : a.column_stride;
  const long long line_b = layouts.b == Layout::row ? b.row_stride : b.column_stride;
  constexpr int widest = 8;  // bytes of an element
  const long long any = line_a | line_b | a.batch_stride | b.batch_stride;
  return line_a > 0 && line_b > 0 && any < map_stride_limit / widest;
}

/// Ok when A and B can be described by tensor maps, as far as their alignment does not decide: lines that all
/// lie at one place, and strides past the maps' limit are refused, naming the caller's operand. (Extents have
/// 31 bits, a map's have 32.)
Status check_maps(const Layouts& layouts, const GemmProblem& problem);

/// What add_output_maps does, where rows lie apart in the output: lanes store boxes, as far as its alignment
/// allows, and no map is needed.
void add_scattered_output(const Config& config, const GemmProblem& problem, TensorGemmParams& params,
                          Launch& launch);

/// Adds the maps of what the epilogue writes and reads, where it does so by boxes, and says which these are.
/// @param may_fetch as in add_maps
void add_output_maps(const Config& config, const GemmProblem& problem, TensorGemmParams& params,
                     Launch& launch, bool may_fetch = true);

/// Adds the maps of a launch whose other parameters are filled. Those of A and B only where the copy engine
/// copies them; the output's map only where it can store boxes: aligned to 16 bytes, contiguous, and
/// written by this kernel. Each run of such a launch must keep to that alignment.
/// @param may_fetch the copy engine may bring a matrix that the epilogue reads, whole boxes of it
/// @pre supports()
void add_maps(const Config& config, const GemmProblem& problem, TensorGemmParams& params, Launch& launch,
              bool may_fetch = true);

/// Adds a map of A to a slot of the launch's parameters, where the problem has any K.
/// @param box_lines lines that the copy engine copies at once: at most box_a(config).part_lines()
void add_map_of_a(const Config& config, const GemmProblem& problem, const TensorMap& slot, Launch& launch,
                  int box_lines);

/// Adds maps as add_maps does, of one matrix of the problem's extents each, over the workspace: those
/// that the device makes for its matrices are like them. Says whether outputs can be stored by boxes, as far
/// as the problem's alignment decides.
void add_map_models(const Config& config, const GemmProblem& problem, TensorGemmParams& params,
                    Launch& launch);

}  // namespace quarry::gemm_sm90
