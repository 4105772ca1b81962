#include "operations/grouped_gemm/lab/paths.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "lab/verify/draw.hpp"
#include "lab/verify/output_paths.hpp"
#include "operations/gemm/lab/scales.hpp"
#include "operations/grouped_gemm/lab/beginnings.hpp"
#include "operations/grouped_gemm/lab/expression.hpp"
#include "operations/grouped_gemm/lab/operation.hpp"
#include "operations/grouped_gemm/lab/sizes.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

/// A path of grouped GEMMs alone: what it is, whether its sizes make no sense, the parts of its expression,
/// if it has one, and whether K has more tiles than two rounds of a kernel's stages.
struct OwnPath {
  Path path;
  void (*draw)(Problem& problem);
  bool is_spoiled = false;
  std::optional<gemm::WideParts> expression = {};
  bool gathers = false;
  bool is_long = false;
};

bool every_kernel(const KernelMetadata&) { return true; }
bool takes_blocks(const KernelMetadata& kernel) { return quarry::takes_blocks(kernel.operands.scales); }

/// Scales of both operands, of a form that every kernel takes.
template <ScaleGranularity of_a, ScaleGranularity of_b>
void scale(Problem& problem) {
  problem.form = GroupForm::masked;
  problem.a_scale = of_a;
  problem.b_scale = of_b;
}

/// Expressions with such parts, of kernels that also have what `too` says.
constexpr gemm::WideParts by_element = {};
constexpr gemm::WideParts of_groups = {.groups = true};
constexpr gemm::WideParts of_pairs = {.pairs = true};
constexpr gemm::WideParts of_lines = {.lines = true};
constexpr gemm::WideParts of_pair_lines = {.lines = true, .pairs = true};
template <gemm::WideParts parts, bool (*too)(const KernelMetadata& kernel)>
bool evaluates(const KernelMetadata& kernel) {
  return takes_expression(kernel, parts) && too(kernel);
}
template <GroupForm form>
void take_form(Problem& problem) {
  problem.form = form;
}

using enum ScaleGranularity;
constexpr OwnPath own_paths[] = {
    {{"contiguous", begins_at_any_row}, [](Problem& p) { p.form = GroupForm::contiguous; }},
    {{"masked", every_kernel}, [](Problem& p) { p.form = GroupForm::masked; }},
    {{"ragged_k", begins_at_any_k}, [](Problem& p) { p.form = GroupForm::ragged_k; }},
    {{"zero_outside", begins_at_any_row},
     [](Problem& p) {
       p.form = GroupForm::contiguous;
       p.zero_outside = true;
     }},
    {{"zero_outside_masked", every_kernel},
     [](Problem& p) {
       p.form = GroupForm::masked;
       p.zero_outside = true;
     }},
    {{"wrong_sizes", begins_at_any_row}, [](Problem& p) { p.form = GroupForm::contiguous; }, true},
    {{"wrong_sizes_masked", every_kernel}, [](Problem& p) { p.form = GroupForm::masked; }, true},
    {{"wrong_sizes_ragged_k", begins_at_any_k}, [](Problem& p) { p.form = GroupForm::ragged_k; }, true},
    {{"scales_vector", takes_scales}, scale<row, column>},
    {{"scales_1x128_128x128", takes_blocks}, scale<block_1x128, block_128x128>},
    {{"scales_1x128_1x128", takes_blocks}, scale<block_1x128, block_1x128>},
    {{"expression", evaluates<by_element, begins_at_any_row>},
     take_form<GroupForm::contiguous>,
     false,
     by_element},
    {{"expression_masked", evaluates<by_element, every_kernel>},
     take_form<GroupForm::masked>,
     false,
     by_element},
    {{"expression_ragged_k", evaluates<by_element, begins_at_any_k>},
     take_form<GroupForm::ragged_k>,
     false,
     by_element},
    {{"gathered", evaluates<by_element, begins_at_any_row>},
     take_form<GroupForm::contiguous>,
     false,
     by_element,
     true},
    {{"gathered_masked", evaluates<by_element, every_kernel>},
     take_form<GroupForm::masked>,
     false,
     by_element,
     true},
    {{"groups", evaluates<of_groups, begins_at_any_row>}, take_form<GroupForm::contiguous>, false, of_groups},
    {{"gated", evaluates<of_pairs, begins_at_any_row>}, take_form<GroupForm::contiguous>, false, of_pairs},
    {{"gated_ragged_k", evaluates<of_pairs, begins_at_any_k>},
     take_form<GroupForm::ragged_k>,
     false,
     of_pairs},
    {{"gated_zero_outside", evaluates<of_pairs, begins_at_any_row>},
     [](Problem& p) {
       p.form = GroupForm::contiguous;
       p.zero_outside = true;
     },
     false,
     of_pairs},
    {{"reductions", evaluates<of_lines, begins_at_any_row>},
     take_form<GroupForm::contiguous>,
     false,
     of_lines},
    {{"reductions_masked", evaluates<of_lines, every_kernel>}, take_form<GroupForm::masked>, false, of_lines},
    {{"reductions_ragged_k", evaluates<of_lines, begins_at_any_k>},
     take_form<GroupForm::ragged_k>,
     false,
     of_lines},
    {{"wrong_sizes_reductions", evaluates<of_lines, begins_at_any_row>},
     take_form<GroupForm::contiguous>,
     true,
     of_lines},
    {{"gated_reductions", evaluates<of_pair_lines, begins_at_any_row>},
     take_form<GroupForm::contiguous>,
     false,
     of_pair_lines},
    {{"long_k", every_kernel}, take_form<GroupForm::masked>, false, {}, false, true},
};

/// Extents of more than one box of the output, whose lines are whole accesses, as bulk stores need them.
void draw_path_extents(Problem& problem, Dice& dice) {
  const bool is_masked = problem.form == GroupForm::masked;
  const bool is_ragged = problem.form == GroupForm::ragged_k;
  problem.groups = dice.between(2, 6);
  const std::int64_t unit = wide_alignment(problem.out.dtype);
  problem.n = (dice.between(70, 150) + unit - 1) / unit * unit;
  (is_ragged ? problem.m : problem.k) = dice.between(is_ragged ? least_rows : 40, 150);
  problem.room = is_masked ? dice.between(least_rows, 140) : problem.groups * dice.between(50, 80);
  problem.sizes_are = is_masked || dice.one_in(2) ? SizesAre::counts : SizesAre::ends;
}

/// Whether sizes show where a group ends: one is not small, and another is not empty.
bool has_neighbours(const Problem& problem) {
  std::int64_t largest = 0;
  std::int64_t begin = 0;
  int groups = 0;  // that are not empty
  for (const std::int32_t size : problem.sizes) {
    largest = std::max(largest, size - begin);
    if (size > begin) ++groups;
    if (problem.sizes_are == SizesAre::ends) begin = size;
  }
  return largest >= least_rows && groups > 1;
}

/// Rows outside of all groups that are more than a tile, and columns that are not whole quads.
void widen_outside(Problem& problem, Dice& dice) {
  problem.room += dice.between(70, 100);
  problem.n = 65 + 2 * dice.between(0, 30);
}

/// The path's expression; of groups of columns, there are two and a part of one. Gated pairs end within a
/// tile. Of contiguous groups, rows follow the last one, and boxes may leave by the copy engine: it shows who
/// writes beyond a group.
void draw_path_expression(Problem& problem, const gemm::WideParts& parts, bool gathers) {
  if (parts.groups) problem.n += 192;
  if (parts.pairs) problem.n = problem.n / 64 * 64 + 32;
  if (problem.form == GroupForm::contiguous) {
    problem.room += 20;
    problem.out.alignment = wide_alignment(problem.out.dtype);
  }
  if (gathers) return make_gathered_expression(problem);
  make_expression(problem, parts);
}

/// Sizes that make no sense, one of them below nothing and one past the room.
void draw_wrong_sizes(Problem& problem, Dice& dice) {
  spoil_sizes(problem, dice);
  problem.sizes.front() = -1;
  problem.sizes.back() = static_cast<std::int32_t>(problem.room + 1);
  problem.clamp_host_sizes = true;
}

/// Scales of the path's granularities over more than two blocks of K, or any.
void draw_path_scales(const KernelMetadata& kernel, Problem& problem, Dice& dice) {
  if (!problem.a_scale) return draw_scales(kernel, problem, dice);
  problem.k += 2 * scale_block;
}

}  // namespace

bool takes_scales(const KernelMetadata& kernel) { return kernel.operands.scales != ScaleSupport::none; }

void draw_scales(const KernelMetadata& kernel, Problem& problem, Dice& dice) {
  const ScaleChoice choice = draw_scale_choice(takes_blocks(kernel), dice);
  problem.a_scale = choice.a;
  problem.b_scale = choice.b;
  if (dice.one_in(2)) problem.k += scale_block;
}

std::vector<Path> Lab::paths() {
  std::vector<Path> all;
  for (const OutputPath& each : output_paths()) all.push_back(each.path);
  for (const OwnPath& each : own_paths) all.push_back(each.path);
  return all;
}

std::int64_t path_count() { return std::ssize(output_paths()) + std::ssize(own_paths); }

void draw_path(std::int64_t number, const KernelMetadata& kernel, Problem& problem, Dice& dice) {
  const std::int64_t own = number - std::ssize(output_paths());
  if (own >= 0) {
    own_paths[own].draw(problem);
  } else {
    begin_path(problem.out, problem.epilogue, dice);
    std::int64_t batch = 0;  // groups are all the batch that there is
    OutputParts parts = {batch, problem.out, problem.epilogue, problem.compute()};
    output_paths()[static_cast<std::size_t>(number)].draw(parts, dice);
    if (problem.epilogue.c) problem.epilogue.c->shared = false;
  }
  draw_path_extents(problem, dice);
  if (own >= 0 && own_paths[own].is_long) problem.k = 20 * kernel.design.tile.k + dice.between(1, 8);
  if (takes_scales(kernel)) draw_path_scales(kernel, problem, dice);
  do {
    draw_sizes(problem, dice);
  } while (!has_neighbours(problem));
  if (problem.zero_outside) widen_outside(problem, dice);
  if (own >= 0 && own_paths[own].expression)
    draw_path_expression(problem, *own_paths[own].expression, own_paths[own].gathers);
  if (own >= 0 && own_paths[own].is_spoiled) draw_wrong_sizes(problem, dice);
}

}  // namespace quarry::lab::grouped_gemm
