#include <nanobind/stl/string.h>

#include <exception>
#include <typeinfo>

#include "bindings.hpp"

namespace quarry::python {
namespace {

/// quarry.Error, kept for the life of the process.
PyObject* error_class = nullptr;

nb::object error_text(const Status& status) {
  if (status) return nb::none();
  return nb::cast(status.message());
}

}  // namespace

void raise(const Status& status) {
  const nb::object error = nb::borrow(error_class)(nb::cast(status.message()));
  error.attr("code") = text(to_string(status.code()));
  error.attr("operand") = text(to_string(status.operand()));
  PyErr_SetObject(error_class, error.ptr());
  throw nb::python_error();
}

void bind_status(nb::module_& module) {
  error_class =
      PyErr_NewExceptionWithDoc("quarry.Error",
                                "A call that failed. `code` is the kind of failure (\"unsupported\", "
                                "\"invalid_arguments\", ...); `operand` is the operand at\n"
                                "fault, or \"none\".",
                                PyExc_RuntimeError, nullptr);
  module.attr("Error") = nb::borrow(error_class);

  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const std::bad_cast&) {  // in what a caller's object says of itself
      PyErr_SetString(PyExc_TypeError, "an attribute or element has a type that was not expected");
    }
  });

  nb::class_<Status>(module, "Status", "The outcome of a question: true, or false with an `error`.")
      .def("__bool__", [](const Status& status) { return static_cast<bool>(status); })
      .def("__repr__", [](const Status& status) { return "<Status: " + status.message() + ">"; })
      .def_prop_ro("error", error_text, nb::sig("def error(self) -> str | None"),
                   "Why not, in one line; None if true.")
      .def_prop_ro(
          "code", [](const Status& status) { return text(to_string(status.code())); },
          "The kind of outcome: \"ok\", \"unsupported\", ...")
      .def_prop_ro(
          "operand", [](const Status& status) { return text(to_string(status.operand())); },
          "The operand at fault, or \"none\".");
}

}  // namespace quarry::python
