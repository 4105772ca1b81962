/// What the lab knows of elementwise problems: see lab/operation.hpp.
#pragma once

#include <string>
#include <vector>

#include "lab/operation.hpp"
#include "quarry/elementwise.hpp"

namespace quarry::lab::elementwise {

/// An elementwise problem as the command line describes it.
struct Problem {
  static constexpr Operation operation = Operation::elementwise;

  /// Of `out`, one to four.
  std::vector<std::int64_t> extents = {};
  /// All tensors have types.
  Expression expression;
  /// Elements that pointers are multiples of, 16 bytes at most, and not of twice as many; 0: as aligned as
  /// can be.
  int alignment = 0;
  /// Elements from one line of a matrix to the next are the next multiple of this number, and as many more;
  /// 0: packed.
  std::int64_t lines = 0;
  /// An input that is `out` itself; empty: none.
  std::string in_place = {};
  /// Rows of tensors whose rows an index chooses; 0: as many as `out` has.
  std::int64_t table_rows = 0;
};

struct Lab {
  using Arguments = ElementwiseArguments;
  using Problem = elementwise::Problem;

  static constexpr bool moves_memory = true;

  static LabWords words();
  static std::span<const Setting> settings();
  static Result<Problem> parse(std::string_view shape, SettingReader& reader);
  static std::string shape_text(const Problem& problem);
  static std::string command_text(const Problem& problem);
  static NamedSizes sizes(const Problem& problem);
  static void add_settings(const KernelMetadata& kernel, SettingTexts& texts);

  /// Inputs and outputs by the expression's order.
  static ElementwiseArguments arguments(const Problem& problem);
  static std::vector<Operand> in_place(const Problem& problem);
  /// Elements of `out`.
  static double flops(const Problem& problem);

  /// Each value with what a right result may be off by.
  static Reference reference(const ElementwiseArguments& arguments, const ReferenceOptions& options);
  static Tolerance tolerance(const KernelMetadata& kernel, const ElementwiseArguments& arguments,
                             Operand output);

  /// Inputs that choose rows of others.
  static bool fill(const ElementwiseArguments& arguments, Operand operand, const TensorView& view,
                   const FillOptions& options);

  static std::string result_key(const KernelMetadata& kernel);
  static std::string storage_key(const KernelMetadata& kernel);
  /// Copies, conversions, broadcasts, several outputs, columns; then random expressions.
  static std::vector<Path> paths();
  static Problem random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);
  static Problem stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed);

  static std::unique_ptr<CampaignSource> campaign(std::span<const Kernel> kernels, double cost);
};

}  // namespace quarry::lab::elementwise
