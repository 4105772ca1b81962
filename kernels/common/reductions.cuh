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

/// The parts of a line's totals: how many there are, the slot of the first one, and slots from one part to
/// the next one. A line that is not there is not finished.
struct LineParts {
  long long first;
  long long step;
  long long count;
  bool is_there = true;
};

/// Parts of which there are as many for each line. They lie [reduction][part][line] from the first slot of
/// their kind on.
struct EvenParts {
  const char* partials;
  /// Lines of each kind; 0: they are finished already.
  long long rows;
  long long columns;
  long long row_parts;
  long long column_parts;
  long long all_parts;
  /// First slots of the parts of columns, and of all.
  long long columns_at;
  long long all_at;

  QUARRY_DEVICE LineParts parts_of_row(long long line) const { return {line, rows, row_parts}; }
  QUARRY_DEVICE LineParts parts_of_column(long long line) const {
    return {columns_at + line, columns, column_parts};
  }
  /// Slots from one reduction's parts to the next one's.
  QUARRY_DEVICE long long row_stride() const { return row_parts * rows; }
  QUARRY_DEVICE long long column_stride() const { return column_parts * columns; }
  /// Calls `add(slot)` for each part of all that is the lane's. All lanes of a warp call it together.
  template <class Add>
  QUARRY_DEVICE void each_part_of_all(const Add& add) const {
    for (long long i = arch::lane_index(); i < all_parts; i += 32) add(all_at + i);
  }
};

/// The second step of a launch whose first step has left parts of lines' totals in the workspace: a thread
/// adds up the parts of a line, one after another, and a warp the values of all elements.
///
/// @tparam Problem says how many parts there are and where, as EvenParts does, and what generated code
/// finishes lines with: row_lane(line), column_lane(line), all_lane()
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
    const LineParts parts = p_.parts_of_row(line);
    if (!parts.is_there) return;
    Lines total;
    Values::each_row(total, total, Start());
    for (long long i = 0; i < parts.count; ++i)
      Values::each_row(total, total, CombinePartial{slot(parts.first + i * parts.step), p_.row_stride()});
    Code::finish_row(p_.row_lane(line), total);
  }

  QUARRY_DEVICE void column(long long line) const {
    const LineParts parts = p_.parts_of_column(line);
    if (!parts.is_there) return;
    Lines total;
    Values::each_column(total, total, Start());
    for (long long i = 0; i < parts.count; ++i)
      Values::each_column(total, total,
                          CombinePartial{slot(parts.first + i * parts.step), p_.column_stride()});
    Code::finish_column(p_.column_lane(line), total);
  }

  QUARRY_DEVICE void all() const {
    Lines total;
    Values::each_all(total, total, Start());
    p_.each_part_of_all([&](long long number) {
      Values::each_all(total, total, CombinePartial{slot(number), p_.all_parts});
    });
    QUARRY_UNROLL
    for (int mask = 1; mask < 32; mask *= 2)
      Values::each_all(total, total, CombineLane{arch::lane_index() ^ mask});
    if (arch::lane_index() == 0) Code::finish_all(p_.all_lane(), total);
  }

  Problem p_;
};

}  // namespace quarry::reductions
