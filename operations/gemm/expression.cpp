#include "operations/gemm/expression.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "basic/text.hpp"
#include "common/config_parts.hpp"
#include "gemm/operand_scale.hpp"
#include "operations/common/epilogue_checks.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

using expression::Shape;

constexpr std::string_view out_name = "out";

/// An index of s32 chooses no row behind these.
constexpr std::int64_t most_gathered_rows = 0x7fffffff;

bool is_out(const expression::Tensor& tensor) { return tensor.name == out_name; }

const expression::Output& out_of(const Expression& expression) {
  return *std::ranges::find_if(expression.outputs(),
                               [](const expression::Output& o) { return is_out(o.tensor); });
}

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

Status check_sums(const Expression& expression, std::string_view operation, DType accumulator,
                  bool is_promoted) {
  if (expression.sum_type() == DType::none)
    return invalid("The expression of " + std::string(operation) +
                   " reads `sum`; this one does not: " + quoted(expression.text()));
  const DType sums = expressed_type(accumulator, is_promoted);
  if (expression.sum_type() == sums) return {};
  return invalid("The expression's `sum` is " + std::string(to_string(expression.sum_type())) +
                 ", but sums of " + std::string(to_string(accumulator)) +
                 (is_promoted ? " with scales of blocks" : "") + " are " + std::string(to_string(sums)) +
                 ": declare them so");
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

/// One stride that walks over all of some extents; false where their elements do not lie at even distances.
bool fold(std::span<const std::int64_t> extents, std::span<const long long> strides, long long& stride) {
  stride = 0;
  std::int64_t elements = 1;
  bool is_known = false;
  for (std::size_t i = extents.size(); i-- > 0 && elements > 0;) {
    if (extents[i] > 1) {
      if (!is_known) stride = strides[i];
      if (is_known && strides[i] != stride * elements) return false;
      is_known = true;
    }
    elements *= extents[i];
  }
  return true;
}

/// A tensor as the matrix of the output, or the batch of them, that kernels see.
Status put_matrix(const GivenExpression& given, std::span<const std::int64_t, 4> extents,
                  std::span<const long long, 4> strides, std::string_view name, MatrixParams& matrix) {
  const auto part = [&](std::size_t first, std::size_t last, long long& stride) {
    return fold(extents.subspan(first, last - first), strides.subspan(first, last - first), stride);
  };
  if (part(0, given.first_row, matrix.batch_stride) &&
      part(given.first_row, given.first_column, matrix.row_stride) &&
      part(given.first_column, 4, matrix.column_stride))
    return {};
  return invalid(
      about_tensor(name) +
      "does not have its elements at even distances: with an expression, the extents that are rows "
      "of the output follow one another in memory, and so do those that are columns");
}

/// The same of the output's own view.
Status put_out(const GivenExpression& given, MatrixParams& matrix) {
  const TensorView& out = *given.out;
  std::array<long long, 4> strides = {};
  for (std::size_t i = 0; i < out.rank; ++i) strides[4U - out.rank + i] = out.strides[i];
  matrix.data = out.data;
  return put_matrix(given, extents_of(out), strides, out_name, matrix);
}

Status check_out(const GivenExpression& given) {
  const Expression& expression = *given.expression;
  const TensorView& out = *given.out;
  if (out_of(expression).extent != expression::Extent::element)
    return invalid(about_tensor(out_name) + "has a value for each element, and this expression reduces it: " +
                   quoted(expression.text()));
  if (is_wide(expression) && out.is_pointer_array && !given.takes_arrays)
    return invalid(about_tensor(out_name) +
                   "is an array of pointers, which expressions with gated pairs or reductions do not take");
  const DType declared = out_of(expression).tensor.dtype;
  if (find_tensor(given.tensors, out_name) != nullptr)
    return invalid("Operand `out` is given twice: beside the arguments' `out`, it is in the list of tensors");
  if (out.tag != LayoutTag::strided)
    return invalid(about_tensor(out_name) + "is " + std::string(to_string(out.tag)) +
                   "; with an expression it is strided");
  if (declared != DType::none && declared != out.dtype)
    return invalid(about_tensor(out_name) + "is declared " + std::string(to_string(declared)) +
                   ", but is of " + std::string(to_string(out.dtype)));
  if (expression.pairs() == expression::Pairs::eights && columns(out) % 8 != 0)
    return invalid(
        "The pairs of `gate8` and `up8` lie in blocks of eight columns of operand `b`: expected a "
        "multiple of 16 columns, got " +
        std::to_string(2 * columns(out)));
  MatrixParams matrix;
  if (Status s = put_out(given, matrix); !s) return s;
  if (is_rounded_to(out.dtype)) return {};
  return {StatusCode::unsupported, about_tensor(out_name) + "is of " + std::string(to_string(out.dtype)) +
                                       ", which no kernel with an expression writes yet"};
}

/// Extents that a tensor may have along four extents.
std::array<std::int64_t, 4> extents_for(const GivenExpression& given, const OwnTensor& own) {
  std::array<std::int64_t, 4> extents = extents_after(own.extent, extents_of(*given.out));
  const bool lacks_rows =
      own.declared.shape == Shape::gathered ||
      (own.is_output ? own.extent == expression::Extent::column : own.declared.shape == Shape::per_column);
  if (given.column_entries && lacks_rows) extents[1] = *given.column_entries;
  return extents;
}

/// Checks a tensor of the expression, and fills its parameters, where they are asked for.
Status check_own(const GivenExpression& given, const OwnTensor& own, ExpressionTensorParams& params) {
  const expression::Tensor& declared = own.declared;
  const ExpressionTensor* const tensor = find_tensor(given.tensors, declared.name);
  if (tensor == nullptr) return invalid(about_tensor(declared.name) + "is missing");
  params = {};
  const Shape shape = *declared.shape;
  if (!own.is_output && shape == Shape::scalar && tensor->view.dtype == DType::none)
    return put_value(*tensor, declared.dtype, params.value);
  const Operand name = tensor_operand(static_cast<int>(tensor - given.tensors.data()));
  if (Status s = check_tensor_view(*tensor, name, declared.dtype); !s) return s;
  if (own.is_output) {
    if (Status s = check_output_tensor(*tensor, name); !s) return s;
  }
  std::array<std::int64_t, 4> extents = extents_for(given, own);
  std::array<long long, 4> strides = {};
  if (Status s = put_strides(*tensor, shape, own.is_output, extents, strides); !s) return s;
  if (shape == Shape::gathered) {
    extents[2] = rows_of(tensor->view);
    params.rows = {static_cast<int>(std::min<std::int64_t>(extents[2], most_gathered_rows)), false};
  }
  params.matrix.data = tensor->view.data;
  return put_matrix(given, extents, strides, declared.name, params.matrix);
}

Status check_tensors(const GivenExpression& given, std::string_view operation) {
  for (const std::size_t count : {count_own_tensors(*given.expression), given.tensors.size()}) {
    if (count > gemm_expression_tensors)
      return invalid("The expression of " + std::string(operation) +
                     " has at most 8 tensors beside `out`, got " + std::to_string(count));
  }
  if (Status s = check_tensor_names(*given.expression, given.tensors); !s) return s;
  return each_own_tensor(*given.expression, [&](const OwnTensor& tensor) {
    ExpressionTensorParams params;
    return check_own(given, tensor, params);
  });
}

/// Whether there is no such scale, or kernels take it beside an expression: one of 128 of K of operands of
/// one width.
Status check_scale_taken(std::string_view name, const std::optional<TensorView>& scale,
                         ScaleGranularity granularity, const GemmArguments& args) {
  const bool have_kernels = bits_of(args.a.dtype) == bits_of(args.b.dtype) && !is_grouped(granularity);
  if (!scale || (is_blocked(granularity) && have_kernels)) return {};
  return scale_beside_expression(name, granularity);
}

/// What the launch says of a tensor that is not a value. @param is_first of the steps that use it
void add_tensor(const GivenExpression& given, const OwnTensor& own, const ExpressionTensorParams& params,
                bool is_first, Launch& launch) {
  const ExpressionTensor& tensor = *find_tensor(given.tensors, own.declared.name);
  if (tensor.view.dtype == DType::none) return;
  const Operand name = tensor_operand(static_cast<int>(&tensor - given.tensors.data()));
  relocate(launch, params.matrix.data, name);
  const auto alignment = static_cast<std::uint16_t>(bytes_of(tensor.view.dtype));
  if (is_first && has_elements(tensor.view))
    launch.uses.add({name, tensor.view.dtype, false, alignment, own.is_output});
}

/// Whether a tensor is several vectors, one for each group or entry of a batch. It never is `out`, though
/// vectors of groups have the extents of `out` where there are as many rows as groups.
bool has_vectors(const GivenExpression& given, const ExpressionTensor& tensor) {
  const auto inputs = given.expression->inputs();
  const auto declared = std::ranges::find(inputs, tensor.name, &expression::Tensor::name);
  if (declared == inputs.end() || has_rows(*declared->shape)) return false;
  const std::span before(tensor.view.extents.begin(), std::max<std::size_t>(tensor.view.rank, 1) - 1);
  return std::ranges::any_of(before, [](std::int64_t extent) { return extent > 1; });
}

}  // namespace

std::vector<OwnTensor> own_tensors(const Expression& expression) {
  std::vector<OwnTensor> tensors;
  (void)each_own_tensor(expression, [&](const OwnTensor& tensor) {
    tensors.push_back(tensor);
    return Status();
  });
  return tensors;
}

GivenExpression given_expression(const GemmArguments& args) {
  return {.expression = &*args.expression, .tensors = args.tensors, .out = &args.out};
}

MatrixParams matrix_of_out(const GivenExpression& given) {
  MatrixParams matrix = {};
  (void)put_out(given, matrix);
  return matrix;
}

void list_tensors(const GivenExpression& given, OperandList& operands, bool may_stay) {
  const std::size_t count = std::min(given.tensors.size(), std::size_t{tensor_operands});
  for (std::size_t i = 0; i < count; ++i) {
    const TensorView& view = given.tensors[i].view;
    if (view.dtype == DType::none) continue;
    const bool writes = is_output(*given.expression, given.tensors[i].name);
    const bool may_be_out = !writes && bits_of(view.dtype) == bits_of(given.out->dtype) &&
                            !has_vectors(given, given.tensors[i]) &&
                            is_read_before_out(*given.expression, given.tensors[i].name);
    operands.add({.name = tensor_operand(static_cast<int>(i)),
                  .view = &view,
                  .is_output = writes,
                  .may_be_out = may_be_out,
                  .may_stay = writes && may_stay});
  }
}

std::span<const DType> expression_types(const GivenExpression& given,
                                        std::array<DType, expression::max_outputs>& room) {
  std::size_t count = 0;
  for (const expression::Output& output : given.expression->outputs())
    room.at(count++) =
        is_out(output.tensor) ? given.out->dtype : find_tensor(given.tensors, output.tensor.name)->view.dtype;
  return std::span(room).first(count);
}

std::uint64_t expression_hash(const GivenExpression& given) {
  std::array<DType, expression::max_outputs> room = {};
  return hash_of(given.expression->graph(), expression_types(given, room));
}

KnownExpression known(const GivenExpression& given) {
  std::array<DType, expression::max_outputs> room = {};
  return find_interned(*given.expression, expression_types(given, room));
}

Status beside_expression(std::string_view part) {
  return invalid(quoted(part) + " stands beside an expression: write it in the expression");
}

Status apart_from_expression(std::string_view part) {
  return invalid(std::string(part) + " is not taken together with an expression: no kernel has both");
}

Status scale_beside_expression(std::string_view scale, ScaleGranularity granularity) {
  if (!is_blocked(granularity)) return beside_expression(scale);
  return apart_from_expression(quoted(scale) + " of " + std::string(to_string(granularity)));
}

Status check_chain_unused(const Epilogue& e, bool has_c) {
  if (e.alpha.pointer != nullptr || e.alpha.value != 1) return beside_expression("alpha");
  if (e.beta.pointer != nullptr || e.beta.value != 0) return beside_expression("beta");
  if (has_c) return beside_expression("c");
  if (e.activation != Activation::identity) return beside_expression("activation");
  if (e.bias) return beside_expression("bias");
  if (e.scale) return beside_expression("scale");
  if (e.residual) return beside_expression("residual");
  if (e.aux) return beside_expression("aux");
  return e.clamp == Clamp{} ? Status() : beside_expression("clamp");
}

Status without_expression(std::string_view tensor) {
  return invalid(about_tensor(tensor) + "is given without an expression");
}

Status check_given(const GivenExpression& given, std::string_view operation, DType accumulator,
                   bool is_promoted) {
  if (Status s = check_rounding(*given.expression, "GEMM kernels"); !s) return s;
  if (Status s = check_sums(*given.expression, operation, accumulator, is_promoted); !s) return s;
  if (Status s = check_reserved(*given.expression); !s) return s;
  if (Status s = check_out(given); !s) return s;
  return check_tensors(given, operation);
}

std::uint64_t expression_word(const GivenExpression& given) {
  std::array<DType, expression::max_outputs> room = {};
  std::uint64_t types = 0;
  static_assert(expression::max_outputs <= sizeof types);
  for (const DType type : expression_types(given, room)) types = types << 8 | static_cast<std::uint8_t>(type);
  return given.expression->hash() + types * 0x9e3779b97f4a7c15U;
}

bool has_blocks_of_scales(const GemmArguments& args) {
  return (args.a_scale && is_blocked(args.a_scale_granularity)) ||
         (args.b_scale && is_blocked(args.b_scale_granularity));
}

Status check_expression(const GemmArguments& args, DType accumulator) {
  if (Status s = check_without_expression(args); !s || !args.expression) return s;
  if (Status s = check_chain_unused(args.epilogue, args.c.has_value()); !s) return s;
  if (args.b_zero) return apart_from_expression("`b_zero`");
  if (Status s = check_scale_taken("a_scale", args.a_scale, args.a_scale_granularity, args); !s) return s;
  if (Status s = check_scale_taken("b_scale", args.b_scale, args.b_scale_granularity, args); !s) return s;
  return check_given(given_expression(args), "a GEMM", accumulator, has_blocks_of_scales(args));
}

void describe_expression(const GivenExpression& given, GemmProblem& problem) {
  problem.expressed = given;
  (void)each_own_tensor(*given.expression, [&](const OwnTensor& own) -> Status {
    problem.expression_matrices += static_cast<std::uint8_t>(has_rows(*own.declared.shape));
    return {};
  });
  const ReductionCounts counts = reduction_counts(*given.expression);
  problem.wide = {given.expression->is_gated(), counts.groups, counts.rows, counts.columns, counts.all};
  problem.wide.eights = given.expression->pairs() == expression::Pairs::eights;
  if (problem.wide.gated) problem.n *= 2;
}

const ExpressionParams& expression_params(const std::byte* image, const Step& step) {
  return *reinterpret_cast<const ExpressionParams*>(image + step.at + step.bytes - sizeof(ExpressionParams));
}

void transpose(const Expression& expression, ExpressionParams& params) {
  ExpressionTensorParams* next = params.tensors;
  (void)each_own_tensor(expression, [&](const OwnTensor& own) {
    next->matrix = transposed(next->matrix);
    if (own.declared.shape == Shape::gathered) next->rows.are_columns = !next->rows.are_columns;
    ++next;
    return Status();
  });
}

void add_expression(const GemmProblem& problem, bool is_transposed, Launch& launch) {
  const GivenExpression& given = problem.expressed;
  bool is_first = true;
  for (const Step& step : launch.steps) {
    if (step.kind != Step::Kind::kernel || step.entry != launch.expression_entry) continue;
    auto& params = const_cast<ExpressionParams&>(expression_params(launch.image, step));
    ExpressionTensorParams* next = params.tensors;
    const Status checked = each_own_tensor(*given.expression, [&](const OwnTensor& own) {
      if (Status s = check_own(given, own, *next); !s) return s;
      add_tensor(given, own, *next, is_first, launch);
      ++next;
      return Status();
    });
    if (!checked) return;  // never: it was checked before
    if (is_transposed) transpose(*given.expression, params);
    is_first = false;
  }
  std::array<DType, expression::max_outputs> room = {};
  launch.expression = interned(*given.expression, expression_types(given, room));
}

}  // namespace quarry::detail
