// The host side of grouped_gemm_sm90: what it refuses, its launches, its tensor maps.
#include <string>

#include "grouped_gemm/family.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/prepared_launch.hpp"

namespace {

using namespace quarry;
using test::check_refused;
using test::launch_of;

Kernel kernel_of(const std::string& layouts, const std::string& rest = "128x128x64_c2x1_s6_ping_pong_a8x8") {
  return test::required_kernel("grouped_gemm_sm90_bf16_bf16_f32_bf16_" + layouts + "_" + rest);
}

/// Three contiguous groups of 600 rows.
GroupedGemmArguments contiguous() {
  return {.a = TensorView::row_major(nullptr, DType::bf16, {600, 256}),
          .b = TensorView::column_major(nullptr, DType::bf16, {3, 256, 512}),
          .out = TensorView::row_major(nullptr, DType::bf16, {600, 512}),
          .sizes = TensorView::vector(nullptr, DType::s32, 3)};
}

}  // namespace

TEST_CASE("what the copy engine cannot take of groups is refused with the reason", "[grouped_gemm]") {
  const Kernel kernel = kernel_of("rcr");
  CHECK(kernel.supports(contiguous()));
  GroupedGemmArguments bad = contiguous();
  bad.a.assumed_alignment = 8;
  check_refused(
      kernel, bad,
      "Operand `a` is misaligned: expected a pointer that is a multiple of 8 elements, got a multiple "
      "of 4");
  bad = contiguous();
  bad.b.strides[2] = 260;
  bad.b.strides[0] = 260 * 512;
  check_refused(
      kernel, bad,
      "Operand `b` is misaligned: expected a leading dimension that is a multiple of 8 elements, got 260");
  bad = contiguous();
  bad.b.strides[0] = 256 * 512 + 4;
  CHECK(kernel.supports(bad).code() == StatusCode::unsupported);
  bad = contiguous();
  bad.a = TensorView::column_major(nullptr, DType::bf16, {600, 256});
  check_refused(kernel_of("ccr"), bad,
                "Contiguous groups are unsupported by a kernel whose A is column-major");
  bad = contiguous();
  bad.a.strides[0] = 0;
  check_refused(kernel, bad, "Operand `a` overlaps itself: expected a stride of at least 8 elements, got 0");
}

TEST_CASE("maps cover all rows of contiguous groups, and a matrix of B for each", "[grouped_gemm]") {
  const auto prepared = launch_of(kernel_of("rcr"), contiguous());
  const Launch& launch = prepared->launch;
  const TensorMapFields* const a = find_map(launch, Operand::a);
  const TensorMapFields* const b = find_map(launch, Operand::b);
  const TensorMapFields* const out = find_map(launch, Operand::out);
  REQUIRE((a != nullptr && b != nullptr && out != nullptr));
  CHECK((a->extent[0] == 256 && a->extent[1] == 600 && a->extent[2] == 1));
  CHECK((b->extent[0] == 256 && b->extent[1] == 512 && b->extent[2] == 3));
  CHECK((out->extent[0] == 512 && out->extent[1] == 600 && out->extent[2] == 1));
  CHECK(launch.steps[0].cluster == 2);
  CHECK(launch.steps[0].grid % 2 == 0);
  CHECK(launch.workspace_bytes == 0);
}

TEST_CASE("a matrix that the epilogue adds is not fetched in boxes, which hold other groups' rows",
          "[grouped_gemm]") {
  GroupedGemmArguments args = contiguous();
  args.epilogue.beta = 1;
  args.c = args.out;
  const auto prepared = launch_of(kernel_of("rcr"), args);
  CHECK(find_map(prepared->launch, Operand::c) == nullptr);
}

TEST_CASE("no block is launched that has no tile, whatever the sizes are", "[grouped_gemm]") {
  const auto grid = [](const GroupedGemmArguments& args) {
    return launch_of(kernel_of("rcr"), args)->launch.steps[0].grid;
  };
  GroupedGemmArguments args = contiguous();
  CHECK(grid(args) == 2 * (600 / 256 + 3) * 4);  // clusters of 256 rows: each group has one that is not whole
  args.a = TensorView::row_major(nullptr, DType::bf16, {100000, 256});
  args.out = TensorView::row_major(nullptr, DType::bf16, {100000, 512});
  CHECK(grid(args) <= 132);
}
