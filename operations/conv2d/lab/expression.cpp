#include "operations/conv2d/lab/expression.hpp"

#include <algorithm>
#include <string>

#include "lab/expression/random.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/lab/expression.hpp"

namespace quarry::lab::conv2d {
namespace {

using expression::Declarations;
using expression::Shape;

/// A tensor of an output's extents, with `ld` elements from one position to the next.
TensorView positions(DType type, const Extents& e, std::int64_t ld) {
  const Extents strides = {detail::product_of_extents(e[1], e[2], ld), detail::product_of_extents(e[2], ld),
                           ld, 1};
  return TensorView::strided(nullptr, type, e, strides);
}

TensorView fake_view(const TensorView& out, const expression::Tensor& tensor, DType type, std::int64_t ld) {
  switch (*tensor.shape) {
    case Shape::scalar: return TensorView::vector(nullptr, type, 1);
    case Shape::per_column: return TensorView::vector(nullptr, type, out.extents[3]);
    default: return positions(type, out.extents, ld);
  }
}

/// The same expression with shapes that tensors of a convolution have; nothing where that is no expression
/// any more.
Result<Expression> with_own_shapes(const Expression& drawn, Direction direction) {
  Declarations declared = drawn.declarations();
  declared.sum = drawn.sum_type();
  for (expression::Tensor& tensor : declared.tensors) {
    if (tensor.shape == Shape::column) tensor.shape = Shape::row;
    if (tensor.shape == Shape::per_row) tensor.shape = Shape::per_column;
    if (tensor.shape == Shape::per_column && direction == Direction::wgrad) tensor.shape = Shape::scalar;
  }
  return Expression::parse(drawn.text(), declared);
}

Expression random_expression(Direction direction, DType sums, DType out, Dice& dice) {
  for (;;) {
    const Expression drawn = gemm::random_expression_of(sums, out, dice);
    if (const Result<Expression> fit = with_own_shapes(drawn, direction)) return *fit;
  }
}

}  // namespace

void add_expression(const Problem& p, Conv2dArguments& args) {
  if (!p.expression) return;
  args.expression = p.expression;
  const std::int64_t ld = p.out.ld > 0 ? p.out.ld : args.out.extents[3];
  for (const expression::Tensor& input : p.expression->inputs()) {
    TensorView view = fake_view(args.out, input, input.dtype, ld);
    if (!p.in_place.empty() && input.name == p.in_place) {
      view = args.out;
      view.dtype = input.dtype;
    }
    args.tensors.push_back({input.name, view});
  }
  for (std::size_t i = 0; i < p.expression->outputs().size(); ++i) {
    const expression::Tensor& output = p.expression->outputs()[i].tensor;
    if (output.name == "out") continue;
    const DType type = gemm::type_of_output(*p.expression, i);
    args.tensors.push_back({output.name, fake_view(args.out, output, type, ld)});
  }
}

bool takes_expressions(const KernelMetadata& kernel) {
  const DesignMetadata& design = kernel.design;
  const bool has_phases = kernel.direction == Direction::dgrad && design.strides == WindowStrides::strided;
  return !is_interleaved(kernel.operands.out.layout) && design.iterator != WindowIterator::window &&
         !has_phases;
}

void make_expression(Problem& p) {
  p.epilogue = {};
  const bool has_channels = p.direction != Direction::wgrad;
  const std::string z = gemm::moderate_sum({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, p.terms()) + " * s";
  const std::string text = "z = " + z + (has_channels ? " + bias" : "") + "; out = gelu(z) + m; z16 = z";
  const std::string with =
      std::string("s=f32:scalar,m=bf16:row,z16=f16:row") + (has_channels ? ",bias=bf16:per_column" : "");
  p.expression = *Expression::parse(text, *Declarations::parse(with, partial_type(p.sums())));
}

void draw_expression(Problem& p, Dice& dice) {
  if (dice.one_in(2)) return make_expression(p);
  p.epilogue = {};
  p.expression = random_expression(p.direction, partial_type(p.sums()), p.out.dtype, dice);
}

void add_random_expression(Conv2dArguments& args, Dice& dice) {
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  args.expression = random_expression(args.direction, partial_type(accumulator), args.out.dtype, dice);
  const auto ld = [&] { return args.out.extents[3] + (dice.one_in(2) ? 0 : dice.between(1, 9)); };
  for (const expression::Tensor& input : args.expression->inputs()) {
    ExpressionTensor tensor = {input.name};
    if (*input.shape != Shape::scalar || is_fp8(input.dtype) || dice.one_in(2)) {
      tensor.view = fake_view(args.out, input, input.dtype, ld());
      if (tensor.view.rank == 4 && dice.one_in(8)) tensor.view.strides = {0, 0, 0, 1};
      if (tensor.view.rank == 4 && dice.one_in(32)) tensor.view.strides[0] += 3;  // to be refused
    } else {
      tensor.value = is_integer(input.dtype) ? static_cast<double>(dice.between(-20, 20)) : dice.fraction();
    }
    args.tensors.push_back(tensor);
  }
  for (std::size_t i = 0; i < args.expression->outputs().size(); ++i) {
    const expression::Tensor& output = args.expression->outputs()[i].tensor;
    if (output.name == "out") continue;
    args.tensors.push_back(
        {output.name, fake_view(args.out, output, gemm::type_of_output(*args.expression, i), ld())});
  }
}

}  // namespace quarry::lab::conv2d
