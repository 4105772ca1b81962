/// Arguments of the operations, with the tensors that they hold.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "epilogue.hpp"
#include "tensor.hpp"

namespace quarry::python {

/// Arguments of any operation. They keep the caller's tensors alive.
class OperationArguments {
 public:
  virtual ~OperationArguments() = default;
  /// Valid as long as this.
  virtual quarry::Arguments get() const = 0;

  /// The tensor that was given under this name, or None.
  nb::object owner(std::string_view name) const;
  /// Memory of the operands: of the first that has any, otherwise as it was left open.
  Memory memory() const;

  /// Whether some tensor is one of torch.
  bool has_torch() const;

  /// Holds a tensor under its name and returns its view. Raises as hold().
  TensorView keep(nb::handle tensor, const char* name, bool written = false);
  /// The same where None is no tensor.
  std::optional<TensorView> keep_if(nb::handle tensor, const char* name, bool written = false);
  /// Raises ValueError where the tensor of this name, which a kernel writes to, is read-only.
  void check_written(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, Held>> held_;
};

/// The standard parts of an epilogue, whose tensors the arguments hold. Raises as hold().
Epilogue standard_epilogue(OperationArguments& arguments, const PythonEpilogue& given);

}  // namespace quarry::python
