/// The operations.
#pragma once

#include <string_view>

namespace quarry {

/// The operations. This is the only list of them. The build reads it, and expects for each operation `name`
/// the header quarry/name.hpp and the folder operations/name/.
enum class Operation : unsigned char {
  gemm,            ///< GemmArguments
  reduce_split_k,  ///< ReduceSplitKArguments
  reorder,         ///< ReorderArguments
  elementwise,     ///< ElementwiseArguments
  grouped_gemm,    ///< GroupedGemmArguments
  conv2d,          ///< Conv2dArguments
  gemm_list,       ///< GemmListArguments
};

/// Whether kernels of an operation multiply tiles of A and B. Kernels of other operations lack these
/// operands, tiles, modes, and everything else in the metadata that belongs to a product.
constexpr bool is_product(Operation operation) {
  return operation == Operation::gemm || operation == Operation::grouped_gemm ||
         operation == Operation::conv2d || operation == Operation::gemm_list;
}

/// "gemm", "reduce_split_k", ...
std::string_view to_string(Operation operation);

}  // namespace quarry
