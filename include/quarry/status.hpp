/// Errors as values: `Status` says whether a call worked and why not, `Result<T>` is a value or a Status.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "quarry/types.hpp"

namespace quarry {

/// What kind of outcome a Status is. The message says the rest.
enum class StatusCode : std::uint8_t {
  ok,
  invalid_arguments,  ///< the arguments contradict themselves or the API's rules; no kernel could take them
  unsupported,        ///< valid arguments, but this kernel does not take them
  no_kernel,          ///< valid arguments, but no registered kernel computes these types and layouts
  filtered_out,       ///< kernels exist, but the filter or the options left none
  invalid_workspace,  ///< the workspace is missing, too small or misaligned
  not_loaded,         ///< the kernel must be loaded first, and cannot be while the stream is capturing
  not_precompiled,    ///< the library holds no machine code of this kernel for the device
  no_device,          ///< there is no usable CUDA driver or device
  device_error,       ///< the CUDA runtime refused a call or reported an error
  not_found,          ///< no kernel, field or device model has this name
  parse_error,        ///< a text (filter, name, shape) could not be read
  no_compiler,        ///< machine code must be compiled, and no compiler can be used
  compile_error,      ///< the compiler refused the kernel
  invalid_artifact,   ///< bytes that should be machine code are damaged, or of another version or device
  file_error,         ///< a file or a folder could not be written, or a table could not be read
};

/// The word for a code: "ok", "invalid_arguments", ...
std::string_view to_string(StatusCode code);

/// The tensors and values of a problem, as messages name them.
enum class Operand : std::uint8_t {
  none,
  a,
  b,
  c,
  out,
  bias,
  alpha,
  beta,
  workspace,
  scale,
  residual,
  aux,
  partials,
  from,  ///< of a reorder
  to,
  a_scale,
  b_scale,
  out_scale,
  tensor0,  ///< tensors of an expression but `out`, by their place in the arguments: tensor_operand()
  tensor1,
  tensor2,
  tensor3,
  tensor4,
  tensor5,
  tensor6,
  tensor7,
  sizes,    ///< of groups, or of the problems of a list
  leading,  ///< leading dimensions of the problems of a list
  b_zero,
};

/// The last of them.
inline constexpr Operand last_operand = Operand::b_zero;

/// How many tensors of an expression have a name of their own.
inline constexpr int tensor_operands = 8;

/// The tensor at a place of the arguments' list. @pre 0 <= place < tensor_operands
constexpr Operand tensor_operand(int place) {
  return static_cast<Operand>(static_cast<int>(Operand::tensor0) + place);
}

/// The word for an operand: "a", "out", ...
std::string_view to_string(Operand operand);

namespace detail {
/// The parts of Controls, as messages name them.
enum class ControlName : std::uint8_t { mode, split_k_slices, swizzle, raster, multiprocessors };
}  // namespace detail

/// The reason of a failure: what Status::reason() says. It costs nothing until a message is composed. The
/// comments say what the numbers `expected` and `got` hold; Status::message() makes a sentence of them.
enum class Reason : std::uint8_t {
  none,
  text,                ///< the message is a string of its own
  dtype,               ///< expected and got: DType
  layout,              ///< expected: Layout; got: Layout, or -1 for neither
  pointer_alignment,   ///< expected: elements that the pointer must be a multiple of; got: those it is one of
  leading_alignment,   ///< expected: elements that the leading dimension must be a multiple of; got: its size
  batch_alignment,     ///< as leading_alignment, of the batch stride
  extent,              ///< expected and got: size of an extent that must match another operand's
  rows,                ///< as extent, where it is known to be the rows of a matrix
  columns,             ///< as extent, where it is known to be the columns of a matrix
  batch,               ///< as extent, where it is the batch
  rank,                ///< expected and got: rank
  negative_extent,     ///< got: the extent
  extent_limit,        ///< expected: the limit; got: the extent
  negative_stride,     ///< got: the stride, in elements
  overlapping_stride,  ///< expected: the least legal stride; got: the stride
  overlapping_input,   ///< as overlapping_stride, where TensorView::overlapping would allow it
  stride_limit,        ///< expected: the limit in bytes, which is too much already; got: the stride in bytes
  null_data,           ///< the operand needs data and has none
  missing,             ///< the operand is required and absent
  mixed_devices,       ///< expected, got: devices; or both the first operand, whose device differs
  array_place,         ///< the operand's array of pointers lies in host memory, other operands on a device
  output_overlap,      ///< got: the output (Operand) it overlaps; expected: 1 if it may be exactly that
  compute_capability,  ///< expected: what the kernel needs, got: what the device has, both as 80 or 90
  shared_memory,       ///< expected: bytes the kernel needs; got: bytes a block may have
  mode,                ///< got: Mode that the kernel does not permit
  mode_array,          ///< the operand is an array of pointers, which the kernel does not permit
  no_operand,          ///< the problem has the operand, and the kernel does not take it
  granularity,         ///< got: ScaleGranularity that the kernel does not take; -1: it needs scales of A or B
  split_k_slices,      ///< got: slices asked; expected: the most for this problem
  k_limit,             ///< expected: the longest K that the kernel takes; got: the problem's
  swizzle,             ///< got: swizzle asked; legal are 1, 2, 4, 8
  multiprocessors,     ///< expected: the least that the kernel needs; got: multiprocessors allowed
  control,             ///< got: which control (detail::ControlName) the kernel does not have
  workspace_size,      ///< expected: bytes needed; got: bytes given
  workspace_alignment,  ///< expected: bytes
  grid_limit,           ///< expected: the limit; got: blocks the problem needs
  tag,                  ///< expected and got: LayoutTag
  interleaved_extent,   ///< expected: what the extents are multiples of; got: the extent
};

/// The outcome of a call: ok, or a code and a reason. 40 bytes; a refusal that is composed of its reason
/// allocates nothing until `message()`, one with a text of its own (Reason::text) has allocated that.
class [[nodiscard]] Status {
 public:
  /// Success.
  constexpr Status() = default;

  /// A failure with a message of its own.
  Status(StatusCode code, std::string message)
      : code_(code), reason_(Reason::text), text_(std::make_shared<const std::string>(std::move(message))) {}

  /// A failure whose message is composed only when asked for.
  Status(StatusCode code, Reason reason, Operand operand, std::int64_t expected = 0, std::int64_t got = 0)
      : code_(code), reason_(reason), operand_(operand), expected_(expected), got_(got) {}

  /// True when the call succeeded.
  explicit operator bool() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  /// The operand at fault, or `none`.
  Operand operand() const { return operand_; }
  /// Why, in compact form: what explanations count by.
  Reason reason() const { return reason_; }
  /// The same failure with a message of its own in the place of the one that would be composed.
  Status with_message(std::string message) const {
    Status status = *this;
    status.text_ = std::make_shared<const std::string>(std::move(message));
    return status;
  }
  /// One line for a person, without a newline; "ok" on success. The word for the code where a failure has no
  /// reason, or its text was moved away.
  std::string message() const;

 private:
  StatusCode code_ = StatusCode::ok;
  Reason reason_ = Reason::none;
  Operand operand_ = Operand::none;
  std::int64_t expected_ = 0;
  std::int64_t got_ = 0;
  std::shared_ptr<const std::string> text_;
};

/// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  /// @pre `status` is a failure
  Result(Status status) : status_(std::move(status)) { assert(!status_); }

  explicit operator bool() const { return value_.has_value(); }
  /// Ok when there is a value.
  const Status& status() const { return status_; }

  /// The value. @pre there is one
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  /// The value, or `otherwise` if there is no value.
  template <class U>
  T value_or(U&& otherwise) const& {
    return value_.value_or(std::forward<U>(otherwise));
  }
  template <class U>
  T value_or(U&& otherwise) && {
    return std::move(value_).value_or(std::forward<U>(otherwise));
  }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace quarry
