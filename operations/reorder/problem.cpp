#include "operations/reorder/problem.hpp"

#include <cstddef>
#include <string>

#include "common/interleaved.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

constexpr auto code = StatusCode::invalid_arguments;

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
    if (from.extents[extent] != to.extents[extent])
      return {code, reasons[behind], Operand::from, to.extents[extent], from.extents[extent]};
  }
  return {};
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
  if (Status s = check_tensor(to, Operand::to, 2, 3); !s) return s;
  if (Status s = check_tensor(args.from, Operand::from, to.rank, to.rank); !s) return s;
  if (Status s = check_no_array(to, Operand::to); !s) return s;
  if (Status s = check_no_array(args.from, Operand::from); !s) return s;
  if (Status s = check_likeness(args.from, to); !s) return s;
  if (Status s = check_output_strides(to, Operand::to); !s) return s;
  if (Status s = check_memory(operands); !s) return s;
  if (Status s = check_overlaps(operands); !s) return s;
  describe(args, problem);
  return {};
}

void describe(const ReorderArguments& args, ReorderProblem& problem) {
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
