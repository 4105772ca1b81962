#include "operations/elementwise/executor.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

#include "operations/common/expression/executor.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/host/parallel.hpp"

namespace quarry::host {
namespace {

/// Below so many elements, starting threads costs more than it gains.
constexpr std::int64_t least_elements_for_threads = 1 << 16;
/// Elements of a line that a thread takes at once.
constexpr std::int64_t piece_elements = 1 << 12;

/// A part of a line along the innermost extent.
struct Piece {
  ElementPlace place;
  std::int64_t count;
};

std::int64_t pieces_along(const ElementwiseParams& p) {
  return (p.extents[3] + piece_elements - 1) / piece_elements;
}

Piece piece_of(const ElementwiseParams& p, std::int64_t number) {
  const std::int64_t line = number / pieces_along(p);
  const std::int64_t first = number % pieces_along(p) * piece_elements;
  const std::int64_t plane = line / p.extents[2];
  const std::int64_t left = p.extents[3] - first;
  return {{plane / p.extents[1], plane % p.extents[1], line % p.extents[2], first},
          std::min(piece_elements, left)};
}

HostOperand operand_of(const ElementwiseTensor& tensor, DType type, bool is_gathered = false) {
  HostOperand operand = {.data = const_cast<void*>(tensor.data), .type = type};
  if (is_gathered) {
    operand.rows = tensor.rows;
  } else {
    operand.value = tensor.value;
  }
  std::copy_n(tensor.strides, operand.strides.size(), operand.strides.begin());
  return operand;
}

void copy_bytes(const ElementwiseParams& p, const Piece& piece) {
  const HostOperand from = operand_of(p.tensors[0], DType::u8);
  const HostOperand to = operand_of(p.tensors[1], DType::u8);
  std::memmove(static_cast<char*>(to.data) + to.index(piece.place),
               static_cast<const char*>(from.data) + from.index(piece.place),
               static_cast<std::size_t>(piece.count));
}

/// Inputs and outputs of an expression.
struct Operands {
  std::vector<HostOperand> inputs;
  std::vector<HostOperand> outputs;

  Operands(const ElementwiseParams& p, const Expression& expression) {
    const ElementwiseTensor* next = p.tensors;
    for (const expression::Tensor& input : expression.inputs())
      inputs.push_back(operand_of(*next++, input.dtype, input.shape == expression::Shape::gathered));
    for (const expression::Output& output : expression.outputs())
      outputs.push_back(operand_of(*next++, output.tensor.dtype));
  }
};

void compute(ExpressionExecutor& executor, const Piece& piece) {
  constexpr std::int64_t part = ExpressionExecutor::part_columns;
  for (std::int64_t first = 0; first < piece.count; first += part) {
    ElementPlace place = piece.place;
    place[3] += first;
    executor.part(place, static_cast<int>(std::min(part, piece.count - first)), {});
  }
}

/// With reductions of lines one worker takes all in order, so that sums are the same in every run.
void execute_lines(const ElementwiseParams& p, const Expression& expression) {
  const Operands operands(p, expression);
  const Extents4 extents = {p.extents[0], p.extents[1], p.extents[2], p.extents[3]};
  ExpressionExecutor executor(expression.graph(), extents, operands.inputs, DeviceArithmetic(),
                              StoreOutputs{operands.outputs});
  executor.run([](const ElementPlace&) { return PartSums(); });
}

void execute_expression(const ElementwiseParams& p, const Expression& expression, std::int64_t pieces,
                        int threads) {
  const Operands operands(p, expression);
  const Extents4 extents = {p.extents[0], p.extents[1], p.extents[2], p.extents[3]};
  std::vector<ExpressionExecutor> executors;
  for (int i = 0; i < threads; ++i)
    executors.emplace_back(expression.graph(), extents, operands.inputs, DeviceArithmetic(),
                           StoreOutputs{operands.outputs});
  parallel_for(pieces, threads, [&](int worker, std::int64_t i) {
    compute(executors[static_cast<std::size_t>(worker)], piece_of(p, i));
  });
}

}  // namespace

Status execute(const ElementwiseParams& p, const detail::InternedExpression* expression, int threads) try {
  const std::int64_t lines = p.extents[0] * p.extents[1] * p.extents[2];
  if (lines * p.extents[3] < least_elements_for_threads) threads = 1;
  if (threads <= 0) threads = default_threads();
  const std::int64_t pieces = lines * pieces_along(p);
  if (expression != nullptr && detail::reduction_counts(expression->expression).has_lines()) {
    execute_lines(p, expression->expression);
  } else if (expression != nullptr) {
    execute_expression(p, expression->expression, pieces, threads);
  } else {
    parallel_for(pieces, threads, [&](int, std::int64_t i) { copy_bytes(p, piece_of(p, i)); });
  }
  return {};
} catch (const std::exception&) {
  return {StatusCode::device_error, "Out of memory for an elementwise problem"};
}

}  // namespace quarry::host
