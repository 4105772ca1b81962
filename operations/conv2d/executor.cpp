#include "operations/conv2d/executor.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "conv2d/places.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/epilogue.hpp"
#include "operations/common/host/multiplied_share.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/gemm/block_product.hpp"

namespace quarry::host {
namespace {

/// Outputs that are computed at once, and positions of K that are gathered at once.
constexpr int block_rows = 32;
constexpr int block_columns = 32;
constexpr int block_depth = 256;

/// Below so many multiplications, starting threads costs more than it gains.
constexpr double least_work_for_threads = 1e6;

/// Memory of one worker. T is the type that sums are computed in, s32 ones as unsigned, which may wrap.
template <class T>
struct Scratch {
  T a[block_rows * block_depth];
  T b[block_columns * block_depth];
  T sums[block_rows * block_columns];
};

/// What a kernel computes with.
struct Numbers {
  Types types;
  Math math;
};

/// A block of the output of one group.
struct GroupBlock {
  int group;
  int row, rows;
  int column, columns;
};

/// How the blocks share the output.
struct Blocks {
  const GemmParams& params;
  std::int64_t down = (params.m + block_rows - 1) / block_rows;
  std::int64_t across = (params.n + block_columns - 1) / block_columns;

  std::int64_t count() const { return down * across * params.batch; }
  GroupBlock at(std::int64_t i) const {
    const auto row = static_cast<int>(i / across % down) * block_rows;
    const auto column = static_cast<int>(i % across) * block_columns;
    return {static_cast<int>(i / across / down), row, std::min(block_rows, params.m - row), column,
            std::min(block_columns, params.n - column)};
  }
};

template <Direction direction, bool interleaved>
struct OutputPlaces {
  const Windows& windows;
  std::int64_t at(const MatrixParams& tensor, int row, int column) const {
    return output_place<direction, interleaved>(windows, tensor, row, column);
  }
};

/// Lines of A or B that a block needs, and what of their values is multiplied.
struct Lines {
  DType type;
  Share share;
  const void* data;
  std::int64_t group_offset;
  int first;
  int count;
};

/// Gathers lines as add_product reads them: `width` lines interleaved; what there is not is 0.
template <class Matrix, class T>
void gather(const Conv2dParams& p, const Lines& lines, int k_first, int depth, int width, T* packed) {
  const int padded = (lines.count + width - 1) / width * width;
  std::vector<PlacePart> parts(static_cast<std::size_t>(depth));
  for (int k = 0; k < depth; ++k) parts[static_cast<std::size_t>(k)] = Matrix::along_k(p, k_first + k);
  with_element(lines.type, [&]<class E>(E) {
    for (int line = 0; line < padded; ++line) {
      const bool exists = line < lines.count;
      const PlacePart part = exists ? Matrix::along_extent(p, lines.first + line) : PlacePart{};
      for (int k = 0; k < depth; ++k) {
        const long long place =
            exists ? Matrix::place(p, part, parts[static_cast<std::size_t>(k)]) : no_place;
        T value = 0;
        if (place != no_place)
          value =
              share_of(static_cast<T>(read_element<E>(lines.data, lines.group_offset + place)), lines.share);
        packed[(line / width * depth + k) * width + line % width] = value;
      }
    }
  });
}

/// A sum as the epilogue computes with it.
template <class C, class T>
C computed(T sum) {
  return static_cast<C>(sum);
}
template <class C>
C computed(std::uint32_t sum) {
  return static_cast<C>(static_cast<std::int32_t>(sum));
}

/// Adds products of one share of A and of B, over `depth` positions of K.
template <Direction direction, bool interleaved, class T, Rounding rounding>
void add_products_of(const Types& types, const Shares& shares, const Conv2dParams& p, const GroupBlock& block,
                     int k, int depth, Scratch<T>& scratch) {
  using From = Matrices<direction, interleaved>;
  const Lines a = {types.a, shares.a, p.a.data, block.group * p.windows.group_a, block.row, block.rows};
  const Lines b = {types.b, shares.b, p.b.data, block.group * p.windows.group_b, block.column, block.columns};
  gather<typename From::A>(p, a, k, depth, rows_at_once, scratch.a);
  gather<typename From::B>(p, b, k, depth, columns_at_once<T>, scratch.b);
  for (int column = 0; column < block.columns; column += columns_at_once<T>) {
    for (int row = 0; row < block.rows; row += rows_at_once) {
      add_product<T, rounding>(scratch.a + row * depth, scratch.b + column * depth, depth, 1,
                               scratch.sums + row * block_columns + column, block_columns);
    }
  }
}

template <Direction direction, bool interleaved, class T, Rounding rounding>
void add_products(const Numbers& numbers, const Conv2dParams& p, const GroupBlock& block,
                  Scratch<T>& scratch) {
  std::fill(std::begin(scratch.sums), std::end(scratch.sums), T{0});
  for (int k = 0; k < p.k; k += block_depth) {
    const int depth = std::min(block_depth, p.k - k);
    for (const Shares& shares : shares_of(numbers.math))
      add_products_of<direction, interleaved, T, rounding>(numbers.types, shares, p, block, k, depth,
                                                           scratch);
  }
}

template <Direction direction, bool interleaved, class C, class T>
void finish(const Types& types, const Conv2dParams& p, const GroupBlock& block, const Scratch<T>& scratch) {
  const int row = first_row(direction, p, block.group) + block.row;
  const int column = first_column(direction, p, block.group) + block.column;
  with_element(types.out, [&]<class E>(E) {
    using Places = OutputPlaces<direction, interleaved>;
    const HostEpilogue<C, E, Places> epilogue(p, Places{p.windows});
    for (int i = 0; i < block.rows; ++i) {
      for (int j = 0; j < block.columns; ++j)
        epilogue.finish(0, row + i, column + j, computed<C>(scratch.sums[i * block_columns + j]));
    }
  });
}

/// From sums to what the expression makes of them.
template <Direction direction, class T>
void finish(const ConvolutionExpression& expression, DType out, const Conv2dParams& p,
            const GroupBlock& block, const Scratch<T>& scratch) {
  ExpressionFinish finish = finish_of(expression, out,
                                      {.batch = 0,
                                       .row = first_row(direction, p, block.group) + block.row,
                                       .column = first_column(direction, p, block.group) + block.column,
                                       .rows = block.rows,
                                       .columns = block.columns});
  double row[block_columns];
  for (int i = 0; i < block.rows; ++i) {
    for (int j = 0; j < block.columns; ++j) row[j] = computed<double>(scratch.sums[i * block_columns + j]);
    finish.row(i, row);
  }
}

template <Direction direction, bool interleaved, class T, Rounding rounding>
void run(const Numbers& numbers, const Conv2dParams& p, int threads,
         const ConvolutionExpression* expression) {
  const double work = static_cast<double>(p.m) * p.n * p.k * p.batch;
  const Types& types = numbers.types;
  if (work < least_work_for_threads) threads = 1;
  const Blocks blocks = {p};
  std::vector<Scratch<T>> scratch(static_cast<std::size_t>(threads));
  parallel_for(blocks.count(), threads, [&](int worker, std::int64_t i) {
    Scratch<T>& own = scratch[static_cast<std::size_t>(worker)];
    const GroupBlock block = blocks.at(i);
    add_products<direction, interleaved, T, rounding>(numbers, p, block, own);
    if (expression != nullptr) return finish<direction>(*expression, types.out, p, block, own);
    with_compute_type(compute_type(types.accumulator, types.out),
                      [&]<class C>(C) { finish<direction, interleaved, C>(types, p, block, own); });
  });
}

/// How sums of a type are computed on the CPU.
template <DType sums>
struct Summed {
  using Type = ComputeType<sums>;
  static constexpr Rounding rounding = sums == DType::f16 ? Rounding::f16 : Rounding::none;
};
template <>
struct Summed<DType::s32> {
  using Type = std::uint32_t;
  static constexpr Rounding rounding = Rounding::none;
};

template <Direction direction, bool interleaved = false>
Status run(const Numbers& numbers, const Conv2dParams& p, int threads,
           const ConvolutionExpression* expression) {
  const bool is_known = with_type_of<DType::f16, DType::f32, DType::f64, DType::s32>(
      numbers.types.accumulator, [&]<DType t>(TypeTag<t>) {
        run<direction, interleaved, typename Summed<t>::Type, Summed<t>::rounding>(numbers, p, threads,
                                                                                   expression);
      });
  if (is_known) return {};
  return {StatusCode::unsupported,
          "The host executor does not know sums of " + std::string(to_string(numbers.types.accumulator))};
}

}  // namespace

Status execute(const KernelMetadata& kernel, const Conv2dParams& p, int threads,
               const ConvolutionExpression* expression) try {
  const OperandsMetadata& o = kernel.operands;
  const Types types = {o.a.dtype, o.b.dtype, o.accumulator, o.out.dtype};
  if (p.m <= 0 || p.n <= 0 || p.batch <= 0) return {};
  for (const DType type : {types.a, types.b, types.out}) {
    if (bits_of(type) == 0) {
      return {StatusCode::unsupported,
              "The host executor does not know type " + std::string(to_string(type))};
    }
  }
  const Numbers numbers = {types, kernel.design.math};
  if (threads <= 0) threads = default_threads();
  switch (kernel.direction.value_or(Direction::fprop)) {
    case Direction::dgrad: return run<Direction::dgrad>(numbers, p, threads, expression);
    case Direction::wgrad: return run<Direction::wgrad>(numbers, p, threads, expression);
    default:
      return is_interleaved(o.a.layout) ? run<Direction::fprop, true>(numbers, p, threads, expression)
                                        : run<Direction::fprop>(numbers, p, threads, expression);
  }
} catch (const std::bad_alloc&) {
  return {StatusCode::device_error, "The host executor ran out of memory"};
}

}  // namespace quarry::host
