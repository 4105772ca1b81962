// The host side of grouped_gemm_sm90: what it refuses, its launches, its tensor maps.
#include <algorithm>
#include <string>
#include <vector>

#include "grouped_gemm/family.hpp"
#include "grouped_gemm_sm90/config.hpp"
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

TEST_CASE("A is mapped by boxes of all lines of a part, of half and of a quarter", "[grouped_gemm]") {
  const auto boxes_of_a = [](const std::string& layouts, const std::string& rest) {
    GroupedGemmArguments args = contiguous();
    if (layouts[0] == 'c') {  // ragged K
      args.a = TensorView::column_major(nullptr, DType::bf16, {512, 600});
      args.b = TensorView::column_major(nullptr, DType::bf16, {600, 256});
      args.out = TensorView::row_major(nullptr, DType::bf16, {3, 512, 256});
    }
    const auto prepared = launch_of(kernel_of(layouts, rest), args);
    std::vector<unsigned> lines;
    for (const Relocation& each : prepared->launch.relocations) {
      if (each.kind == Relocation::Kind::map && each.source == Operand::a)
        lines.push_back(prepared->launch.maps[each.map].box[1]);
    }
    return lines;
  };
  CHECK(boxes_of_a("rcr", "128x128x64_c2x1_s6_ping_pong_a8x8") == std::vector<unsigned>{128, 64, 32});
  CHECK(boxes_of_a("rcr", "64x128x128_c1x1_s4_ping_pong_a8x8") == std::vector<unsigned>{64, 32, 16});
  CHECK(boxes_of_a("rcr", "128x256x64_c1x2_s4_cooperative_a8x8") == std::vector<unsigned>{64, 32, 16});
  // Lines along M: each box has all of the tile's 64 positions of K.
  CHECK(boxes_of_a("ccr", "128x128x64_c1x1_s6_ping_pong_a8x8") == std::vector<unsigned>{64});
}

TEST_CASE("a block copies the smallest of these boxes that has all rows of the group", "[grouped_gemm]") {
  constexpr gemm_sm90::OperandBox alone = {true, 128, 64, 2, 1};
  constexpr gemm_sm90::OperandBox shared = {true, 128, 64, 2, 2};
  for (int rows = -200; rows <= 300; ++rows) {
    INFO(rows << " rows");
    const int lines = grouped_gemm_sm90::copied_lines<alone>(rows, 0);
    CHECK(lines >= std::clamp(rows, 0, 128));
    CHECK((lines == 0 || lines == 32 || lines == 64 || lines == 128));
    CHECK((lines <= 32 || lines / 2 < rows));
    CHECK((lines > 0) == (rows > 0));
    // Blocks that share a tile copy 64 lines each.
    CHECK(grouped_gemm_sm90::copied_lines<shared>(rows, 0) >= std::clamp(rows, 0, 64));
    CHECK(grouped_gemm_sm90::copied_lines<shared>(rows, 1) >= std::clamp(rows - 64, 0, 64));
    CHECK((grouped_gemm_sm90::copied_lines<shared>(rows, 1) > 0) == (rows > 64));
  }
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
