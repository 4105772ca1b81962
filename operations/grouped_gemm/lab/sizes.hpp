/// The sizes of groups: named distributions, lists, and random ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problems/dice.hpp"
#include "operations/grouped_gemm/lab/problem.hpp"

namespace quarry::lab::grouped_gemm {

/// So many rows in `groups` groups, in counts, the same every time:
///   even     as many in each group as in any other, give or take one
///   uniform  between cuts at random places, so that some groups are empty
///   zipf     group i has a share in proportion to 1 / (i + 1)
///   one      all in one group, in the middle
/// Fails with parse_error for another name. @pre no rows where there are no groups
Result<std::vector<std::int32_t>> distributed(std::string_view name, std::int64_t tokens,
                                              std::int64_t groups);

/// The sizes of a list, "3,0,5", or of a file that has whole numbers between blanks, lines or commas.
Result<std::vector<std::int32_t>> parse_size_list(std::string_view text);
std::string size_list_text(std::span<const std::int32_t> sizes);

/// Counts as ends.
std::vector<std::int32_t> ends_of(std::span<const std::int32_t> counts);

/// Fills the sizes of a problem whose form, groups, room and sizes_are are known: groups of all sizes, some
/// of them empty, one huge now and then, some rows left.
void draw_sizes(Problem& problem, Dice& dice);

/// Makes some sizes senseless: negative, past the room, not ascending.
void spoil_sizes(Problem& problem, Dice& dice);

}  // namespace quarry::lab::grouped_gemm
