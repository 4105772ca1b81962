/// What can be computed.
#pragma once

#include <string_view>

namespace quarry {

/// The operations. This list is the only one: the build reads it, and finds of each operation `name` the
/// header quarry/name.hpp and the folder operations/name/.
enum class Operation : unsigned char {
  gemm,            ///< GemmArguments
  reduce_split_k,  ///< ReduceSplitKArguments
  reorder,         ///< ReorderArguments
};

/// Whether kernels of an operation multiply tiles of A and B. Others lack these operands, tiles, modes, and
/// all else in their metadata that belongs to a product.
constexpr bool is_product(Operation operation) { return operation == Operation::gemm; }

/// "gemm", "reduce_split_k", ...
std::string_view to_string(Operation operation);

}  // namespace quarry
