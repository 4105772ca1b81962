/// Operands that plain tensors cannot say: arrays of pointers, interleaved matrices, and half bytes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor.hpp"

namespace quarry::python {
namespace {

/// Matrices anywhere in memory, as Python gives them.
struct PointerArray {
  /// Whole numbers of 64 bits; None: a fake array.
  nb::object pointers;
  DType dtype;
  /// Entries, rows, columns.
  std::vector<std::int64_t> shape;
  /// Of a matrix, in elements; none: packed rows.
  std::optional<std::vector<std::int64_t>> strides;
  int alignment;
};

/// A packed tensor of the elements of an interleaved matrix, or of a batch of them.
struct Interleaved {
  nb::object elements;
  std::vector<std::int64_t> shape;
  LayoutTag tag;
};

[[noreturn]] void refuse(const char* name, const std::string& why) {
  throw nb::value_error((name + (": " + why)).c_str());
}

/// Holds the addresses; their view, as if they were numbers of a type that DLPack shares with views.
TensorView hold_addresses(const PointerArray& array, const char* name, Held& held) {
  const bool is_imported = nb::try_cast(array.pointers, held.memory, false);
  if (!is_imported) PyErr_Clear();
  const auto is_integer = [](const nb::dlpack::dtype& type) {
    return type.lanes == 1 && type.bits == 64 &&
           (type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int) ||
            type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt));
  };
  const nb::ndarray<nb::ro>& of = held.memory;
  if (!is_imported || !is_integer(of.dtype()) || of.ndim() != 1)
    refuse(name, "expected a vector of addresses, of int64 or uint64");
  if (of.shape(0) > 1 && of.stride(0) != 1) refuse(name, "expected addresses next to each other");
  if (static_cast<std::int64_t>(of.shape(0)) != array.shape[0]) {
    refuse(name, "expected an address for each of the " + std::to_string(array.shape[0]) + " matrices, got " +
                     std::to_string(of.shape(0)));
  }
  constexpr auto number = static_cast<int>(nb::dlpack::dtype_code::Float);
  return value_of(detail::from_dlpack({const_cast<void*>(of.data()), of.device_type(), of.device_id(), 1,
                                       number, 64, 1, of.shape_ptr(), of.stride_ptr(), 0}));
}

Held hold_pointers(const PointerArray& array, nb::handle owner, const char* name) {
  Held held{{}, nb::borrow(owner), {}};
  const std::int64_t columns = array.shape[2];
  PointerArrayView view = {.dtype = array.dtype,
                           .alignment = static_cast<std::uint16_t>(array.alignment),
                           .count = array.shape[0],
                           .rows = array.shape[1],
                           .columns = columns,
                           .row_stride = array.strides ? (*array.strides)[0] : columns,
                           .column_stride = array.strides ? (*array.strides)[1] : 1};
  if (!array.pointers.is_none()) {
    const TensorView addresses = hold_addresses(array, name, held);
    view.pointers = static_cast<const void* const*>(addresses.data);
    view.memory = addresses.memory;
  }
  held.view = view;
  return held;
}

Held hold_interleaved(const Interleaved& matrix, nb::handle owner, const char* name, bool written) {
  Held held = hold_plain(matrix.elements, name, written);
  const TensorView from = held.view;
  std::int64_t elements = 1;
  for (std::size_t i = from.rank; i-- > 0;) {
    if (from.strides[i] != elements && from.extents[i] != 1) refuse(name, "expected a packed tensor");
    elements *= from.extents[i];
  }
  std::int64_t expected = 1;
  for (const std::int64_t extent : matrix.shape) expected *= extent;
  if (elements != expected) {
    refuse(name,
           "expected a tensor of " + std::to_string(expected) + " elements, got " + std::to_string(elements));
  }
  const auto view = [&](std::initializer_list<std::int64_t> extents) {
    return matrix.tag == LayoutTag::row_interleaved32
               ? TensorView::row_interleaved32(from.data, from.dtype, extents)
               : TensorView::column_interleaved32(from.data, from.dtype, extents);
  };
  const std::vector<std::int64_t>& s = matrix.shape;
  held.view = (s.size() == 2 ? view({s[0], s[1]}) : view({s[0], s[1], s[2]})).on(from.memory);
  held.view.assumed_alignment = from.assumed_alignment;
  held.owner = nb::borrow(owner);
  return held;
}

/// Whether this is a quarry.Packed.
bool is_packed(nb::handle operand) {
  static const nb::handle type = nb::object(nb::module_::import_("quarry._packed").attr("Packed")).release();
  return PyType_IsSubtype(Py_TYPE(operand.ptr()), reinterpret_cast<PyTypeObject*>(type.ptr())) != 0;
}

/// The matrix of a quarry.Packed over its tensor of bytes. Each byte holds two neighbours of the last
/// dimension, before the matrix is transposed.
Held hold_packed(nb::handle packed, const char* name, bool written) {
  const nb::object data = packed.attr("data");
  check_dtype(data, name, "bytes, of uint8 or int8");
  Held held = hold(data, name, written);
  TensorView& view = held.view;
  if (view.dtype != DType::u8 && view.dtype != DType::s8)
    refuse(name, "expected bytes, of uint8 or int8, got " + std::string(to_string(view.dtype)));
  auto extents = nb::cast<std::vector<std::int64_t>>(packed.attr("shape"));
  const bool is_transposed = nb::cast<bool>(packed.attr("is_transposed"));
  const std::size_t last = extents.size() - 1;
  if (is_transposed) std::swap(extents[last - 1], extents[last]);
  const std::int64_t bytes = (extents[last] + 1) / 2;
  if (view.rank != extents.size() || view.extents[last] != bytes ||
      !std::equal(extents.begin(), extents.end() - 1, view.extents.begin()))
    refuse(name, "its tensor of bytes has another shape than when it was given");
  if (bytes > 1 && view.strides[last] != 1) {
    refuse(name, "expected the bytes of a row next to each other, got a stride of " +
                     std::to_string(view.strides[last]));
  }
  for (std::size_t i = 0; i < last; ++i) {
    if (__builtin_mul_overflow(view.strides[i], 2, &view.strides[i]))
      refuse(name, "expected strides of half bytes that fit 64 bits");
  }
  view.strides[last] = 1;
  if (is_transposed) {
    std::swap(extents[last - 1], extents[last]);
    std::swap(view.strides[last - 1], view.strides[last]);
  }
  std::ranges::copy(extents, view.extents.begin());
  view.dtype = nb::cast<ElementType>(packed.attr("dtype")).type;
  held.owner = nb::borrow(packed);
  return held;
}

/// Extents that are there, and whose product is a number.
void check_shape(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) refuse("shape", "expected extents of 0 or more, got " + std::to_string(extent));
    if (__builtin_mul_overflow(product, extent > 0 ? extent : 1, &product))
      refuse("shape", "the product of the extents does not fit 64 bits");
  }
}

void make_pointers(PointerArray* self, nb::object pointers, nb::handle dtype, std::vector<std::int64_t> shape,
                   std::optional<std::vector<std::int64_t>> strides, int alignment) {
  if (shape.size() != 3)
    refuse("shape", "expected (entries, rows, columns), got " + std::to_string(shape.size()) + " extents");
  check_shape(shape);
  if (strides && strides->size() != 2)
    refuse("strides", "expected two, of the rows and the columns of a matrix");
  if (alignment != 0 && (alignment < 0 || alignment > 1 << 15 || (alignment & (alignment - 1)) != 0))
    refuse("alignment", "expected 0, or a power of two up to 32768");
  new (self)
      PointerArray{std::move(pointers), dtype_of(dtype), std::move(shape), std::move(strides), alignment};
}

void make_interleaved(Interleaved* self, nb::object elements, std::vector<std::int64_t> shape,
                      const std::string& layout) {
  if (shape.size() != 2 && shape.size() != 3)
    refuse("shape",
           "expected a matrix, or a batch of them, got " + std::to_string(shape.size()) + " extents");
  check_shape(shape);
  LayoutTag tag = LayoutTag::row_interleaved32;
  if (layout == to_string(LayoutTag::column_interleaved32)) {
    tag = LayoutTag::column_interleaved32;
  } else if (layout != to_string(tag)) {
    refuse("layout", "expected \"row_interleaved32\" or \"column_interleaved32\", got \"" + layout + "\"");
  }
  new (self) Interleaved{std::move(elements), std::move(shape), tag};
}

}  // namespace

Held hold_plain(nb::handle tensor, const char* name, bool written) {
  if (nb::isinstance<PointerArray>(tensor) || nb::isinstance<Interleaved>(tensor) || is_packed(tensor))
    throw nb::type_error(
        (std::string(name) + ": expected a packed tensor, got " + class_name(tensor)).c_str());
  return hold(tensor, name, written);
}

std::optional<Held> hold_layout(nb::handle operand, const char* name, bool written) {
  if (nb::isinstance<PointerArray>(operand))
    return hold_pointers(nb::cast<const PointerArray&>(operand), operand, name);
  if (nb::isinstance<Interleaved>(operand))
    return hold_interleaved(nb::cast<const Interleaved&>(operand), operand, name, written);
  if (is_packed(operand)) return hold_packed(operand, name, written);
  return std::nullopt;
}

void bind_layouts(nb::module_& module) {
  nb::class_<PointerArray>(
      module, "PointerArray",
      "A batch of matrices of one shape, each at its own address. It stands for A, B, C, out, residual, aux "
      "and the scales of a GEMM,\nand for those operands of a list of GEMMs.\n\n"
      "`pointers` is a vector of int64 or uint64 in the memory that the matrices are in, read when the "
      "kernel "
      "runs; None: a fake\n"
      "array. It is kept alive, the matrices are not: the caller must keep them until the run is done. "
      "Addresses in device memory\n"
      "are not checked.")
      .def("__init__", &make_pointers, nb::arg("pointers").none(), nb::arg("dtype"), nb::arg("shape"),
           nb::arg("strides") = nb::none(), nb::kw_only(), nb::arg("alignment") = 0,
           nb::sig("def __init__(self, pointers: object, dtype: object, shape: Sequence[int], strides: "
                   "Sequence[int] | None = None, *, alignment: int = 0) -> None"),
           "`shape`: (entries, rows, columns). `strides`: of the rows and the columns of a matrix, in "
           "elements; "
           "None: packed rows.\n"
           "`alignment` promises that every address is a multiple of so many bytes; many kernels need 16.");
  nb::class_<Interleaved>(
      module, "Interleaved",
      "A matrix, or a batch of matrices, in groups of 32 rows (\"row_interleaved32\") or 32 columns "
      "(\"column_interleaved32\").")
      .def("__init__", &make_interleaved, nb::arg("elements").none(), nb::arg("shape"),
           nb::arg("layout") = "row_interleaved32",
           nb::sig("def __init__(self, elements: object, shape: Sequence[int], layout: str = "
                   "'row_interleaved32') -> None"),
           "`elements` is a packed tensor of any shape with as many elements; `shape` is the shape of the "
           "matrix.");
}

}  // namespace quarry::python
