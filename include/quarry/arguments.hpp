/// Arguments of any operation, as calls take them.
#pragma once

#include <concepts>
#include <cstdint>

#include "quarry/operation.hpp"

namespace quarry {

/// A reference to the arguments of one operation: GemmArguments, ReduceSplitKArguments, ... Made from each of
/// them where a call takes arguments; it owns nothing, and is used up during the call.
class Arguments {
 public:
  /// From a struct that names its operation in a static member `operation`.
  template <class A>
  requires std::same_as<decltype(A::operation), const Operation> Arguments(const A& arguments)
      : data_(&arguments), bytes_(sizeof(A)), operation_(A::operation) {}
  Arguments(const Arguments&) = default;
  Arguments& operator=(const Arguments&) = delete;

  Operation operation() const { return operation_; }
  /// The struct, and its size as its author compiled it.
  const void* data() const { return data_; }
  std::uint32_t bytes() const { return bytes_; }

  /// The struct of a known operation; null where it is of another one.
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
