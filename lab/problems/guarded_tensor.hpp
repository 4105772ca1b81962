/// A tensor in memory of its own, with poison around it and between its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

namespace quarry::lab {

/// Storage of one operand. Every byte that is not an element holds poison, a NaN of bits that no kernel
/// writes, or some number where the type is an integer: a kernel that reads beside its operand spoils its
/// result, and one that writes beside it is found out by `check`.
///
/// The first element lies at exactly the alignment that the shape assumes (TensorView::assumed_alignment), no
/// better, so that a kernel that needs more fails. Each matrix of an array of pointers begins likewise; they
/// lie in another order than the array has, at different distances, with poison around each. Movable;
/// `view()` stays valid as long as the tensor, wherever it is moved.
class GuardedTensor {
 public:
  GuardedTensor() = default;

  /// Memory for a tensor of this shape, type, strides and alignment (its data pointer is not looked at), all
  /// poison. Fails with invalid_arguments for a type or extents that no memory can hold, and device_error
  /// when memory runs out.
  static Result<GuardedTensor> make(const TensorView& shape);

  /// The tensor, in plain host memory.
  const TensorView& view() const { return view_; }
  /// The first element; of an array of pointers, the first one of batch entry 0.
  void* data() const { return storage_.get() + offset(); }

  /// The whole storage, guards included: what is copied to and from a device. The tensor's first element lies
  /// `offset` bytes behind its 256-byte aligned start; pointers that an array holds lie elsewhere.
  std::byte* storage() const { return storage_.get(); }
  std::size_t storage_bytes() const { return bytes_; }
  std::size_t offset() const { return offsets_.empty() ? 0 : offsets_.front(); }
  /// The offset of each matrix of an array of pointers, by batch entry; of others, the one above.
  const std::vector<std::size_t>& offsets() const { return offsets_; }

  /// Poisons elements and guards.
  void poison();

  /// Whether every element was written since `poison()` (only where `elements_poisoned`) and no other byte
  /// was. A failure is `device_error` and says where. Every pattern of an integer type is a number, so
  /// that its elements are taken as written: comparing them with what they should be tells.
  Status check(bool elements_poisoned = true) const;

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };

  /// Decides where matrices of `span` bytes lie; fills offsets_ and bytes_.
  void place(const TensorView& shape, std::size_t span);
  /// Points the view at the matrices.
  void make_view(const TensorView& shape);
  Status check_matrix(std::size_t piece, bool told_by_poison) const;

  TensorView view_;
  std::unique_ptr<std::byte[], Free> storage_;
  std::size_t bytes_ = 0;
  std::vector<std::size_t> offsets_;
  std::vector<const void*> pointers_;
};

}  // namespace quarry::lab
