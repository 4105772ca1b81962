/// What a reorder is launched with: one struct by value, written by the host and read by the device.
#pragma once

namespace quarry {

/// One of the two matrices as it lies in memory: lines of elements, its rows or its columns. Strides are in
/// elements.
struct ReorderSide {
  const void* data;  ///< the data of `to` is written through this pointer
  long long line_stride;
  /// From one element of a line to the next; of an interleaved matrix from one group of 32 to the next.
  long long element_stride;
  long long batch_stride;
  bool lines_are_rows;
  bool interleaved;
};

/// Copies `from` to `to`, whose elements do not overlap.
struct ReorderParams {
  ReorderSide from;
  ReorderSide to;
  int rows;
  int columns;
  int batch;
};

}  // namespace quarry
