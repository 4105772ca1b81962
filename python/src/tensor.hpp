/// Tensors of other libraries, as views that keep their owners alive.
#pragma once

#include <nanobind/ndarray.h>

#include <optional>

#include "bindings.hpp"

namespace quarry::python {

/// A tensor without memory: good to find and to compile kernels.
struct FakeTensor {
  TensorView view;
};

/// A tensor of the caller. No copy: the view is of the owner's own memory, which lives as long as this.
struct Held {
  TensorView view;
  /// What the caller gave.
  nb::object owner;
  /// What holds the memory, unless the owner is a fake tensor or `storage` does.
  nb::ndarray<nb::ro> memory;
  /// The storage of a tensor of torch: the tensor itself may be given another.
  nb::object storage = {};
};

/// Holds a tensor: FakeTensor; numpy, torch, CuPy or any other producer of DLPack or of
/// `__cuda_array_interface__`; numpy arrays of ml_dtypes; fake and meta tensors of torch; PointerArray,
/// Interleaved and Packed. Raises TypeError or ValueError, with the name, for what cannot be taken.
/// @param written whether a kernel writes to it; then read-only memory is refused
Held hold(nb::handle tensor, const char* name, bool written = false);

/// Raises ValueError, with the name, for a tensor of numbers of a type that this library does not have.
/// @param expected what the argument takes, in words
void check_dtype(nb::handle tensor, const char* name, const char* expected);

/// Holds a PointerArray, an Interleaved or a Packed (layouts.cpp); nothing for other objects. Raises as
/// hold().
std::optional<Held> hold_layout(nb::handle operand, const char* name, bool written);

/// As hold(), and raises TypeError for a PointerArray, an Interleaved or a Packed, too (layouts.cpp).
Held hold_plain(nb::handle tensor, const char* name, bool written);

/// The view of a torch.Tensor on the host or a CUDA device (torch_tensor.cpp); nothing for other objects, and
/// for tensors that have no view.
std::optional<TensorView> view_of_torch(nb::handle tensor);

/// The view of a tensor whose type has the C exchange API of DLPack (exchange_api.cpp); nothing for other
/// objects. Raises what the tensor's library raises, and ValueError for tensors that no view describes. It
/// does not say whether memory is read-only.
std::optional<TensorView> view_by_exchange(nb::handle tensor, const char* name);

/// A tensor of rank 0 as one of one element; all else as it is.
nb::object with_rank(nb::handle tensor);

}  // namespace quarry::python
