/// The kernels that reorder matrices, on the emulator: every access checked, against the host executor.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "emulator/guarded_pages.hpp"
#include "emulator/launch.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/problems/operands.hpp"
#include "registry/device/prepared.hpp"
#include "reorder_matrix/kernel.cuh"
#include "reorder_matrix/step.hpp"
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
emulator::Outcome run(const Launch& launch, int element_bytes, emulator::GlobalMemory& global,
                      std::uint64_t seed, bool few_blocks) {
  const Step& step = launch.steps[0];
  const emulator::Launch kernel = {.entry = entries.at(element_bytes),
                                   .params = launch.image + step.at,
                                   .grid = few_blocks ? std::min(step.grid, 2U) : step.grid,
                                   .threads = step.threads,
                                   .shared_memory = step.shared_memory};
  return emulator::run(kernel, global, {.seed = seed});
}

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
  return run(launch, bytes_of(args.to.dtype), global, seed, few_blocks);
}

/// One side of a copy, in memory of its own with guards around it.
struct Stored {
  static constexpr std::size_t guard = 64;

  ReorderSide side;
  std::vector<unsigned char> bytes;
  std::size_t first;  ///< of the matrix
  std::size_t size;   ///< from its first byte to the one behind the last

  std::size_t at(int batch, int line, int element, int element_bytes) const {
    const long long offset = batch * side.batch_stride + line * side.line_stride +
                             distance(side.interleaved, element, side.element_stride);
    return first + static_cast<std::size_t>(offset * element_bytes);
  }
};

/// What a side has beside its extents.
struct Form {
  bool lines_are_rows;
  bool interleaved;
  int unit;   ///< bytes that lines begin at multiples of, if elements are not wider
  int apart;  ///< from one element of a line to the next, unless interleaved
};

/// Random bytes: lines (or groups) with padding by chance, from any address that elements may have.
Stored random_stored(Random& random, const Form& form, int element_bytes, int rows, int columns, int batch) {
  const int lines = form.lines_are_rows ? rows : columns;
  const int elements = form.lines_are_rows ? columns : rows;
  const auto padded = [&](long long least) {
    const long long unit = std::max(form.unit / element_bytes, 1);
    return (least + (test::coin(random) ? test::between(random, 1, 20) : 0) + unit - 1) / unit * unit;
  };
  Stored stored;
  ReorderSide& side = stored.side;
  side = {
      .data = nullptr,
      .line_stride = form.interleaved ? interleave : padded((elements - 1LL) * form.apart + 1),
      .element_stride = form.interleaved ? padded(static_cast<long long>(interleave) * lines) : form.apart,
      .batch_stride = 0,
      .lines_are_rows = form.lines_are_rows,
      .interleaved = form.interleaved};
  side.batch_stride = padded((lines - 1) * side.line_stride +
                             distance(side.interleaved, elements - 1, side.element_stride) + 1);
  const int aligned = std::max(form.unit, element_bytes);
  const int shift = form.unit == 16 ? 0 : test::between(random, 1, 15) / aligned * aligned;
  stored.first = Stored::guard + static_cast<std::size_t>(shift);
  const std::size_t last = stored.at(batch - 1, lines - 1, elements - 1, element_bytes);
  stored.size = last + static_cast<std::size_t>(element_bytes) - stored.first;
  stored.bytes.resize(stored.first + stored.size + Stored::guard);
  for (unsigned char& byte : stored.bytes) byte = static_cast<unsigned char>(random());
  side.data = stored.bytes.data() + stored.first;
  return stored;
}

/// The bytes of `to` behind a copy, one element after another.
std::vector<unsigned char> copied(const Stored& from, const Stored& to, int element_bytes, int rows,
                                  int columns, int batch) {
  std::vector<unsigned char> result = to.bytes;
  for (int b = 0; b < batch; ++b) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const auto at = [&](const Stored& m) {
          return m.side.lines_are_rows ? m.at(b, i, j, element_bytes) : m.at(b, j, i, element_bytes);
        };
        std::memcpy(&result[at(to)], &from.bytes[at(from)], static_cast<std::size_t>(element_bytes));
      }
    }
  }
  return result;
}

/// Runs the kernel for elements of so many bytes.
emulator::Outcome run(const Stored& from, const Stored& to, int element_bytes, const ReorderParams& params,
                      std::uint64_t seed, bool few_blocks) {
  constexpr DType types[] = {DType::s8, DType::f16, DType::s32, DType::f64};
  const DType type = *std::ranges::find(types, element_bytes, [](DType t) { return bytes_of(t); });
  Launch launch;
  reorder_matrix::add_reorder(launch, 0, type, params);
  emulator::GlobalMemory global(emulator::MemoryChecks{});
  global.add(from.side.data, from.size, MemoryUse::input, "from");
  global.add(to.side.data, to.size, MemoryUse::output, "to");
  return run(launch, element_bytes, global, seed, few_blocks);
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

TEST_CASE("the reorder kernels move tiles of all extents, strides and addresses", "[reorder]") {
  constexpr int edges[] = {1, 4, 16, 32, 64, 96, 128, 192};
  constexpr int units[] = {1, 4, 16, 16};
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 72; ++i) {
    for (const int element_bytes : {1, 2, 4, 8}) {
      const bool interleaved = test::between(random, 0, 3) == 0;
      const auto extent = [&] {
        const int edge = test::one_of(random, edges);
        return interleaved ? test::whole(edge) : std::max(edge + test::between(random, -1, 1), 1);
      };
      const int rows = extent();
      const int columns = extent();
      const int batch = test::between(random, 1, 3);
      const bool from_rows = test::coin(random);
      const auto form = [&](bool of_rows) {
        const bool has_groups = interleaved && test::coin(random);
        const int apart = test::between(random, 0, 5) == 0 ? test::between(random, 2, 3) : 1;
        return Form{of_rows, has_groups, test::one_of(random, units), apart};
      };
      const Stored from = random_stored(random, form(from_rows), element_bytes, rows, columns, batch);
      const bool to_rows = test::between(random, 0, 2) == 0 ? from_rows : !from_rows;
      const Stored to = random_stored(random, form(to_rows), element_bytes, rows, columns, batch);
      CAPTURE(i, element_bytes, rows, columns, batch, from.side.line_stride, to.side.line_stride);
      CAPTURE(from.first, to.first, from.side.interleaved, to.side.interleaved);
      const ReorderParams params = {from.side, to.side, rows, columns, batch};
      const auto expected = copied(from, to, element_bytes, rows, columns, batch);
      REQUIRE(run(from, to, element_bytes, params, random(), test::coin(random)).fault == "");
      REQUIRE((to.bytes == expected));
    }
  }
}
