/// The kernel that reorders matrices, on the emulator: every access checked, against the host's own way.
#include <cstring>
#include <random>
#include <vector>

#include "catch_compat.hpp"
#include "emulator/guarded_pages.hpp"
#include "emulator/launch.hpp"
#include "lab/problems/guarded_tensor.hpp"
#include "lab/problems/operands.hpp"
#include "operations/common/host/matrix.hpp"
#include "registry/host/reorder.hpp"
#include "reorder_matrix/kernel.cuh"
#include "unit/random_gemm.hpp"

using namespace quarry;
using emulator::MemoryUse;
using test::Random;

QUARRY_ENTRY(test_reorder_b8, ReorderParams, reorder_matrix::kernel, (reorder_matrix::Config{1}))
QUARRY_ENTRY(test_reorder_b32, ReorderParams, reorder_matrix::kernel, (reorder_matrix::Config{4}))

namespace {

emulator::Outcome run(const TensorView& from, const TensorView& to, std::uint64_t seed) {
  const reorder_matrix::Config config = {bytes_of(to.dtype)};
  const ReorderParams params = host::reorder_params(from, to);
  const auto bytes = [](const TensorView& view) {
    return static_cast<std::size_t>(host::Matrix(view).span() * bytes_of(view.dtype));
  };
  emulator::GlobalMemory global(emulator::MemoryChecks{});
  global.add(from.data, bytes(from), MemoryUse::input, "from");
  global.add(to.data, bytes(to), MemoryUse::output, "to");
  const emulator::Launch launch = {
      .entry = config.element_bytes == 1 ? &test_reorder_b8 : &test_reorder_b32,
      .params = &params,
      .grid = static_cast<unsigned>(reorder_matrix::grid(params.rows, params.columns, params.batch)),
      .threads = static_cast<unsigned>(reorder_matrix::threads(config)),
      .shared_memory = static_cast<unsigned>(reorder_matrix::shared_memory_bytes(config))};
  return emulator::run(launch, global, {.seed = seed});
}

}  // namespace

TEST_CASE("the reorder kernel does what the host does", "[reorder]") {
  const std::uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 96; ++i) {
    const auto source = static_cast<Layout>(i % layout_count);
    const auto target = static_cast<Layout>(i / layout_count % layout_count);
    const DType type = i % 3 == 0 ? DType::f32 : test::coin(random) ? DType::s8 : DType::u8;
    const bool whole = is_interleaved(source) || is_interleaved(target);
    const auto extent = [&] {
      return whole ? 32 * test::between(random, 1, 5) : test::between(random, 1, 150);
    };
    const int rows = extent();
    const int columns = extent();
    const int batch = test::coin(random) ? 0 : test::between(random, 1, 2);
    constexpr int alignments[] = {1, 4, 16};
    const int alignment = test::one_of(random, alignments);
    const auto shape = [&](Layout layout) {
      return test::padded_matrix(random, type, layout, alignment, batch, rows, columns);
    };
    CAPTURE(i, rows, columns, batch, static_cast<int>(type), alignment);
    auto from = lab::GuardedTensor::make(shape(source));
    const TensorView to_shape = shape(target);
    auto to = lab::GuardedTensor::make(to_shape);
    auto expected = lab::GuardedTensor::make(to_shape);
    REQUIRE((from && to && expected));
    lab::fill_random(from->view(), 1, {.seed = random()});
    host::reorder(from->view(), expected->view());
    const emulator::Outcome outcome = run(from->view(), to->view(), random());
    REQUIRE(outcome.fault == "");
    REQUIRE(std::memcmp(to->storage(), expected->storage(), to->storage_bytes()) == 0);
  }
}
