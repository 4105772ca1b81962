/// What the lab knows of lists of GEMMs: see lab/operation.hpp.
#pragma once

#include "lab/operation.hpp"
#include "operations/gemm_list/lab/problem.hpp"

namespace quarry::lab::gemm_list {

struct Lab {
  using Arguments = GemmListArguments;
  using Problem = gemm_list::Problem;

  static LabWords words();
  static std::span<const Setting> settings();
  static Result<Problem> parse(std::string_view shape, SettingReader& reader);
  static std::string shape_text(const Problem& problem);
  static std::string command_text(const Problem& problem);
  static NamedSizes sizes(const Problem& problem);
  static void add_settings(const KernelMetadata& kernel, SettingTexts& texts);

  static GemmListArguments arguments(const Problem& problem);
  static double flops(const Problem& problem);
  static std::vector<Operand> in_place(const Problem& problem);
  /// Scales.
  static bool fill(const GemmListArguments& arguments, Operand operand, const TensorView& view,
                   const FillOptions& options);
  /// The sizes and the leading dimensions.
  static std::vector<GivenValues> given(const Problem& problem);

  /// Elements of outputs that no problem has are expected to be as they are now.
  static Reference reference(const GemmListArguments& arguments, const ReferenceOptions& options);
  static Tolerance tolerance(const KernelMetadata& kernel, const GemmListArguments& arguments,
                             Operand output);

  /// Where leading dimensions are a problem's own, results depend on how operands are stored.
  static std::string result_key(const KernelMetadata& kernel);
  static std::string storage_key(const KernelMetadata& kernel);
  /// Those of the output, then leading dimensions, batches, no K, sizes that make no sense, scales, and an
  /// expression.
  static std::vector<Path> paths();
  static Problem random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);
  static Problem stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed);

  static std::unique_ptr<CampaignSource> campaign(std::span<const Kernel> kernels, double cost);
};

}  // namespace quarry::lab::gemm_list
