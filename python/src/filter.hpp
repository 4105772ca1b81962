/// Filters of Python, and the device models that queries rank for.
#pragma once

#include <nanobind/stl/string.h>

#include <atomic>
#include <exception>
#include <string>

#include "bindings.hpp"

namespace quarry::python {

/// A filter of Python: text, or a callable on KernelMetadata. What the callable raises is kept and comes out
/// of the query unchanged.
class PythonFilter {
 public:
  explicit PythonFilter(nb::handle given) : callable_(nb::borrow(given)) {
    if (given.is_none()) return;
    if (nb::isinstance<nb::str>(given)) {
      filter_ = value_of(Filter::parse(nb::cast<std::string>(given)));
    } else if (PyCallable_Check(given.ptr()) != 0) {
      filter_ = Filter([this](const KernelMetadata& kernel) { return ask(kernel); });
    } else {
      throw nb::type_error("metadata_filter: expected a text or a callable");
    }
  }
  PythonFilter(const PythonFilter&) = delete;
  PythonFilter& operator=(const PythonFilter&) = delete;

  const Filter& get() const { return filter_; }
  /// Raises what the callable raised.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  bool ask(const KernelMetadata& kernel) {
    if (has_raised_) return false;
    const nb::gil_scoped_acquire held;  // warm_up asks from a thread without it
    try {
      return nb::cast<bool>(nb::bool_(callable_(nb::cast(&kernel, nb::rv_policy::reference))));
    } catch (...) {
      if (!has_raised_) raised_ = std::current_exception();
      has_raised_ = true;
      return false;
    }
  }

  nb::object callable_;
  Filter filter_;
  std::atomic<bool> has_raised_ = false;
  std::exception_ptr raised_;
};

/// A device model of a compute capability: the default one where it has that, else a built-in one. Raises
/// ValueError where there is none.
const DeviceModel& model_of(int cc);

}  // namespace quarry::python
