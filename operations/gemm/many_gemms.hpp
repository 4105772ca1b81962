/// What the operations of many GEMMs in one launch have in common: grouped GEMMs and lists of GEMMs.
#pragma once

#include <string_view>

#include "operations/common/row.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Adds the key of each pair of layouts that A and B fit. Outputs have any strides.
template <class Add>
void add_keys(Operation operation, const GemmProblem& gemm, const Add& add) {
  // As of a GEMM: kernels without scales are asked, too.
  const bool may_have_scales = gemm.scales.a.is_given || gemm.scales.b.is_given || gemm.k == 0;
  for (const Layout a : {Layout::row, Layout::column}) {
    for (const Layout b : {Layout::row, Layout::column}) {
      if (!gemm.a.fits[static_cast<int>(a)] || !gemm.b.fits[static_cast<int>(b)]) continue;
      const Layouts layouts = {a, b, Layout::row};
      add(functional_key(operation, Math::exact, gemm.types, layouts));
      if (may_have_scales) add(functional_key(operation, Math::exact, gemm.types, layouts, true));
    }
  }
}

/// That no kernel has these types. @param problems what messages call them: "grouped GEMMs"
Status no_kernel_of(std::string_view problems, const Types& types);

/// Whether the row has these types, and layouts that A and B fit; unsupported otherwise.
Status check_signature(const Row& row, const GemmProblem& gemm);

/// Whether the row takes the scales and the expression that there are; unsupported otherwise.
Status check_scales_or_expression(const Row& row, const GemmProblem& gemm);

/// An account with the time of the reductions of an expression added.
Account with_reductions(Account account, const GemmProfile& profile, const GemmProblem& gemm);

}  // namespace quarry::detail
