/// What each group of K has of a lane's two rows of weights: scales or zero points.
#pragma once

#include "arch/arch.hpp"
#include "common/matrix_params.hpp"

namespace quarry::gemm_sm90 {

/// Whether 32 bits hold the place of each value.
QUARRY_DEVICE bool spans_little(const MatrixParams& values, int rows, int groups) {
  const auto to_row = static_cast<unsigned long long>(rows * values.row_stride);
  const auto to_group = static_cast<unsigned long long>(groups * values.column_stride);
  constexpr unsigned long long most = 1ULL << 28;
  return to_row < most && to_group < most;
}

/// Where the values of the two rows are. @tparam one_by_one at() is called for one group after another, so
/// that only places move on. @pre then: they span little
template <class T, bool one_by_one>
class RowValues {
  template <bool, class Narrow, class>
  struct Choice {
    using Type = Narrow;
  };
  template <class Narrow, class Wide>
  struct Choice<false, Narrow, Wide> {
    using Type = Wide;
  };
  using Offset = typename Choice<one_by_one, unsigned, long long>::Type;

 public:
  /// @param first value of the batch entry @param row the upper one @param group of the first call
  QUARRY_DEVICE RowValues(const T* first, const MatrixParams& values, int lines_log2, int row, int rows,
                          int group)
      : first_(reinterpret_cast<const char*>(first)),
        stride_(static_cast<Offset>(values.column_stride * static_cast<int>(sizeof(T)))) {
    QUARRY_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int own = row + 8 * half < rows ? row + 8 * half : rows - 1;
      const long long place = (own >> lines_log2) * values.row_stride;
      offset_[half] = static_cast<Offset>(place * static_cast<int>(sizeof(T)));
      if (one_by_one) offset_[half] += group * stride_;
    }
  }

  QUARRY_DEVICE bool are_there() const { return first_ != nullptr; }

  /// Those of a group.
  QUARRY_DEVICE arch::Vector<T, 2> at(int group) {
    const Offset further = one_by_one ? 0 : group * stride_;
    const arch::Vector<T, 2> both = {arch::global_load<T>(first_ + (offset_[0] + further)),
                                     arch::global_load<T>(first_ + (offset_[1] + further))};
    if (one_by_one) skip(1);
    return both;
  }

  /// Leaves out so many groups: other warpgroups multiply them.
  QUARRY_DEVICE void skip(int groups) {
    if (!one_by_one) return;
    offset_[0] += groups * stride_;
    offset_[1] += groups * stride_;
  }

 private:
  const char* first_;
  Offset stride_;
  Offset offset_[2];
};

}  // namespace quarry::gemm_sm90
