/// What the registry holds of every kernel family. Host only.
///
/// A family is a folder: its configs are values of its own structural type, which pass through here as `const
/// void*` and come from the generated table or make_kernel. What a family computes is the interface of its
/// operation, made of this: gemm/family.hpp, reduce_split_k/family.hpp, reorder_matrix/family.hpp.
#pragma once

namespace quarry {

/// A family of any operation: a reference to it leads to the operation's own interface.
class Family {
 protected:
  constexpr ~Family() = default;
};

}  // namespace quarry
