/// Plain values of Python: numbers, and paths.
#include <limits>
#include <string>

#include "bindings.hpp"

namespace quarry::python {

std::string path_of(nb::handle path) {
  const auto bytes = nb::cast<nb::bytes>(nb::module_::import_("os").attr("fsencode")(path));
  return {bytes.c_str(), bytes.size()};
}

std::string class_name(nb::handle object) {
  return nb::cast<std::string>(nb::object(object.type().attr("__name__")));
}

std::optional<std::size_t> length_of(nb::handle object) {
  const Py_ssize_t length = PyObject_Size(object.ptr());
  if (length >= 0) return static_cast<std::size_t>(length);
  PyErr_Clear();
  return std::nullopt;
}

std::optional<std::int64_t> whole_number(nb::handle value) {
  // An array of one element would do as an index, too.
  if (length_of(value) || PyIndex_Check(value.ptr()) == 0) return std::nullopt;
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  std::int64_t whole = 0;
  if (number.is_valid() && nb::try_cast(number, whole, false)) return whole;
  PyErr_Clear();  // a number that is not whole, or too large
  return std::nullopt;
}

void append_whole_numbers(nb::handle value, const char* name, std::vector<std::int32_t>& numbers) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (const std::optional<std::int64_t> whole = whole_number(value)) {
    if (*whole < Limits::min() || *whole > Limits::max())
      throw nb::value_error(
          (std::string(name) + ": expected numbers of 32 bits, got " + std::to_string(*whole)).c_str());
    numbers.push_back(static_cast<std::int32_t>(*whole));
    return;
  }
  if (!length_of(value) || nb::isinstance<nb::str>(value))
    throw nb::type_error((std::string(name) + ": expected whole numbers, got " + class_name(value)).c_str());
  if (Py_EnterRecursiveCall(" in nested sequences of numbers") != 0) throw nb::python_error();
  try {
    for (const nb::handle each : value) append_whole_numbers(each, name, numbers);
  } catch (...) {
    Py_LeaveRecursiveCall();
    throw;
  }
  Py_LeaveRecursiveCall();
}

}  // namespace quarry::python
