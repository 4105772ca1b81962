/// What the registry knows of every kernel family. Host only.
///
/// A family is a folder: its configs are values of its own structural type, which pass through here as `const
/// void*` and come from the generated table only. What a family computes is the interface of its operation:
/// gemm/family.hpp, reduce_split_k/family.hpp.
#pragma once

#include <string_view>

namespace quarry {

/// What every family answers, whatever it computes.
class Family {
 public:
  virtual std::string_view name() const = 0;

 protected:
  constexpr ~Family() = default;
};

}  // namespace quarry
