/// What the lab knows of reductions of split-K: see lab/operation.hpp.
#pragma once

#include "lab/operation.hpp"
#include "lab/problems/epilogue_spec.hpp"
#include "lab/problems/operand_spec.hpp"
#include "quarry/reduce_split_k.hpp"

namespace quarry::lab::reduce_split_k {

/// A reduction as the command line describes it.
struct Problem {
  static constexpr Operation operation = Operation::reduce_split_k;

  std::int64_t slices = 0;
  std::int64_t m = 0;
  std::int64_t n = 0;
  /// Entries of the batch; 0: no batch.
  std::int64_t batch = 0;
  /// Type and alignment: they are packed.
  OperandSpec partials = {};
  OperandSpec out = {};
  EpilogueSpec epilogue = {};

  OutputSpec output() const { return {out, batch, m, n}; }
};

/// The alpha that brings random sums of s32 to the range of an output of bytes, or to about 1.
constexpr double alpha_of_sums(DType out) { return is_byte(out) ? 0x1p-25 : 0x1p-31; }

struct Lab {
  using Arguments = ReduceSplitKArguments;
  using Problem = reduce_split_k::Problem;

  static constexpr bool moves_memory = true;

  static LabWords words();
  static std::span<const Setting> settings();
  static Result<Problem> parse(std::string_view shape, SettingReader& reader);
  static std::string shape_text(const Problem& problem);
  static std::string command_text(const Problem& problem);
  static NamedSizes sizes(const Problem& problem);
  static void add_settings(const KernelMetadata& kernel, SettingTexts& texts);

  static ReduceSplitKArguments arguments(const Problem& problem);
  /// The additions.
  static double flops(const Problem& problem);
  static std::vector<Operand> in_place(const Problem& problem);

  /// The scale of the outputs is |alpha| ||S P|| + |beta| ||C||, P all partial sums, S the epilogue's scale.
  /// A partial sum counts as a multiplication.
  static Reference reference(const ReduceSplitKArguments& arguments, const ReferenceOptions& options);
  static Tolerance tolerance(const KernelMetadata& kernel, const ReduceSplitKArguments& arguments,
                             Operand output);

  static std::string result_key(const KernelMetadata& kernel);
  static std::string storage_key(const KernelMetadata& kernel);
  /// Those of the output, and partial sums that are not aligned.
  static std::vector<Path> paths();
  /// Behind the paths: one to 17 slices, of one to several blocks, of a batch now and then.
  static Problem random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);
  static Problem stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed);

  static std::unique_ptr<CampaignSource> campaign(std::span<const Kernel> kernels, double cost);
};

}  // namespace quarry::lab::reduce_split_k
