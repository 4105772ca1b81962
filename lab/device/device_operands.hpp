/// Operands of a problem on a device.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lab/device/device_buffer.hpp"
#include "lab/problems/operands.hpp"

namespace quarry::lab {

/// Where a copy of a tensor's storage holds the array of pointers to its matrices: so many bytes behind the
/// storage's start, behind the storage itself; and how many bytes it has (0: no array).
std::size_t array_offset(const GuardedTensor& tensor);
std::size_t array_bytes(const GuardedTensor& tensor);

/// Writes that array, of the matrices of a copy at `storage`, to array_bytes() bytes at `to`.
void write_array(const GuardedTensor& tensor, std::byte* storage, void* to);

/// Calls `edit` for each operand of arguments that are a copy of `operands.arguments()`: with its place among
/// the tensors, 0 for one that is in the place of the first output, and its view; until one fails.
template <class Edit>
Status edit_copies(const Operands& operands, HeldArguments& arguments, const Edit& edit) {
  return arguments.edit_operands([&](const detail::OperandRef& operand, TensorView& view) -> Status {
    std::size_t place = operands.tensors().size();
    while (place > 0 && operands.tensors()[place - 1].name != operand.name) --place;
    return edit(place == 0 ? 0 : place - 1, view);
  });
}

/// Copies of the operands, guards and alignment included, in device memory, and the arguments that name them.
/// Movable.
class DeviceOperands {
 public:
  /// Copies all operands. Fails as DeviceBuffer does.
  static Result<DeviceOperands> make(const Operands& operands, int device);

  const HeldArguments& arguments() const { return arguments_; }
  HeldArguments& arguments() { return arguments_; }

  /// Copies the host's outputs to the device: after Operands::reset_outputs, what a run needs.
  Status upload_outputs(const Operands& operands) const;

  /// Waits for the device and copies the outputs, guards included, into the host's; Operands::check_outputs
  /// and compare then judge them. Fails with the device's error where the run failed.
  Status download_outputs(Operands& operands) const;

 private:
  explicit DeviceOperands(HeldArguments arguments) : arguments_(std::move(arguments)) {}

  HeldArguments arguments_;
  /// As Operands::tensors().
  std::vector<DeviceBuffer> buffers_;
};

/// The same of arguments of a known type.
template <class A>
class DeviceOperandsOf : public DeviceOperands {
 public:
  static Result<DeviceOperandsOf> make(const OperandsOf<A>& operands, int device) {
    Result<DeviceOperands> made = DeviceOperands::make(operands, device);
    if (!made) return made.status();
    return DeviceOperandsOf(*std::move(made));
  }

  /// As DeviceOperands::arguments().
  A& arguments;

 private:
  explicit DeviceOperandsOf(DeviceOperands operands)
      : DeviceOperands(std::move(operands)), arguments(DeviceOperands::arguments().template as<A>()) {}
};

}  // namespace quarry::lab
