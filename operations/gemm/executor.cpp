#include "operations/gemm/executor.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

#include "common/interleaved.hpp"
#include "operations/common/host/arithmetic.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/epilogue.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/common/host/multiplied_share.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/gemm/block_product.hpp"
#include "operations/gemm/block_scales.hpp"
#include "operations/gemm/host_expression.hpp"
#include "operations/gemm/slices.hpp"

namespace quarry::host {
namespace {

/// Outputs that are computed at once, and positions of K that are packed at once: about what the caches hold.
constexpr int block_rows = 64;
constexpr int block_columns = 128;
constexpr int block_depth = 256;

/// Below so many multiplications, starting threads costs more than it gains.
constexpr double least_work_for_threads = 1e6;

/// What a run is given.
struct Run {
  const HostKernel& kernel;
  const GemmParams& params;
  const OperandScales& scales;
  const GemmExpression* expression;
  /// Where the expression needs all sums; else null.
  WideExpressionFinish* wide;
  unsigned blocks;
  int threads;
};

/// Memory of one worker. T is the type that sums are computed in, s32 ones as unsigned, which may wrap; S is
/// T, or what sums are promoted to where scales are blocks.
template <class T, class S>
struct Scratch {
  T a[block_rows * block_depth];
  T b[block_columns * block_depth];
  T group[block_rows * block_columns];     // sums of one group of warps over one slice, or over a block of K
  S promoted[block_rows * block_columns];  // of one group over one slice, where scales are blocks
  S slice[block_rows * block_columns];     // of all groups over one slice
  S total[block_rows * block_columns];
  std::int32_t positions[block_depth];
};

/// The K indices that one group of warps multiplies in one slice, in its order: its part of each K tile of
/// the slice.
class Positions {
 public:
  Positions(const HostKernel& kernel, const GemmParams& params, const Slice& slice, int group)
      : part_(kernel.tile_k / kernel.warps_k),
        tile_k_(kernel.tile_k),
        k_(params.k),
        offset_(group * part_),
        first_tile_(slice.first),
        count_(slice.count * part_) {}

  std::int64_t count() const { return count_; }

  /// Index of position p, or -1 where it lies behind the end of K.
  std::int32_t index(std::int64_t p) const {
    const std::int64_t k = k_at(p);
    return k < k_ ? static_cast<std::int32_t>(k) : -1;
  }

  /// The first position behind p that lies in another block of so many positions, which share their scales,
  /// in steps of an instruction.
  std::int64_t end_of_block(std::int64_t p, int step, int size) const {
    const std::int64_t block = k_at(p) / size;
    while (p < count_ && k_at(p) / size == block) p += step;
    return p;
  }

 private:
  std::int64_t k_at(std::int64_t p) const {
    return (first_tile_ + p / part_) * tile_k_ + offset_ + p % part_;
  }

  int part_;
  int tile_k_;
  int k_;
  int offset_;
  std::int64_t first_tile_;
  std::int64_t count_;
};

/// Lines of an operand (rows of A or columns of B) that a block needs.
struct Lines {
  DType type;
  const void* data;
  std::int64_t first;  // element index of the first line's first element
  std::int64_t line_stride;
  std::int64_t k_stride;
  bool lines_grouped;  // see common/interleaved.hpp
  bool k_grouped;
  int count;
};

/// A sum as the epilogue computes with it.
template <class C, class T>
C computed(T sum) {
  return static_cast<C>(sum);
}
template <class C>
C computed(std::uint32_t sum) {
  return static_cast<C>(static_cast<std::int32_t>(sum));
}

/// Packs lines as add_product reads them: `width` lines interleaved; missing lines and positions are 0. Zero
/// points are taken off.
template <class T>
void pack(const Lines& lines, const BlockZeros& zeros, const std::int32_t* positions, int depth, int width,
          Share share, T* packed) {
  const int padded = (lines.count + width - 1) / width * width;
  with_element(lines.type, [&]<class E>(E) {
    const auto put = [&](int line, int p) {
      T value = 0;
      if (line < lines.count && positions[p] >= 0) {
        const std::int64_t at = lines.first + distance(lines.lines_grouped, line, lines.line_stride) +
                                distance(lines.k_grouped, positions[p], lines.k_stride);
        value = share_of(static_cast<T>(read_element<E>(lines.data, at)), share);
        if (zeros.has_any()) value -= static_cast<T>(zeros.at(line, positions[p]));
      }
      packed[(line / width * depth + p) * width + line % width] = value;
    };
    if (lines.line_stride == 1 || lines.lines_grouped) {  // walk memory in its order
      for (int p = 0; p < depth; ++p) {
        for (int line = 0; line < padded; ++line) put(line, p);
      }
    } else {
      for (int line = 0; line < padded; ++line) {
        for (int p = 0; p < depth; ++p) put(line, p);
      }
    }
  });
}

template <class T, Rounding rounding, class S>
class Executor {
 public:
  Executor(const Run& run, const Slices& slices)
      : kernel_(run.kernel),
        params_(run.params),
        scales_(run.scales),
        expression_(run.expression),
        wide_(run.wide),
        slices_(slices) {
    const int part = kernel_.tile_k / kernel_.warps_k;
    chunk_ = part % kernel_.instruction_k == 0 ? kernel_.instruction_k : 1;
    depth_ = block_depth / chunk_ * chunk_;
  }

  void run(const Block& block, Scratch<T, S>& scratch) const {
    clear(block, scratch.total);
    slices_.for_each(block, [&](const Slice& slice) {
      clear(block, scratch.slice);
      for (int group = 0; group < kernel_.warps_k; ++group)
        add_group(block, Positions(kernel_, params_, slice, group), scratch);
      add(block, scratch.slice, scratch.total);
    });
    if (expression_ != nullptr) return finish_expression(block, scratch.total);
    with_compute_type(compute_type(kernel_.types.accumulator, kernel_.types.out),
                      [&]<class C>(C) { finish<C>(block, scratch.total); });
  }

 private:
  /// How many sums a block touches: all of its rows, and of the rows that are multiplied along with them.
  /// Groups and lists have many blocks of a row or two.
  static int touched(const Block& block) {
    static_assert(block_rows % rows_at_once == 0);
    return (block.rows + rows_at_once - 1) / rows_at_once * rows_at_once * block_columns;
  }

  template <class X>
  static void clear(const Block& block, X (&sums)[block_rows * block_columns]) {
    std::fill_n(std::begin(sums), touched(block), X{0});
  }

  template <class From>
  static void add(const Block& block, const From (&from)[block_rows * block_columns],
                  S (&to)[block_rows * block_columns]) {
    const int count = touched(block);
    for (int i = 0; i < count; ++i) to[i] += computed<S>(from[i]);
  }

  /// Adds the sums of one group to the slice's.
  void add_group(const Block& block, const Positions& positions, Scratch<T, S>& scratch) const {
    if constexpr (std::is_floating_point_v<S>) {
      if (is_blocked(scales_)) {
        sum_promoted(block, positions, scratch);
        return add(block, scratch.promoted, scratch.slice);
      }
    }
    clear(block, scratch.group);
    sum_group(block, positions, 0, positions.count(), scratch);
    add(block, scratch.group, scratch.slice);
  }

  /// Sums of one group, each block of K by itself, times its scales.
  void sum_promoted(const Block& block, const Positions& positions, Scratch<T, S>& scratch) const {
    clear(block, scratch.promoted);
    for (std::int64_t begin = 0; begin < positions.count() && positions.index(begin) >= 0;) {
      const std::int64_t end = positions.end_of_block(begin, chunk_, k_positions(scales_));
      clear(block, scratch.group);
      sum_group(block, positions, begin, end, scratch);
      promote(block, positions.index(begin), scratch);
      begin = end;
    }
  }

  /// promoted += scales * group. @param k a position of the block
  void promote(const Block& block, std::int64_t k, Scratch<T, S>& scratch) const {
    S rows[block_rows];
    S columns[block_columns];
    read_scales(scales_.a, block.batch, block.row, block.rows, k, rows);
    read_scales(scales_.b, block.batch, block.column, block.columns, k, columns);
    for (int i = 0; i < block.rows; ++i) {
      for (int j = 0; j < block.columns; ++j) {
        S& sum = scratch.promoted[i * block_columns + j];
        sum = multiplied_added(rows[i] * columns[j], computed<S>(scratch.group[i * block_columns + j]), sum);
      }
    }
  }

  /// Adds the products of positions from `begin` to `end` to the group's sums.
  void sum_group(const Block& block, const Positions& positions, std::int64_t begin, std::int64_t end,
                 Scratch<T, S>& scratch) const {
    if (begin == end) return;  // and operands may be absent
    const GemmParams& p = params_;
    static_assert(block_rows % interleave == 0 && block_columns % interleave == 0);
    const Types& types = kernel_.types;
    const Layouts& l = kernel_.layouts;
    const Lines rows = {types.a,
                        first_of(p.a, block.batch, bits_of(types.a)),
                        distance(groups_rows(l.a), block.row, p.a.row_stride),
                        p.a.row_stride,
                        p.a.column_stride,
                        groups_rows(l.a),
                        groups_columns(l.a),
                        block.rows};
    const Lines columns = {types.b,
                           first_of(p.b, block.batch, bits_of(types.b)),
                           distance(groups_columns(l.b), block.column, p.b.column_stride),
                           p.b.column_stride,
                           p.b.row_stride,
                           groups_columns(l.b),
                           groups_rows(l.b),
                           block.columns};
    const BlockZeros row_zeros(scales_.a, block.batch, block.row);
    const BlockZeros column_zeros(scales_.b, block.batch, block.column);
    for (; begin < end; begin += depth_) {
      const int depth = static_cast<int>(std::min<std::int64_t>(depth_, end - begin));
      for (int i = 0; i < depth; ++i) scratch.positions[i] = positions.index(begin + i);
      for (const Shares& shares : shares_of(kernel_.math)) {
        pack(rows, row_zeros, scratch.positions, depth, rows_at_once, shares.a, scratch.a);
        pack(columns, column_zeros, scratch.positions, depth, columns_at_once<T>, shares.b, scratch.b);
        multiply(block, depth, scratch);
      }
    }
  }

  void multiply(const Block& block, int depth, Scratch<T, S>& scratch) const {
    for (int column = 0; column < block.columns; column += columns_at_once<T>) {
      for (int row = 0; row < block.rows; row += rows_at_once) {
        T* const sums = scratch.group + row * block_columns + column;
        const T* const a = scratch.a + row * depth;
        const T* const b = scratch.b + column * depth;
        if (chunk_ == 1) {
          add_product<T, rounding>(a, b, depth, 1, sums, block_columns);
        } else {
          add_product<T, rounding>(a, b, depth, chunk_, sums, block_columns);
        }
      }
    }
  }

  /// From sums to outputs, computing in C.
  template <class C>
  void finish(const Block& block, const S* sums) const {
    C rows[block_rows];
    C columns[block_columns];
    const bool is_scaled = !is_blocked(scales_) && (scales_.a.is_given || scales_.b.is_given);
    if (is_scaled) {
      read_scales(scales_.a, block.batch, block.row, block.rows, 0, rows);
      read_scales(scales_.b, block.batch, block.column, block.columns, 0, columns);
    }
    with_element(kernel_.types.out, [&]<class E>(E) {
      const HostEpilogue<C, E> epilogue(params_, kernel_.layouts.out);
      for (int i = 0; i < block.rows; ++i) {
        for (int j = 0; j < block.columns; ++j) {
          C sum = computed<C>(sums[i * block_columns + j]);
          if (is_scaled) sum = multiplied(multiplied(rows[i], columns[j]), sum);
          epilogue.finish(block.batch, block.row + i, block.column + j, sum);
        }
      }
    });
  }

  /// From sums to what the expression makes of them.
  void finish_expression(const Block& block, const S* sums) const {
    if (wide_ != nullptr) {
      each_row(block, sums, [&](int i, const double* row) { wide_->keep(block, i, row); });
    } else {
      ExpressionFinish finish(*expression_, params_, kernel_.types.out, block);
      each_row(block, sums, [&](int i, const double* row) { finish.row(i, row); });
    }
  }

  template <class Use>
  static void each_row(const Block& block, const S* sums, const Use& use) {
    double row[block_columns];
    for (int i = 0; i < block.rows; ++i) {
      for (int j = 0; j < block.columns; ++j) row[j] = computed<double>(sums[i * block_columns + j]);
      use(i, row);
    }
  }

  const HostKernel& kernel_;
  const GemmParams& params_;
  const OperandScales& scales_;
  const GemmExpression* expression_;
  WideExpressionFinish* wide_;
  const Slices& slices_;
  int chunk_;
  int depth_;
};

template <class T, Rounding rounding, class S = T>
Status execute_as(const Run& run) {
  const GemmParams& p = run.params;
  const Slices slices(run.kernel, p, run.blocks);
  const Cuts row_cuts(p.m, slices.tile_m(), block_rows);
  const Cuts column_cuts(p.n, slices.tile_n(), block_columns);
  const std::int64_t rows = row_cuts.count();
  const std::int64_t columns = column_cuts.count();
  const std::int64_t blocks = rows * columns * p.batch;
  const bool is_small = static_cast<double>(p.m) * p.n * p.k * p.batch < least_work_for_threads;
  const int threads = static_cast<int>(std::min<std::int64_t>(is_small ? 1 : run.threads, blocks));

  std::vector<std::unique_ptr<Scratch<T, S>>> scratch;
  for (int i = 0; i < threads; ++i) scratch.emplace_back(new Scratch<T, S>);
  const Executor<T, rounding, S> executor(run, slices);
  parallel_for(blocks, threads, [&](int worker, std::int64_t i) {
    Block block;
    block.batch = static_cast<int>(i / (rows * columns));
    const std::int64_t row = i / columns % rows;
    const std::int64_t column = i % columns;
    if (row_cuts.length(row) <= 0 || column_cuts.length(column) <= 0) return;
    block.row = static_cast<int>(row_cuts.begin(row));
    block.column = static_cast<int>(column_cuts.begin(column));
    block.rows = static_cast<int>(row_cuts.length(row));
    block.columns = static_cast<int>(column_cuts.length(column));
    executor.run(block, *scratch[static_cast<std::size_t>(worker)]);
  });
  return {};
}

/// Sums of an accumulator type, as the executor keeps them. f16 sums are f32 that are rounded after each
/// step.
template <DType accumulator>
Status execute_in(const Run& run) {
  if constexpr (is_integer(accumulator)) {
    // Within a block of scales no sum leaves s32. Beyond, matrix instructions saturate, the others wrap.
    if (is_blocked(run.scales)) return execute_as<std::uint32_t, Rounding::none, float>(run);
    return run.kernel.instruction_k > 1 ? execute_as<std::uint32_t, Rounding::saturated>(run)
                                        : execute_as<std::uint32_t, Rounding::none>(run);
  } else {
    constexpr Rounding rounding = is_half(accumulator) ? Rounding::f16 : Rounding::none;
    return execute_as<ComputeType<partial_type(accumulator)>, rounding>(run);
  }
}

/// Why the executor refuses types of a kernel.
Status check_types(const Types& types, const OperandScales& scales) {
  constexpr auto code = StatusCode::unsupported;
  for (const DType type : {types.a, types.b, types.out}) {
    if (bits_of(type) == 0)
      return {code, "The host executor does not know type " + std::string(to_string(type))};
  }
  if (is_integer(types.accumulator) && !(is_byte(types.a) && is_byte(types.b)))
    return {code, "The host executor sums only s8 and u8 operands in s32"};
  const bool is_scaled = scales.a.is_given || scales.b.is_given;
  if (is_scaled && is_integer(compute_type(types.accumulator, types.out)))
    return {code, "The host executor scales no operands where the output is computed in s32"};
  return {};
}

}  // namespace

HostKernel host_kernel(const detail::Row& row) {
  const KernelMetadata& m = row.metadata;
  const Types types = {m.operands.a.dtype, m.operands.b.dtype, m.operands.accumulator, m.operands.out.dtype};
  HostKernel kernel;
  kernel.types = row.exchanged ? exchanged(types) : types;
  const Layouts layouts = {m.operands.a.layout, m.operands.b.layout, m.operands.out.layout};
  kernel.layouts = row.exchanged ? exchanged(layouts) : layouts;
  kernel.math = m.design.math;
  const Extent3& tile = m.design.tile;
  kernel.tile_m = row.exchanged ? tile.n : tile.m;
  kernel.tile_n = row.exchanged ? tile.m : tile.n;
  kernel.tile_k = tile.k;
  kernel.warps_k = m.design.warps ? m.design.warps->k : 1;
  kernel.instruction_k = m.design.instruction ? m.design.instruction->k : 1;
  return kernel;
}

Status execute(const HostKernel& kernel, const GemmParams& p, unsigned blocks, int threads) {
  return execute(kernel, p, {}, blocks, threads);
}

Status execute(const HostKernel& kernel, const GemmParams& p, const OperandScales& scales, unsigned blocks,
               int threads, const GemmExpression* expression) {
  const bool is_empty = p.m <= 0 || p.n <= 0 || p.batch <= 0;
  if (is_empty && (expression == nullptr || !is_wide(*expression))) return {};
  if (Status s = check_types(kernel.types, scales); !s) return s;
  constexpr OperandScales none;  // where nothing is multiplied
  Status done;
  bool is_known = false;
  try {
    std::optional<WideExpressionFinish> wide;
    if (expression != nullptr && is_wide(*expression)) wide.emplace(*expression, p, kernel.types.out);
    const Run run = {kernel,
                     p,
                     p.k > 0 ? scales : none,
                     expression,
                     wide ? &*wide : nullptr,
                     blocks,
                     threads > 0 ? threads : default_threads()};
    if (is_empty) {
      wide->finish();
      return {};
    }
    is_known = with_type_of<DType::f16, DType::f32, DType::f64, DType::s32>(
        kernel.types.accumulator, [&]<DType t>(TypeTag<t>) { done = execute_in<t>(run); });
    if (is_known && done && wide) wide->finish();
  } catch (const std::exception&) {
    return {StatusCode::device_error, "The host executor ran out of memory"};
  }
  if (is_known) return done;
  return {StatusCode::unsupported,
          "The host executor does not know accumulator " + std::string(to_string(kernel.types.accumulator))};
}

}  // namespace quarry::host
