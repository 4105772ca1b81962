// GEMMs of operands that are not contiguous along K: the copies in front of the kernel, and where all of it
// lies.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/config_parts.hpp"
#include "gemm/params.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "reorder_matrix/params.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

constexpr const char* e4m3_out_bf16 = "gemm_sm90_e4m3_e4m3_f32_bf16_";
constexpr const char* small_tile = "_64x128x128_c1x1_s8_one_tile_a1x1";

Kernel kernel_of(const std::string& layouts) {
  const Result<Kernel> kernel = find_kernel(e4m3_out_bf16 + layouts + small_tile);
  INFO(kernel.status().message());
  REQUIRE(kernel);
  return *kernel;
}

/// 40 x 100 x k, fake.
GemmArguments problem(bool a_rows, bool b_rows, std::int64_t k = 80) {
  const auto view = [](bool rows, std::initializer_list<std::int64_t> extents) {
    return rows ? TensorView::row_major(nullptr, DType::e4m3, extents)
                : TensorView::column_major(nullptr, DType::e4m3, extents);
  };
  return {.a = view(a_rows, {40, k}),
          .b = view(b_rows, {k, 100}),
          .out = TensorView::row_major(nullptr, DType::bf16, {40, 100})};
}

/// The launch of a problem that the kernel computes.
std::unique_ptr<detail::PreparedLaunch> prepared(const Kernel& kernel, const GemmArguments& args) {
  auto made = std::make_unique<detail::PreparedLaunch>();
  const Status status = detail::prepare_launch(detail::row_of(kernel), {}, args, *made);
  INFO(status.message());
  REQUIRE(status);
  return made;
}

std::vector<int> entries(const Launch& launch) {
  std::vector<int> all;
  for (const Step& step : launch.steps) all.push_back(step.entry);
  return all;
}

/// A model of a Hopper device.
const DeviceModel& hopper() {
  for (const DeviceModel& model : device_models()) {
    if (model.cc == 90) return model;
  }
  FAIL("there is no model of Hopper");
  return device_models().front();
}

std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

TEST_CASE("reordered operands: operands that are not contiguous along K are copied in front of the kernel",
          "[gemm][reorder]") {
  const std::size_t a = rounded(40 * 80);
  const std::size_t b = rounded(100 * 80);
  const auto rrr = prepared(kernel_of("rrr"), problem(true, true));
  CHECK(entries(rrr->launch) == std::vector{2, 0});
  CHECK(rrr->launch.workspace_bytes == b);
  const auto crr = prepared(kernel_of("crr"), problem(false, true, 72));  // lines begin at multiples of 16
  CHECK(entries(crr->launch) == std::vector{2, 2, 0});
  CHECK(crr->launch.workspace_bytes == a + b);
  CHECK(entries(prepared(kernel_of("ccr"), problem(false, false))->launch) == std::vector{2, 0});

  const auto& copy = params_of<ReorderParams>(rrr->launch.image, rrr->launch.steps[0]);
  CHECK((copy.rows == 80 && copy.columns == 100 && copy.batch == 1));
  CHECK((copy.from.lines_are_rows && copy.from.line_stride == 100 && copy.from.element_stride == 1));
  CHECK((!copy.to.lines_are_rows && copy.to.line_stride == 80 && copy.to.element_stride == 1));

  const detail::Row& row = detail::row_of(kernel_of("rrr"));
  CHECK_FALSE(row.exchanged);
  CHECK(detail::entry_of(row.entry).name ==
        std::string(e4m3_out_bf16) + "rcr_64x128x128_c1x1_s8_one_tile_a16x16");
  CHECK(detail::entry_of(row.companions[1]).name == "reorder_matrix_s8");  // of elements of one byte
}

TEST_CASE("reordered operands: the kernel behind the copies reads copies alone of the workspace",
          "[gemm][reorder]") {
  const auto made = prepared(kernel_of("crr"), problem(false, true));
  const Launch& launch = made->launch;
  const Step& kernel = *kernel_step(launch);
  int of_workspace = 0;
  for (const Relocation& relocation : launch.relocations) {
    if (relocation.at < kernel.at || relocation.at >= kernel.at + kernel.bytes) continue;
    CHECK(relocation.source != Operand::a);
    CHECK(relocation.source != Operand::b);
    if (relocation.source != Operand::workspace) continue;
    ++of_workspace;
    CHECK(relocation.offset < launch.workspace_bytes);
  }
  CHECK(of_workspace == 4);  // the pointers of A and B, and their maps
}

TEST_CASE("reordered operands: one B of a batch is copied once, and nothing of an empty product",
          "[gemm][reorder]") {
  GemmArguments args = problem(true, true);
  args.a = TensorView::row_major(nullptr, DType::e4m3, {3, 40, 80});
  args.b = TensorView::row_major(nullptr, DType::e4m3, {80, 100});
  args.out = TensorView::row_major(nullptr, DType::bf16, {3, 40, 100});
  const auto shared = prepared(kernel_of("rrr"), args);
  CHECK(params_of<ReorderParams>(shared->launch.image, shared->launch.steps[0]).batch == 1);
  args.b = TensorView::row_major(nullptr, DType::e4m3, {3, 80, 100});
  const auto each = prepared(kernel_of("rrr"), args);
  CHECK(params_of<ReorderParams>(each->launch.image, each->launch.steps[0]).batch == 3);
  CHECK(each->launch.workspace_bytes == rounded(3 * 100 * 80));
  args.epilogue.alpha = 0.0;
  CHECK(entries(prepared(kernel_of("rrr"), args)->launch) == std::vector{0});
}

TEST_CASE("reordered operands: copies need no alignment, so runs of a plan need none", "[gemm][reorder]") {
  GemmArguments args = problem(false, true);
  args.a.assumed_alignment = args.b.assumed_alignment = 1;
  const auto made = prepared(kernel_of("crr"), args);
  for (const PlanOperandNeed& need : made->launch.uses) {
    if (need.name == Operand::a || need.name == Operand::b) CHECK(need.alignment == 1);
  }
  // A fits, but not its alignment: it is copied, too.
  args = problem(true, true);
  CHECK(entries(prepared(kernel_of("rrr"), args)->launch) == std::vector{2, 0});
  args.a.assumed_alignment = 1;
  CHECK(entries(prepared(kernel_of("rrr"), args)->launch) == std::vector{2, 2, 0});
}

TEST_CASE("reordered operands: lines that repeat are copied", "[gemm][reorder]") {
  GemmArguments args = problem(true, true);
  args.a.strides[0] = 0;
  CHECK(entries(prepared(kernel_of("rrr"), args)->launch) == std::vector{2, 2, 0});
}

TEST_CASE("reordered operands: lines that begin where the copy engine cannot read are copied",
          "[gemm][reorder]") {
  const auto copies = [](std::int64_t k) {
    return entries(prepared(kernel_of("rcr"), problem(true, false, k))->launch);
  };
  CHECK(copies(72) == std::vector{2, 2, 0});
  GemmArguments args = problem(true, false);
  args.b.assumed_alignment = 8;
  CHECK(entries(prepared(kernel_of("rcr"), args)->launch) == std::vector{2, 0});
}

TEST_CASE(
    "reordered operands: operands of 16 bits are copied in their own layout, and only where they must be",
    "[gemm][reorder]") {
  const auto view = [](bool rows, std::int64_t m, std::int64_t n, std::int64_t leading) {
    return rows ? TensorView::row_major(nullptr, DType::bf16, {m, n}, leading)
                : TensorView::column_major(nullptr, DType::bf16, {m, n}, leading);
  };
  // 40 x 100 x 80: lines that fit have no element more, others have one more.
  const auto launched = [&](bool a_rows, bool a_fits, bool b_rows, bool b_fits) {
    const GemmArguments args = {.a = view(a_rows, 40, 80, (a_rows ? 80 : 40) + !a_fits),
                                .b = view(b_rows, 80, 104, (b_rows ? 104 : 80) + !b_fits),
                                .out = view(true, 40, 104, 104)};
    const std::string layouts = std::string(a_rows ? "r" : "c") + (b_rows ? "r" : "c") + "r";
    const Result<Kernel> kernel =
        find_kernel("gemm_sm90_bf16_bf16_f32_bf16_" + layouts + "_64x128x64_c1x1_s8_one_tile_a1x1");
    REQUIRE(kernel);
    CHECK(detail::entry_of(detail::row_of(*kernel).entry).name ==
          "gemm_sm90_bf16_bf16_f32_bf16_" + layouts + "_64x128x64_c1x1_s8_one_tile_a8x8");
    if (a_fits && b_fits) {
      CHECK_THAT(std::string(kernel->supports(args).message()), Catch::Contains("Nothing has to be copied"));
      return 0;
    }
    const auto made = prepared(*kernel, args);
    for (const Step& step : made->launch.steps) {
      if (step.entry != 2) continue;
      const auto& copy = params_of<ReorderParams>(made->launch.image, step);
      CHECK(copy.to.lines_are_rows == copy.from.lines_are_rows);
      CHECK(copy.to.line_stride == copy.from.line_stride - 1);
    }
    return static_cast<int>(entries(made->launch).size()) - 1;
  };
  for (const bool a_rows : {false, true}) {
    for (const bool b_rows : {false, true}) {
      CHECK(launched(a_rows, true, b_rows, true) == 0);
      CHECK(launched(a_rows, false, b_rows, true) == 1);
      CHECK(launched(a_rows, true, b_rows, false) == 1);
      CHECK(launched(a_rows, false, b_rows, false) == 2);
    }
  }
}

TEST_CASE("reordered operands: large products of 16 bits with unaligned rows are copied first",
          "[gemm][reorder]") {
  const auto first = [](std::int64_t extent, std::int64_t leading, bool column_output) {
    GemmArguments args = {.a = TensorView::row_major(nullptr, DType::bf16, {extent, extent}, leading),
                          .b = TensorView::column_major(nullptr, DType::bf16, {extent, extent}, leading),
                          .out = TensorView::row_major(nullptr, DType::bf16, {extent, extent})};
    if (column_output) args.out = TensorView::column_major(nullptr, DType::bf16, {extent, extent});
    const auto found = get_kernels(args, Filter(), {.device = &hopper()});
    REQUIRE_FALSE(found.empty());
    return found.front().metadata();
  };
  for (const bool column_output : {false, true}) {
    CHECK(first(4096, 4097, column_output).design.reorders);
    CHECK(first(4096, 4098, column_output).family == "gemm_sm90");
    CHECK_FALSE(first(4096, 4104, column_output).design.reorders);
  }
}

TEST_CASE("reordered operands: these kernels take only problems of which something is copied",
          "[gemm][reorder]") {
  const auto reordering = [](const GemmArguments& args) {
    const auto found = get_kernels(args, Filter(), {.device = &hopper()});
    return std::ranges::count_if(found,
                                 [](const Candidate& each) { return each.metadata().design.reorders; });
  };
  CHECK(reordering(problem(true, false, 4104)) > 0);
  CHECK(reordering(problem(true, false, 4096)) == 0);
  GemmArguments args = problem(true, true, 4096);
  CHECK(reordering(args) > 0);
  args.b = TensorView::row_major(nullptr, DType::e4m3, {4096, 1}, 1);  // which is column-major, too
  args.out = TensorView::row_major(nullptr, DType::bf16, {40, 1});
  CHECK(reordering(args) == 0);
  const Status refusal = kernel_of("rcr").supports(problem(true, false, 4096));
  CHECK_THAT(std::string(refusal.message()), Catch::Contains("Nothing has to be copied"));
}

TEST_CASE("reordered operands: operands with scales are copied, too", "[gemm][reorder]") {
  const auto first = [](DType a, DType b, DType out, bool blocks, std::int64_t k) {
    GemmArguments args = {.a = TensorView::row_major(nullptr, a, {512, k}),
                          .b = TensorView::row_major(nullptr, b, {k, 512}),
                          .out = TensorView::row_major(nullptr, out, {512, 512})};
    const std::int64_t k_blocks = (k + 127) / 128;
    args.a_scale = TensorView::row_major(nullptr, DType::f32, {512, blocks ? k_blocks : 1});
    args.b_scale = TensorView::row_major(nullptr, DType::f32, {blocks ? k_blocks : 1, blocks ? 4 : 512});
    if (blocks) {
      args.a_scale_granularity = ScaleGranularity::block_1x128;
      args.b_scale_granularity = ScaleGranularity::block_128x128;
    } else {
      args.a_scale_granularity = ScaleGranularity::row;
      args.b_scale_granularity = ScaleGranularity::column;
    }
    const auto found = get_kernels(args, Filter(), {.device = &hopper()});
    INFO(found.status().message());
    REQUIRE_FALSE(found.empty());
    return found.front().metadata();
  };
  for (const std::int64_t k : {2048, 2056}) {
    for (const bool blocks : {false, true}) {
      const KernelMetadata kernel = first(DType::e4m3, DType::e4m3, DType::bf16, blocks, k);
      CHECK(kernel.family == "gemm_sm90");
      CHECK(kernel.design.reorders);
    }
    for (const DType out : {DType::s8, DType::u8, DType::f32}) {
      CHECK(first(DType::u8, DType::u8, out, false, k).design.reorders);
      CHECK(first(DType::s8, DType::u8, out, false, k).design.reorders);
      CHECK(first(DType::u8, DType::s8, out, false, k).design.reorders);
      CHECK(first(DType::s8, DType::s8, out, false, k).design.reorders);
    }
  }
}

TEST_CASE("reordered operands: all code that runs behind copies is also a kernel's of aligned operands",
          "[gemm][reorder]") {
  std::set<std::string_view> aligned, behind_copies;
  for (const detail::Row& row : detail::rows()) {
    if (row.metadata.family != "gemm_sm90") continue;
    (row.metadata.design.reorders ? behind_copies : aligned).insert(detail::entry_of(row.entry).name);
  }
  CHECK_FALSE(behind_copies.empty());
  CHECK(std::ranges::includes(aligned, behind_copies));
}

TEST_CASE("reordered operands: the ranking counts copies, and a query without workspace leaves them out",
          "[gemm][reorder]") {
  const auto large = [](bool b_rows) {
    const auto view = b_rows ? &TensorView::row_major : &TensorView::column_major;
    return GemmArguments{.a = TensorView::row_major(nullptr, DType::e4m3, {4096, 4096}),
                         .b = view(nullptr, DType::e4m3, {4096, 4096}, 0),
                         .out = TensorView::row_major(nullptr, DType::bf16, {4096, 4096})};
  };
  const auto best = get_kernels(large(true), Filter(), {.device = &hopper()});
  const auto plain = get_kernels(large(false), Filter(), {.device = &hopper()});
  REQUIRE((!best.empty() && !plain.empty()));
  CHECK(best.front().metadata().design.reorders);
  CHECK_FALSE(plain.front().metadata().design.reorders);
  CHECK(best.front().predicted_seconds() > plain.front().predicted_seconds());
  CHECK(best.front().predicted_seconds() < 1.5 * plain.front().predicted_seconds());
  CHECK(best.front().workspace() == 4096 * 4096);
  const auto without = get_kernels(large(true), Filter(), {.max_workspace = 0, .device = &hopper()});
  REQUIRE_FALSE(without.empty());
  CHECK(std::ranges::none_of(without, [](const Candidate& each) { return each.metadata().design.reorders; }));
}

TEST_CASE("reordered operands: copies of lines that are not aligned take longer", "[gemm][reorder]") {
  const auto first = [](DType type, DType out, std::int64_t extent, std::int64_t k, bool b_rows) {
    const auto view = b_rows ? &TensorView::row_major : &TensorView::column_major;
    const GemmArguments args = {.a = TensorView::row_major(nullptr, type, {extent, k}),
                                .b = view(nullptr, type, {k, extent}, 0),
                                .out = TensorView::row_major(nullptr, out, {extent, extent})};
    const auto found = get_kernels(args, Filter(), {.device = &hopper()});
    REQUIRE_FALSE(found.empty());
    return found.front();
  };
  // On an H200: 104 us with one aligned copy, 131 with two that are not.
  const double aligned = first(DType::e4m3, DType::bf16, 4096, 4096, true).predicted_seconds();
  const double unaligned = first(DType::e4m3, DType::bf16, 4096, 4104, false).predicted_seconds();
  CHECK(unaligned > 1.15 * aligned);
  CHECK(unaligned < 1.4 * aligned);
  // On an H200: 32.9 us with two copies, 34.3 by gemm_sm80, which reads bytes that are aligned to 8. Small
  // ones are copied by the kernel's threads: 5.4 us, gemm_sm80 6.6.
  CHECK(first(DType::s8, DType::s32, 2048, 2056, false).metadata().design.reorders);
  CHECK_FALSE(first(DType::s8, DType::s32, 512, 520, false).metadata().design.reorders);
  CHECK(first(DType::s8, DType::s32, 512, 520, false).metadata().design.copy_engine == CopyEngine::cp_async);
}

TEST_CASE("reordered operands: the rest of a line that is read counts, whatever the lines of the copy",
          "[gemm][reorder]") {
  const auto memory_time = [](bool a_rows, std::int64_t k) {
    const std::int64_t m = 100'000;
    const auto view = a_rows ? &TensorView::row_major : &TensorView::column_major;
    const GemmArguments args = {.a = view(nullptr, DType::e4m3, {m, k}, 0),
                                .b = TensorView::column_major(nullptr, DType::e4m3, {k, 16}),
                                .out = TensorView::row_major(nullptr, DType::bf16, {m, 16})};
    const Result<Account> account =
        account_of(kernel_of(a_rows ? "rcr" : "ccr"), args, {.device = &hopper()});
    INFO(account.status().message());
    REQUIRE(account);
    return (*account)[TimePart::memory];
  };
  CHECK(memory_time(true, 141) > 1.5 * memory_time(true, 129));
  CHECK(memory_time(false, 141) < 1.3 * memory_time(false, 129));
}
