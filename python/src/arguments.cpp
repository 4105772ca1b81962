#include "arguments.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "epilogue.hpp"
#include "expression.hpp"

namespace quarry::python {
namespace {

template <class T>
std::optional<T> parsed(const std::optional<std::string>& word, Result<T> (*parse)(std::string_view),
                        const char* name) {
  if (!word) return std::nullopt;
  return choice_of(parse(*word), name);
}

/// Raises ValueError unless the tensor is one element of this type in memory: it is given by its address
/// alone, so that no later check can see more of it.
void check_scalar(const TensorView& view, DType compute, const char* name) {
  const auto refuse = [name](const std::string& why) {
    throw nb::value_error((std::string(name) + ": " + why).c_str());
  };
  const auto is_one = [](std::int64_t extent) { return extent == 1; };
  if (view.is_pointer_array || !std::all_of(view.extents.begin(), view.extents.begin() + view.rank, is_one))
    refuse("expected a number or a tensor of one element");
  if (view.dtype != compute) {
    refuse("expected a tensor of " + std::string(to_string(compute)) + ", got " +
           std::string(to_string(view.dtype)));
  }
  if (view.data == nullptr) refuse("a fake tensor has no value");
}

/// alpha or beta: a number, or a tensor of one element that a run reads.
Scalar scalar(OperationArguments& arguments, nb::handle value, DType compute, const char* name) {
  if (const std::optional<double> number = number_of(value, name)) return *number;
  const TensorView view = arguments.keep(with_rank(value), name);
  check_scalar(view, compute, name);
  return Scalar::at(view.data);
}

class Gemm final : public OperationArguments {
 public:
  Gemm(nb::handle a, nb::handle b, nb::handle out, nb::handle accumulator, nb::handle epilogue,
       const Controls* controls, std::string_view math, std::string_view accumulation, const Scales& scales,
       nb::handle b_zero) {
    arguments_.a = keep(a, "A");
    arguments_.b = keep(b, "B");
    arguments_.out = keep(out, "out", true);
    if (!accumulator.is_none()) arguments_.accumulator = dtype_of(accumulator);
    take_scales(scales, *this, arguments_);
    arguments_.b_zero = keep_if(b_zero, "b_zero");
    take_epilogue(epilogue, out, *this, arguments_);
    if (controls != nullptr) arguments_.controls = *controls;
    arguments_.math = choice_of(parse_math(math), "math");
    arguments_.accumulation = choice_of(parse_accumulation(accumulation), "accumulation");
  }
  quarry::Arguments get() const override { return arguments_; }
  const Expression* expression() const override { return address_of(arguments_.expression); }

 private:
  GemmArguments arguments_;
};

class ReduceSplitK final : public OperationArguments {
 public:
  ReduceSplitK(nb::handle partials, nb::handle out, const PythonEpilogue* epilogue) {
    arguments_.partials = keep(partials, "partials");
    arguments_.out = keep(out, "out", true);
    if (epilogue == nullptr) return;
    if (epilogue->expression)
      throw nb::value_error("epilogue: a reduction takes the standard parts, and no expression");
    arguments_.c = keep_if(epilogue->c, "C");
    arguments_.epilogue =
        standard_epilogue(*this, *epilogue, compute_type(arguments_.partials.dtype, arguments_.out.dtype));
  }
  quarry::Arguments get() const override { return arguments_; }

 private:
  ReduceSplitKArguments arguments_;
};

class Elementwise final : public OperationArguments {
 public:
  Elementwise(const nb::object& expression, const nb::dict& tensors)
      : arguments_(made(*this, expression, tensors)) {}
  quarry::Arguments get() const override { return arguments_; }
  const Expression* expression() const override { return &arguments_.expression; }

 private:
  static ElementwiseArguments made(OperationArguments& self, const nb::object& expression,
                                   const nb::dict& tensors) {
    if (!tensors.contains("out")) throw nb::type_error("out: expected a tensor, got nothing");
    const TensorView out = hold(tensors["out"], "out", true).view;
    BoundExpression expressed = bound({expression, tensors}, {.out = out}, self);
    return {std::move(expressed.expression), std::move(expressed.tensors)};
  }

  ElementwiseArguments arguments_;
};

class Reorder final : public OperationArguments {
 public:
  Reorder(nb::handle from, nb::handle to)
      : arguments_{.from = keep(from, "from"), .to = keep(to, "to", true)} {}
  quarry::Arguments get() const override { return arguments_; }

 private:
  ReorderArguments arguments_;
};

using Word = std::optional<std::string>;

/// Controls as their parameters.
using ControlsState = std::tuple<Word, std::optional<int>, std::optional<int>, Word, std::optional<int>>;

template <class Choice>
Word word_of(const std::optional<Choice>& choice) {
  return choice ? Word(to_string(*choice)) : std::nullopt;
}

ControlsState state_of(const Controls& self) {
  return {word_of(self.mode), self.split_k_slices, self.swizzle, word_of(self.raster), self.multiprocessors};
}

Controls controls_of(const ControlsState& state) {
  const auto& [mode, slices, swizzle, raster, multiprocessors] = state;
  return {parsed(mode, &parse_mode, "mode"), slices, swizzle, parsed(raster, &parse_raster, "raster"),
          multiprocessors};
}

/// "quarry.Controls(mode='stream_k', swizzle=2)"
std::string shown(const Controls& self) {
  std::string set;
  const auto add = [&set](const char* name, const std::string& value) {
    set += (set.empty() ? "" : ", ") + std::string(name) + "=" + value;
  };
  const auto add_number = [&add](const char* name, const std::optional<int>& value) {
    if (value) add(name, std::to_string(*value));
  };
  if (self.mode) add("mode", "'" + std::string(to_string(*self.mode)) + "'");
  add_number("split_k_slices", self.split_k_slices);
  add_number("swizzle", self.swizzle);
  if (self.raster) add("raster", "'" + std::string(to_string(*self.raster)) + "'");
  add_number("multiprocessors", self.multiprocessors);
  return "quarry.Controls(" + set + ")";
}

void bind_controls(nb::module_& module) {
  nb::class_<Controls>(module, "Controls",
                       "Run-time performance choices; the registry chooses those that are None.")
      .def(
          "__init__",
          [](Controls* self, const Word& mode, std::optional<int> slices, std::optional<int> swizzle,
             const Word& raster, std::optional<int> multiprocessors) {
            new (self) Controls(controls_of({mode, slices, swizzle, raster, multiprocessors}));
          },
          nb::kw_only(), nb::arg("mode") = nb::none(), nb::arg("split_k_slices") = nb::none(),
          nb::arg("swizzle") = nb::none(), nb::arg("raster") = nb::none(),
          nb::arg("multiprocessors") = nb::none())
      .def("__repr__", nb::overload_cast<const Controls&>(&shown))
      .def("__getstate__", nb::overload_cast<const Controls&>(&state_of))
      .def("__setstate__",
           [](Controls& self, const ControlsState& state) { new (&self) Controls(controls_of(state)); })
      .def_prop_ro("mode", [](const Controls& self) { return word_of(self.mode); })
      .def_ro("split_k_slices", &Controls::split_k_slices)
      .def_ro("swizzle", &Controls::swizzle)
      .def_prop_ro("raster", [](const Controls& self) { return word_of(self.raster); })
      .def_ro("multiprocessors", &Controls::multiprocessors);
}

void make_gemm(Gemm* self, nb::handle a, nb::handle b, nb::handle out, nb::handle accumulator,
               nb::handle epilogue, const Controls* controls, std::string_view math, nb::handle a_scale,
               std::string_view a_granularity, nb::handle b_scale, std::string_view b_granularity,
               nb::handle b_zero, std::string_view accumulation) {
  new (self) Gemm(a, b, out, accumulator, epilogue, controls, math, accumulation,
                  {a_scale, a_granularity, b_scale, b_granularity}, b_zero);
}

void bind_gemm(nb::module_& module) {
  nb::class_<Gemm, OperationArguments> gemm(
      module, "GemmArguments",
      "out (M x N) = epilogue(A (M x K) times B (K x N)); of rank 3, with a batch L in front.\n\n"
      "a_scale and b_scale are matrices of Float32: the value of an element is the stored number times its "
      "scale. Their\n"
      "granularities are \"tensor\", \"row\" (of A), \"column\" (of B), \"1x128\", \"1x64\", \"1x32\" and "
      "\"128x128\" (of B).\n"
      "b_zero is a matrix of UInt8 beside b_scale, of its extents: zero points of unsigned weights, which "
      "are "
      "taken off\n"
      "the stored numbers before the scale.\n"
      "accumulation is \"fast\" or \"precise\": where sums of Float8 operands are added up.");
  gemm.def("__init__", &make_gemm, nb::arg("A").none(), nb::arg("B").none(), nb::arg("out").none(),
           nb::arg("accumulator_type") = nb::none(), nb::arg("epilogue") = nb::none(),
           nb::arg("performance") = nb::none(), nb::arg("math") = "exact", nb::kw_only(),
           nb::arg("a_scale") = nb::none(), nb::arg("a_scale_granularity") = "tensor",
           nb::arg("b_scale") = nb::none(), nb::arg("b_scale_granularity") = "tensor",
           nb::arg("b_zero") = nb::none(), nb::arg("accumulation") = "fast",
           nb::sig("def __init__(self, A: object, B: object, out: object, accumulator_type: object = None, "
                   "epilogue: EpilogueArguments | str | collections.abc.Callable[..., object] | None = None, "
                   "performance: Controls | None = None, math: str = 'exact', *, a_scale: object = None, "
                   "a_scale_granularity: str = 'tensor', b_scale: object = None, b_scale_granularity: str = "
                   "'tensor', b_zero: object = None, accumulation: str = 'fast') -> None"));
  bind_product(gemm);
}

void bind_others(nb::module_& module) {
  nb::class_<ReduceSplitK, OperationArguments> reduction(
      module, "ReduceSplitKArguments",
      "out = epilogue(partials[0] + partials[1] + ...): partial sums of a GEMM, slices in front.");
  reduction.def(
      nb::init<nb::handle, nb::handle, const PythonEpilogue*>(), nb::arg("partials").none(),
      nb::arg("out").none(), nb::arg("epilogue") = nb::none(),
      nb::sig("def __init__(self, partials: object, out: object, epilogue: EpilogueArguments | None = "
              "None) -> None"));
  bind_given(reduction, {{"partials", "partials", "def partials(self) -> object"}, out_property});
  nb::class_<Elementwise, OperationArguments> elementwise(
      module, "ElementwiseArguments",
      "An expression of tensors alone, a text or a function of them; its tensors and numbers by name, with "
      "`out`.");
  elementwise
      .def(
          "__init__",
          [](Elementwise* self, const nb::object& expression, const nb::kwargs& tensors) {
            new (self) Elementwise(expression, tensors);
          },
          nb::arg(), nb::arg("tensors"),
          nb::sig("def __init__(self, expression: str | collections.abc.Callable[..., object], /, **tensors: "
                  "object) -> None"))
      .def_prop_ro(
          "expression", [](const Elementwise& self) { return self.expression()->text(); },
          nb::sig("def expression(self) -> str"), "The expression as text.");
  bind_given(elementwise, {out_property});
  nb::class_<Reorder, OperationArguments> reorder(module, "ReorderArguments",
                                                  "to = from: a copy from one layout to another.");
  reorder.def(nb::init<nb::handle, nb::handle>(), nb::arg("from_").none(), nb::arg("to").none(),
              nb::sig("def __init__(self, from_: object, to: object) -> None"));
  bind_given(reorder,
             {{"from_", "from", "def from_(self) -> object"}, {"to", "to", "def to(self) -> object"}});
}

}  // namespace

Epilogue standard_epilogue(OperationArguments& arguments, const PythonEpilogue& given, DType compute) {
  Epilogue epilogue;
  epilogue.alpha = scalar(arguments, given.alpha, compute, "alpha");
  epilogue.beta = scalar(arguments, given.beta, compute, "beta");
  epilogue.activation = given.activation;
  epilogue.leaky_slope = given.leaky_slope;
  epilogue.bias = arguments.keep_if(given.bias, "bias");
  epilogue.bias_axis = given.bias_axis;
  epilogue.scale = arguments.keep_if(given.scale, "scale");
  epilogue.scale_axis = given.scale_axis;
  epilogue.residual = arguments.keep_if(given.residual, "residual");
  epilogue.aux = arguments.keep_if(given.aux, "aux", true);
  epilogue.clamp = given.clamp;
  return epilogue;
}

const OperationArguments& arguments_of(nb::handle object, const char* name) {
  const OperationArguments* arguments = nullptr;
  if (nb::try_cast(object, arguments) && arguments != nullptr) return *arguments;
  const std::string found = nb::cast<std::string>(nb::str(object.type().attr("__name__")));
  throw nb::type_error(
      (std::string(name) + ": expected arguments of an operation, such as GemmArguments, got " + found)
          .c_str());
}

nb::object OperationArguments::owner(std::string_view name) const {
  for (const auto& [known, held] : held_) {
    if (known == name) return held.owner;
  }
  return nb::none();
}

Memory OperationArguments::memory() const {
  for (const auto& [name, held] : held_) {
    if (held.view.data != nullptr) return held.view.memory;
  }
  return {};
}

bool OperationArguments::has_torch() const {
  return std::ranges::any_of(held_, [](const auto& each) {
    const nb::object module = nb::getattr(each.second.owner.type(), "__module__", nb::none());
    return nb::isinstance<nb::str>(module) && nb::cast<std::string>(module).starts_with("torch");
  });
}

TensorView OperationArguments::keep(nb::handle tensor, const char* name, bool written) {
  held_.emplace_back(name, hold(tensor, name, written));
  return held_.back().second.view;
}

std::optional<TensorView> OperationArguments::keep_if(nb::handle tensor, const char* name, bool written) {
  if (!tensor.is_valid() || tensor.is_none()) return std::nullopt;
  return keep(tensor, name, written);
}

TensorView OperationArguments::keep_int32(nb::handle tensor, const char* name) {
  check_dtype(tensor, name, "int32");
  return keep(tensor, name);
}

void OperationArguments::check_written(std::string_view name) const {
  for (const auto& [known, held] : held_) {
    if (known == name) hold(held.owner, known.c_str(), true);
  }
}

void bind_arguments(nb::module_& module) {
  bind_controls(module);
  nb::class_<OperationArguments>(
      module, "Arguments", "Arguments of one operation. They keep their tensors alive and copy nothing.")
      .def_prop_ro(
          "expression",
          [](const OperationArguments& self) {
            const Expression* const expression = self.expression();
            return expression != nullptr ? nb::object(nb::cast(expression->text())) : nb::none();
          },
          nb::sig("def expression(self) -> str | None"),
          "The text of the expression; None for arguments without an expression.");
  bind_gemm(module);
  bind_groups(module);
  bind_convolution(module);
  bind_others(module);
}

}  // namespace quarry::python
