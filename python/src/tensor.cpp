#include "tensor.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace quarry::python {
namespace {

/// The argument that a message names.
struct Name {
  const char* word;
  [[noreturn]] void refuse_type(const std::string& why) const {
    throw nb::type_error((word + (": " + why)).c_str());
  }
  [[noreturn]] void refuse_value(const std::string& why) const {
    throw nb::value_error((word + (": " + why)).c_str());
  }
};

/// A view of what nanobind imported, whose elements are of this type.
TensorView view_of(const nb::ndarray<nb::ro>& array, const nb::dlpack::dtype& type, Name name) {
  const Result<TensorView> view =
      detail::from_dlpack({const_cast<void*>(array.data()), array.device_type(), array.device_id(),
                           static_cast<int>(array.ndim()), type.code, type.bits, type.lanes,
                           array.shape_ptr(), array.stride_ptr(), 0});
  if (!view) name.refuse_value(view.status().message());
  return *view;
}

/// A view without memory. Without strides: packed rows.
TensorView fake_view(const std::vector<std::int64_t>& shape, DType dtype,
                     const std::optional<std::vector<std::int64_t>>& strides, Name name) {
  if (shape.empty() || shape.size() > TensorView::max_rank)
    name.refuse_value("expected a rank of 1 to 4, got " + std::to_string(shape.size()));
  if (strides && strides->size() != shape.size()) name.refuse_value("expected as many strides as extents");
  TensorView view;
  view.dtype = dtype;
  view.rank = static_cast<std::uint8_t>(shape.size());
  std::int64_t packed = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    view.extents[i] = shape[i];
    view.strides[i] = strides ? (*strides)[i] : packed;
    if (__builtin_mul_overflow(packed, shape[i] > 0 ? shape[i] : 1, &packed))
      name.refuse_value("the product of the extents does not fit 64 bits");
  }
  return view;
}

/// Whether this is a tensor of torch without memory: a meta tensor, or one of FakeTensorMode.
bool is_fake_of_torch(nb::handle tensor) {
  return nb::hasattr(tensor, "is_meta") &&
         (nb::cast<bool>(tensor.attr("is_meta")) || nb::hasattr(tensor, "fake_mode"));
}

TensorView view_of_fake(nb::handle tensor, Name name) {
  return fake_view(nb::cast<std::vector<std::int64_t>>(nb::tuple(tensor.attr("shape"))),
                   dtype_of(tensor.attr("dtype")),
                   nb::cast<std::vector<std::int64_t>>(nb::tuple(tensor.attr("stride")())), name);
}

template <class Array>
bool import_array(nb::handle tensor, Array& array) {
  if (nb::try_cast(tensor, array, false)) return true;
  PyErr_Clear();
  return false;
}

/// The type of a numpy array of ml_dtypes, which neither DLPack nor the buffer protocol knows.
std::optional<DType> ml_dtype(nb::handle tensor) {
  if (!nb::hasattr(tensor, "__array_interface__")) return std::nullopt;
  const nb::object dtype = tensor.attr("dtype");
  const nb::object module = nb::getattr(dtype.attr("type"), "__module__", nb::none());
  if (!nb::isinstance<nb::str>(module) || nb::cast<std::string>(module) != "ml_dtypes") return std::nullopt;
  return dtype_of(dtype);
}

/// The same memory as whole numbers, which DLPack knows.
nb::object as_bits(nb::handle tensor, DType type) {
  return tensor.attr("view")(bits_of(type) == 16 ? "uint16" : "uint8");
}

/// The type of a tensor of torch in fp8, which DLPack of older versions of torch refuses.
std::optional<DType> torch_fp8(nb::handle tensor) {
  const nb::object dtype = nb::getattr(tensor, "dtype", nb::none());
  const nb::object module = nb::getattr(dtype.type(), "__module__", nb::none());
  if (!nb::isinstance<nb::str>(module) || nb::cast<std::string>(module) != "torch") return std::nullopt;
  const std::string name = nb::cast<std::string>(nb::str(dtype));
  if (name == "torch.float8_e4m3fn") return DType::e4m3;
  if (name == "torch.float8_e5m2") return DType::e5m2;
  return std::nullopt;
}

nb::dlpack::dtype dlpack_type(DType type) {
  const TypeInfo& info = info_of(type);
  return {static_cast<std::uint8_t>(info.dlpack_code), static_cast<std::uint8_t>(info.bits), 1};
}

/// The type that a typestr of the array interface names.
DType interface_type(const std::string& typestr, Name name) {
  static constexpr auto types = std::to_array<std::pair<std::string_view, DType>>({{"<f2", DType::f16},
                                                                                   {"<f4", DType::f32},
                                                                                   {"<f8", DType::f64},
                                                                                   {"|i1", DType::s8},
                                                                                   {"|u1", DType::u8},
                                                                                   {"<i4", DType::s32}});
  for (const auto& [word, type] : types) {
    if (word == typestr) return type;
  }
  name.refuse_type("no element type of this library: " + typestr);
}

/// A view of what says `__cuda_array_interface__` alone, such as arrays of Numba. Its stream is not waited
/// for.
TensorView view_of_cuda_array(nb::handle tensor, bool written, Name name) {
  const auto fields = nb::cast<nb::dict>(tensor.attr("__cuda_array_interface__"));
  const DType type = interface_type(nb::cast<std::string>(fields["typestr"]), name);
  const auto data = nb::cast<nb::tuple>(fields["data"]);
  if (written && nb::cast<bool>(data[1])) name.refuse_value("it is read-only, and a kernel writes to it");
  std::optional<std::vector<std::int64_t>> strides;
  if (fields.contains("strides") && !fields["strides"].is_none()) {
    strides = nb::cast<std::vector<std::int64_t>>(nb::object(fields["strides"]));
    for (std::int64_t& stride : *strides) {
      if (stride % bytes_of(type) != 0) name.refuse_value("expected strides of whole elements");
      stride /= bytes_of(type);
    }
  }
  TensorView view =
      fake_view(nb::cast<std::vector<std::int64_t>>(nb::object(fields["shape"])), type, strides, name);
  view.data = reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(data[0]));
  return view;
}

/// The view and what holds the memory of an array that is no fake one.
void hold_array(nb::handle tensor, bool written, Name name, Held& held) {
  nb::object array = nb::borrow(tensor);
  nb::dlpack::dtype type = {};
  if (const std::optional<DType> known = ml_dtype(tensor)) {
    if (is_half_byte(*known))
      name.refuse_type("numpy gives each number of 4 bits a byte: give quarry.Packed, of quarry.pack_int4");
    array = as_bits(tensor, *known);
    type = dlpack_type(*known);
  }
  bool is_imported = import_array(array, held.memory);
  if (const std::optional<DType> fp8 = is_imported ? std::nullopt : torch_fp8(tensor)) {
    array = tensor.attr("view")(nb::module_::import_("torch").attr("uint8"));
    type = dlpack_type(*fp8);
    is_imported = import_array(array, held.memory);
  }
  if (!is_imported) {
    if (nb::hasattr(tensor, "__cuda_array_interface__")) {
      held.view = view_of_cuda_array(tensor, written, name);
      return;
    }
    name.refuse_type(
        "expected a tensor of numpy, torch, CuPy or another producer of DLPack, of numbers in native byte "
        "order, got " +
        nb::cast<std::string>(nb::str(tensor.type().attr("__name__"))));
  }
  if (type.bits == 0) type = held.memory.dtype();
  held.view = view_of(held.memory, type, name);
  nb::ndarray<> writable;
  if (written && !import_array(array, writable))
    name.refuse_value("it is read-only, and a kernel writes to it");
}

/// Refuses tensors of torch whose values are more than the numbers in memory.
void check_values(nb::handle tensor, Name name) {
  if (!nb::hasattr(tensor, "requires_grad")) return;
  if (nb::cast<bool>(tensor.attr("requires_grad")))
    name.refuse_value("it requires grad, which kernels do not record: give tensor.detach()");
  if (nb::hasattr(tensor, "is_neg") && nb::cast<bool>(tensor.attr("is_neg")()))
    name.refuse_value("its values are the negatives of those in its memory: give tensor.resolve_neg()");
}

/// What holds the memory of a tensor of torch; nothing for others.
nb::object storage_of(nb::handle tensor) {
  const nb::object storage = nb::getattr(tensor, "untyped_storage", nb::none());
  return storage.is_none() ? nb::object() : nb::object(storage());
}

nb::tuple shape_of(const FakeTensor& tensor) {
  const auto& extents = tensor.view.extents;
  return nb::tuple(nb::cast(std::vector<std::int64_t>(extents.begin(), extents.begin() + tensor.view.rank)));
}

/// Shape, type, strides and alignment.
using FakeState = std::tuple<std::vector<std::int64_t>, std::string, std::vector<std::int64_t>, int>;

FakeState state_of(const FakeTensor& tensor) {
  const TensorView& view = tensor.view;
  return {{view.extents.begin(), view.extents.begin() + view.rank},
          std::string(to_string(view.dtype)),
          {view.strides.begin(), view.strides.begin() + view.rank},
          view.assumed_alignment};
}

FakeTensor make_fake(const std::vector<std::int64_t>& shape, DType dtype,
                     const std::optional<std::vector<std::int64_t>>& strides, int alignment) {
  if (alignment < 1 || alignment > 1 << 15 || (alignment & (alignment - 1)) != 0)
    throw nb::value_error("alignment: expected a power of two up to 32768");
  FakeTensor tensor{fake_view(shape, dtype, strides, {"shape"})};
  tensor.view.assumed_alignment = static_cast<std::uint16_t>(alignment);
  return tensor;
}

/// "quarry.FakeTensor((3, 4), 'f16', strides=(4, 1), alignment=16)"
std::string shown(const FakeTensor& tensor) {
  const auto [shape, dtype, strides, alignment] = state_of(tensor);
  const auto tuple = [](const std::vector<std::int64_t>& numbers) {
    return nb::cast<std::string>(nb::repr(nb::tuple(nb::cast(numbers))));
  };
  return "quarry.FakeTensor(" + tuple(shape) + ", '" + dtype + "', strides=" + tuple(strides) +
         ", alignment=" + std::to_string(alignment) + ")";
}

}  // namespace

Held hold(nb::handle tensor, const char* word, bool written) {
  const Name name{word};
  if (std::optional<Held> held = hold_layout(tensor, word, written)) return *std::move(held);
  Held held{{}, nb::borrow(tensor), {}};
  if (nb::isinstance<FakeTensor>(tensor)) {
    held.view = nb::cast<const FakeTensor&>(tensor).view;
    return held;
  }
  check_values(tensor, name);
  if (const std::optional<TensorView> view = view_of_torch(tensor)) {
    held.view = *view;
  } else if (is_fake_of_torch(tensor)) {
    held.view = view_of_fake(tensor, name);
  } else if (const auto exchanged = written ? std::nullopt : view_by_exchange(tensor, word)) {
    held.view = *exchanged;
  } else {
    hold_array(tensor, written, name, held);
  }
  held.storage = storage_of(tensor);
  return held;
}

void check_dtype(nb::handle tensor, const char* name, const char* expected) {
  const nb::object dtype = nb::getattr(tensor, "dtype", nb::none());
  if (dtype.is_none() || find_dtype(dtype)) return;
  const std::string got = name_of_dtype(dtype);
  const auto is_kind = [&](std::string_view kind) { return got.starts_with(kind); };
  // What is no number, such as an object, is no tensor either.
  if (std::ranges::none_of(std::array{"int", "uint", "float", "bfloat", "complex", "bool"}, is_kind)) return;
  Name{name}.refuse_value("expected " + std::string(expected) + ", got " + got);
}

nb::object with_rank(nb::handle tensor) {
  const nb::object rank = nb::getattr(tensor, "ndim", nb::none());
  if (nb::isinstance<nb::int_>(rank) && nb::cast<int>(rank) == 0 && nb::hasattr(tensor, "reshape"))
    return tensor.attr("reshape")(1);
  return nb::borrow(tensor);
}

void bind_tensors(nb::module_& module) {
  nb::class_<FakeTensor>(module, "FakeTensor",
                         "A tensor without memory: good to find and to compile kernels, not to run them.")
      .def(
          "__init__",
          [](FakeTensor* self, const std::vector<std::int64_t>& shape, nb::handle dtype,
             const std::optional<std::vector<std::int64_t>>& strides,
             int alignment) { new (self) FakeTensor(make_fake(shape, dtype_of(dtype), strides, alignment)); },
          nb::arg("shape"), nb::arg("dtype"), nb::arg("strides") = nb::none(), nb::arg("alignment") = 16,
          nb::sig("def __init__(self, shape: Sequence[int], dtype: object, strides: Sequence[int] | None = "
                  "None, alignment: int = 16) -> "
                  "None"),
          "Strides are in elements; None: packed rows. `alignment`: bytes that the pointer is assumed to be "
          "a multiple of.")
      .def("__repr__", nb::overload_cast<const FakeTensor&>(&shown))
      .def("__getstate__", nb::overload_cast<const FakeTensor&>(&state_of))
      .def("__setstate__",
           [](FakeTensor& self, const FakeState& state) {
             const auto& [shape, dtype, strides, alignment] = state;
             new (&self) FakeTensor(make_fake(shape, dtype_of(nb::cast(dtype)), strides, alignment));
           })
      .def_prop_ro("dtype", [](const FakeTensor& self) { return ElementType{self.view.dtype}; })
      .def_prop_ro("shape", &shape_of, nb::sig("def shape(self) -> tuple[int, ...]"));
}

}  // namespace quarry::python
