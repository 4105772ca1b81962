#include "operations/gemm/expression.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "basic/text.hpp"
#include "common/config_parts.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

using expression::Shape;

constexpr std::string_view out_name = "out";

bool is_out(const expression::Tensor& tensor) { return tensor.name == out_name; }

const expression::Output& out_of(const Expression& expression) {
  return *std::ranges::find_if(expression.outputs(),
                               [](const expression::Output& o) { return is_out(o.tensor); });
}

/// A tensor of an expression but `out`.
struct OwnTensor {
  const expression::Tensor& declared;
  bool is_output;
  expression::Extent extent;
};

/// Calls `visit` with each of them, in the order of a kernel's parameters, until one call fails.
template <class Visit>
Status each_own_tensor(const Expression& expression, const Visit& visit) {
  for (const expression::Tensor& input : expression.inputs()) {
    if (Status s = visit(OwnTensor{input, false, expression::Extent::element}); !s) return s;
  }
  for (const expression::Output& output : expression.outputs()) {
    if (is_out(output.tensor)) continue;
    if (Status s = visit(OwnTensor{output.tensor, true, output.extent}); !s) return s;
  }
  return {};
}

/// @pre one of the outputs is `out`
std::size_t count_own_tensors(const Expression& expression) {
  return expression.inputs().size() + expression.outputs().size() - 1;
}

bool is_output(const Expression& expression, std::string_view name) {
  return std::ranges::any_of(expression.outputs(), [&](const auto& o) { return o.tensor.name == name; });
}

/// Extents of the output: those in front of a matrix, the batch, rows and columns.
std::array<std::int64_t, 4> extents_of(const TensorView& out) {
  std::array<std::int64_t, 4> extents = {1, 1, 1, 1};
  for (std::size_t i = 0; i < out.rank; ++i) extents[4U - out.rank + i] = out.extents[i];
  return extents;
}

Status beside(std::string_view part) {
  return invalid(quoted(part) + " stands beside an expression: write it in the expression");
}

/// Whether the standard chain and the scales of operands are left alone.
Status check_nothing_beside(const GemmArguments& args) {
  const Epilogue& e = args.epilogue;
  if (e.alpha.pointer != nullptr || e.alpha.value != 1) return beside("alpha");
  if (e.beta.pointer != nullptr || e.beta.value != 0) return beside("beta");
  if (args.c) return beside("c");
  if (e.activation != Activation::identity) return beside("activation");
  if (e.bias) return beside("bias");
  if (e.scale) return beside("scale");
  if (e.residual) return beside("residual");
  if (e.aux) return beside("aux");
  if (e.clamp != Clamp{}) return beside("clamp");
  if (args.a_scale) return beside("a_scale");
  if (args.b_scale) return beside("b_scale");
  if (args.b_zero) return beside("b_zero");
  return {};
}

Status check_sums(const Expression& expression, DType accumulator) {
  if (expression.sum_type() == DType::none)
    return invalid("The expression of a GEMM reads `sum`; this one does not: " + quoted(expression.text()));
  const DType sums = partial_type(accumulator);
  if (expression.sum_type() == sums) return {};
  return invalid("The expression's `sum` is " + std::string(to_string(expression.sum_type())) +
                 ", but sums of " + std::string(to_string(accumulator)) + " are " +
                 std::string(to_string(sums)) + ": declare them so");
}

/// Whether no tensor has a name that means something else in the same call.
Status check_reserved(const Expression& expression) {
  static constexpr std::string_view reserved[] = {"a", "b", "a_scale", "b_scale", "b_zero"};
  return each_own_tensor(expression, [](const OwnTensor& tensor) -> Status {
    const std::string& name = tensor.declared.name;
    if (std::ranges::find(reserved, name) == std::end(reserved)) return {};
    return invalid("The expression has a tensor " + quoted(name) +
                   ", which is the name of an operand of the product: give it another name");
  });
}

Status check_out(const GemmArguments& args) {
  if (out_of(*args.expression).extent != expression::Extent::element)
    return invalid(about_tensor(out_name) + "has a value for each element, and this expression reduces it: " +
                   quoted(args.expression->text()));
  if (is_wide(*args.expression) && args.out.is_pointer_array)
    return invalid(about_tensor(out_name) +
                   "is an array of pointers, which expressions with gated pairs or reductions do not take");
  const DType declared = out_of(*args.expression).tensor.dtype;
  if (find_tensor(args.tensors, out_name) != nullptr)
    return invalid("Operand `out` is given twice: beside the arguments' `out`, it is in the list of tensors");
  if (args.out.tag != LayoutTag::strided)
    return invalid(about_tensor(out_name) + "is " + std::string(to_string(args.out.tag)) +
                   "; with an expression it is strided");
  if (declared != DType::none && declared != args.out.dtype)
    return invalid(about_tensor(out_name) + "is declared " + std::string(to_string(declared)) +
                   ", but is of " + std::string(to_string(args.out.dtype)));
  if (is_rounded_to(args.out.dtype)) return {};
  return {StatusCode::unsupported, about_tensor(out_name) + "is of " +
                                       std::string(to_string(args.out.dtype)) +
                                       ", which no kernel with an expression writes yet"};
}

/// Checks a tensor of the expression, and fills its parameters, where they are asked for.
Status check_own(const GemmArguments& args, const OwnTensor& own, ExpressionTensorParams& params) {
  const expression::Tensor& declared = own.declared;
  const ExpressionTensor* const tensor = find_tensor(args.tensors, declared.name);
  if (tensor == nullptr) return invalid(about_tensor(declared.name) + "is missing");
  params = {};
  const Shape shape = *declared.shape;
  if (!own.is_output && shape == Shape::scalar && tensor->view.dtype == DType::none)
    return put_value(*tensor, declared.dtype, params.value);
  const Operand name = tensor_operand(static_cast<int>(tensor - args.tensors.data()));
  if (Status s = check_tensor_view(*tensor, name, declared.dtype); !s) return s;
  if (own.is_output) {
    if (Status s = check_output_tensor(*tensor, name); !s) return s;
  }
  std::array<long long, 4> strides = {};
  if (Status s = put_strides(*tensor, shape, own.is_output, extents_after(own.extent, extents_of(args.out)),
                             strides);
      !s)
    return s;
  params.matrix = {tensor->view.data, strides[2], strides[3], strides[1]};
  return {};
}

Status check_tensors(const GemmArguments& args) {
  for (const std::size_t count : {count_own_tensors(*args.expression), args.tensors.size()}) {
    if (count > gemm_expression_tensors)
      return invalid("The expression of a GEMM has at most 8 tensors beside `out`, got " +
                     std::to_string(count));
  }
  if (Status s = check_tensor_names(*args.expression, args.tensors); !s) return s;
  const Status each = each_own_tensor(*args.expression, [&](const OwnTensor& tensor) {
    ExpressionTensorParams params;
    return check_own(args, tensor, params);
  });
  return with_names(each, args.tensors);
}

/// What the launch says of a tensor that is not a value. @param is_first of the steps that use it
void add_tensor(const GemmArguments& args, const OwnTensor& own, const ExpressionTensorParams& params,
                bool is_first, Launch& launch) {
  const ExpressionTensor& tensor = *find_tensor(args.tensors, own.declared.name);
  if (tensor.view.dtype == DType::none) return;
  const Operand name = tensor_operand(static_cast<int>(&tensor - args.tensors.data()));
  relocate(launch, params.matrix.data, name);
  const auto alignment = static_cast<std::uint16_t>(bytes_of(tensor.view.dtype));
  if (is_first && has_elements(tensor.view))
    launch.uses.add({name, tensor.view.dtype, false, alignment, own.is_output});
}

}  // namespace

void list_tensors(const GemmArguments& args, OperandList& operands) {
  const std::size_t count = std::min(args.tensors.size(), std::size_t{tensor_operands});
  for (std::size_t i = 0; i < count; ++i) {
    const TensorView& view = args.tensors[i].view;
    if (view.dtype == DType::none) continue;
    const bool writes = is_output(*args.expression, args.tensors[i].name);
    operands.add({.name = tensor_operand(static_cast<int>(i)),
                  .view = &view,
                  .is_output = writes,
                  .may_be_out = !writes && bits_of(view.dtype) == bits_of(args.out.dtype) &&
                                is_read_before_out(*args.expression, args.tensors[i].name)});
  }
}

std::span<const DType> expression_types(const GemmArguments& args,
                                        std::array<DType, expression::max_outputs>& room) {
  std::size_t count = 0;
  for (const expression::Output& output : args.expression->outputs())
    room.at(count++) =
        is_out(output.tensor) ? args.out.dtype : find_tensor(args.tensors, output.tensor.name)->view.dtype;
  return std::span(room).first(count);
}

std::uint64_t expression_hash(const GemmArguments& args) {
  std::array<DType, expression::max_outputs> room = {};
  return hash_of(args.expression->graph(), expression_types(args, room));
}

std::uint64_t expression_word(const GemmArguments& args) {
  std::array<DType, expression::max_outputs> room = {};
  std::uint64_t types = 0;
  static_assert(expression::max_outputs <= sizeof types);
  for (const DType type : expression_types(args, room)) types = types << 8 | static_cast<std::uint8_t>(type);
  return args.expression->hash() + types * 0x9e3779b97f4a7c15U;
}

Status check_expression(const GemmArguments& args, DType accumulator) {
  if (!args.expression) {
    if (args.tensors.empty()) return {};
    return invalid(about_tensor(args.tensors.front().name) + "is given without an expression");
  }
  if (Status s = check_nothing_beside(args); !s) return s;
  if (Status s = check_rounding(*args.expression, "GEMM kernels"); !s) return s;
  if (Status s = check_sums(*args.expression, accumulator); !s) return s;
  if (Status s = check_reserved(*args.expression); !s) return s;
  if (Status s = check_out(args); !s) return s;
  return check_tensors(args);
}

void describe_expression(const GemmArguments& args, GemmProblem& problem) {
  problem.expressed = &args;
  (void)each_own_tensor(*args.expression, [&](const OwnTensor& own) -> Status {
    problem.expression_matrices += static_cast<std::uint8_t>(is_matrix(*own.declared.shape));
    return {};
  });
  const ReductionCounts counts = reduction_counts(*args.expression);
  problem.wide = {args.expression->is_gated(), counts.groups, counts.rows, counts.columns, counts.all};
  if (problem.wide.gated) problem.n *= 2;
}

const ExpressionParams& expression_params(const std::byte* image, const Step& step) {
  return *reinterpret_cast<const ExpressionParams*>(image + step.at + step.bytes - sizeof(ExpressionParams));
}

void add_expression(const GemmProblem& problem, Launch& launch) {
  const GemmArguments& args = *problem.expressed;
  bool is_first = true;
  for (const Step& step : launch.steps) {
    if (step.kind != Step::Kind::kernel || step.entry != 0) continue;
    auto& params = const_cast<ExpressionParams&>(expression_params(launch.image, step));
    ExpressionTensorParams* next = params.tensors;
    const Status checked = each_own_tensor(*args.expression, [&](const OwnTensor& own) {
      if (Status s = check_own(args, own, *next); !s) return s;
      if (problem.is_exchanged) next->matrix = transposed(next->matrix);
      add_tensor(args, own, *next, is_first, launch);
      ++next;
      return Status();
    });
    if (!checked) return;  // never: it was checked before
    is_first = false;
  }
  std::array<DType, expression::max_outputs> room = {};
  launch.expression = interned(*args.expression, expression_types(args, room));
}

}  // namespace quarry::detail
