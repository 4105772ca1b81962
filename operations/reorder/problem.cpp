#include "operations/reorder/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "common/interleaved.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

constexpr auto code = StatusCode::invalid_arguments;
constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();

Status check_no_array(const TensorView& view, Operand name) {
  if (!view.is_pointer_array) return {};
  return invalid("Operand `" + std::string(to_string(name)) +
                 "` is an array of pointers, which a reorder does not take");
}

/// Checks type and extents of `from`, which `to` must have, too.
Status check_likeness(const TensorView& from, const TensorView& to) {
  if (from.dtype != to.dtype)
    return {code, Reason::dtype, Operand::from, static_cast<int>(to.dtype), static_cast<int>(from.dtype)};
  constexpr Reason reasons[] = {Reason::columns, Reason::rows, Reason::batch};
  for (std::size_t behind = 0; behind < to.rank; ++behind) {
    const std::size_t extent = to.rank - 1U - behind;
    const Reason reason = to.rank == 4 ? Reason::extent : reasons[behind];
    if (from.extents[extent] != to.extents[extent])
      return {code, reason, Operand::from, to.extents[extent], from.extents[extent]};
  }
  return {};
}

/// Whether the extents `first` and the next one are one extent of a view, at even distances.
bool folds(const TensorView& view, std::size_t first) {
  const std::int64_t inner = view.extents[first + 1];
  if (view.extents[first] > limit / std::max<std::int64_t>(inner, 1)) return false;
  if (view.extents[first] <= 1 || inner <= 1) return true;
  std::int64_t together = 0;  // of fake tensors, strides may be as long as 64 bits count
  return !__builtin_mul_overflow(inner, view.strides[first + 1], &together) &&
         view.strides[first] == together;
}

/// The view of rank 3 in which they are one. @pre folds
TensorView folded(const TensorView& view, std::size_t first) {
  TensorView result = view;
  const bool is_inner = view.extents[first + 1] > 1;
  result.rank = 3;
  result.extents[first] = view.extents[first] * view.extents[first + 1];
  result.strides[first] = view.strides[is_inner ? first + 1 : first];
  for (std::size_t i = first + 1; i < 3; ++i) {
    result.extents[i] = view.extents[i + 1];
    result.strides[i] = view.strides[i + 1];
  }
  return result;
}

/// The first of two neighbouring extents of a tensor of rank 4 that are one in both views: rows and columns
/// of images or filters, or else the two before.
std::optional<std::size_t> folded_extent(const ReorderArguments& args) {
  for (const std::size_t first : {1U, 0U}) {
    if (folds(args.from, first) && folds(args.to, first)) return first;
  }
  return std::nullopt;
}

/// The same copy as one of matrices: of rank 2 or 3. @pre normalise accepts the arguments
ReorderArguments as_matrices(const ReorderArguments& args) {
  if (args.to.rank < 4) return args;
  const std::size_t first = folded_extent(args).value_or(1);
  return {folded(args.from, first), folded(args.to, first)};
}

/// A matrix as lines along which its elements lie together.
ReorderSide side_of(const TensorView& view) {
  const std::int64_t row_stride = view.strides[view.rank - 2U];
  const std::int64_t column_stride = view.strides[view.rank - 1U];
  const bool interleaved = view.tag != LayoutTag::strided;
  const bool by_rows = interleaved ? groups_columns(view.tag) : column_stride <= row_stride;
  return {.data = view.data,
          .line_stride = by_rows ? row_stride : column_stride,
          .element_stride = by_rows ? column_stride : row_stride,
          .batch_stride = view.rank == 3 ? view.strides[0] : 0,
          .lines_are_rows = by_rows,
          .interleaved = interleaved};
}

}  // namespace

Status normalise(const ReorderArguments& args, const OperandList& operands, ReorderProblem& problem) {
  const TensorView& to = args.to;
  if (Status s = check_tensor(to, Operand::to, 2, 4); !s) return s;
  if (Status s = check_tensor(args.from, Operand::from, to.rank, to.rank); !s) return s;
  if (Status s = check_no_array(to, Operand::to); !s) return s;
  if (Status s = check_no_array(args.from, Operand::from); !s) return s;
  if (Status s = check_likeness(args.from, to); !s) return s;
  if (to.rank == 4 && !folded_extent(args)) {
    return invalid(
        "Tensors of four extents are reordered where the second and third extents, or the first and second, "
        "lie at even distances in both tensors");
  }
  if (Status s = check_output_strides(to, Operand::to); !s) return s;
  if (Status s = check_memory(operands); !s) return s;
  if (Status s = check_overlaps(operands); !s) return s;
  describe(args, problem);
  return {};
}

void describe(const ReorderArguments& given, ReorderProblem& problem) {
  const ReorderArguments args = as_matrices(given);
  const TensorView& to = args.to;
  const auto extent = [&to](std::size_t i) { return static_cast<int>(to.extents[i]); };
  problem = {.type = to.dtype,
             .params = {.from = side_of(args.from),
                        .to = side_of(to),
                        .rows = extent(to.rank - 2U),
                        .columns = extent(to.rank - 1U),
                        .batch = to.rank == 3 ? extent(0) : 1}};
}

}  // namespace quarry::detail
