#include "registry/query/memo.hpp"

#include <array>
#include <bit>

namespace quarry::detail {
namespace {

struct Remembered {
  Question question;
  Answer answer;  ///< without a row: never used
};

/// A network asks for a few dozen different problems, over and over. A problem has a few places, by its hash;
/// there, the newest replaces the oldest.
constexpr std::size_t sets = 32;
constexpr std::size_t ways = 4;

struct Set {
  std::array<Remembered, ways> places;
  std::size_t oldest = 0;
};

constinit thread_local std::array<Set, sets> memory = {};

Question::Access access(const ProblemOperand& operand, DType type, int columns, int rows) {
  const long long long_stride = (1LL << 40) / bytes_of(type);
  const bool long_batch = operand.matrix.batch_stride >= long_stride;
  const auto packed = [&](Layout layout, long long stride, int line) {
    const auto i = static_cast<std::size_t>(layout);
    const bool is_long = long_batch || stride >= long_stride;
    // Where lines begin in the 128 bytes that L2 keeps together.
    const auto bytes = static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(bytes_of(type));
    const int begin = std::countr_zero(bytes | 128);
    const bool is_part = bytes == std::uint64_t{1} << begin;
    return static_cast<std::uint16_t>(begin << 10 | is_part << 9 | operand.alignment[i] << 4 | is_long << 3 |
                                      (stride == 0) << 2 | (stride < line) << 1 | operand.fits[i]);
  };
  const auto fits = [&](Layout layout) { return operand.fits[static_cast<std::size_t>(layout)]; };
  // Of an interleaved operand, which one it is; its groups never overlap.
  if (fits(Layout::row_interleaved32))
    return {
        static_cast<std::uint16_t>(packed(Layout::row_interleaved32, operand.matrix.row_stride, 0) | 1 << 13),
        0};
  if (fits(Layout::column_interleaved32))
    return {0, static_cast<std::uint16_t>(
                   packed(Layout::column_interleaved32, operand.matrix.column_stride, 0) | 1 << 13)};
  return {packed(Layout::row, operand.matrix.row_stride, columns),
          packed(Layout::column, operand.matrix.column_stride, rows)};
}

/// Sizes, types and accesses tell the problems of one program apart; the device and the options do not.
Set& set_of(const Question& q) {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  std::uint64_t hash = number(q.m) << 32 | number(q.n);
  hash = (hash ^ std::rotl(number(q.k) << 32 | number(q.batch), 17)) * 0x9e3779b97f4a7c15U;
  const std::uint64_t kinds = number(q.types.a) << 24 | number(q.types.b) << 16 |
                              number(q.types.accumulator) << 8 | number(q.types.out);
  const std::uint64_t accesses =
      number(q.a.row) << 24 | number(q.a.column) << 16 | number(q.b.row) << 8 | number(q.b.column);
  hash = (hash ^ hash >> 29 ^ kinds << 32 ^ accesses ^ number(q.out.row) << 40) * 0xbf58476d1ce4e5b9U;
  return memory[static_cast<std::size_t>(hash >> 59)];
}
static_assert(sets == std::size_t{1} << (64 - 59));

}  // namespace

Question question(const GemmProblem& problem, const FindOptions& options, const DeviceProfiles& device) {
  const Controls& controls = problem.controls;
  return {.m = problem.m,
          .n = problem.n,
          .k = problem.k,
          .batch = problem.batch,
          .types = problem.types,
          .math = problem.math,
          .a = access(problem.a, problem.types.a, problem.k, problem.m),
          .b = access(problem.b, problem.types.b, problem.n, problem.k),
          .out = access(problem.out, problem.types.out, problem.n, problem.m),
          .epilogue_matrices = epilogue_matrices(problem),
          .has_arrays = problem.has_arrays,
          .order = options.order,
          .availability = options.availability,
          .mode = static_cast<std::uint8_t>(controls.mode ? static_cast<int>(*controls.mode) + 1 : 0),
          .slices = controls.split_k_slices.value_or(0),
          .swizzle = controls.swizzle.value_or(0),
          .raster = static_cast<std::uint8_t>(controls.raster ? static_cast<int>(*controls.raster) + 1 : 0),
          .multiprocessors = controls.multiprocessors.value_or(0),
          .max_workspace = options.max_workspace,
          .device = &device};
}

const Answer* recall(const Question& question) {
  for (const Remembered& there : set_of(question).places) {
    if (there.answer.row != nullptr && there.question == question) return &there.answer;
  }
  return nullptr;
}

void remember(const Question& question, const Answer& answer) {
  Set& set = set_of(question);
  set.places[set.oldest] = {question, answer};
  set.oldest = (set.oldest + 1) % ways;
}

}  // namespace quarry::detail
