/// What the files of the extension module have in common. Each `bind_*` adds one part of the API.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string_view>

#include "quarry/quarry.hpp"

namespace quarry::python {

namespace nb = nanobind;

void bind_status(nb::module_& module);
void bind_types(nb::module_& module);
void bind_tensors(nb::module_& module);
void bind_layouts(nb::module_& module);
void bind_metadata(nb::module_& module);
void bind_arguments(nb::module_& module);
void bind_groups(nb::module_& module);
void bind_convolution(nb::module_& module);
void bind_epilogue(nb::module_& module);
void bind_expressions(nb::module_& module);
void bind_artifacts(nb::module_& module);
void bind_memory_pool(nb::module_& module);
void bind_kernels(nb::module_& module);
/// Plans, and how a kernel makes one.
void bind_plans(nb::module_& module, nb::class_<Kernel>& kernel);
void bind_on_device(nb::module_& module);
void bind_registry(nb::module_& module);
void bind_preparation(nb::module_& module);

/// Raises quarry.Error for a failure.
[[noreturn]] void raise(const Status& status);

/// Raises quarry.Error unless the call succeeded.
inline void check(const Status& status) {
  if (!status) raise(status);
}

/// The value, or quarry.Error.
template <class T>
T value_of(Result<T>&& result) {
  check(result.status());
  return *std::move(result);
}

/// A Python str of a view.
inline nb::str text(std::string_view view) { return nb::str(view.data(), view.size()); }

/// An element type as Python knows it, quarry.DType.
struct ElementType {
  DType type = DType::none;
};

/// An element type from quarry's own, from one of torch, numpy or ml_dtypes, or from a name. Raises TypeError
/// for others.
DType dtype_of(nb::handle dtype);

/// The CUDA stream of an object: None (the legacy default stream), an integer handle, a stream of torch or
/// CuPy, or an object with
/// `__cuda_stream__`. Raises TypeError for others.
CUstream_st* stream_of(nb::handle stream);

}  // namespace quarry::python
