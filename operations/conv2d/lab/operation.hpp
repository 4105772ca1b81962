/// What the lab knows of convolutions: see lab/operation.hpp.
#pragma once

#include <array>

#include "lab/bench/cudnn.hpp"
#include "lab/operation.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/epilogue_spec.hpp"
#include "lab/problems/operand_spec.hpp"
#include "quarry/controls.hpp"
#include "quarry/conv2d.hpp"

namespace quarry::lab::conv2d {

/// Extents of a tensor, outermost first.
using Extents = std::array<std::int64_t, 4>;

/// A convolution as the command line describes it.
struct Problem {
  static constexpr Operation operation = Operation::conv2d;

  Direction direction = Direction::fprop;
  /// Activations: images, rows, columns, channels. Filters: how many, rows, columns.
  std::int64_t n = 0, h = 0, w = 0, c = 0;
  std::int64_t k = 0, r = 0, s = 0;
  ImageAxes padding = {0, 0};
  ImageAxes stride = {1, 1};
  ImageAxes dilation = {1, 1};
  std::int64_t groups = 1;
  bool flips = false;
  /// Channels lie in groups of 32: nc32hw32, filters c32rsk32.
  bool interleaved = false;
  /// Type, alignment, and as `ld` elements from one position to the next: the other extents are packed.
  OperandSpec a = {};
  OperandSpec b = {};
  OperandSpec out = {};
  std::optional<DType> accumulator = {};
  Math math = Math::exact;
  EpilogueSpec epilogue = {};
  /// In the place of the epilogue, which is left as it is.
  std::optional<Expression> expression = {};
  /// An input of the expression that is `out` itself; empty: none.
  std::string in_place = {};
  Controls controls = {};

  /// What is summed in, what the epilogue computes in.
  DType sums() const;
  DType compute() const;
  /// Products that one output sums, as far as none is in the padding.
  std::int64_t terms() const;
  Extents activations() const { return {n, h, w, c}; }
  Extents filters() const { return {k, r, s, c / groups}; }
  Extents output() const;
  Extents a_extents() const { return direction == Direction::fprop ? activations() : output(); }
  Extents b_extents() const { return direction == Direction::wgrad ? activations() : filters(); }
  Extents out_extents() const;
};

struct Lab {
  using Arguments = Conv2dArguments;
  using Problem = conv2d::Problem;

  static LabWords words();
  static std::span<const Setting> settings();
  static Result<Problem> parse(std::string_view shape, SettingReader& reader);
  static std::string shape_text(const Problem& problem);
  static std::string command_text(const Problem& problem);
  static NamedSizes sizes(const Problem& problem);
  static void add_settings(const KernelMetadata& kernel, SettingTexts& texts);

  static Conv2dArguments arguments(const Problem& problem);
  /// Two for each product of the sums, those with the padding's zeros among them.
  static double flops(const Problem& problem);
  static std::vector<Operand> in_place(const Problem& problem);

  /// By its definition: for each output one sum over what it depends on.
  static Reference reference(const Conv2dArguments& arguments, const ReferenceOptions& options);
  static Tolerance tolerance(const KernelMetadata& kernel, const Conv2dArguments& arguments, Operand output);

  /// One for each way through a kernel: parts of windows, of the epilogue, of memory.
  static std::vector<Path> paths();
  static std::string result_key(const KernelMetadata& kernel);
  static std::string storage_key(const KernelMetadata& kernel);
  static Problem random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);
  /// Its modes, and no more slices than it has K tiles.
  static Controls controls_for(const KernelMetadata& kernel, const Problem& problem);
  static Problem stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed);

  static std::unique_ptr<CampaignSource> campaign(std::span<const Kernel> kernels, double cost);
  static Result<std::unique_ptr<Yardstick>> yardstick(const Cudnn& library, const Problem& problem,
                                                      const YardstickOptions& options);
};

/// Random windows: any that fit, padding beyond the filter, strides beyond the image, groups, and sizes from
/// nothing on. At most `most` products, if none is in the padding.
void draw_windows(double most, Problem& problem, Dice& dice);

}  // namespace quarry::lab::conv2d
