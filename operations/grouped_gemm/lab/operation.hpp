/// What the lab knows of grouped GEMMs: see lab/operation.hpp.
#pragma once

#include "lab/operation.hpp"
#include "operations/grouped_gemm/lab/problem.hpp"

namespace quarry::lab::grouped_gemm {

struct Lab {
  using Arguments = GroupedGemmArguments;
  using Problem = grouped_gemm::Problem;

  static LabWords words();
  static std::span<const Setting> settings();
  static Result<Problem> parse(std::string_view shape, SettingReader& reader);
  static std::string shape_text(const Problem& problem);
  static std::string command_text(const Problem& problem);
  static NamedSizes sizes(const Problem& problem);
  static void add_settings(const KernelMetadata& kernel, SettingTexts& texts);

  static GroupedGemmArguments arguments(const Problem& problem);
  /// Of the rows, or positions of K, that are in groups.
  static double flops(const Problem& problem);
  static std::vector<Operand> in_place(const Problem& problem);
  /// Scales.
  static bool fill(const GroupedGemmArguments& arguments, Operand operand, const TensorView& view,
                   const FillOptions& options);
  /// The sizes.
  static std::vector<GivenValues> given(const Problem& problem);

  /// Rows outside of all groups are expected to be as they are now, or 0. The scale of the outputs is as for
  /// a GEMM, over all groups.
  static Reference reference(const GroupedGemmArguments& arguments, const ReferenceOptions& options);
  static Tolerance tolerance(const KernelMetadata& kernel, const GroupedGemmArguments& arguments,
                             Operand output);

  static std::string result_key(const KernelMetadata& kernel);
  static std::string storage_key(const KernelMetadata& kernel);
  /// Those of the output, then the forms, rows that become 0, and sizes that make no sense.
  static std::vector<Path> paths();
  static Problem random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);
  static Problem stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed);

  static std::unique_ptr<CampaignSource> campaign(std::span<const Kernel> kernels, double cost);
};

}  // namespace quarry::lab::grouped_gemm
