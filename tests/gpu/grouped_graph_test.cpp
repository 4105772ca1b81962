/// Groups and lists of GEMMs whose sizes are in device memory: a graph is captured once and replayed with
/// other sizes.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/capture.hpp"
#include "gpu/device_case.hpp"
#include "lab/problems/fresh_seed.hpp"

using namespace quarry;
using test::must;
using test::Random;

namespace {

constexpr int groups = 6;
constexpr int columns = 136;
constexpr int size_vectors = 100;

/// Numbers of bf16 between -2 and 2 in device memory.
lab::DeviceBuffer random_numbers(std::int64_t count, Random& random) {
  std::vector<std::uint16_t> numbers(static_cast<std::size_t>(count));
  for (std::uint16_t& each : numbers) each = static_cast<std::uint16_t>((random() & 0x80ffU) | 0x3f00U);
  lab::DeviceBuffer buffer = must(lab::DeviceBuffer::allocate(numbers.size() * sizeof(std::uint16_t), 0));
  must(buffer.upload(numbers.data(), buffer.bytes()));
  return buffer;
}

/// Arguments whose `sizes` a test changes, and where their output is.
template <class Args>
struct Ragged {
  Args arguments;
  std::vector<lab::DeviceBuffer> operands;
  lab::DeviceBuffer out;
  lab::DeviceBuffer sizes;
  int numbers;  ///< in `sizes`
  int most;     ///< that a size can be, and still make sense
};

/// Operands of so many elements each.
template <class Args>
Ragged<Args> begin(std::int64_t a, std::int64_t b, std::int64_t out, int numbers, int most, Random& random) {
  Ragged<Args> made;
  made.numbers = numbers;
  made.most = most;
  made.operands.push_back(random_numbers(a, random));
  made.operands.push_back(random_numbers(b, random));
  made.out = random_numbers(out, random);
  made.sizes = must(lab::DeviceBuffer::allocate(static_cast<std::size_t>(numbers) * sizeof(std::int32_t), 0));
  return made;
}

TensorView view(const lab::DeviceBuffer& buffer, std::initializer_list<std::int64_t> extents) {
  return TensorView::row_major(buffer.data(), DType::bf16, extents);
}

Ragged<GroupedGemmArguments> contiguous(Random& random) {
  constexpr int rows = 700, k = 72;
  Ragged made =
      begin<GroupedGemmArguments>(rows * k, groups * k * columns, rows * columns, groups, rows, random);
  GroupedGemmArguments& args = made.arguments;
  args.a = view(made.operands[0], {rows, k});
  args.b = view(made.operands[1], {groups, k, columns});
  args.out = view(made.out, {rows, columns});
  args.sizes = TensorView::row_major(made.sizes.data(), DType::s32, {groups});
  args.sizes_are = random() % 2 == 0 ? SizesAre::ends : SizesAre::counts;
  return made;
}

Ragged<GroupedGemmArguments> masked(Random& random) {
  constexpr int capacity = 150, k = 72;
  Ragged made = begin<GroupedGemmArguments>(groups * capacity * k, groups * k * columns,
                                            groups * capacity * columns, groups, capacity, random);
  GroupedGemmArguments& args = made.arguments;
  args.a = view(made.operands[0], {groups, capacity, k});
  args.b = view(made.operands[1], {groups, k, columns});
  args.out = view(made.out, {groups, capacity, columns});
  args.sizes = TensorView::row_major(made.sizes.data(), DType::s32, {groups});
  args.sizes_are = SizesAre::counts;
  args.zero_outside = random() % 2 == 0;
  return made;
}

Ragged<GroupedGemmArguments> ragged_k(Random& random) {
  constexpr int rows = 72, positions = 600;
  Ragged made = begin<GroupedGemmArguments>(rows * positions, positions * columns, groups * rows * columns,
                                            groups, positions, random);
  GroupedGemmArguments& args = made.arguments;
  args.a = TensorView::column_major(made.operands[0].data(), DType::bf16, {rows, positions});
  args.b = view(made.operands[1], {positions, columns});
  args.out = view(made.out, {groups, rows, columns});
  args.sizes = TensorView::row_major(made.sizes.data(), DType::s32, {groups});
  return made;
}

Ragged<GemmListArguments> list(Random& random) {
  constexpr int rows = 136, k = 136;
  Ragged made = begin<GemmListArguments>(groups * rows * k, groups * k * columns, groups * rows * columns,
                                         3 * groups, rows, random);
  GemmListArguments& args = made.arguments;
  args.a = view(made.operands[0], {groups, rows, k});
  args.b = view(made.operands[1], {groups, k, columns});
  args.out = view(made.out, {groups, rows, columns});
  args.sizes = TensorView::row_major(made.sizes.data(), DType::s32, {groups, 3});
  return made;
}

/// Sizes that often make sense, and sometimes do not.
std::vector<std::int32_t> draw_sizes(int numbers, int most, Random& random) {
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(numbers));
  for (std::int32_t& each : sizes) {
    each = random() % 8 == 0 ? 0 : static_cast<std::int32_t>(random() % static_cast<unsigned>(most + 1));
    if (random() % 16 == 0) each = random() % 2 == 0 ? -7 : most + 1000;
  }
  if (random() % 2 == 0) std::ranges::sort(sizes);
  return sizes;
}

/// What is in the output after `run`, which found it full of one byte.
template <class Run>
std::vector<std::byte> output_of(const lab::DeviceBuffer& out, const Run& run) {
  must(out.fill(0x3c));
  run();
  std::vector<std::byte> bytes(out.bytes());
  must(out.download(bytes.data(), 0, bytes.size()));
  return bytes;
}

template <class Args>
void check_replays(const Ragged<Args>& of, const Kernel& kernel, Random& random) {
  INFO(kernel.name());
  const test::Stream stream;
  const lab::DeviceBuffer memory =
      must(lab::DeviceBuffer::allocate(must(kernel.workspace_size(of.arguments)), 0));
  const Workspace workspace = {memory.data(), memory.bytes()};
  const auto direct = [&] {
    must(kernel.run(of.arguments, {.stream = stream, .workspace = workspace}));
    must(cudaStreamSynchronize(stream));
  };
  direct();  // loads it
  test::Capture capture(stream);
  must(kernel.run(of.arguments, {.stream = stream, .workspace = workspace}));
  must(capture.end());
  int different = 0, changed = 0;
  std::vector<std::byte> before;
  for (int i = 0; i < size_vectors; ++i) {
    const std::vector<std::int32_t> sizes = draw_sizes(of.numbers, of.most, random);
    must(of.sizes.upload(sizes.data(), of.sizes.bytes()));
    const std::vector<std::byte> replayed = output_of(of.out, [&] { capture.replay(stream); });
    different += replayed != output_of(of.out, direct);
    changed += replayed != before;
    before = replayed;
  }
  CHECK(different == 0);
  CHECK(changed > size_vectors / 2);
}

/// The first choice of each family for the problem.
template <class Args>
std::vector<Kernel> one_of_each_family(const Args& arguments) {
  std::vector<Kernel> kernels;
  const CandidateList found = get_kernels(arguments);
  INFO(found.status().message());
  REQUIRE_FALSE(found.empty());
  for (const Candidate& each : found) {
    const auto is_same = [&](const Kernel& k) { return k.metadata().family == each.metadata().family; };
    if (std::ranges::none_of(kernels, is_same)) kernels.push_back(each);
  }
  return kernels;
}

/// Of every family that takes the problem.
template <class Args>
void check_all_replays(const Ragged<Args>& problem, Random& random) {
  must(problem.sizes.fill(0));
  for (const Kernel& kernel : one_of_each_family(problem.arguments)) check_replays(problem, kernel, random);
}

/// Sizes in plain memory of the host are refused while a stream is capturing; the capture goes on and has
/// what is right alone.
template <class Args>
void check_host_sizes(const Ragged<Args>& problem) {
  must(problem.sizes.fill(0));
  const Kernel kernel = get_kernels(problem.arguments).front();
  const lab::DeviceBuffer memory =
      must(lab::DeviceBuffer::allocate(must(kernel.workspace_size(problem.arguments)), 0));
  const test::Stream stream;
  const RunOptions options = {.stream = stream, .workspace = {memory.data(), memory.bytes()}};
  must(kernel.run(problem.arguments, options));  // loads it
  must(cudaStreamSynchronize(stream));
  const std::vector<std::int32_t> on_host(static_cast<std::size_t>(problem.numbers));
  Args wrong = problem.arguments;
  wrong.sizes.data = on_host.data();

  test::Capture capture(stream);
  const Status status = kernel.run(wrong, options);
  must(kernel.run(problem.arguments, options));
  CHECK(capture.end() == cudaSuccess);
  CHECK(status.code() == StatusCode::invalid_arguments);
  CHECK(status.operand() == Operand::sizes);

  test::Capture right(stream);
  must(kernel.run(problem.arguments, options));
  must(right.end());
  CHECK(capture.nodes() == right.nodes());
}

}  // namespace

TEST_CASE("sizes in host memory are refused by name while a stream is capturing, and the capture goes on") {
  Random random(1);
  check_host_sizes(contiguous(random));
  check_host_sizes(masked(random));
  check_host_sizes(ragged_k(random));
  check_host_sizes(list(random));
}

TEST_CASE(
    "a graph of groups is captured once and replayed with other sizes, as if it had been run directly") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  check_all_replays(contiguous(random), random);
  check_all_replays(masked(random), random);
  check_all_replays(ragged_k(random), random);
  check_all_replays(list(random), random);
}
