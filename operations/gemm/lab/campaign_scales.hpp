/// Scales of operands in a campaign, for operations whose arguments have them as GemmArguments does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/campaign/draw_tensor.hpp"
#include "lab/problems/dice.hpp"
#include "operations/gemm/scales.hpp"

namespace quarry::lab {

/// Gives A, B or both scales of any granularity that changes every 128 of K at most, stored in any way.
/// @param entries_a, entries_b of batches; one in three is a matrix for all entries
template <class Args>
void add_random_scales(Args& args, const Storage& storage, std::int64_t entries_a, std::int64_t entries_b,
                       Dice& dice) {
  using enum ScaleGranularity;
  constexpr ScaleGranularity of_a[] = {tensor, row, block_1x128};
  constexpr ScaleGranularity of_b[] = {tensor, column, block_1x128, block_128x128};
  const auto view = [&](Operand name, ScaleGranularity granularity, std::int64_t entries,
                        const TensorView& of) {
    const detail::MatrixExtents extents =
        detail::scale_extents(name, granularity, {of.extents[of.rank - 2U], of.extents[of.rank - 1U]});
    return random_matrix(DType::f32, storage, dice.one_in(3) ? 0 : entries, extents.rows, extents.columns,
                         dice);
  };
  const std::int64_t which = dice.between(0, 2);
  if (which != 1) {
    args.a_scale_granularity = dice.one_of(of_a);
    args.a_scale = view(Operand::a_scale, args.a_scale_granularity, entries_a, args.a);
  }
  if (which != 2) {
    args.b_scale_granularity = dice.one_of(of_b);
    args.b_scale = view(Operand::b_scale, args.b_scale_granularity, entries_b, args.b);
  }
}

/// "", or the granularity and the view of each that there is.
template <class Args>
std::string scales_described(const Args& args) {
  std::string text;
  if (args.a_scale)
    text += described("a_scale " + std::string(to_string(args.a_scale_granularity)), *args.a_scale);
  if (args.b_scale)
    text += described("b_scale " + std::string(to_string(args.b_scale_granularity)), *args.b_scale);
  return text;
}

/// Whether the rule is broken that whole numbers are not scaled; nothing where a message names another one.
/// @param compute what the epilogue computes in
template <class Args>
std::optional<bool> breaks_rule_of_scales(const std::string& message, const Args& args, DType compute) {
  const bool of_a = message.starts_with("Operand `a_scale` ");
  if (!of_a && !message.starts_with("Operand `b_scale` ")) return std::nullopt;
  if (message.find("computed in s32, which is not scaled") == message.npos) return std::nullopt;
  return (of_a ? args.a_scale : args.b_scale) && compute == DType::s32;
}

}  // namespace quarry::lab
