#include "fuzz/expression_tensors.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "fuzz/arguments.hpp"
#include "lab/expression/random.hpp"

namespace quarry::fuzz {
namespace {

using expression::Shape;

TensorView fake_view(const expression::Tensor& tensor, std::span<const std::int64_t> extents) {
  const std::size_t rank = extents.size();
  switch (*tensor.shape) {
    case Shape::scalar: return TensorView::vector(nullptr, tensor.dtype, 1);
    case Shape::per_row: return TensorView::vector(nullptr, tensor.dtype, extents[rank - 2]);
    case Shape::per_column: return TensorView::vector(nullptr, tensor.dtype, extents[rank - 1]);
    default: break;
  }
  std::array<std::int64_t, 3> strides = {};
  const std::int64_t rows = extents[rank - 2];
  const std::int64_t columns = extents[rank - 1];
  const bool by_columns = *tensor.shape == Shape::column;
  strides[rank - 2] = by_columns ? 1 : columns;
  strides[rank - 1] = by_columns ? rows : 1;
  if (rank == 3) strides[0] = rows * columns;
  return TensorView::strided(nullptr, tensor.dtype, extents, std::span(strides).first(rank));
}

}  // namespace

Expression some_expression(std::uint64_t seed, DType sum, DType out) {
  lab::Dice dice(seed);
  const lab::ExpressionLimits limits = {.sum = sum,
                                        .depth = static_cast<int>(dice.between(1, 3)),
                                        .inputs = 3,
                                        .more_outputs = 2,
                                        .reductions = false,
                                        .groups = false,
                                        .pairs = false};
  return lab::random_kernel_expression(dice, limits, out, dice.one_in(2));
}

std::vector<ExpressionTensor> tensors_for(const Expression& expression, std::span<const std::int64_t> extents,
                                          bool has_out) {
  std::vector<ExpressionTensor> tensors;
  const auto add = [&](const expression::Tensor& tensor) {
    if (has_out || tensor.name != "out") tensors.push_back({tensor.name, fake_view(tensor, extents)});
  };
  for (const expression::Tensor& input : expression.inputs()) add(input);
  for (const expression::Output& output : expression.outputs()) add(output.tensor);
  return tensors;
}

Expression draw_expression(const TensorView& out, std::vector<ExpressionTensor>& tensors, Input& input) {
  constexpr DType sums[] = {DType::f32, DType::s32, DType::f64};
  constexpr DType usual[] = {DType::f16, DType::bf16, DType::f32, DType::s8};
  constexpr std::int64_t most_extent = 64;
  std::array<std::int64_t, 3> extents = {};
  const std::size_t rank = out.rank == 3 ? 3 : 2;
  for (std::size_t i = 0; i < rank; ++i)
    extents[i] = std::clamp<std::int64_t>(out.extents[i], 0, most_extent);
  const DType type = std::ranges::find(usual, out.dtype) != std::end(usual) ? out.dtype : DType::none;
  const std::uint8_t seed = input.byte();
  Expression expression = some_expression(seed, sums[input.byte() % std::size(sums)], type);
  tensors = tensors_for(expression, std::span(extents).first(rank), false);
  return expression;
}

void change(std::vector<ExpressionTensor>& tensors, Input& input) {
  if (tensors.empty()) return;
  ExpressionTensor& tensor = tensors[input.byte() % tensors.size()];
  switch (input.byte() % 8) {
    case 0: tensors.erase(tensors.begin() + (&tensor - tensors.data())); break;
    case 1: tensor.name = std::string(1, static_cast<char>(input.byte())); break;
    case 2: tensors.push_back(ExpressionTensor(tensor)); break;
    case 3:
      tensor.view.dtype = DType::none;
      tensor.value = input.raw<double>();
      break;
    default: change(tensor.view, input);
  }
}

}  // namespace quarry::fuzz
