#include "registry/query/memo.hpp"

#include <array>
#include <bit>

namespace quarry::detail {
namespace {

struct Remembered {
  Question question;
  Answer answer;  ///< without a row: never used
};

/// A network asks for a few dozen different problems, over and over. Each has one place, by its hash; later
/// ones win.
constexpr std::size_t places = 64;
constinit thread_local std::array<Remembered, places> memory = {};

Question::Access access(const ProblemOperand& operand) {
  const auto packed = [&](Layout layout) {
    const auto i = static_cast<std::size_t>(layout);
    return static_cast<std::uint8_t>(operand.alignment[i] << 1 | operand.fits[i]);
  };
  return {packed(Layout::row), packed(Layout::column)};
}

/// Sizes, types and accesses tell the problems of one program apart; the device and the options do not.
std::size_t place_of(const Question& q) {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  std::uint64_t hash = number(q.m) << 32 | number(q.n);
  hash = (hash ^ std::rotl(number(q.k) << 32 | number(q.batch), 17)) * 0x9e3779b97f4a7c15U;
  const std::uint64_t kinds = number(q.types.a) << 24 | number(q.types.b) << 16 |
                              number(q.types.accumulator) << 8 | number(q.types.out);
  const std::uint64_t accesses =
      number(q.a.row) << 24 | number(q.a.column) << 16 | number(q.b.row) << 8 | number(q.b.column);
  hash = (hash ^ hash >> 29 ^ kinds << 32 ^ accesses ^ number(q.out.row) << 40) * 0xbf58476d1ce4e5b9U;
  return static_cast<std::size_t>(hash >> 58);
}
static_assert(places == std::size_t{1} << (64 - 58));

}  // namespace

Question question(const GemmProblem& problem, const FindOptions& options, const DeviceModel& device) {
  const Controls& controls = problem.controls;
  return {.m = problem.m,
          .n = problem.n,
          .k = problem.k,
          .batch = problem.batch,
          .types = problem.types,
          .a = access(problem.a),
          .b = access(problem.b),
          .out = access(problem.out),
          .has_c = problem.has_c,
          .order = options.order,
          .availability = options.availability,
          .mode = static_cast<std::uint8_t>(controls.mode ? static_cast<int>(*controls.mode) + 1 : 0),
          .slices = controls.split_k_slices.value_or(0),
          .swizzle = controls.swizzle.value_or(0),
          .max_workspace = options.max_workspace,
          .cc = device.cc,
          .multiprocessors = device.multiprocessors,
          .shared_memory_per_block = device.shared_memory_per_block,
          .shared_memory_per_multiprocessor = device.shared_memory_per_multiprocessor,
          .registers_per_multiprocessor = device.registers_per_multiprocessor,
          .threads_per_multiprocessor = device.threads_per_multiprocessor,
          .l2_bytes = device.l2_bytes,
          .memory_bandwidth = device.memory_bandwidth,
          .clock = device.clock,
          .tensor_flops_per_clock = device.tensor_flops_per_clock,
          .fma_f32_flops_per_clock = device.fma_f32_flops_per_clock,
          .fma_f64_flops_per_clock = device.fma_f64_flops_per_clock};
}

const Answer* recall(const Question& question) {
  const Remembered& there = memory[place_of(question)];
  return there.answer.row != nullptr && there.question == question ? &there.answer : nullptr;
}

void remember(const Question& question, const Answer& answer) {
  memory[place_of(question)] = {question, answer};
}

}  // namespace quarry::detail
