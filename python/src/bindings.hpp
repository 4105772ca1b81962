/// What the files of the extension module have in common. Each `bind_*` adds one part of the API.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
/// What is predicted of a kernel, and its export.
void bind_account(nb::module_& module, nb::class_<Kernel>& kernel);
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

/// The choice that a word of the caller names, or ValueError with the name of the argument.
template <class T>
T choice_of(Result<T>&& parsed, const char* name) {
  if (!parsed) throw nb::value_error((std::string(name) + ": " + parsed.status().message()).c_str());
  return *std::move(parsed);
}

/// The text of a path: a str, bytes or an object with __fspath__. Raises TypeError for others.
std::string path_of(nb::handle path);

/// The name of an object's class.
std::string class_name(nb::handle object);

/// How many elements an object has; nothing for one that has no length, such as an array of rank 0.
std::optional<std::size_t> length_of(nb::handle object);

/// A whole number of Python, numpy or another library; nothing for all else, and for more than 64 bits.
std::optional<std::int64_t> whole_number(nb::handle value);

/// Appends the numbers of a list or an array, and of those in it, in order. Raises TypeError or ValueError,
/// with the name, for all else.
void append_whole_numbers(nb::handle value, const char* name, std::vector<std::int32_t>& numbers);

/// A Python str of a view.
inline nb::str text(std::string_view view) { return nb::str(view.data(), view.size()); }

/// An element type as Python knows it, quarry.DType.
struct ElementType {
  DType type = DType::none;
};

/// An element type from quarry's own, from one of torch, numpy or ml_dtypes, or from a name. Raises TypeError
/// for others.
DType dtype_of(nb::handle dtype);
/// The same without a failure: nothing for others.
std::optional<DType> find_dtype(nb::handle dtype);
/// The name of an element type of any library: "int64" of numpy.int64 and of torch.int64.
std::string name_of_dtype(nb::handle dtype);

/// The CUDA stream of an object: None (the legacy default stream), an integer handle, a stream of torch or
/// CuPy, or an object with
/// `__cuda_stream__`. Raises TypeError for others.
CUstream_st* stream_of(nb::handle stream);

}  // namespace quarry::python
