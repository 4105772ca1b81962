/// Grouped GEMMs on the emulator: every access checked, with sizes that make sense and sizes that do not.
#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "emulator/guarded_pages.hpp"
#include "emulator/launch.hpp"
#include "grouped_gemm_simt/kernel.cuh"
#include "grouped_gemm_sm80/kernel.cuh"
#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/matrices.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using emulator::MemoryUse;

namespace {

constexpr grouped_gemm_simt::Config f32_config = {{DType::f32, DType::f32, DType::f32, DType::f32},
                                                  {Layout::row, Layout::row, Layout::row},
                                                  {64, 64, 16},
                                                  4,
                                                  4};
constexpr grouped_gemm_simt::Config byte_config = {{DType::s8, DType::s8, DType::s32, DType::s8},
                                                   {Layout::column, Layout::column, Layout::row},
                                                   {64, 64, 64},
                                                   4,
                                                   4};
constexpr grouped_gemm_simt::Config scaled_config = {{DType::e4m3, DType::e4m3, DType::f32, DType::bf16},
                                                     {Layout::row, Layout::column, Layout::row},
                                                     {64, 64, 16},
                                                     4,
                                                     4,
                                                     ScaleSupport::block_scales};
/// Pieces of 16 bytes, and element by element.
constexpr grouped_gemm_sm80::Config piece_config = {{DType::bf16, DType::bf16, DType::f32, DType::bf16},
                                                    {Layout::column, Layout::row, Layout::row},
                                                    {128, 128, 32},
                                                    {2, 2, 1},
                                                    4,
                                                    {8, 8}};
constexpr grouped_gemm_sm80::Config element_config = {{DType::f16, DType::f16, DType::f32, DType::f32},
                                                      {Layout::row, Layout::column, Layout::row},
                                                      {64, 64, 64},
                                                      {2, 2, 1},
                                                      3,
                                                      {1, 1}};
/// Scales of rows and columns.
constexpr grouped_gemm_sm80::Config vector_config = {{DType::s8, DType::s8, DType::s32, DType::f32},
                                                     {Layout::row, Layout::column, Layout::row},
                                                     {64, 64, 128},
                                                     {2, 2, 1},
                                                     4,
                                                     {16, 16},
                                                     ScaleSupport::vector_scales};

}  // namespace

QUARRY_ENTRY(test_grouped_f32, GroupedGemmParams, grouped_gemm_simt::kernel, (f32_config))
QUARRY_ENTRY(test_grouped_s8, GroupedGemmParams, grouped_gemm_simt::kernel, (byte_config))
QUARRY_ENTRY(test_grouped_scaled, ScaledGroupedGemmParams, grouped_gemm_simt::kernel, (scaled_config))
QUARRY_ENTRY(test_grouped_pieces, GroupedGemmParams, grouped_gemm_sm80::kernel, (piece_config))
QUARRY_ENTRY(test_grouped_elements, GroupedGemmParams, grouped_gemm_sm80::kernel, (element_config))
QUARRY_ENTRY(test_grouped_vectors, ScaledGroupedGemmParams, grouped_gemm_sm80::kernel, (vector_config))

namespace {

const std::map<std::string, const emulator::Entry*> entries = {
    {"grouped_gemm_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", &test_grouped_f32},
    {"grouped_gemm_simt_s8_s8_s32_s8_ccr_64x64x64_t4x4", &test_grouped_s8},
    {"grouped_gemm_simt_e4m3_e4m3_f32_bf16_rcr_64x64x16_t4x4_block_scales", &test_grouped_scaled},
    {"grouped_gemm_sm80_bf16_bf16_f32_bf16_crr_128x128x32_w2x2x1_s4_a8x8", &test_grouped_pieces},
    {"grouped_gemm_sm80_f16_f16_f32_f32_rcr_64x64x64_w2x2x1_s3_a1x1", &test_grouped_elements},
    {"grouped_gemm_sm80_s8_s8_s32_f32_rcr_64x64x128_w2x2x1_s4_a16x16_vector_scales", &test_grouped_vectors}};

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
    const auto bytes = static_cast<std::size_t>(lab::Matrices(view).span() * bytes_of(view.dtype));
    const bool is_updated = each.is_output && !operands.options().in_place.empty();
    global.add(view.data, bytes,
               is_updated       ? MemoryUse::updated
               : each.is_output ? MemoryUse::output
                                : MemoryUse::input,
               std::string(to_string(each.name)));
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

TEST_CASE("grouped kernels do what the rules say, on any sizes and any number of blocks", "[grouped_gemm]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const lab::OperationLab& lab = lab::lab_of(Operation::grouped_gemm);
  const std::int64_t paths = std::ssize(lab.paths);
  for (const auto& [name, entry] : entries) {
    const Result<Kernel> kernel = find_kernel(name);
    REQUIRE(kernel);
    for (std::int64_t number = 0; number < paths + 4; ++number) {
      if (number < paths && !lab.paths[static_cast<std::size_t>(number)].is_of(kernel->metadata())) continue;
      const lab::Problem problem = lab.emulated(kernel->metadata(), random(), number);
      INFO(name << " " << command_text(problem));
      // These entries evaluate no expression. `quarry emulate` compiles those that do.
      if (command_text(problem).find("--epilogue") != std::string::npos) continue;
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
