/// Problems that stand for all those which differ in M alone.
#pragma once

#include <cstdint>

#include "quarry/gemm.hpp"

namespace quarry::detail::gemm {

/// The same problem with so many rows, of fake tensors, in one piece of K. Whatever depends on M is as bad as
/// can be: what a kernel says of it holds for all M. An input of one row beside an output of more stays one
/// that is broadcast.
GemmArguments representative(const GemmArguments& arguments, std::int64_t rows);

}  // namespace quarry::detail::gemm
