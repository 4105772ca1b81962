/// Arguments of any operation, as a parameter type.
#pragma once

#include <concepts>
#include <cstdint>

#include "quarry/operation.hpp"

namespace quarry {

/// A reference to the arguments of one operation: GemmArguments, ReduceSplitKArguments, ... Each of these
/// structs converts to it. It owns nothing; use it only during the call.
class Arguments {
 public:
  /// From a struct that names its operation in a static member `operation`.
  template <class A>
  requires std::same_as<decltype(A::operation), const Operation> Arguments(const A& arguments)
      : data_(&arguments), bytes_(sizeof(A)), operation_(A::operation) {}
  Arguments(const Arguments&) = default;
  Arguments& operator=(const Arguments&) = delete;

  Operation operation() const { return operation_; }
  /// The struct, and its size in the program that made it.
  const void* data() const { return data_; }
  std::uint32_t bytes() const { return bytes_; }

  /// The struct, if it belongs to the operation of A; otherwise null.
  template <class A>
  const A* as() const {
    return operation_ == A::operation ? static_cast<const A*>(data_) : nullptr;
  }

 private:
  const void* data_;
  std::uint32_t bytes_;
  Operation operation_;
};

}  // namespace quarry
