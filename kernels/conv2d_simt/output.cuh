/// The standard epilogue over tensors of rank 4, where groups may have any number of channels.
#pragma once

#include "conv2d/output.cuh"
#include "conv2d_simt/config.hpp"

namespace quarry::conv2d_simt {

/// StandardEpilogue, which reads a scale in whole quads. Where a group's quads begin at any channel, its
/// outputs go one by one.
template <class Standard, class Tensors>
class AnyGroupEpilogue : public Standard {
 public:
  QUARRY_DEVICE AnyGroupEpilogue(const GemmParams& params, int batch)
      : Standard(params, batch),
        one_by_one_(params.epilogue.scale.data != nullptr && !Tensors(params, batch).has_whole_quads()) {}

  template <class Sum>
  QUARRY_DEVICE Quad<typename Standard::Output> outputs(int row, int column, int count,
                                                        const Quad<Sum>& sums) const {
    if (!one_by_one_) return Standard::outputs(row, column, count, sums);
    Quad<Sum> left = sums;
    Quad<typename Standard::Output> result = {};
    QUARRY_ROLLED
    for (int i = 0; i < 4; ++i) {
      const auto one = Standard::outputs(row, column + i, i < count ? 1 : 0, left);
      result = {result.v[1], result.v[2], result.v[3], one.v[0]};
      left = {left.v[1], left.v[2], left.v[3], left.v[0]};
    }
    return result;
  }

 private:
  bool one_by_one_;
};

/// As ConvolutionChain.
template <Direction direction>
struct AnyGroupChain {
  using Tensors = OutputTensors<direction>;
  template <class Sum, class Out, EpilogueForm form>
  using For = AnyGroupEpilogue<StandardEpilogue<Sum, Out, form, Tensors>, Tensors>;
};

/// Whether a kernel scales channels of several groups.
constexpr bool scales_groups(const Config& c) {
  return c.direction != Direction::wgrad && !is_interleaved(c.layout) &&
         compute_type(c.types.accumulator, c.types.out) != DType::s32;
}

/// The epilogue of a kernel. @tparam scales scales_groups()
template <Direction direction, bool interleaved, bool scales>
struct EpilogueOf {
  using Type = ConvolutionChain<direction, interleaved>;
};
template <Direction direction>
struct EpilogueOf<direction, false, true> {
  using Type = AnyGroupChain<direction>;
};

}  // namespace quarry::conv2d_simt
