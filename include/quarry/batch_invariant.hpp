/// Results that do not depend on how many rows are computed together: what FindOptions::batch_invariant goes
/// by.
#pragma once

#include <optional>
#include <string_view>

#include "quarry/filter.hpp"
#include "quarry/gemm.hpp"
#include "quarry/metadata.hpp"
#include "quarry/registry.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// In which order a kernel adds up the products along K. Kernels of one class and one math give an element of
/// the output the same bits, whatever their tiles are, unless they cut K into slices.
enum class SumClass : unsigned char {
  exact,   ///< integers: any order gives the same
  fma,     ///< one product after another
  mma_k4,  ///< mma.sync, so many products an instruction; here and below one instruction after another
  mma_k8,
  mma_k16,
  mma_k32,
  wgmma_k8,  ///< wgmma
  wgmma_k16,
  wgmma_k32,
};

/// "exact", "fma", "mma_k16", ...
std::string_view to_string(SumClass sum_class);

/// The class of a kernel: field `sum_class` of filters. Absent where no other kernel is sure to give the same
/// bits: warps share K, sums are promoted by blocks of K, or nothing is multiplied.
std::optional<SumClass> sum_class(const KernelMetadata& kernel);

/// The kernels of one class: what a batch-invariant query may choose from.
struct InvariantClass {
  SumClass sum_class = SumClass::fma;
  Math math = Math::exact;

  bool holds(const KernelMetadata& kernel) const {
    return kernel.design.math == math && quarry::sum_class(kernel) == sum_class;
  }
};

/// The class that answers all problems which differ from this one in M alone: by N, K, types, layouts and the
/// alignments that do not depend on M, with the shortest predicted times for 16, 256 and 4,096 rows together.
/// M, the epilogue and the workspace do not count. Fails with invalid_arguments where the controls cut K, as
/// get_kernels does, with unsupported for scales of operands, and with no_kernel where no class is allowed by
/// the filter.
/// @param options its device and availability count
Result<InvariantClass> invariant_class(const GemmArguments& arguments, const Filter& filter = {},
                                       const FindOptions& options = {});

}  // namespace quarry
