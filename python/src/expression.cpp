#include "expression.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::python {

using expression::Value;

/// Names of tensors that choose rows.
using IndexNames = std::set<std::string>;

/// A tensor while a function is traced, which may be a table or choose the rows of one.
struct TensorValue : Value {
  TensorValue(expression::Tensor given, std::shared_ptr<IndexNames> noted)
      : Value(expression::tensor(given.name, given.dtype, *given.shape)),
        tensor(std::move(given)),
        indices(std::move(noted)) {}
  expression::Tensor tensor;
  /// Those of the function.
  std::shared_ptr<IndexNames> indices;
};

/// A value, or a number in the place of one.
struct Operand {
  Value value = 0;
};

}  // namespace quarry::python

namespace nanobind::detail {

/// Operands come from values of expressions and from numbers.
template <>
struct type_caster<quarry::python::Operand> {
  NB_TYPE_CASTER(quarry::python::Operand, const_name("Value | float"))

  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    try {
      if (isinstance<quarry::python::Value>(source)) {
        value.value = nanobind::cast<const quarry::python::Value&>(source);
        return true;
      }
      const std::optional<double> number = quarry::python::number_of(source, "value");
      if (number) value.value = *number;
      return number.has_value();
    } catch (...) {  // a number that does not fit
      PyErr_Clear();
      return false;
    }
  }
};

}  // namespace nanobind::detail

namespace quarry::python {
namespace {

using expression::Shape;

bool is_matrix(const TensorView& view, const TensorView& out) {
  return view.rank == out.rank &&
         std::equal(view.extents.begin(), view.extents.begin() + view.rank, out.extents.begin());
}

/// A column-major matrix, of those that have more than one row and column.
bool is_column_major(const TensorView& view) {
  if (view.rank < 2) return false;
  return view.strides[view.rank - 2U] == 1 && view.strides[view.rank - 1U] != 1;
}

/// The view without one of its last two extents, which is 1.
TensorView without(TensorView view, std::size_t extent) {
  const std::size_t last = view.rank - 1U;
  if (extent < last) {
    view.extents[extent] = view.extents[last];
    view.strides[extent] = view.strides[last];
  }
  --view.rank;
  return view;
}

/// The shape that a tensor's extents tell; a vector loses the extent that it has no values for.
/// @param of_sums whether the output is of sums: one of rank 4 is a convolution's, whose outputs have no rows
Shape take_shape(TensorView& view, const TensorView& out, bool of_sums) {
  if (is_matrix(view, out)) return is_column_major(view) ? Shape::column : Shape::row;
  const auto one = [](std::int64_t extent) { return extent == 1; };
  if (std::all_of(view.extents.begin(), view.extents.begin() + view.rank, one)) return Shape::scalar;
  if (view.rank == 1) return Shape::per_column;
  const std::size_t last = view.rank - 1U;
  if (of_sums && view.rank == 4 && !std::all_of(view.extents.begin(), view.extents.begin() + last, one))
    return Shape::row;
  if (view.extents[last - 1] == 1) return view = without(view, last - 1), Shape::per_column;
  if (view.extents[last] == 1) return view = without(view, last), Shape::per_row;
  return is_column_major(view) ? Shape::column : Shape::row;
}

/// The view of a tensor that chooses rows: of a vector, or of a column of values.
TensorView index_view(const TensorView& given) {
  const std::size_t last = given.rank - 1U;
  return given.rank > 1 && given.extents[last] == 1 ? without(given, last) : given;
}

/// The layout of an output that is a matrix for sure; another's shape follows from its value.
std::optional<Shape> output_shape(const TensorView& given) {
  if (given.rank < 2 || given.extents[given.rank - 1U] == 1 || given.extents[given.rank - 2U] == 1)
    return std::nullopt;
  return is_column_major(given) ? Shape::column : Shape::row;
}

/// The view of an output of this shape: a vector has no extent that it has no values for.
TensorView output_view(const TensorView& given, Shape shape, const TensorView& out) {
  if (given.rank < 2) return given;
  const std::size_t last = given.rank - 1U;
  const bool is_vector_of_batches = given.rank < out.rank && out.extents[out.rank - 2U] == 1;
  if (shape == Shape::per_row && given.extents[last] == 1 && !is_vector_of_batches)
    return without(given, last);
  if (shape == Shape::per_column && given.extents[last - 1] == 1) return without(given, last - 1);
  return given;
}

/// What a text says of its tensors before it is parsed.
struct NamesInText {
  /// Tables, and what chooses their rows.
  std::vector<std::pair<std::string_view, std::string_view>> tables = {};
  std::vector<std::string_view> assigned = {};
};

NamesInText names_in(std::string_view text) {
  const auto skip = [text](std::size_t at, auto is_one) {
    while (at < text.size() && is_one(static_cast<unsigned char>(text[at]))) ++at;
    return at;
  };
  const auto is_space = [](int c) { return std::isspace(c) != 0; };
  const auto is_part = [](int c) { return std::isalnum(c) != 0 || c == '_'; };
  const auto starts_with = [&](std::size_t at, char c) { return at < text.size() && text[at] == c; };
  NamesInText names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = skip(at, is_part);
    const std::string_view name = text.substr(at, end - at);
    const std::size_t behind = skip(end, is_space);
    at = std::max(end, at + 1);
    if (name.empty()) continue;
    if (starts_with(behind, '=') && !starts_with(behind + 1, '=')) names.assigned.push_back(name);
    if (!starts_with(behind, '[')) continue;
    const std::size_t index = skip(behind + 1, is_space);
    const std::size_t index_end = skip(index, is_part);
    if (index_end > index && starts_with(skip(index_end, is_space), ']'))
      names.tables.emplace_back(name, text.substr(index, index_end - index));
  }
  return names;
}

/// The value of an operand. @param name what it is for, in a message
Value operand_of(nb::handle given, std::string_view name) {
  Operand operand;
  if (nb::try_cast(given, operand)) return operand.value;
  const nb::object type = given.type().attr("__name__");
  throw nb::type_error((std::string(name) + ": expected values of an expression and numbers, got " +
                        nb::cast<std::string>(type))
                           .c_str());
}

/// The tensors of an expression, by what Python gave.
class Binder {
 public:
  Binder(const ExpressionSource& given, const ExpressionPlace& place, OperationArguments& arguments)
      : place_(place), arguments_(arguments) {
    for (const auto& [name, value] : given.tensors) add(nb::cast<std::string>(name), value);
    for (expression::Tensor& tensor : declared_.tensors) {
      if (tensor.dtype == DType::none) tensor.dtype = number_type();
    }
    declared_.sum = place.sums;
  }

  BoundExpression from_text(const std::string& text) {
    const NamesInText names = names_in(text);
    for (const auto& [table, index] : names.tables) {
      declare(table, Shape::gathered);
      declare(index, Shape::per_row);
    }
    for (const std::string_view name : names.assigned) declare_output(name);
    return finish(value_of(Expression::parse(text, declared_)));
  }

  /// Calls the function with values and takes what it returns.
  BoundExpression from_function(nb::handle function) {
    const auto indices = std::make_shared<IndexNames>();
    nb::dict returned = traced(function, indices);
    const bool is_new = std::ranges::any_of(*indices, [&](const std::string& name) {
      const auto found = std::ranges::find(declared_.tensors, name, &expression::Tensor::name);
      return found != declared_.tensors.end() && found->shape != Shape::per_row;
    });
    if (is_new) {  // as values, too, indices are of rows, which the first call did not know
      for (const std::string& name : *indices) declare(name, Shape::per_row);
      returned = traced(function, indices);
    }
    std::vector<expression::NamedValue> outputs;
    for (const auto& [key, value] : returned) {
      if (!nb::isinstance<nb::str>(key))
        throw nb::type_error(
            ("expression: expected a dict of names, and one is of " + class_name(key)).c_str());
      const auto name = nb::cast<std::string>(key);
      outputs.push_back(output(name, operand_of(value, name)));
    }
    return finish(value_of(Expression::make(outputs)));
  }

 private:
  /// What a function returns for values of the tensors. @param indices gets the names of those that choose
  /// rows
  nb::dict traced(nb::handle function, const std::shared_ptr<IndexNames>& indices) const {
    nb::dict values;
    for (const expression::Tensor& tensor : declared_.tensors)
      values[text(tensor.name)] = TensorValue(tensor, indices);
    const nb::object sums = place_.sums == DType::none ? nb::none() : nb::cast(expression::sum(place_.sums));
    const nb::object trace = nb::module_::import_("quarry._tracing").attr("trace");
    return nb::cast<nb::dict>(trace(function, sums, values));
  }

  void add(const std::string& name, nb::handle given) {
    if (const std::optional<double> number = number_of(given, name.c_str())) {
      tensors_.push_back({name, {}, *number});
      const DType type = nb::hasattr(given, "dtype") && !PyFloat_Check(given.ptr())
                             ? find_dtype(given.attr("dtype")).value_or(DType::none)
                             : DType::none;
      declared_.tensors.push_back({name, type, Shape::scalar});
      return;
    }
    const bool is_out = given.is(place_.out_owner);
    if (is_out) names_of_out_.push_back(name);
    if (!is_out)
      check_dtype(given, name.c_str(),
                  "an element type of quarry.DType, int32 for a tensor that chooses rows");
    TensorView view = is_out ? place_.out : arguments_.keep(with_rank(given), name.c_str());
    views_.push_back({name, view});
    const Shape shape = take_shape(view, place_.out, place_.sums != DType::none);
    tensors_.push_back({name, view});
    declared_.tensors.push_back({name, view.dtype, shape});
  }

  /// Gives a tensor another shape than its extents tell.
  void declare(std::string_view name, std::optional<Shape> shape) {
    const auto found = std::ranges::find(declared_.tensors, name, &expression::Tensor::name);
    if (found != declared_.tensors.end()) found->shape = shape;
  }

  void declare_output(std::string_view name) {
    const auto found = std::ranges::find(views_, name, &ExpressionTensor::name);
    if (found != views_.end()) declare(name, output_shape(found->view));
  }

  /// Gives outputs, tables and what chooses their rows the extents that their shapes ask for.
  void restore_views(const Expression& expression) {
    for (const auto& [tensor, extent] : expression.outputs()) {
      const auto given = std::ranges::find(views_, tensor.name, &ExpressionTensor::name);
      const auto bound = std::ranges::find(tensors_, tensor.name, &ExpressionTensor::name);
      if (given != views_.end() && bound != tensors_.end())
        bound->view = output_view(given->view, *tensor.shape, place_.out);
    }
    for (const expression::Tensor& input : expression.inputs()) {
      const bool is_table = input.shape == Shape::gathered;
      if (!is_table && (input.shape != Shape::per_row || input.dtype != DType::s32)) continue;
      const auto given = std::ranges::find(views_, input.name, &ExpressionTensor::name);
      if (given == views_.end()) continue;
      std::ranges::find(tensors_, input.name, &ExpressionTensor::name)->view =
          is_table ? given->view : index_view(given->view);
    }
  }

  DType number_type() const {
    const auto is_double = [](const ExpressionTensor& t) { return t.view.dtype == DType::f64; };
    if (place_.sums != DType::none) return place_.sums == DType::f64 ? DType::f64 : DType::f32;
    return std::ranges::any_of(tensors_, is_double) ? DType::f64 : DType::f32;
  }

  /// A function's output, with the type of its tensor.
  expression::NamedValue output(const std::string& name, Value value) const {
    const auto found = std::ranges::find(declared_.tensors, name, &expression::Tensor::name);
    if (is_name_of_out(name)) return {"out", std::move(value)};
    if (found == declared_.tensors.end()) return {name, std::move(value)};
    const auto given = std::ranges::find(views_, name, &ExpressionTensor::name);
    return {name, std::move(value), found->dtype,
            given == views_.end() ? found->shape : output_shape(given->view)};
  }

  /// The output goes by the name `out`, and a GEMM's is not in the list. Outputs are written.
  BoundExpression finish(Expression expression) {
    const auto is_output = [&](const std::string& name) {
      return std::ranges::any_of(expression.outputs(), [&](const auto& o) { return o.tensor.name == name; });
    };
    std::erase_if(tensors_, [&](const ExpressionTensor& t) {
      return is_name_of_out(t.name) && !is_input(expression, t.name);
    });
    restore_views(expression);
    for (const ExpressionTensor& tensor : tensors_) {
      if (tensor.view.dtype != DType::none && is_output(tensor.name)) arguments_.check_written(tensor.name);
    }
    return {std::move(expression), std::move(tensors_)};
  }

  bool is_name_of_out(const std::string& name) const {
    return std::ranges::find(names_of_out_, name) != names_of_out_.end();
  }

  static bool is_input(const Expression& expression, std::string_view name) {
    return std::ranges::any_of(expression.inputs(), [&](const auto& t) { return t.name == name; });
  }

  const ExpressionPlace& place_;
  OperationArguments& arguments_;
  std::vector<std::string> names_of_out_;
  std::vector<ExpressionTensor> tensors_;
  /// Those that are no numbers, with the extents that they were given with.
  std::vector<ExpressionTensor> views_;
  expression::Declarations declared_;
};

/// The function or operator of this name, whose operands are values and numbers.
Value call(std::string_view name, const nb::args& given) {
  std::vector<Value> x;
  for (const nb::handle operand : given) x.push_back(operand_of(operand, name));
  switch (x.size()) {
    case 1: return expression::call(name, {x[0]});
    case 2: return expression::call(name, {x[0], x[1]});
    case 3: return expression::call(name, {x[0], x[1], x[2]});
    default: throw nb::type_error((std::string(name) + ": expected 1 to 3 operands").c_str());
  }
}

/// The row of a table that an index chooses.
Value row_of(const TensorValue& table, const TensorValue& index) {
  index.indices->insert(index.tensor.name);
  return gathered(expression::tensor(table.tensor.name, table.tensor.dtype, Shape::gathered),
                  expression::tensor(index.tensor.name, index.tensor.dtype, Shape::per_row));
}

bool no_truth(const Value&) {
  throw nb::type_error(
      "a value of an expression is neither true nor false when a function is traced: use select(condition, "
      "a, b), "
      "& for and, | for or, ~ for not, and min and max of quarry.expression");
}

using ValueClass = nb::class_<Value>;

void bind_arithmetic(ValueClass& value) {
  const auto flag = nb::is_operator();
  value
      .def(
          "__add__", [](const Value& a, const Operand& b) { return a + b.value; }, flag)
      .def(
          "__radd__", [](const Value& a, const Operand& b) { return b.value + a; }, flag)
      .def(
          "__sub__", [](const Value& a, const Operand& b) { return a - b.value; }, flag)
      .def(
          "__rsub__", [](const Value& a, const Operand& b) { return b.value - a; }, flag)
      .def(
          "__mul__", [](const Value& a, const Operand& b) { return a * b.value; }, flag)
      .def(
          "__rmul__", [](const Value& a, const Operand& b) { return b.value * a; }, flag)
      .def(
          "__truediv__", [](const Value& a, const Operand& b) { return a / b.value; }, flag)
      .def(
          "__rtruediv__", [](const Value& a, const Operand& b) { return b.value / a; }, flag)
      .def("__neg__", [](const Value& a) { return -a; })
      .def("__pos__", [](const Value& a) { return a; })
      .def("__abs__", [](const Value& a) { return expression::abs(a); });
}

void bind_conditions(ValueClass& value) {
  const auto flag = nb::is_operator();
  value
      .def(
          "__lt__", [](const Value& a, const Operand& b) { return a < b.value; }, flag)
      .def(
          "__le__", [](const Value& a, const Operand& b) { return a <= b.value; }, flag)
      .def(
          "__gt__", [](const Value& a, const Operand& b) { return a > b.value; }, flag)
      .def(
          "__ge__", [](const Value& a, const Operand& b) { return a >= b.value; }, flag)
      .def(
          "__eq__", [](const Value& a, const Operand& b) { return a == b.value; }, flag)
      .def(
          "__ne__", [](const Value& a, const Operand& b) { return a != b.value; }, flag)
      .def(
          "__and__", [](const Value& a, const Value& b) { return a && b; }, flag)
      .def(
          "__or__", [](const Value& a, const Value& b) { return a || b; }, flag)
      .def("__invert__", [](const Value& a) { return !a; })
      .def("__bool__", &no_truth);
}

}  // namespace

std::optional<double> number_of(nb::handle value, const char* name) {
  if (PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr())) {
    double number = 0;
    if (!nb::try_cast(value, number))
      throw nb::value_error((std::string(name) + ": the number is too large for Float64").c_str());
    return number;
  }
  const bool is_array = nb::hasattr(value, "__dlpack__") || nb::hasattr(value, "__cuda_array_interface__");
  if (is_array || !nb::hasattr(value, "__float__") || !nb::hasattr(value, "dtype")) return std::nullopt;
  // Numbers of numpy that are neither whole nor of a known type, such as complex ones.
  if (PyIndex_Check(value.ptr()) == 0 && !find_dtype(value.attr("dtype"))) return std::nullopt;
  return nb::cast<double>(value.attr("__float__")());
}

BoundExpression bound(const ExpressionSource& given, const ExpressionPlace& place,
                      OperationArguments& arguments) {
  Binder binder(given, place, arguments);
  if (nb::isinstance<nb::str>(given.source)) return binder.from_text(nb::cast<std::string>(given.source));
  if (PyCallable_Check(given.source.ptr()) != 0) return binder.from_function(given.source);
  throw nb::type_error("expression: expected a text or a function");
}

void bind_expressions(nb::module_& module) {
  ValueClass value(
      module, "Value",
      "A value while a function is traced into an expression: quarry.expression has its functions.");
  bind_arithmetic(value);
  bind_conditions(value);
  nb::class_<TensorValue, Value>(module, "TensorValue",
                                 "A tensor while a function is traced into an expression.")
      .def("__getitem__", &row_of, nb::arg("index"),
           "The row of this table that `index`, a tensor of int32 with a value for each row, chooses.");
  value.attr("__array_ufunc__") = nb::none();  // numbers of numpy leave operators to this class
  module.def("call", &call, nb::arg("name"), nb::arg("operands"),
             nb::sig("def call(name: str, *operands: Value | float) -> Value"),
             "The function that the language of expressions calls `name`, of values and numbers.");
}

}  // namespace quarry::python
