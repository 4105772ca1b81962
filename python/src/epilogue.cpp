#include "epilogue.hpp"

#include <nanobind/stl/string_view.h>

#include <string>

namespace quarry::python {
namespace {

BiasAxis axis_of(std::string_view word, const char* name) {
  if (word == "row") return BiasAxis::row;
  if (word == "column") return BiasAxis::column;
  throw nb::value_error(
      (std::string(name) + ": expected \"row\" or \"column\", got \"" + std::string(word) + "\"").c_str());
}

Clamp clamp_of(nb::handle bounds) {
  Clamp clamp;
  if (bounds.is_none()) return clamp;
  if (!nb::isinstance<nb::sequence>(bounds) || nb::len(bounds) != 2)
    throw nb::type_error("clamp: expected a pair (low, high)");
  const nb::object low = bounds[0];
  const nb::object high = bounds[1];
  const auto take = [](nb::handle bound, double& into) {
    if (!bound.is_none() && !nb::try_cast(bound, into))
      throw nb::type_error(("clamp: expected numbers or None, got " + class_name(bound)).c_str());
  };
  take(low, clamp.low);
  take(high, clamp.high);
  return clamp;
}

template <class Source>
void make_expression(PythonEpilogue* self, Source source, const nb::kwargs& tensors) {
  new (self) PythonEpilogue{.expression = ExpressionSource{std::move(source), nb::dict(tensors)}};
}

void make_standard(PythonEpilogue* self, nb::object alpha, nb::object beta, nb::object C,
                   std::string_view activation, float leaky_slope, nb::object bias,
                   std::string_view bias_axis, nb::object scale, std::string_view scale_axis,
                   nb::object residual, nb::object aux, nb::handle clamp) {
  const Activation function = choice_of(parse_activation(activation), "activation");
  const BiasAxis along_bias = axis_of(bias_axis, "bias_axis");
  const BiasAxis along_scale = axis_of(scale_axis, "scale_axis");
  const Clamp bounds = clamp_of(clamp);
  new (self) PythonEpilogue{std::move(alpha), std::move(beta),     std::move(C),   std::move(bias),
                            std::move(scale), std::move(residual), std::move(aux), function,
                            leaky_slope,      along_bias,          along_scale,    bounds};
}

/// What an epilogue refers to. A function may refer to the epilogue, as both may be in a dictionary of names:
/// the garbage collector finds such cycles.
template <class Visit>
int visit_objects(PythonEpilogue& epilogue, Visit visit) {
  for (nb::object* const object : {&epilogue.alpha, &epilogue.beta, &epilogue.c, &epilogue.bias,
                                   &epilogue.scale, &epilogue.residual, &epilogue.aux}) {
    if (const int stop = visit(*object)) return stop;
  }
  if (!epilogue.expression) return 0;
  if (const int stop = visit(epilogue.expression->source)) return stop;
  return visit(epilogue.expression->tensors);
}

int traverse(PyObject* self, visitproc visitor, void* state) {
  if (const int stop = visitor(reinterpret_cast<PyObject*>(Py_TYPE(self)), state)) return stop;
  if (!nb::inst_ready(self)) return 0;
  const auto visit = [&](nb::object& object) { return object.is_valid() ? visitor(object.ptr(), state) : 0; };
  return visit_objects(*nb::inst_ptr<PythonEpilogue>(self), visit);
}

int clear(PyObject* self) {
  return visit_objects(*nb::inst_ptr<PythonEpilogue>(self), [](nb::object& object) {
    object.reset();
    return 0;
  });
}

const PyType_Slot collected[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                                 {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                                 {0, nullptr}};

}  // namespace

PythonEpilogue epilogue_of(nb::handle given) {
  if (nb::isinstance<PythonEpilogue>(given)) return nb::cast<const PythonEpilogue&>(given);
  if (!nb::isinstance<nb::str>(given) && PyCallable_Check(given.ptr()) == 0)
    throw nb::type_error("epilogue: expected EpilogueArguments, the text of an expression, or a function");
  return {.expression = ExpressionSource{nb::borrow(given), nb::dict()}};
}

void bind_epilogue(nb::module_& module) {
  nb::class_<PythonEpilogue>(
      module, "EpilogueArguments", nb::type_slots(collected),
      "z = alpha * scale * (A x B) + beta * C + bias; out = clamp(activation(z) + residual); aux = z.\n\n"
      "alpha and beta are numbers, or tensors of one element that a run reads: Float64 for sums of Float64, "
      "Int32 for sums of Int32 with an output of Int32, else Float32. bias and scale are vectors "
      "along an\n"
      "axis (\"row\": a value for each row). clamp is a pair (low, high), None for no bound.\n\n"
      "Or an expression in its place, compiled into the kernel: a text, or a function of the sums and of "
      "tensors; its\n"
      "tensors and numbers are given by their names.")
      .def("__init__", &make_expression<nb::str>, nb::arg(), nb::arg("tensors"),
           nb::sig("def __init__(self, expression: str, /, **tensors: object) -> None"))
      .def("__init__", &make_expression<nb::callable>, nb::arg(), nb::arg("tensors"),
           nb::sig("def __init__(self, expression: collections.abc.Callable[..., object], /, **tensors: "
                   "object) -> None"))
      .def("__init__", &make_standard, nb::arg("alpha") = 1.0, nb::arg("beta") = 0.0, nb::kw_only(),
           nb::arg("C") = nb::none(), nb::arg("activation") = "identity", nb::arg("leaky_slope") = 0.01F,
           nb::arg("bias") = nb::none(), nb::arg("bias_axis") = "column", nb::arg("scale") = nb::none(),
           nb::arg("scale_axis") = "column", nb::arg("residual") = nb::none(), nb::arg("aux") = nb::none(),
           nb::arg("clamp") = nb::none())
      .def_prop_ro(
          "expression",
          [](const PythonEpilogue& self) { return self.expression ? self.expression->source : nb::none(); },
          nb::sig("def expression(self) -> object"),
          "The text or the function; None for the standard parts.");
}

}  // namespace quarry::python
