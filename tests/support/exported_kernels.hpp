/// What tests of exported kernels have in common: which kernels, their problems as C sees them, and
/// parameters compared byte for byte.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "operations/gemm/export/export.hpp"
#include "operations/gemm/export/params_layout.hpp"
#include "registry/operation.hpp"
#include "support/exported_c.hpp"
#include "support/gemm_rules.hpp"

namespace quarry::test {

inline void must(const Status& status) {
  INFO(status.message());
  REQUIRE(status);
}

/// The bytes of a struct that are not padding.
inline std::vector<bool> used_bytes(std::string_view struct_name) {
  const detail::ParamStruct& s = *detail::find_param_struct(struct_name);
  std::vector<bool> used(s.bytes, false);
  for (const detail::ParamField& field : s.fields) {
    const bool nested = detail::find_param_struct(field.type) != nullptr;
    const std::size_t count = std::max(field.count, std::size_t{1});
    const std::vector<bool> inner =
        nested ? used_bytes(field.type) : std::vector<bool>(field.size / count, true);
    REQUIRE(inner.size() * count == field.size);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = field.offset + i * inner.size();
      std::copy(inner.begin(), inner.end(), used.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return used;
}

/// Whether two structs of this name in C are the same except for padding.
inline bool same_params(const void* one, const void* other, std::string_view struct_name) {
  const std::vector<bool> used = used_bytes(struct_name);
  const auto* const x = static_cast<const unsigned char*>(one);
  const auto* const y = static_cast<const unsigned char*>(other);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] && x[i] != y[i]) return false;
  }
  return true;
}

/// A problem in the caller's orientation, as the exported header takes it.
inline ExportedProblem exported_problem(const detail::Row& row, const GemmArguments& args,
                                        const ChosenControls& controls, void* workspace) {
  GemmProblem problem;
  must(normalise(args, problem));
  ExportedProblem exported;
  std::memset(&exported, 0, sizeof exported);
  exported.m = problem.m;
  exported.n = problem.n;
  exported.k = static_cast<int>(args.a.extents[args.a.rank - 1U]);
  exported.batch = problem.batch;
  exported.a = problem.a.matrix;
  exported.b = problem.b.matrix;
  exported.c = args.c ? problem.c.matrix : problem.out.matrix;  // which beta 0 leaves unused
  exported.out = problem.out.matrix;
  exported.epilogue = problem.epilogue;
  exported.mode = static_cast<int>(controls.mode);
  exported.slices = controls.split_k_slices;
  exported.swizzle = controls.swizzle;
  exported.raster = static_cast<int>(row.exchanged ? exchanged(controls.raster) : controls.raster);
  exported.workspace = workspace;
  return exported;
}

/// The first kernel of each kind that differs in what an export says.
inline std::vector<Kernel> kinds_of_kernels() {
  std::vector<Kernel> chosen;
  std::vector<std::string> seen;
  for (const Kernel& kernel : get_kernels()) {
    const KernelMetadata& m = kernel.metadata();
    if (m.operation != Operation::gemm) continue;
    if (m.family == "gemm_sm90") continue;                  // whose parameters only this library makes
    if (m.operands.scales != ScaleSupport::none) continue;  // which exports do not know
    const DType sums = m.operands.accumulator;
    const std::string kind = std::string(m.family) + (detail::row_of(kernel).exchanged ? " exchanged" : "") +
                             (sums == DType::f64   ? " f64"
                              : sums == DType::s32 ? " s32"
                                                   : "") +
                             (m.design.tile.m == m.design.tile.n ? "" : " oblong");
    if (std::ranges::find(seen, kind) != seen.end()) continue;
    seen.push_back(kind);
    chosen.push_back(kernel);
  }
  return chosen;
}

/// A kernel as its export describes it.
inline detail::ExportedKernel described(const Kernel& kernel, int target,
                                        const detail::InternedExpression* expression = nullptr) {
  const std::string name = std::string(kernel.name()) + (expression == nullptr ? "" : "_expression");
  return detail::describe_export(
      {.row = detail::row_of(kernel), .expression = expression, .name = name, .target = target});
}

}  // namespace quarry::test
