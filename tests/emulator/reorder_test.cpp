/// The kernels that reorder matrices, on the emulator: every access checked, against the host executor.
#include <algorithm>
#include <cstring>
#include <map>

#include "emulator/guarded_pages.hpp"
#include "emulator/launch.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/problems/operands.hpp"
#include "registry/device/prepared.hpp"
#include "reorder_matrix/kernel.cuh"
#include "support/catch_compat.hpp"
#include "support/random_reorder.hpp"

using namespace quarry;
using emulator::MemoryUse;
using test::Random;

QUARRY_ENTRY(test_reorder_b8, ReorderParams, reorder_matrix::kernel, (reorder_matrix::Config{DType::s8}))
QUARRY_ENTRY(test_reorder_b16, ReorderParams, reorder_matrix::kernel, (reorder_matrix::Config{DType::f16}))
QUARRY_ENTRY(test_reorder_b32, ReorderParams, reorder_matrix::kernel, (reorder_matrix::Config{DType::s32}))
QUARRY_ENTRY(test_reorder_b64, ReorderParams, reorder_matrix::kernel, (reorder_matrix::Config{DType::f64}))

namespace {

const std::map<int, const emulator::Entry*> entries = {
    {1, &test_reorder_b8}, {2, &test_reorder_b16}, {4, &test_reorder_b32}, {8, &test_reorder_b64}};

/// @param few_blocks which walk over several tiles or pieces each
emulator::Outcome run(const detail::Row& row, const ReorderArguments& args, std::uint64_t seed,
                      bool few_blocks) {
  detail::PreparedLaunch prepared;
  REQUIRE(detail::prepare_launch(row, {}, args, prepared));
  const Launch& launch = prepared.launch;
  REQUIRE(launch.steps.count == 1);
  const auto bytes = [](const TensorView& view) {
    return static_cast<std::size_t>(lab::Matrices(view).span() * bytes_of(view.dtype));
  };
  emulator::GlobalMemory global(emulator::MemoryChecks{});
  global.add(args.from.data, bytes(args.from), MemoryUse::input, "from");
  global.add(args.to.data, bytes(args.to), MemoryUse::output, "to");
  const Step& step = launch.steps[0];
  const emulator::Launch kernel = {.entry = entries.at(bytes_of(args.to.dtype)),
                                   .params = launch.image + step.at,
                                   .grid = few_blocks ? std::min(step.grid, 2U) : step.grid,
                                   .threads = step.threads,
                                   .shared_memory = step.shared_memory};
  return emulator::run(kernel, global, {.seed = seed});
}

}  // namespace

TEST_CASE("the reorder kernels do what the host does", "[reorder]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 16; ++i) {
    for (const detail::Row& row : test::reorder_rows()) {
      const ReorderArguments shape = test::random_reorder(random, row.metadata.operands.out.dtype, i, 1, 150);
      const lab::OperandOptions options = {.seed = random()};
      auto operands = lab::OperandsOf<ReorderArguments>::make(shape, options);
      auto expected = lab::OperandsOf<ReorderArguments>::make(shape, options);
      REQUIRE((operands && expected));
      const ReorderArguments& args = operands->arguments;
      CAPTURE(i, row.metadata.name, args.to.extents[0], args.to.extents[1], args.to.rank);
      REQUIRE(Kernel(row).run(expected->arguments));
      const emulator::Outcome outcome = run(row, args, random(), test::coin(random));
      REQUIRE(outcome.fault == "");
      const lab::GuardedTensor& to = (*operands)[Operand::to];
      REQUIRE(std::memcmp(to.storage(), (*expected)[Operand::to].storage(), to.storage_bytes()) == 0);
    }
  }
}
