/// What a kernel of grouped GEMMs is launched with, and which part of the output each group is. Plain
/// constexpr C++, shared by host and device.
#pragma once

#include "gemm/params.hpp"

namespace quarry {

/// How the groups lie in the operands (quarry/grouped_gemm.hpp).
enum class GroupForm : unsigned char {
  contiguous,  ///< rows of A and of the output follow one another
  masked,      ///< the first rows of each entry of a batch
  ragged_k,    ///< columns of A and rows of B follow one another; an output each
};

struct GroupParams {
  const int* sizes;  ///< one for each group, as the caller has them
  int groups;
  /// What the groups share: rows (contiguous), rows of each (masked), or positions of K.
  int room;
  GroupForm form;
  bool sizes_are_ends;
  bool zero_outside;
  /// Host executor: sizes that make no sense are clamped, not refused.
  bool clamp_host_sizes;
};

/// Parameters of kernels of grouped GEMMs.
struct GroupedGemmParams {
  /// As if all groups were full: contiguous groups are one problem, of all rows; groups of the other forms
  /// are a batch. With ragged K, `k` is what the groups share, or 0 where nothing is multiplied.
  GemmParams gemm;
  GroupParams groups;
};

/// The same of kernels that take scales.
struct ScaledGroupedGemmParams : GroupedGemmParams {
  GemmScaleParams scales;
};

/// A piece of the output that is computed alike: the rows of a group, or rows outside of all groups.
struct GroupSpan {
  int group;
  /// The first row and how many rows there are; of ragged K, positions of K instead.
  int first;
  int count;
  bool is_outside;  ///< rows that become 0
};

/// How many spans there are: one for each group, then those outside where these become 0.
constexpr long long span_count(const GroupParams& p) {
  if (!p.zero_outside || p.form == GroupForm::ragged_k) return p.groups;
  return p.form == GroupForm::masked ? 2LL * p.groups : p.groups + 1LL;
}

/// The group whose size a span goes by; none (the number of groups) for the rows behind contiguous groups.
constexpr int group_of_span(const GroupParams& p, long long number) {
  const bool is_second = p.form == GroupForm::masked && number >= p.groups;
  return static_cast<int>(is_second ? number - p.groups : number);
}

/// Where a group ends that begins at `begin`, whatever its size says: at or behind its beginning, and within
/// the room.
constexpr int clamped_end(const GroupParams& p, int size, int begin) {
  const long long count = size > 0 ? size : 0;
  const long long end = p.sizes_are_ends ? size : begin + count;
  if (end < begin) return begin;
  return end > p.room ? p.room : static_cast<int>(end);
}

/// Span `number`. @param size of its group; anything where it has none
/// @param begin where the group before it ends
constexpr GroupSpan group_span(const GroupParams& p, long long number, int size, int begin) {
  const int group = group_of_span(p, number);
  if (group == p.groups) return {group, begin, p.room - begin, true};
  if (p.form != GroupForm::masked) return {group, begin, clamped_end(p, size, begin) - begin, false};
  const int count = clamped_end(p, size, 0);
  if (number < p.groups) return {group, 0, count, false};
  return {group, count, p.room - count, true};
}

/// Tiles that all spans can have together, whatever the sizes say: a bound that depends on nothing else.
/// @param gemm as in GroupedGemmParams
constexpr long long most_group_tiles(const GemmParams& gemm, const GroupParams& groups, int tile_m) {
  const long long spans = span_count(groups);
  long long rows = 0;
  if (groups.form == GroupForm::contiguous) {
    // Each span has one tile at most that is not whole.
    const long long whole = groups.room / tile_m + spans;
    rows = whole < groups.room ? whole : groups.room;
    if (spans == 0) rows = 0;
  } else if (groups.form == GroupForm::masked) {
    rows = groups.groups * static_cast<long long>(gemm.tiles_m) + (spans - groups.groups);
  } else {
    rows = groups.groups * static_cast<long long>(gemm.tiles_m);
  }
  return rows * gemm.tiles_n;
}

}  // namespace quarry
