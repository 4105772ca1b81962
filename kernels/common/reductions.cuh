/// What reductions of expressions do to values: functions of two values each, which generated code calls for
/// each reduction of a kind (each_group, each_row, each_column, each_all of its values).
#pragma once

#include "arch/arch.hpp"
#include "common/expression.cuh"
#include "common/lane_value.cuh"

namespace quarry::reductions {

/// Bytes of a value in the workspace.
inline constexpr int slot_bytes = 8;

/// What the greatest value is compared with first.
template <class C>
struct Lowest {
  QUARRY_DEVICE static C value() { return __builtin_bit_cast(C, 0xff800000U); }
};
template <>
struct Lowest<double> {
  QUARRY_DEVICE static double value() { return __builtin_bit_cast(double, 0xfff0000000000000ULL); }
};
template <>
struct Lowest<int> {
  QUARRY_DEVICE static int value() { return -2147483647 - 1; }
};

/// Both in one: the greater one, NaN if there is one, or the sum.
template <bool is_maximum, class C>
QUARRY_DEVICE C combined(C total, C x) {
  if constexpr (is_maximum) {
    return elementary::max(total, x);
  } else {
    return elementary::plus(total, x);
  }
}

/// Makes a total one of nothing.
struct Start {
  template <bool is_maximum, class C>
  QUARRY_DEVICE void of(int, C& total, C&) const {
    total = is_maximum ? Lowest<C>::value() : C(0);
  }
};

/// Takes the second value over into the first.
struct Combine {
  template <bool is_maximum, class C>
  QUARRY_DEVICE void of(int, C& total, C& x) const {
    total = combined<is_maximum>(total, x);
  }
};

/// Takes over the total of another lane of the warp. All lanes call it together.
struct CombineLane {
  int lane;
  template <bool is_maximum, class C>
  QUARRY_DEVICE void of(int, C& total, C&) const {
    total = combined<is_maximum>(total, of_lane(total, lane));
  }
};

/// Writes totals to the workspace. @param stride slots from one reduction's value to the next one's
struct WritePartial {
  char* first;
  long long stride;
  template <bool is_maximum, class C>
  QUARRY_DEVICE void of(int reduction, C& total, C&) const {
    arch::global_store(first + reduction * stride * slot_bytes, total);
  }
};

/// Takes over what was written.
struct CombinePartial {
  const char* first;
  long long stride;
  template <bool is_maximum, class C>
  QUARRY_DEVICE void of(int reduction, C& total, C&) const {
    total = combined<is_maximum>(total, arch::global_load<C>(first + reduction * stride * slot_bytes));
  }
};

/// The second step of a launch whose first step has left parts of lines' totals in the workspace: a thread
/// adds up the parts of a line, one after another, and a warp the values of all elements.
///
/// @tparam Problem says how many parts there are and where, and what generated code finishes lines with:
///   const char* partials;
///   long long rows, columns;                      lines of each kind; 0: they are finished already
///   long long row_parts, column_parts, all_parts;
///   long long columns_at, all_at;                 first slots of the parts of columns, and of all
///   row_lane(line), column_lane(line), all_lane()
/// Parts lie [reduction][part][line] from the first slot of their kind on.
template <class Code, class Problem>
class FinishStep {
  using Values = typename Code::Values;
  using Lines = typename Values::Lines;

 public:
  QUARRY_DEVICE explicit FinishStep(const Problem& problem) : p_(problem) {}

  QUARRY_DEVICE void run(int block_threads) const {
    const long long own = static_cast<long long>(arch::block_index()) * block_threads + arch::thread_index();
    if constexpr (Values::row_count > 0) {
      if (own < p_.rows) row(own);
    }
    if constexpr (Values::column_count > 0) {
      if (own >= p_.rows && own < p_.rows + p_.columns) column(own - p_.rows);
    }
    if constexpr (Values::all_count > 0) {
      if (arch::block_index() == arch::grid_blocks() - 1 && arch::warp_index() == 0) all();
    }
  }

 private:
  QUARRY_DEVICE const char* slot(long long number) const { return p_.partials + number * slot_bytes; }

  QUARRY_DEVICE void row(long long line) const {
    Lines total;
    Values::each_row(total, total, Start());
    for (long long i = 0; i < p_.row_parts; ++i)
      Values::each_row(total, total, CombinePartial{slot(i * p_.rows + line), p_.row_parts * p_.rows});
    Code::finish_row(p_.row_lane(line), total);
  }

  QUARRY_DEVICE void column(long long line) const {
    Lines total;
    Values::each_column(total, total, Start());
    for (long long i = 0; i < p_.column_parts; ++i) {
      Values::each_column(
          total, total,
          CombinePartial{slot(p_.columns_at + i * p_.columns + line), p_.column_parts * p_.columns});
    }
    Code::finish_column(p_.column_lane(line), total);
  }

  QUARRY_DEVICE void all() const {
    Lines total;
    Values::each_all(total, total, Start());
    for (long long i = arch::lane_index(); i < p_.all_parts; i += 32)
      Values::each_all(total, total, CombinePartial{slot(p_.all_at + i), p_.all_parts});
    QUARRY_UNROLL
    for (int mask = 1; mask < 32; mask *= 2)
      Values::each_all(total, total, CombineLane{arch::lane_index() ^ mask});
    if (arch::lane_index() == 0) Code::finish_all(p_.all_lane(), total);
  }

  Problem p_;
};

}  // namespace quarry::reductions
