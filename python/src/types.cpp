#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <utility>

#include "bindings.hpp"

namespace quarry::python {
namespace {

/// The names of other libraries for element types, and quarry's own constants.
struct TypeName {
  std::string_view name;
  DType type;
};
constexpr auto foreign_names = std::to_array<TypeName>({
    {"float16", DType::f16},
    {"half", DType::f16},
    {"bfloat16", DType::bf16},
    {"float32", DType::f32},
    {"float", DType::f32},
    {"float64", DType::f64},
    {"double", DType::f64},
    {"int8", DType::s8},
    {"uint8", DType::u8},
    {"int32", DType::s32},
    {"float8_e4m3fn", DType::e4m3},
    {"float8_e5m2", DType::e5m2},
    {"int4", DType::s4},
    {"uint4", DType::u4},
});
constexpr auto own_names = std::to_array<std::pair<const char*, DType>>({
    {"Float16", DType::f16},
    {"BFloat16", DType::bf16},
    {"Float32", DType::f32},
    {"Float64", DType::f64},
    {"Int8", DType::s8},
    {"UInt8", DType::u8},
    {"Int32", DType::s32},
    {"Float8E4M3", DType::e4m3},
    {"Float8E5M2", DType::e5m2},
    {"Int4", DType::s4},
    {"UInt4", DType::u4},
});

bool is_type(ElementType self, nb::handle other) {
  return nb::isinstance<ElementType>(other) && nb::cast<ElementType>(other).type == self.type;
}

}  // namespace

// "float32" of numpy.float32, numpy.dtype("float32"), torch.float32 and "torch.float32".
std::string name_of_dtype(nb::handle dtype) {
  nb::object name = nb::borrow(dtype);
  if (!nb::isinstance<nb::str>(dtype)) {
    const char* const attribute = nb::isinstance<nb::type_object>(dtype) ? "__name__" : "name";
    name = nb::getattr(dtype, attribute, nb::none());
    if (!nb::isinstance<nb::str>(name)) name = nb::str(dtype);
  }
  std::string word = nb::cast<std::string>(name);
  if (const std::size_t dot = word.rfind('.'); dot != std::string::npos) word.erase(0, dot + 1);
  return word;
}

std::optional<DType> find_dtype(nb::handle dtype) {
  if (nb::isinstance<ElementType>(dtype)) return nb::cast<ElementType>(dtype).type;
  const std::string name = name_of_dtype(dtype);
  for (const TypeName& known : foreign_names) {
    if (known.name == name) return known.type;
  }
  const Result<DType> own = parse_dtype(name);
  if (own && *own != DType::none) return *own;
  return std::nullopt;
}

DType dtype_of(nb::handle dtype) {
  if (const std::optional<DType> known = find_dtype(dtype)) return *known;
  throw nb::type_error(("no element type of this library: " + nb::cast<std::string>(nb::str(dtype))).c_str());
}

CUstream_st* stream_of(nb::handle stream) {
  if (stream.is_none()) return nullptr;
  nb::object handle = nb::borrow(stream);
  for (const char* const attribute : {"cuda_stream", "ptr"}) {  // of torch, of CuPy
    if (nb::hasattr(stream, attribute)) handle = stream.attr(attribute);
  }
  if (nb::hasattr(stream, "__cuda_stream__")) handle = nb::object(stream.attr("__cuda_stream__")())[1];
  if (!nb::isinstance<nb::int_>(handle)) {
    throw nb::type_error(
        "stream: expected None, an integer, a stream of torch or CuPy, or an object with __cuda_stream__");
  }
  std::uintptr_t address = 0;
  if (!nb::try_cast(handle, address))
    throw nb::value_error("stream: expected a handle, which is a number of 0 or more and of 64 bits");
  return reinterpret_cast<CUstream_st*>(address);
}

void bind_types(nb::module_& module) {
  nb::class_<ElementType>(module, "DType", "An element type: quarry.Float16, ... or quarry.DType(\"f16\").")
      .def(
          "__init__", [](ElementType* self, nb::handle dtype) { new (self) ElementType{dtype_of(dtype)}; },
          nb::arg("dtype"), nb::sig("def __init__(self, dtype: object) -> None"))
      .def("__repr__",
           [](ElementType self) { return "quarry.DType('" + std::string(to_string(self.type)) + "')"; })
      .def("__getstate__", [](ElementType self) { return text(to_string(self.type)); })
      .def("__setstate__",
           [](ElementType& self, const nb::str& name) {
             // Metadata say `none` where an operation has no such type.
             const bool is_none = nb::cast<std::string>(name) == to_string(DType::none);
             new (&self) ElementType{is_none ? DType::none : dtype_of(name)};
           })
      .def("__str__", [](ElementType self) { return text(to_string(self.type)); })
      .def("__hash__", [](ElementType self) { return static_cast<int>(self.type); })
      .def("__eq__", &is_type, nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def_prop_ro(
          "name", [](ElementType self) { return text(to_string(self.type)); },
          "As the command and filters write it: \"f16\".")
      .def_prop_ro(
          "bits", [](ElementType self) { return bits_of(self.type); }, "Bits of an element.");
  for (const auto& [name, type] : own_names) module.attr(name) = nb::cast(ElementType{type});
}

}  // namespace quarry::python
