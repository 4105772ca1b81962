/// The types that campaigns of many GEMMs (grouped GEMMs and lists of GEMMs) draw.
#pragma once

#include <compare>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/config_parts.hpp"
#include "lab/problems/dice.hpp"
#include "quarry/kernel.hpp"
#include "quarry/tensor.hpp"

namespace quarry::lab {

/// Types of A, B, the sums and the output.
struct ManyTypes {
  DType a, b, sums, out;
  friend auto operator<=>(const ManyTypes&, const ManyTypes&) = default;
};

ManyTypes types_of(const KernelMetadata& kernel);

/// @tparam Args arguments that have these types as GemmArguments does
template <class Args>
ManyTypes types_of(const Args& args) {
  return {args.a.dtype, args.b.dtype,
          args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype)), args.out.dtype};
}

/// "f16 f16 f32 f16 "
std::string text_of(const ManyTypes& types);

/// The types that some kernels have.
class DrawnTypes {
 public:
  explicit DrawnTypes(std::span<const Kernel> kernels);

  /// Types that there is a kernel of; one time in 16 with any of A and B.
  ManyTypes draw(Dice& dice) const;
  bool has(const ManyTypes& types) const { return all_.contains(types); }
  /// Whether there is a kernel that takes any scales.
  bool has_scaled(const ManyTypes& types) const { return scaled_.contains(types); }

  /// Whether a kernel of its types takes arguments, unless it reduces groups of columns, which is up to
  /// tiles.
  template <class Args>
  bool take(const Args& args) const {
    return args.a_scale || args.b_scale ? has_scaled(types_of(args)) : has(types_of(args));
  }

 private:
  std::set<ManyTypes> all_;
  std::set<ManyTypes> scaled_;
  std::vector<ManyTypes> list_;  ///< all, to draw from
};

}  // namespace quarry::lab
