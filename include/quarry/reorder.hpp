/// The operation `reorder`: its arguments, and a call that needs no more than the two matrices.
#pragma once

#include "quarry/operation.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

struct CUstream_st;

namespace quarry {

/// to = from: copies of matrices from one layout to another, such as the interleaved layouts that some
/// kernels want, or the transposed order. Elements keep their bits.
struct ReorderArguments {
  static constexpr Operation operation = Operation::reorder;

  /// A matrix, or a batch of them, of elements of whole bytes; of any layout, strided or interleaved. May
  /// broadcast.
  TensorView from;
  /// Same type and extents as `from`, of any layout. Written through its pointer. Its elements may not share
  /// memory with each other or with `from`. No array of pointers, and `from` neither.
  TensorView to;
};

struct ReorderOptions {
  /// Stream that the copy is put on; null is the legacy default stream. Ignored for host tensors.
  CUstream_st* stream = nullptr;
  /// Compile the kernel, on first use, where there is no machine code of it for the device. Otherwise it
  /// answers not_precompiled.
  bool compile = true;
};

/// Copies `from` to `to` with the best kernel for it; see ReorderArguments.
///
/// Host tensors are copied when the call returns; others by a kernel on the stream, asynchronously. Fails,
/// with nothing written, as find_best() and Kernel::run do.
Status reorder(const TensorView& from, const TensorView& to, const ReorderOptions& options = {});

}  // namespace quarry
