/// The metadata of a kernel. Plain data; a part that a family lacks is an empty optional.
///
/// The fields are listed once more, with their names and help, in registry/metadata/fields.cpp. The filter
/// language, the columns of the command, its JSON and the reference page come from that list.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "quarry/operation.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// One matrix operand of a kernel. Its type is `none` if the operation has no such operand.
struct OperandMetadata {
  DType dtype = DType::none;
  Layout layout = Layout::row;
  /// Alignment in elements that pointer, leading dimension and batch stride must have. 1: any.
  int alignment = 1;
};

struct OperandsMetadata {
  OperandMetadata a;
  OperandMetadata b;
  OperandMetadata c;
  OperandMetadata out;
  /// Type that products, or partial sums, are added in.
  DType accumulator = DType::none;
  /// Which scales of A and B are taken. A kernel that takes some is for problems that have some.
  ScaleSupport scales = ScaleSupport::none;
};

/// Sizes along M, N and K.
struct Extent3 {
  int m = 0;
  int n = 0;
  int k = 0;
  friend constexpr bool operator==(const Extent3&, const Extent3&) = default;
};

/// Blocks of a cluster along M and N, which share what they load.
struct Cluster {
  int m = 1;
  int n = 1;
  friend constexpr bool operator==(const Cluster&, const Cluster&) = default;
};

struct DesignMetadata {
  /// Output tile of a block (m, n), and the K extent of one pipeline stage (k), in elements.
  Extent3 tile;
  /// Warps of a block along each extent.
  std::optional<Extent3> warps = std::nullopt;
  /// Shared-memory stages of the copy pipeline.
  std::optional<int> stages = std::nullopt;
  std::optional<Cluster> cluster = std::nullopt;
  /// How the blocks share the tiles.
  std::optional<Schedule> schedule = std::nullopt;
  /// What moves operands to shared memory.
  std::optional<CopyEngine> copy_engine = std::nullopt;
  /// Which operand goes to the rows of the matrix instruction.
  std::optional<Orientation> orientation = std::nullopt;
  /// Of a convolution.
  std::optional<WindowIterator> iterator = std::nullopt;
  std::optional<WindowStrides> strides = std::nullopt;
  std::optional<WindowFilter> filter = std::nullopt;
  /// Other kernels copy operands to another layout in the workspace first; of a convolution, another one also
  /// copies the output back.
  bool reorders = false;
  /// Shape of the matrix instruction.
  std::optional<Extent3> instruction = std::nullopt;
  /// How it rounds f32 operands.
  Math math = Math::exact;
  MathUnit math_unit = MathUnit::simt;
  /// Threads of a block.
  int threads = 0;
  /// Bytes of dynamic shared memory of a block.
  int shared_memory = 0;
};

struct EpilogueMetadata {
  /// A problem may ask for any Activation at run time.
  bool activation = false;
  /// A bias vector is taken, along either axis.
  bool bias = false;
  /// A scale is taken, along either axis or one value.
  bool scale = false;
  /// A residual is added after the activation.
  bool residual = false;
  /// The input of the activation can be written to a second output.
  bool aux = false;
  /// Outputs can be clamped.
  bool clamp = false;
  /// Fast conversion of sums to outputs, exact for K <= 256; larger K is refused.
  bool fast_clamp = false;
};

/// The modes that a kernel permits: ways of covering K, and of finding the matrices of a batch.
struct ModesMetadata {
  bool split_k_serial = false;
  bool split_k_parallel = false;
  bool split_k_cluster = false;
  bool stream_k = false;
  /// Batches with a constant stride between the matrices.
  bool batched = false;
  /// Batches with an array of pointers to the matrices (PointerArrayView).
  bool array = false;
};

/// Everything that is known about a kernel before it is compiled.
struct KernelMetadata {
  /// Unique and stable. It is also the name of the device function, unless the kernel shares the code of
  /// another kernel (entry_name()).
  std::string_view name;
  std::string_view family;
  Operation operation = Operation::gemm;
  /// Of a convolution.
  std::optional<Direction> direction = std::nullopt;
  /// Least compute capability, as 80 or 90.
  int cc = 0;
  /// Greatest compute capability; absent: open.
  std::optional<int> max_cc;
  OperandsMetadata operands;
  DesignMetadata design;
  EpilogueMetadata epilogue;
  ModesMetadata modes;
};

}  // namespace quarry
