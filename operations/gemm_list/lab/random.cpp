#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "lab/problems/byte_sums.hpp"
#include "lab/problems/dice.hpp"
#include "lab/verify/draw.hpp"
#include "lab/verify/output_paths.hpp"
#include "operations/gemm/lab/scales.hpp"
#include "operations/gemm_list/lab/expression.hpp"
#include "operations/gemm_list/lab/operation.hpp"
#include "operations/gemm_list/lab/sizes.hpp"

namespace quarry::lab::gemm_list {
namespace {

/// What a problem has beside its output's path.
struct Drawn {
  bool has_leading;
  bool is_batch;  ///< operands are batches or shared, not arrays of pointers
  bool is_spoiled;
  bool lacks_k;
  bool is_long;          ///< more problems than a warp has lanes
  bool on_host = false;  ///< the host counts tiles
};

/// A path of lists alone.
struct OwnPath {
  Path path;
  Drawn drawn;
  ScaleChoice scales = {};
  std::optional<gemm::WideParts> expression = {};
  bool gathers = false;
};

bool every_kernel(const KernelMetadata&) { return true; }
bool takes_scales(const KernelMetadata& kernel) { return kernel.operands.scales != ScaleSupport::none; }
bool takes_blocks(const KernelMetadata& kernel) { return quarry::takes_blocks(kernel.operands.scales); }

/// Parts of expressions.
constexpr gemm::WideParts by_element = {};
constexpr gemm::WideParts of_groups = {.groups = true};
constexpr gemm::WideParts of_halves = {.pairs = true};
constexpr gemm::WideParts of_eights = {.pairs = true, .eights = true};
constexpr gemm::WideParts of_lines = {.lines = true};
constexpr gemm::WideParts of_half_lines = {.lines = true, .pairs = true};
template <gemm::WideParts parts>
bool evaluates(const KernelMetadata& kernel) {
  return takes_expression(kernel, parts);
}

using enum ScaleGranularity;
constexpr OwnPath own_paths[] = {
    {{"pointers", every_kernel}, {false, false, false, false, false}},
    {{"own_leading", every_kernel}, {true, false, false, false, false}},
    {{"strided_list", every_kernel}, {false, true, false, false, false}},
    {{"no_k", every_kernel}, {false, false, false, true, false}},
    {{"long_list", every_kernel}, {false, false, false, false, true}},
    {{"host_schedule", every_kernel}, {false, false, false, false, true, true}},
    {{"wrong_list_sizes", every_kernel}, {false, false, true, false, false}},
    {{"wrong_leading", every_kernel}, {true, false, true, false, false}},
    {{"scales_vector", takes_scales}, {false, false, false, false, false}, {row, column}},
    {{"scales_1x128_128x128", takes_blocks},
     {false, false, false, false, false},
     {block_1x128, block_128x128}},
    {{"scales_1x128_1x128", takes_blocks}, {false, true, false, false, false}, {block_1x128, block_1x128}},
    {{"expression", evaluates<by_element>}, {true, false, false, false, false}, {}, by_element},
    {{"gathered", evaluates<by_element>}, {false, false, false, false, false}, {}, by_element, true},
    {{"groups", evaluates<of_groups>}, {false, true, false, false, false}, {}, of_groups},
    {{"gated", evaluates<of_halves>}, {false, false, false, false, false}, {}, of_halves},
    {{"gated_leading", evaluates<of_halves>}, {true, false, false, false, false}, {}, of_halves},
    {{"gated_wrong_sizes", evaluates<of_halves>}, {false, false, true, false, false}, {}, of_halves},
    {{"eights", evaluates<of_eights>}, {false, true, true, false, false}, {}, of_eights},
    {{"reductions", evaluates<of_lines>}, {false, true, false, false, false}, {}, of_lines},
    {{"reductions_leading", evaluates<of_lines>}, {true, false, false, false, false}, {}, of_lines},
    {{"reductions_wrong_sizes", evaluates<of_lines>}, {false, false, true, false, false}, {}, of_lines},
    {{"gated_reductions", evaluates<of_half_lines>}, {false, true, false, false, false}, {}, of_half_lines},
};

/// Lines of whole multiples of this keep every kernel's alignment.
constexpr int line_unit = 16;

/// @param is_path problems are not small, so that they show what the path is about
void draw_bounds(Problem& problem, bool is_long, bool is_path, Dice& dice) {
  const bool is_small = !is_path && !is_long && dice.one_in(3);
  const std::int64_t least = !is_path ? 1 : is_long ? 2 : 70;
  const std::int64_t most = is_long ? 20 : 150;
  const auto extent = [&] {
    return static_cast<int>(is_small ? small_size(dice) : dice.between(least, most));
  };
  problem.bounds = {extent(), extent(), extent()};
}

/// Scales of the path's granularities over more than two blocks of K; without a path, or where the kernel
/// does not have it, any that the kernel takes over one or two.
void draw_scales(const OwnPath* path, const KernelMetadata& kernel, Problem& problem, Dice& dice) {
  const ScaleChoice of_path = path != nullptr && path->path.is_of(kernel) ? path->scales : ScaleChoice();
  const ScaleChoice choice = of_path.a ? of_path : draw_scale_choice(takes_blocks(kernel), dice);
  problem.a_scale = choice.a;
  problem.b_scale = choice.b;
  if (of_path.a) {
    problem.bounds.k += 3 * scale_block;
  } else if (dice.one_in(2)) {
    problem.bounds.k += scale_block;
  }
}

/// Where problems have their own leading dimensions, lines of the operands have no padding: then every
/// element of memory is an element of an operand, and has a value.
void draw_leading(Problem& problem, const KernelMetadata& kernel, bool is_spoiled, Dice& dice) {
  constexpr int greatest = std::numeric_limits<int>::max();
  const auto leading = [&](const OperandSpec& spec, int rows, int columns, int bound, int unit) {
    const int line = spec.layout == Layout::row ? columns : rows;
    if (is_spoiled && dice.one_in(3)) return dice.one_in(2) ? greatest : bound + 1;
    if (is_spoiled && line % unit == 0 && dice.one_in(3)) return dice.one_in(2) ? -1 : line - 1;
    const auto units = static_cast<std::int64_t>((line + unit - 1) / unit);
    return static_cast<int>(dice.between(units, bound / unit)) * unit;
  };
  const auto bound = [](const OperandSpec& spec, int rows, int columns) {
    return spec.layout == Layout::row ? columns : rows;
  };
  const ListExtents& most = problem.bounds;
  // One number is promised of both.
  const int unit = std::max(kernel.operands.a.alignment, kernel.operands.b.alignment);
  const OperandSpec c = problem.epilogue.c.value_or(problem.out);
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    const ListExtents own = problem.own(i);
    Leading& row = problem.leading.emplace_back();
    row[0] = leading(problem.a, own.m, own.k, bound(problem.a, most.m, most.k), unit);
    row[1] = leading(problem.b, own.k, own.n, bound(problem.b, most.k, most.n), unit);
    row[2] = leading(c, own.m, own.n, bound(c, most.m, most.n), 1);
    const int bound_of_out = bound(problem.out, most.m, problem.output_columns());
    row[3] = leading(problem.out, own.m, problem.own_output(i).n, bound_of_out, 1);
    if (problem.epilogue.residual_in_place) row[3] = bound_of_out;
    if (problem.epilogue.in_place) row[2] = row[3];
  }
}

/// Stores the operands of a problem with leading dimensions.
/// @param is_path outputs of gated pairs are row-major, so that their lines are halves
void store_packed(Problem& problem, const KernelMetadata& kernel, bool is_path, Dice& dice) {
  const auto whole_lines = [](int& extent, int unit = line_unit) {
    extent = (extent + unit - 1) / unit * unit;
  };
  whole_lines(problem.bounds.m);
  whole_lines(problem.bounds.n, problem.is_gated() ? 2 * line_unit : line_unit);
  whole_lines(problem.bounds.k);
  const auto packed = [](DType type, Layout layout) {
    return OperandSpec{.dtype = type, .layout = layout, .alignment = line_unit, .array = true};
  };
  problem.a = packed(problem.a.dtype, kernel.operands.a.layout);
  problem.b = packed(problem.b.dtype, kernel.operands.b.layout);
  const bool by_columns = dice.one_in(4) && !(is_path && problem.is_gated());
  problem.out = packed(problem.out.dtype, by_columns ? Layout::column : Layout::row);
  EpilogueSpec& e = problem.epilogue;
  if (e.beta != 0 && !e.in_place)
    e.c = packed(problem.out.dtype, dice.one_in(2) ? Layout::row : Layout::column);
  for (std::optional<OperandSpec>* extra : {&e.residual, &e.aux}) {
    if (*extra) *extra = packed(problem.out.dtype, Layout::row);
  }
}

/// The path's expression; of groups of columns, there are two and a part of one. Gated pairs end within a
/// tile, and boxes of their outputs may leave by the copy engine.
void draw_path_expression(Problem& problem, const gemm::WideParts& parts, bool gathers) {
  if (gathers) return make_gathered_expression(problem);
  if (parts.groups) problem.bounds.n += 192;
  if (parts.pairs) {
    problem.bounds.n = problem.bounds.n / 64 * 64 + 32;
    problem.out.alignment = wide_alignment(problem.out.dtype);
  }
  make_expression(problem, parts);
}

/// An expression, with a gated pair where kernels that share the problem (result_key) take one.
void draw_any_expression(Problem& problem, const KernelMetadata& kernel, Dice& dice) {
  const bool has_pairs = dice.one_in(3) && takes_expression(kernel, of_halves);
  const bool has_lines = dice.one_in(3);
  draw_expression(problem, {.lines = has_lines, .pairs = has_pairs, .eights = has_pairs && dice.one_in(3)},
                  dice);
}

/// Makes sure that the sizes show what a path is about.
void show_sizes(Problem& problem, const Drawn& drawn) {
  const ListExtents& most = problem.bounds;
  ListExtents& first = problem.sizes.front();
  first = {(most.m + 1) / 2, (most.n + 1) / 2, drawn.lacks_k ? 0 : (most.k + 1) / 2};
  if (drawn.is_spoiled) first = {most.m + (drawn.has_leading ? 0 : 1), most.n, most.k};
  if (drawn.is_spoiled && problem.is_gated()) --first.n;
  if (drawn.is_long) problem.sizes.back() = most;
}

/// The same of the leading dimensions.
void show_leading(Problem& problem, const Drawn& drawn) {
  const ListExtents own = problem.own(0);
  Leading& first = problem.leading.front();
  if (drawn.is_spoiled) {
    first[0] = std::numeric_limits<int>::max();
  } else {
    first[3] = problem.out.layout == Layout::row ? problem.own_output(0).n : own.m;
    if (problem.is_gated()) ++first[3];  // lines that the copy engine cannot store
  }
}

/// As for a GEMM: whole numbers where the epilogue computes in s32, else scaled to the range of a byte by a
/// power of two.
void fit_integers(Problem& problem) {
  if (problem.sums() != DType::s32) return;
  if (problem.compute() == DType::s32) return make_whole(problem.epilogue);
  double& alpha = problem.epilogue.alpha;
  alpha *= alpha_of_byte_sums(problem.a.dtype, problem.b.dtype, problem.out.dtype, problem.bounds.k);
  if (is_integer(problem.out.dtype) && alpha != 0)
    alpha = std::copysign(std::exp2(std::floor(std::log2(std::abs(alpha)))), alpha);
}

/// Makes an array of pointers of an operand, or a batch.
void choose_batch(OperandSpec& spec, bool is_array, std::int64_t count, int rows, int columns) {
  spec.array = is_array;
  if (is_array) return;
  const TensorView packed = view_of(spec, count, rows, columns);
  const std::int64_t unit = std::max(spec.alignment, 1);
  spec.stride = (packed.strides[0] + unit - 1) / unit * unit;
}

}  // namespace

std::string Lab::result_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return KeyText()
      .add(o.a.dtype)
      .add(o.b.dtype)
      .add(o.accumulator)
      .add(o.out.dtype)
      .add(storage_key(kernel))
      .add_if(takes_scales(kernel), to_string(kernel.operands.scales))
      .add_if(takes_expression(kernel, of_halves), "pairs");
}

std::string Lab::storage_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return KeyText().add(o.a.layout).add(o.a.alignment).add(o.b.layout).add(o.b.alignment).add(o.out.layout);
}

std::vector<Path> Lab::paths() {
  std::vector<Path> all;
  for (const OutputPath& each : output_paths()) all.push_back(each.path);
  for (const OwnPath& each : own_paths) all.push_back(each.path);
  return all;
}

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  Dice dice(seed);
  const OperandsMetadata& operands = kernel.operands;
  Problem problem;
  problem.a.dtype = operands.a.dtype;
  problem.b.dtype = operands.b.dtype;
  problem.out.dtype = operands.out.dtype;
  problem.accumulator = operands.accumulator;
  const auto shared = std::ssize(output_paths());
  const std::int64_t own = number - shared;
  const bool is_path = own < std::ssize(own_paths);
  Drawn drawn = {dice.one_in(2), dice.one_in(4), dice.one_in(4), false, dice.one_in(6), dice.one_in(4)};
  if (number < shared) {
    begin_path(problem.out, problem.epilogue, dice);
    std::int64_t batch = 0;  // the problems are all the batch that there is
    OutputParts parts = {batch, problem.out, problem.epilogue, problem.compute()};
    output_paths()[static_cast<std::size_t>(number)].draw(parts, dice);
    if (problem.epilogue.c) problem.epilogue.c->shared = false;
    drawn = {};
  } else if (is_path) {
    drawn = own_paths[static_cast<std::size_t>(own)].drawn;
  } else {
    draw_epilogue(kernel.epilogue, problem.compute(), problem.out.dtype, problem.epilogue, dice);
  }
  draw_bounds(problem, drawn.is_long, is_path, dice);
  const bool is_own_path = is_path && own >= 0;
  const OwnPath* const own_path = is_own_path ? &own_paths[static_cast<std::size_t>(own)] : nullptr;
  const bool is_of_expression =
      is_own_path && own_path->expression && takes_expression(kernel, *own_path->expression);
  if (is_of_expression) draw_path_expression(problem, *own_path->expression, own_path->gathers);
  if (!is_path && takes_expression(kernel) && dice.one_in(4)) draw_any_expression(problem, kernel, dice);
  if (takes_scales(kernel)) draw_scales(own_path, kernel, problem, dice);
  if (drawn.has_leading) store_packed(problem, kernel, is_path, dice);
  problem.a.array = problem.b.array = problem.out.array = !drawn.is_batch || drawn.has_leading;
  draw_sizes(problem, drawn.is_long ? dice.between(33, 70) : dice.between(is_of_expression ? 2 : 1, 6), dice);
  if (drawn.is_spoiled) spoil_sizes(problem, dice);
  if (is_path) show_sizes(problem, drawn);
  if (is_of_expression) problem.sizes.back() = problem.bounds;  // whose tensors are not the first problem's
  fit_pairs(problem, kernel, drawn.is_spoiled);
  if (drawn.has_leading) draw_leading(problem, kernel, drawn.is_spoiled, dice);
  if (is_path && drawn.has_leading) show_leading(problem, drawn);
  problem.clamp_host_sizes = drawn.is_spoiled;
  if (drawn.on_host) problem.schedule = ListSchedule::host;
  if (!problem.expression) fit_integers(problem);
  return problem;
}

Problem Lab::stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed) {
  if (!problem.leading.empty()) return problem;  // as it was drawn
  Dice dice(seed);
  Problem result = problem;
  const bool is_asked = problem.out.alignment > 0;
  const auto store = [&](OperandSpec& operand, const OperandMetadata& needed, int rows, int columns) {
    const bool is_array = operand.array;
    const int alignment = std::max(needed.alignment, is_byte(operand.dtype) && dice.one_in(2) ? 4 : 1);
    operand = stored_at(operand.dtype, needed.layout, alignment, rows, columns, dice);
    choose_batch(operand, is_array, problem.count(), rows, columns);
  };
  const ListExtents& bounds = problem.bounds;
  store(result.a, kernel.operands.a, bounds.m, bounds.k);
  store(result.b, kernel.operands.b, bounds.k, bounds.n);
  OutputSpec output = problem.output();
  store_output(kernel, output, result.epilogue, dice);
  result.out = output.out;
  if (!is_asked && dice.one_in(4))  // the output has any strides
    result.out = stored_at(result.out.dtype, Layout::column, 1, bounds.m, problem.output_columns(), dice);
  choose_batch(result.out, problem.out.array, problem.count(), bounds.m, problem.output_columns());
  return result;
}

}  // namespace quarry::lab::gemm_list
