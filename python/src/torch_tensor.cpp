/// Tensors of torch, asked for their own attributes: that takes a part of the time of an exchange by DLPack.
#include <array>
#include <string>
#include <unordered_map>

#include "tensor.hpp"

namespace quarry::python {
namespace {

/// Whether this is a torch.Tensor itself and no subclass, which may be anything. Remembers the types of the
/// last answers.
bool is_tensor_of_torch(nb::handle object) {
  static PyTypeObject* known = nullptr;
  static PyTypeObject* other = nullptr;
  const nb::handle type = object.type();
  auto* const asked = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (asked == known) return true;
  if (asked == other) return false;
  const auto is = [&](const char* attribute, std::string_view word) {
    const nb::object value = nb::getattr(type, attribute, nb::none());
    return nb::isinstance<nb::str>(value) && nb::cast<std::string>(value) == word;
  };
  const bool found = is("__module__", "torch") && is("__name__", "Tensor");
  PyTypeObject*& place = found ? known : other;
  Py_INCREF(type.ptr());  // so that no other type gets its address
  Py_XDECREF(reinterpret_cast<PyObject*>(place));
  place = asked;
  return found;
}

/// The element type of a torch.dtype, which is one object for the life of the process; none where there is no
/// such type.
DType type_of(nb::handle dtype) {
  static std::unordered_map<PyObject*, DType> known;
  const auto found = known.find(dtype.ptr());
  if (found != known.end()) return found->second;
  DType type = DType::none;
  try {
    type = dtype_of(dtype);
  } catch (const nb::builtin_exception&) {  // a type of torch alone
  }
  known.emplace(dtype.inc_ref().ptr(), type);
  return type;
}

/// The numbers of a tuple of up to four.
std::array<std::int64_t, TensorView::max_rank> numbers_of(nb::handle tuple) {
  std::array<std::int64_t, TensorView::max_rank> numbers = {};
  for (std::size_t i = 0; i < nb::len(tuple); ++i) numbers[i] = nb::cast<std::int64_t>(tuple[i]);
  return numbers;
}

}  // namespace

std::optional<TensorView> view_of_torch(nb::handle tensor) {
  if (!is_tensor_of_torch(tensor)) return std::nullopt;
  try {
    const bool on_device = nb::cast<bool>(tensor.attr("is_cuda"));
    if (!on_device && !nb::cast<bool>(tensor.attr("is_cpu"))) return std::nullopt;
    const DType type = type_of(tensor.attr("dtype"));
    const nb::object shape = tensor.attr("shape");
    const std::size_t rank = nb::len(shape);
    if (type == DType::none || rank > TensorView::max_rank) return std::nullopt;
    const auto extents = numbers_of(shape);
    const auto strides = numbers_of(tensor.attr("stride")());
    constexpr int of_host = 1;  // as DLPack numbers devices
    constexpr int of_cuda = 2;
    const TypeInfo& info = info_of(type);
    const Result<TensorView> view = detail::from_dlpack(
        {reinterpret_cast<void*>(nb::cast<std::uintptr_t>(tensor.attr("data_ptr")())),
         on_device ? of_cuda : of_host, on_device ? nb::cast<int>(tensor.attr("get_device")()) : 0,
         static_cast<int>(rank), static_cast<int>(info.dlpack_code), static_cast<int>(info.bits), 1,
         extents.data(), strides.data(), 0});
    return view ? std::optional(*view) : std::nullopt;
  } catch (nb::python_error&) {  // a sparse tensor, one without storage
    return std::nullopt;
  }
}

}  // namespace quarry::python
