/// The sizes of the problems of a list: as text, and random ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problems/dice.hpp"
#include "operations/gemm_list/lab/problem.hpp"

namespace quarry::lab::gemm_list {

/// "64x64x64,128x32x512", or a file that has such between blanks, lines or commas. "3*64x64x64" stands for
/// three of them. Numbers are of 32 bits, and may be negative.
Result<std::vector<ListExtents>> parse_list(std::string_view text);
std::string list_text(const std::vector<ListExtents>& list);

/// "64:64:64:32,...": leading dimensions of a, b, c and out of each problem.
Result<std::vector<Leading>> parse_leading(std::string_view text);
std::string leading_text(const std::vector<Leading>& leading);

/// The least extents that all problems keep to.
ListExtents bounds_of(const std::vector<ListExtents>& list);

/// Packed lines for each problem: as many elements as they have, and in A and B as many more as make a
/// multiple of the promise of `leading_alignment`, if there is one and the operands' lines are as long.
std::vector<Leading> packed_leading(const Problem& problem);

/// The greatest power of two, up to 16, that the leading dimensions of a problem's A and B keep in all
/// matrices of more than one line, after they were clamped. @param arguments of the problem
int kept_alignment(const Problem& problem, const GemmListArguments& arguments);

/// Fills the sizes of a problem of `count` problems, whose bounds are known: some without rows, columns or K,
/// some as large as the bounds.
void draw_sizes(Problem& problem, std::int64_t count, Dice& dice);

/// Makes some sizes senseless: negative, past the bounds.
void spoil_sizes(Problem& problem, Dice& dice);

/// Numbers of the problem's sizes as hints have them, kept until the process ends.
std::span<const std::int32_t> kept_sizes(const std::vector<ListExtents>& list);

}  // namespace quarry::lab::gemm_list
