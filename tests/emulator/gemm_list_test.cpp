/// Lists of GEMMs on the emulator: every access checked, with sizes that make sense and sizes that do not.
#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "emulator/guarded_pages.hpp"
#include "emulator/launch.hpp"
#include "gemm_list_simt/kernel.cuh"
#include "gemm_list_sm80/kernel.cuh"
#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/matrices.hpp"
#include "operations/gemm_list/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using emulator::MemoryUse;

namespace {

constexpr gemm_list_simt::Config f32_config = {{DType::f32, DType::f32, DType::f32, DType::f32},
                                               {Layout::row, Layout::row, Layout::row},
                                               {64, 64, 16},
                                               4,
                                               4};
constexpr gemm_list_simt::Config byte_config = {{DType::s8, DType::s8, DType::s32, DType::s8},
                                                {Layout::column, Layout::column, Layout::row},
                                                {64, 64, 64},
                                                4,
                                                4};
/// Pieces of 16 bytes, and element by element.
constexpr gemm_list_sm80::Config piece_config = {{DType::bf16, DType::bf16, DType::f32, DType::bf16},
                                                 {Layout::column, Layout::row, Layout::row},
                                                 {128, 128, 32},
                                                 {2, 2, 1},
                                                 4,
                                                 {8, 8}};
constexpr gemm_list_sm80::Config element_config = {{DType::f16, DType::f16, DType::f32, DType::f32},
                                                   {Layout::row, Layout::column, Layout::row},
                                                   {64, 64, 64},
                                                   {2, 2, 1},
                                                   3,
                                                   {1, 1}};
/// Scales of rows and columns.
constexpr gemm_list_sm80::Config vector_config = {{DType::s8, DType::s8, DType::s32, DType::f32},
                                                  {Layout::row, Layout::column, Layout::row},
                                                  {64, 64, 128},
                                                  {2, 2, 1},
                                                  4,
                                                  {16, 16},
                                                  ScaleSupport::vector_scales};

}  // namespace

QUARRY_ENTRY(test_list_f32, GemmListParams, gemm_list_simt::kernel, (f32_config))
QUARRY_ENTRY(test_list_s8, GemmListParams, gemm_list_simt::kernel, (byte_config))
QUARRY_ENTRY(test_list_pieces, GemmListParams, gemm_list_sm80::kernel, (piece_config))
QUARRY_ENTRY(test_list_elements, GemmListParams, gemm_list_sm80::kernel, (element_config))
QUARRY_ENTRY(test_list_vectors, ScaledGemmListParams, gemm_list_sm80::kernel, (vector_config))

namespace {

const std::map<std::string, const emulator::Entry*> entries = {
    {"gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", &test_list_f32},
    {"gemm_list_simt_s8_s8_s32_s8_ccr_64x64x64_t4x4", &test_list_s8},
    {"gemm_list_sm80_bf16_bf16_f32_bf16_crr_128x128x32_w2x2x1_s4_a8x8", &test_list_pieces},
    {"gemm_list_sm80_f16_f16_f32_f32_rcr_64x64x64_w2x2x1_s3_a1x1", &test_list_elements},
    {"gemm_list_sm80_s8_s8_s32_f32_rcr_64x64x128_w2x2x1_s4_a16x16_vector_scales", &test_list_vectors}};

/// Runs the kernel on the operands where they are, and returns what is wrong.
std::string run(const Kernel& kernel, lab::Operands& operands, std::uint64_t seed, unsigned most_blocks) {
  detail::PreparedLaunch prepared;
  const Status status = detail::prepare_launch(detail::row_of(kernel), {}, operands.arguments(), prepared);
  if (!status) return status.message();
  Launch& launch = prepared.launch;
  if (launch.is_empty()) return "";
  put_pointers(launch, prepared.pointers, launch.image);
  emulator::GlobalMemory global(emulator::MemoryChecks{});
  for (const lab::NamedTensor& each : operands.tensors()) {
    const TensorView& view = each.tensor.view();
    const lab::Matrices matrices(view);
    const auto bytes = static_cast<std::size_t>(matrices.span() * bytes_of(view.dtype));
    const bool is_updated = each.is_output && !operands.options().in_place.empty();
    const MemoryUse use = is_updated       ? MemoryUse::updated
                          : each.is_output ? MemoryUse::output
                                           : MemoryUse::input;
    const std::string own(to_string(each.name));
    const std::int64_t pieces = view.is_pointer_array ? matrices.count() : 1;
    for (std::int64_t i = 0; i < pieces && bytes > 0; ++i) global.add(matrices.first(i), bytes, use, own);
    if (view.is_pointer_array && pieces > 0)
      global.add(view.data, static_cast<std::size_t>(pieces) * sizeof(void*), MemoryUse::input, own);
  }
  const Step& step = launch.steps[0];
  const emulator::Launch started = {.entry = entries.at(std::string(kernel.name())),
                                    .params = launch.image + step.at,
                                    .grid = std::min(step.grid, most_blocks),
                                    .threads = step.threads,
                                    .shared_memory = step.shared_memory};
  return emulator::run(started, global, {.seed = seed}).fault;
}

}  // namespace

TEST_CASE("list kernels do what the rules say, on any sizes and any number of blocks", "[gemm_list]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const lab::OperationLab& lab = lab::lab_of(Operation::gemm_list);
  const std::int64_t paths = std::ssize(lab.paths);
  for (const auto& [name, entry] : entries) {
    const Result<Kernel> kernel = find_kernel(name);
    REQUIRE(kernel);
    for (std::int64_t number = 0; number < paths + 4; ++number) {
      if (number < paths && !lab.paths[static_cast<std::size_t>(number)].is_of(kernel->metadata())) continue;
      const lab::Problem problem = lab.emulated(kernel->metadata(), random(), number);
      // These entries evaluate no expression. `quarry emulate` compiles those that do.
      if (problem.as<lab::gemm_list::Problem>().expression) continue;
      INFO(name << " " << command_text(problem));
      auto operands =
          lab::Operands::make(lab::arguments_of(problem), lab::operand_options(problem, random()));
      REQUIRE(operands);
      const auto reference = lab::compute_reference(operands->arguments());
      REQUIRE(reference);
      const auto most_blocks = static_cast<unsigned>(1 + random() % 12);
      REQUIRE(run(*kernel, *operands, random(), most_blocks) == "");
      const Status guards = operands->check_outputs();
      INFO(guards.message());
      CHECK(guards);
      const lab::Comparison compared = compare(*reference, operands->arguments(), kernel->metadata());
      INFO(compared.text());
      CHECK(compared.within());
    }
  }
}

namespace {

/// A problem of the f32 kernel, whose tiles the host counts.
lab::gemm_list::Problem counted(std::vector<ListExtents> sizes) {
  const auto packed = [](DType type) { return lab::OperandSpec{.dtype = type, .layout = Layout::row}; };
  lab::gemm_list::Problem problem;
  problem.sizes = std::move(sizes);
  problem.bounds = {70, 70, 9};
  problem.a = problem.b = problem.out = packed(DType::f32);
  problem.a.stride = problem.b.stride = 9 * 70;
  problem.out.stride = 70 * 70;
  problem.schedule = ListSchedule::host;
  return problem;
}

ListExtents some(std::mt19937_64& random) {
  const auto extent = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
  return {extent(70), extent(70), extent(9)};
}

Result<lab::Operands> operands_of(const lab::gemm_list::Problem& problem, const GemmListArguments& args,
                                  std::uint64_t seed) {
  return lab::Operands::make(args, {.seed = seed, .given = lab::gemm_list::Lab::given(problem)});
}

}  // namespace

TEST_CASE("a problem is found by the host's count, in stretches of any length", "[gemm_list]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const Result<Kernel> kernel = find_kernel("gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4");
  REQUIRE(kernel);
  // The last has stretches of more problems than a warp reads at once.
  for (const std::size_t count : {1, 63, 64, 65, 200, 64 * 40 - 7}) {
    std::vector<ListExtents> sizes(count, ListExtents{});
    for (int i = 0; i < 12; ++i) sizes[random() % count] = some(random);
    const lab::gemm_list::Problem problem = counted(sizes);
    INFO(count << " problems");
    auto operands = operands_of(problem, lab::gemm_list::Lab::arguments(problem), random());
    REQUIRE(operands);
    const auto reference = lab::compute_reference(operands->arguments());
    REQUIRE(reference);
    REQUIRE(run(*kernel, *operands, random(), static_cast<unsigned>(1 + random() % 5)) == "");
    CHECK(operands->check_outputs());
    CHECK(compare(*reference, operands->arguments(), kernel->metadata()).within());
  }
}

TEST_CASE("a count of other sizes touches nothing outside of the bounds, and ends", "[gemm_list]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const Result<Kernel> kernel = find_kernel("gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4");
  REQUIRE(kernel);
  for (int repeat = 0; repeat < 6; ++repeat) {
    std::vector<ListExtents> sizes(1 + random() % 100), promised;
    for (ListExtents& each : sizes) each = random() % 4 == 0 ? some(random) : ListExtents{};
    std::vector<std::int32_t> numbers;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const ListExtents other = random() % 3 == 0 ? some(random) : ListExtents{9999, -1, 5};
      numbers.insert(numbers.end(), {other.m, other.n, other.k});
    }
    const lab::gemm_list::Problem problem = counted(sizes);
    GemmListArguments args = lab::gemm_list::Lab::arguments(problem);
    args.host_sizes = numbers;
    args.clamp_host_sizes = true;  // a device does not compare them with `sizes`
    auto operands = operands_of(problem, args, random());
    REQUIRE(operands);
    REQUIRE(run(*kernel, *operands, random(), static_cast<unsigned>(1 + random() % 5)) == "");
    for (const lab::NamedTensor& each : operands->tensors()) CHECK(each.tensor.check(false));
  }
}
