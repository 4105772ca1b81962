// The host side of gemm_list_sm90: what it refuses, the two steps of a launch, its workspace.
#include <string>

#include "gemm/expression_params.hpp"
#include "gemm_list_sm90/params.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"
#include "support/prepared_launch.hpp"

namespace {

using namespace quarry;
using test::check_refused;
using test::launch_of;

Kernel kernel_of(const std::string& rest) {
  return test::required_kernel("gemm_list_sm90_bf16_bf16_f32_bf16_rcr_" + rest);
}
Kernel clustered() { return kernel_of("128x256x64_c2x1_s4_cooperative_a8x8"); }

/// Up to 600x512x256 each.
GemmListArguments list(std::int64_t problems) {
  return {.a = TensorView::row_major(nullptr, DType::bf16, {problems, 600, 256}),
          .b = TensorView::column_major(nullptr, DType::bf16, {problems, 256, 512}),
          .out = TensorView::row_major(nullptr, DType::bf16, {problems, 600, 512}),
          .sizes = TensorView::row_major(nullptr, DType::s32, {problems, 3})};
}

const ListTensorGemmParams& params_of_step(const Launch& launch, int step) {
  return params_of<ListTensorGemmParams>(launch.image, launch.steps[step]);
}

}  // namespace

TEST_CASE("a list's maps are made by a step in front, in a workspace of 384 bytes a problem", "[gemm_list]") {
  for (const std::int64_t problems : {1, 7, 1000}) {
    const auto prepared = launch_of(clustered(), list(problems));
    const Launch& launch = prepared->launch;
    REQUIRE(launch.steps.count == 2);
    CHECK(launch.workspace_bytes == static_cast<std::size_t>((384 * problems + 255) / 256 * 256));
    const Result<std::size_t> asked = clustered().workspace_size(list(problems));
    REQUIRE(asked);
    CHECK(*asked == launch.workspace_bytes);
    CHECK(params_of_step(launch, 0).makes_maps);
    CHECK_FALSE(params_of_step(launch, 1).makes_maps);
    CHECK((launch.steps[0].cluster == 1 && launch.steps[1].cluster == 2));
    CHECK(launch.steps[0].grid ==
          static_cast<unsigned>(std::min<std::int64_t>((3 * problems + 11) / 12, 132)));
    CHECK((launch.steps[1].grid % 2 == 0 && launch.steps[1].grid <= 132));
  }
}

TEST_CASE("both steps of a list get the pointers of a run", "[gemm_list]") {
  auto prepared = launch_of(clustered(), list(3));
  Launch& launch = prepared->launch;
  PlanOperands pointers;
  int places[8];
  const Operand names[] = {Operand::a, Operand::b, Operand::out, Operand::sizes, Operand::workspace};
  for (int i = 0; i < 5; ++i) pointers[names[i]] = places + i;
  put_pointers(launch, pointers, launch.image);
  for (int step = 0; step < 2; ++step) {
    const ListTensorGemmParams& params = params_of_step(launch, step);
    CHECK((params.gemm.a.data == places && params.gemm.b.data == places + 1));
    CHECK((params.gemm.out.data == places + 2 && params.list.sizes == places + 3));
    CHECK(static_cast<void*>(params.maps) == places + 4);
  }
}

TEST_CASE("models of a list's maps are of one matrix of the bounds", "[gemm_list]") {
  const auto prepared = launch_of(clustered(), list(5));
  const Launch& launch = prepared->launch;
  REQUIRE(launch.maps.count == 3);
  CHECK(
      (launch.maps[0].extent[0] == 256 && launch.maps[0].extent[1] == 600 && launch.maps[0].extent[2] == 1));
  CHECK(
      (launch.maps[1].extent[0] == 256 && launch.maps[1].extent[1] == 512 && launch.maps[1].extent[2] == 1));
  CHECK(
      (launch.maps[2].extent[0] == 512 && launch.maps[2].extent[1] == 600 && launch.maps[2].extent[2] == 1));
  CHECK(find_map(launch, Operand::a) == nullptr);
}

TEST_CASE("outputs of a list that begin at any address are stored without the engine", "[gemm_list]") {
  GemmListArguments args = list(5);
  args.out.assumed_alignment = 2;
  CHECK(launch_of(clustered(), args)->launch.maps.count == 2);
}

TEST_CASE("an empty list has no step", "[gemm_list]") {
  const auto prepared = launch_of(clustered(), list(0));
  CHECK((prepared->launch.steps.count == 0 && prepared->launch.workspace_bytes == 0));
}

TEST_CASE("what the copy engine cannot take of lists is refused with the reason", "[gemm_list]") {
  CHECK(clustered().supports(list(3)));
  GemmListArguments bad = list(3);
  bad.a.assumed_alignment = 8;
  check_refused(
      clustered(), bad,
      "Operand `a` is misaligned: expected a pointer that is a multiple of 8 elements, got a multiple "
      "of 4");
  bad = list(3);
  bad.b.strides[2] = 260;
  bad.b.strides[0] = 260 * 512;
  check_refused(
      clustered(), bad,
      "Operand `b` is misaligned: expected a leading dimension that is a multiple of 8 elements, got 260");
  bad = list(3);
  bad.a.strides[1] = 0;
  check_refused(clustered(), bad,
                "Operand `a` overlaps itself: expected a stride of at least 8 elements, got 0");
}

TEST_CASE("both steps of a list get the pointers of its scales", "[gemm_list]") {
  const Kernel kernel = test::required_kernel(
      "gemm_list_sm90_e4m3_e4m3_f32_bf16_rcr_128x128x128_c1x1_s6_cooperative_a16x16_block_scales");
  GemmListArguments args = list(3);
  args.a.dtype = args.b.dtype = DType::e4m3;
  CHECK(kernel.supports(args).operand() == Operand::a_scale);  // it has none
  args.a_scale = TensorView::row_major(nullptr, DType::f32, {3, 600, 2});
  args.a_scale_granularity = ScaleGranularity::block_1x128;
  args.b_scale = TensorView::row_major(nullptr, DType::f32, {2, 4});
  args.b_scale_granularity = ScaleGranularity::block_128x128;
  auto prepared = launch_of(kernel, args);
  Launch& launch = prepared->launch;
  float places[2];
  PlanOperands pointers;
  pointers[Operand::a_scale] = places;
  pointers[Operand::b_scale] = places + 1;
  put_pointers(launch, pointers, launch.image);
  for (int step = 0; step < 2; ++step) {
    const auto& scales = params_of<ScaledListTensorGemmParams>(launch.image, launch.steps[step]).scales;
    CHECK((scales.a.values.data == places && scales.b.values.data == places + 1));
    CHECK((scales.a.values.row_stride == 2 && scales.a.values.column_stride == 1));
    CHECK((scales.a.values.batch_stride == 1200 && scales.b.values.batch_stride == 0));
    CHECK((scales.a.lines_log2 == 0 && scales.b.lines_log2 == 7));
  }
  CHECK_FALSE(clustered().supports(args));
}

TEST_CASE("both steps of a list have the tensors of its expression", "[gemm_list][expression]") {
  GemmListArguments args = list(3);
  args.expression = test::parsed("z = sum + x; out = relu(z) * s", "x=f32:per_row,s=f32:scalar,z=bf16:row");
  args.tensors = {{"x", TensorView::row_major(nullptr, DType::f32, {3, 600})},
                  {"s", {}, 0.5},
                  {"z", TensorView::row_major(nullptr, DType::bf16, {3, 600, 512})}};
  auto prepared = launch_of(clustered(), args);
  Launch& launch = prepared->launch;
  REQUIRE(launch.steps.count == 2);
  REQUIRE(launch.expression != nullptr);
  int places[2];
  PlanOperands pointers;
  pointers[tensor_operand(0)] = places;
  pointers[tensor_operand(2)] = places + 1;
  put_pointers(launch, pointers, launch.image);
  for (const Step& step : launch.steps) {
    CHECK(has_expression(launch, step));
    CHECK(step.bytes == sizeof(WithExpression<ListTensorGemmParams>));
    const ExpressionParams& own =
        params_of<WithExpression<ListTensorGemmParams>>(launch.image, step).expression;
    CHECK((own.tensors[0].matrix.data == places && own.tensors[2].matrix.data == places + 1));
    CHECK((own.tensors[0].matrix.batch_stride == 600 && own.tensors[0].matrix.row_stride == 1));
    CHECK((own.tensors[1].matrix.data == nullptr && own.tensors[1].value == 0.5));
    CHECK(own.tensors[2].matrix.batch_stride == 600 * 512);
  }
}
