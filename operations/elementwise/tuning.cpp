// Elementwise problems as remembered answers and tuning tables know them, and in the words of the command
// line.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/expression/words.hpp"
#include "operations/elementwise/operation.hpp"
#include "operations/elementwise/problem.hpp"

namespace quarry::detail::elementwise {
namespace {

using Strides = std::array<std::int64_t, elementwise_extents>;

/// More alignment makes no difference to a kernel.
constexpr unsigned widest_bytes = 16;

/// A tensor as the problem has it, before it is simplified.
struct SaidTensor {
  expression::Shape shape;
  expression::Extent extent;
  Strides extents;
};

bool has_stride(const ElementwiseTensor& tensor) {
  return std::ranges::any_of(tensor.strides, [](long long stride) { return stride != 0; });
}

/// Packed strides along the extents from `first` on, where `order` says which one is the innermost.
Strides packed_strides(const SaidTensor& tensor, std::array<std::size_t, 4> order, std::size_t first,
                       std::int64_t lines) {
  Strides strides = {};
  std::int64_t stride = 1;
  for (std::size_t i = elementwise_extents; i-- > first;) {
    strides[order[i]] = stride;
    const std::int64_t along = tensor.extents[order[i]];
    stride *= i + 1 == elementwise_extents ? line_distance(along, lines) : along;
  }
  return strides;
}

/// The strides that the command line gives a tensor of a problem of so many extents.
Strides said_strides(const SaidTensor& tensor, std::size_t rank, std::int64_t lines) {
  using expression::Extent;
  using expression::Shape;
  const std::size_t first = elementwise_extents - rank;
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  if (tensor.extent == Extent::row || tensor.extent == Extent::column)
    return packed_strides(tensor, order, first, 0);
  switch (tensor.shape) {
    case Shape::scalar: return {};
    case Shape::per_row: return {0, 0, 1, 0};
    case Shape::per_column: return {0, 0, 0, 1};
    case Shape::gathered: return packed_strides(tensor, order, 2, lines);
    default: break;
  }
  if (tensor.shape == Shape::column && rank > 1) std::swap(order[2], order[3]);
  return packed_strides(tensor, order, first, rank > 1 ? lines : 0);
}

/// A checked problem that was not simplified, and what is declared of its tensors.
class Unsimplified {
 public:
  explicit Unsimplified(const ElementwiseArguments& arguments) {
    OperandList list;
    Rules::operands(arguments, list);
    is_valid_ = static_cast<bool>(normalise(arguments, list, problem_));
    Strides extents = {};
    std::ranges::copy(problem_.params.extents, extents.begin());
    const auto add = [&](expression::Shape shape, expression::Extent extent) {
      SaidTensor& tensor = tensors_.at(count_) = {shape, extent, extents_after(extent, extents)};
      if (shape == expression::Shape::gathered) tensor.extents[2] = problem_.params.tensors[count_].rows;
      ++count_;
    };
    for (const expression::Tensor& input : arguments.expression.inputs())
      add(*input.shape, expression::Extent::element);
    for (const expression::Output& output : arguments.expression.outputs())
      add(*output.tensor.shape, output.extent);
  }

  bool is_valid() const { return is_valid_; }

  /// Extents behind leading extents of 1.
  std::size_t rank() const {
    std::size_t rank = elementwise_extents;
    while (rank > 1 && problem_.params.extents[elementwise_extents - rank] == 1) --rank;
    return rank;
  }

  std::string shape() const {
    std::string text;
    for (std::size_t i = elementwise_extents - rank(); i < elementwise_extents; ++i)
      text += (text.empty() ? "" : "x") + std::to_string(problem_.params.extents[i]);
    return text;
  }

  /// The setting `lines` that describes how all tensors lie; absent if no setting does.
  std::optional<std::int64_t> lines() const {
    constexpr std::int64_t most = 1 << 12;
    for (std::int64_t lines = 0; lines <= most; lines = std::max<std::int64_t>(1, 2 * lines)) {
      if (lie_by(lines)) return lines;
    }
    return std::nullopt;
  }

  /// The setting `align` that describes the alignment of all tensors; 0: as aligned as can be. Absent if no
  /// setting does.
  std::optional<int> alignment() const {
    for (const int elements : {0, 1, 2, 4, 8, 16}) {
      if (are_aligned_by(elements)) return elements;
    }
    return std::nullopt;
  }

 private:
  bool lie_by(std::int64_t lines) const {
    for (std::size_t i = 0; i < count_; ++i) {
      const Strides said = said_strides(tensors_[i], rank(), lines);
      for (std::size_t k = 0; k < elementwise_extents; ++k) {
        const bool counts = tensors_[i].extents[k] > 1;
        if (counts && problem_.params.tensors[i].strides[k] != said[k]) return false;
      }
    }
    return true;
  }

  bool are_aligned_by(int elements) const {
    for (std::size_t i = 0; i < count_; ++i) {
      const ElementwiseOperand& operand = problem_.operands[i];
      if (!has_stride(problem_.params.tensors[i])) continue;
      const auto bytes = static_cast<unsigned>(std::max(1, bytes_of(operand.type)));
      const unsigned most = std::max(1U, widest_bytes / bytes);
      const unsigned said =
          elements == 0 ? widest_bytes : bytes * std::min(most, static_cast<unsigned>(elements));
      if (std::min(operand.alignment, widest_bytes) != said) return false;
    }
    return true;
  }

  ElementwiseProblem problem_;
  std::array<SaidTensor, elementwise_tensors> tensors_ = {};
  std::size_t count_ = 0;
  bool is_valid_ = false;
};

}  // namespace

Question Rules::question(const ElementwiseProblem& problem) {
  Question question = {.inputs = problem.inputs, .tensors = problem.tensors};
  std::ranges::copy(problem.params.extents, question.extents);
  for (int i = 0; i < problem.tensors; ++i) {
    std::ranges::copy(problem.params.tensors[i].strides, question.strides[i]);
    question.types[i] = problem.operands[i].type;
    question.alignments[i] = static_cast<std::uint16_t>(problem.operands[i].alignment);
  }
  return question;
}

std::int64_t Rules::tuning_question(const ElementwiseProblem& problem, TuningQuestion& question) {
  question = {};
  const ElementwiseParams& p = problem.params;
  std::ranges::copy(p.extents, question.extents);
  const bool is_empty = std::ranges::find(p.extents, 0) != std::end(p.extents);  // of no elements, wherever
  for (int i = 0; i < problem.tensors; ++i) {
    const ElementwiseOperand& operand = problem.operands[i];
    question.types[i] = operand.type;
    if (is_empty) continue;
    for (int k = 0; k < elementwise_extents; ++k) {
      const bool counts = p.extents[k] > 1 || (operand.is_gathered && k == 2);
      question.strides[i][k] = counts ? p.tensors[i].strides[k] : 0;
    }
    if (has_stride(p.tensors[i]))
      question.alignments[i] = static_cast<std::uint8_t>(std::min(operand.alignment, widest_bytes));
  }
  return 0;
}

std::uint64_t Rules::expression_hash(const ElementwiseProblem& problem) {
  if (problem.expression == nullptr) return 0;
  std::array<DType, elementwise_tensors> outputs = {};
  const auto count = static_cast<std::size_t>(problem.tensors - problem.inputs);
  for (std::size_t i = 0; i < count; ++i)
    outputs.at(i) = problem.operands[static_cast<std::size_t>(problem.inputs) + i].type;
  return hash_of(problem.expression->graph(), std::span(outputs).first(count));
}

std::string Rules::command_text(const ElementwiseArguments& args) {
  const Unsimplified problem(args);
  const std::optional<std::int64_t> lines = problem.lines();
  const std::optional<int> alignment = problem.alignment();
  if (!problem.is_valid() || !lines || !alignment) return "";
  ProblemWords words(problem.shape());
  write_expression(args.expression, args.tensors, find_tensor(args.tensors, "out")->view, true, words);
  words.number("align", *alignment, 0);
  words.number("lines", *lines, 0);
  return words.text();
}

}  // namespace quarry::detail::elementwise
