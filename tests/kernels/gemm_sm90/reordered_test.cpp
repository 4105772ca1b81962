// GEMMs of operands that are not contiguous along K: the copies in front of the kernel, and where all of it
// lies.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
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
constexpr const char* small_tile = "_64x128x128_c1x1_s8_one_tile_a16x16";

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
  CHECK(detail::entry_of(row.entry).name == std::string(e4m3_out_bf16) + "rcr" + small_tile);
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

TEST_CASE(
    "reordered operands: where nothing is reordered, kernels that do not reorder are first of equal time",
    "[gemm][reorder]") {
  GemmArguments args = problem(true, true, 4096);
  args.b = TensorView::row_major(nullptr, DType::e4m3, {4096, 1}, 1);  // which is column-major, too
  args.out = TensorView::row_major(nullptr, DType::bf16, {40, 1});
  const auto found = get_kernels(args, Filter(), {.device = &hopper()});
  REQUIRE_FALSE(found.empty());
  std::map<double, bool> reordered;  // by time
  int ties = 0;
  for (const Candidate& each : found) {
    const bool reorders = each.metadata().design.reorders;
    bool& before = reordered.try_emplace(each.predicted_seconds(), reorders).first->second;
    INFO(each.name());
    CHECK((!before || reorders));
    ties += reorders && !before;
    before = reorders;
  }
  CHECK(ties > 0);
  const Filter two = *Filter::parse("tile.m == 64 and tile.n == 32 and tile.k == 256 and out.layout == row");
  const Result<Candidate> best = find_best(args, two, {.device = &hopper()});
  REQUIRE(best);
  CHECK_FALSE(best->metadata().design.reorders);
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
