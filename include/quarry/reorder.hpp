/// Copies of matrices from one layout to another: into the interleaved layouts that some kernels want, and
/// back.
#pragma once

#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

struct CUstream_st;

namespace quarry {

struct ReorderOptions {
  /// Stream that the copy is put on; null is the legacy default stream. Ignored for host tensors.
  CUstream_st* stream = nullptr;
  /// Compile the kernel, on first use, where there is no machine code of it for the device. Otherwise it
  /// answers not_precompiled.
  bool compile = true;
};

/// Copies `from` to `to`, which is written through its pointer: matrices, or batches of them, of the same
/// type (s8, u8, s32 or f32) and extents, each of any layout, strided or interleaved.
///
/// Host tensors are copied when the call returns; others by a kernel on the stream, asynchronously. `from`
/// may broadcast; elements of `to` may not share memory with each other or with `from`. Fails, with nothing
/// written, with
/// - invalid_arguments: a view is wrong, an array of pointers (PointerArrayView), or does not fit the other,
///   they overlap, or lie in different memory;
/// - not_loaded, not_precompiled, no_compiler, compile_error: as Kernel::run;
/// - device_error: CUDA refuses, or the stream belongs to another device than the matrices.
Status reorder(const TensorView& from, const TensorView& to, const ReorderOptions& options = {});

}  // namespace quarry
