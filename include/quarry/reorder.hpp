/// The operation `reorder`: its arguments, and a call that needs only the two matrices.
#pragma once

#include "quarry/operation.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

struct CUstream_st;

namespace quarry {

/// to = from: copies of matrices from one layout to another, such as the interleaved layouts that some
/// kernels need, or the transposed order. The bits of the elements do not change.
struct ReorderArguments {
  static constexpr Operation operation = Operation::reorder;

  /// A matrix or a batch of matrices, with elements of whole bytes, in any layout, strided or interleaved.
  /// May broadcast. Or a tensor of rank 4, such as images or filters (nc32hw32, c32rsk32), whose second and
  /// third extents, or first and second, lie at even distances in both tensors.
  TensorView from;
  /// Same type and extents as `from`, in any layout. The kernel writes through its pointer. Its elements must
  /// not share memory with each other or with `from`. Neither `to` nor `from` may be an array of pointers.
  TensorView to;
};

struct ReorderOptions {
  /// Stream for the copy; null is the legacy default stream. Ignored for host tensors.
  CUstream_st* stream = nullptr;
  /// Compile the kernel on first use if there is no machine code for the device. If false, the call then
  /// fails with not_precompiled.
  bool compile = true;
};

/// Copies `from` to `to` with the best kernel for it; see ReorderArguments.
///
/// Host tensors are copied when the call returns. Other tensors are copied by a kernel on the stream,
/// asynchronously. Fails as find_best() and Kernel::run do, with nothing written.
/// Safe from any thread.
Status reorder(const TensorView& from, const TensorView& to, const ReorderOptions& options = {});

}  // namespace quarry
