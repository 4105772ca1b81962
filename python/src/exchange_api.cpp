/// Tensors whose type has the C exchange API of DLPack (1.3): a function fills the fields, without an object
/// of Python between.
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>

#include "tensor.hpp"

namespace quarry::python {
namespace {

/// The table that a type's capsule points to, as DLPack lays it out. Functions of which this module calls
/// none are plain pointers.
struct ExchangeTable {
  std::uint32_t major, minor;
  const ExchangeTable* previous;  ///< of an older version
  void* allocate;
  void* make_owned;
  void* make_object;
  /// Fills a view that lives as long as the object; 0, or -1 with an exception of Python. May be null.
  int (*view)(void* object, nb::dlpack::dltensor* tensor);
  void* stream;
};

/// The newest table of a version that this module knows; null without one.
const ExchangeTable* known_version(const ExchangeTable* table) {
  constexpr std::uint32_t known = 1;
  while (table != nullptr && table->major != known) table = table->previous;
  return table != nullptr && table->view != nullptr ? table : nullptr;
}

/// The table of a type; null where it has none. Types of torch are left out: their tensors have views of
/// their own, and values that are more than numbers in memory.
const ExchangeTable* find_table(nb::handle type) {
  if (nb::hasattr(type, "requires_grad")) return nullptr;
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  constexpr const char* name = "dlpack_exchange_api";
  if (PyCapsule_IsValid(capsule.ptr(), name) == 0) return nullptr;
  return known_version(static_cast<const ExchangeTable*>(PyCapsule_GetPointer(capsule.ptr(), name)));
}

/// The same, remembered for the type that was asked about last.
const ExchangeTable* table_of(nb::handle type) {
  static PyObject* last = nullptr;
  static const ExchangeTable* table = nullptr;
  if (type.ptr() == last) return table;
  table = find_table(type);
  Py_XDECREF(last);
  last = type.inc_ref().ptr();  // so that no other type gets its address
  return table;
}

}  // namespace

std::optional<TensorView> view_by_exchange(nb::handle tensor, const char* name) {
  const ExchangeTable* const table = table_of(tensor.type());
  if (table == nullptr) return std::nullopt;
  nb::dlpack::dltensor fields;
  if (table->view(tensor.ptr(), &fields) != 0) {
    if (PyErr_Occurred() == nullptr)
      throw nb::type_error((std::string(name) + ": its library gave no view").c_str());
    throw nb::python_error();
  }
  const Result<TensorView> view = detail::from_dlpack(
      {fields.data, fields.device.device_type, fields.device.device_id, fields.ndim, fields.dtype.code,
       fields.dtype.bits, fields.dtype.lanes, fields.shape, fields.strides, fields.byte_offset});
  if (!view) throw nb::value_error((name + (": " + view.status().message())).c_str());
  return *view;
}

}  // namespace quarry::python
