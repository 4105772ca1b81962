#include <array>
#include <iterator>

#include "lab/expression/random.hpp"
#include "lab/problems/seed.hpp"
#include "lab/verify/draw.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/elementwise/lab/operation.hpp"

namespace quarry::lab::elementwise {
namespace {

using expression::Declarations;

/// Whether elements of the kernel's vectors lie together; then matrices have to be in rows.
bool is_vectorised(const KernelMetadata& kernel) { return kernel.operands.out.alignment > 1; }

bool every_kernel(const KernelMetadata&) { return true; }
bool takes_any_stride(const KernelMetadata& kernel) { return !is_vectorised(kernel); }

/// A problem for a way through kernels.
struct OwnPath {
  Path path;
  std::string_view text;
  std::string_view with;
  int rank = 2;
  /// Lines have no padding, so that all of a tensor is one line.
  bool packed = false;
  std::string_view in_place = {};
  /// Lines are longer than what a warp reduces of the columns at once.
  bool is_long = false;
};

constexpr OwnPath own_paths[] = {
    {{"plain", every_kernel}, "out = x + y", "x=bf16:row,y=bf16:row,out=bf16:row", 2, true},
    {{"copy", every_kernel}, "out = x", "x=bf16:row,out=bf16:row"},
    {{"cast", every_kernel}, "out = x", "x=f32:row,out=bf16:row", 1},
    {{"in_place", every_kernel}, "out = gelu(x) * y", "x=f16:row,y=f16:row,out=f16:row", 3, false, "x"},
    {{"broadcast", every_kernel},
     "out = x * scale + b + c",
     "x=f32:row,scale=f32:scalar,b=bf16:per_row,c=f16:per_column,out=f32:row",
     4},
    {{"bytes", every_kernel}, "out = max(x, y) * 3", "x=s8:row,y=u8:row,out=s8:row"},
    {{"outputs", every_kernel},
     "aux = x * y; out = silu(aux); low = aux",
     "x=bf16:row,y=f32:row,aux=f32:row,low=f64:row,out=bf16:row"},
    {{"rows", every_kernel},
     "rms = sqrt(row_sum(x * x) / 64); out = x * g; most = row_max(abs(x))",
     "x=bf16:row,g=f32:per_column,rms=f32:per_row,most=f32:per_row,out=bf16:row"},
    {{"groups", every_kernel},
     "s = group_max(abs(x)) / 448; out = e4m3(x / s)",
     "x=f32:row,s=f32:row,out=e4m3:row",
     3},
    {{"lines", every_kernel},
     "out = relu(x); c = column_sum(x); a = sum(x * y); m = max(abs(x)); r = row_sum(x) * s",
     "x=f32:row,y=f16:row,s=f32:per_row,c=f32:per_column,a=f32:scalar,m=f32:scalar,r=f32:per_row,out=f32:"
     "row",
     2,
     false,
     {},
     true},
    {{"gathered", every_kernel},
     "out = x + table[index] * y",
     "x=f32:row,table=bf16:gathered,index=s32:per_row,y=f16:per_column,out=f32:row",
     3},
    {{"columns", takes_any_stride}, "out = x + y", "x=f16:col,y=f16:row,out=f16:row"},
};

/// Several lines, which are longer than a group of columns and end within a vector.
std::vector<std::int64_t> path_extents(const OwnPath& path, Dice& dice) {
  if (path.rank == 1) return {dice.between(200, 6000)};
  std::vector<std::int64_t> extents(static_cast<std::size_t>(path.rank) - 2, 2);
  extents.push_back(dice.between(18, 24));
  extents.push_back(2 * (path.is_long ? dice.between(1025, 1100) : dice.between(65, 150)) + 1);
  return extents;
}

/// Sizes of one to a few blocks of a kernel whose threads take few elements.
std::vector<std::int64_t> random_extents(std::int64_t rank, Dice& dice) {
  std::vector<std::int64_t> extents;
  if (rank == 1) return {dice.one_in(3) ? dice.between(1, 40) : dice.between(200, 6000)};
  for (std::int64_t i = 2; i < rank; ++i) extents.push_back(dice.between(1, 3));
  extents.push_back(dice.between(1, 24));
  extents.push_back(dice.one_in(3) ? dice.between(2, 20) : dice.between(20, 300));
  return extents;
}

Expression random_taken(const KernelMetadata& kernel, Dice& dice) {
  const bool reduces = dice.one_in(2);
  const ExpressionLimits limits = {.sum = DType::none,
                                   .depth = static_cast<int>(dice.between(1, 4)),
                                   .inputs = 4,
                                   .more_outputs = 2,
                                   .reductions = reduces,
                                   .groups = reduces,
                                   .pairs = false};
  return random_kernel_expression(dice, limits, DType::none, is_vectorised(kernel));
}

Problem path_problem(const OwnPath& path, Dice& dice) {
  Problem problem{.extents = path_extents(path, dice),
                  .expression = *Expression::parse(path.text, *Declarations::parse(path.with, DType::none))};
  problem.lines = path.packed ? 0 : 1;
  problem.in_place = path.in_place;
  if (detail::gathers(problem.expression)) problem.table_rows = dice.between(3, 12);
  return problem;
}

}  // namespace

std::string Lab::result_key(const KernelMetadata& kernel) {
  return KeyText().add_if(is_vectorised(kernel), "rows");
}

std::string Lab::storage_key(const KernelMetadata& kernel) {
  return KeyText().add(std::int64_t{kernel.operands.out.alignment});
}

std::vector<Path> Lab::paths() {
  std::vector<Path> all;
  for (const OwnPath& each : own_paths) all.push_back(each.path);
  return all;
}

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  Dice dice(derived_seed(seed, is_vectorised(kernel) ? 1 : 0));
  if (number < std::ssize(own_paths)) return path_problem(own_paths[number], dice);
  Problem problem{.extents = random_extents(dice.between(1, 4), dice),
                  .expression = random_taken(kernel, dice)};
  problem.lines = 1;
  problem.table_rows = dice.between(1, 40);
  return problem;
}

/// As aligned as the kernel needs, and no better. Packed tensors are so where they are one line.
Problem Lab::stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t) {
  Problem result = problem;
  result.alignment = kernel.operands.out.alignment;
  if (problem.lines > 0) result.lines = kernel.operands.out.alignment;
  return result;
}

}  // namespace quarry::lab::elementwise
