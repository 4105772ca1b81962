/// Scales of operands in cuBLASLt's words. It takes blocks on Hopper, from version 12.9 on.
#pragma once

#include <cstddef>
#include <string>

#include "lab/bench/cublaslt_api.hpp"
#include "operations/gemm/lab/problem.hpp"

namespace quarry::lab::gemm {

/// Whether A or B has scales of blocks.
bool has_blocks(const Problem& problem);

/// The problem with one factor for all, which alpha is, in the place of scales of blocks. Its sums stay
/// promoted.
Problem without_blocks(const Problem& problem);

/// Whether cuBLASLt takes the scales of a problem that has blocks; otherwise unsupported, with the reason.
/// @param version as YardstickLibrary::version counts
Status check_blocks(const Problem& problem, std::size_t version);

/// Its word for scales of this granularity. @pre it takes them
CublasLtScaleMode scale_mode(ScaleGranularity granularity);

/// Stores the scales of B as cuBLASLt reads blocks of 128 x 128: scales along K are neighbours, and the first
/// ones of two columns are a multiple of 4 apart. It reads all others as problems have them.
/// @pre check_blocks
void store_scales(const Problem& problem, GemmArguments& arguments);

}  // namespace quarry::lab::gemm
