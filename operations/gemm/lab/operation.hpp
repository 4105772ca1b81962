/// What the lab knows of GEMMs: see lab/operation.hpp.
#pragma once

#include "lab/bench/cublaslt.hpp"
#include "lab/operation.hpp"
#include "operations/gemm/lab/problem.hpp"
#include "quarry/gemm.hpp"

namespace quarry::lab::gemm {

struct Lab {
  using Arguments = GemmArguments;
  using Problem = gemm::Problem;

  static LabWords words();
  static std::span<const Setting> settings();
  static Result<Problem> parse(std::string_view shape, SettingReader& reader);
  static std::string shape_text(const Problem& problem);
  static std::string command_text(const Problem& problem);
  static NamedSizes sizes(const Problem& problem);
  static void add_settings(const KernelMetadata& kernel, SettingTexts& texts);

  static GemmArguments arguments(const Problem& problem);
  static double flops(const Problem& problem);
  static std::vector<Operand> in_place(const Problem& problem);

  /// Scales of operands are positive and not near 0, so that products keep their size: from 0.5 to 1.5; 1 or
  /// 2 among small integers.
  static bool fill(const GemmArguments& arguments, Operand operand, const TensorView& view,
                   const FillOptions& options);

  /// The scale of the outputs is |alpha| ||S A|| ||B|| / sqrt(K) + |beta| ||C||, the first norms taken over
  /// each batch entry, of A and B times their scales, S the epilogue's scale (of B where it is one of
  /// columns). Sums of s32 wrap unless A or B has scales.
  static Reference reference(const GemmArguments& arguments, const ReferenceOptions& options);
  static Tolerance tolerance(const KernelMetadata& kernel, const GemmArguments& arguments, Operand output);

  static std::string result_key(const KernelMetadata& kernel);
  static std::string storage_key(const KernelMetadata& kernel);
  /// Those of the output, then each way to cut sums, and arrays of pointers.
  static std::vector<Path> paths();
  /// Of a path, sizes are a whole tile and more. Mixed problems take turns between several ragged tiles,
  /// sizes around and below one tile down to 0 and 1, and long sums in slices, with batches; all the rest is
  /// random.
  static Problem random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);
  /// Pointers and leading dimensions are multiples of what the kernel needs, and no more; the leading
  /// dimensions have random padding, and some operands of batches are arrays of pointers where the kernel
  /// permits it.
  static Problem stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed);
  /// Its modes, and no more slices than it has K tiles.
  static Controls controls_for(const KernelMetadata& kernel, const Problem& problem);
  /// Of a path, sizes go by the kernel's own tile.
  static Problem emulated(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);

  static std::unique_ptr<CampaignSource> campaign(std::span<const Kernel> kernels, double cost);
  static Result<std::unique_ptr<Yardstick>> yardstick(const CublasLt& library, const Problem& problem,
                                                      const YardstickOptions& options);
};

}  // namespace quarry::lab::gemm
