/// What only Hopper has: tensor maps, clusters, launches that overlap. Skipped on other devices.
#include <cstdio>
#include <cstring>

#include "gpu/device_case.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "registry/device/device_model.hpp"
#include "registry/device/tensor_map.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

bool has_hopper() {
  const DeviceModel* const model = detail::cached_device_model(0);
  const bool has = model != nullptr && model->cc == 90;
  if (!has) std::printf("skipped: device 0 is no Hopper\n");
  return has;
}

/// One kernel of each schedule and way of copying, with and without a cluster, in both orientations.
constexpr const char* kernel_names[] = {
    "gemm_sm90_f16_f16_f32_f16_rrr_128x128x64_c1x1_s4_cooperative_a8x8",
    "gemm_sm90_f16_f16_f32_f16_rrr_128x128x64_c2x1_s4_cooperative_a8x8",
    "gemm_sm90_f16_f16_f32_f16_rrr_64x128x64_c1x2_s4_ping_pong_a8x8",
    "gemm_sm90_f16_f16_f32_f16_rrr_64x64x64_c1x1_s6_one_tile_a8x8",
    "gemm_sm90_f16_f16_f32_f16_rrr_64x128x64_c1x1_s4_one_tile_exchanged_a8x8",
    "gemm_sm90_f16_f16_f32_f16_rrr_128x128x64_c1x1_s4_cooperative_cp_async_a4x4",
};

GemmArguments shape_with(int m, int n, int k, const Controls& controls = {}) {
  GemmArguments shape = f16_shape(m, n, k);
  shape.controls = controls;
  return shape;
}

void check_run(DeviceCase& c, const Kernel& kernel, const lab::Reference& reference, bool overlap = false) {
  const DeviceWorkspace workspace(kernel, c.arguments());
  c.reset();
  must(kernel.run(c.arguments(), {.workspace = workspace, .overlap = overlap}));
  c.check_result(kernel, reference);
  const std::vector<std::byte> by_run = c.output_bytes();
  const Plan plan = must(kernel.prepare(c.arguments(), {.overlap = overlap}));
  c.reset();
  must(plan.run(c.operands(), nullptr, workspace));
  c.check_result(kernel, reference);
  CHECK(c.output_bytes() == by_run);
}

}  // namespace

TEST_CASE("the driver encodes the maps of every shape that is not refused") {
  if (!has_hopper()) return;
  must(cudaFree(nullptr));
  alignas(16) static char memory[16];
  const TensorMapFields good = {.data = memory,
                                .dtype = DType::f16,
                                .swizzle = TensorSwizzle::bytes128,
                                .extent = {1000, 300, 2, 0},
                                .stride = {2000, 640000, 0},
                                .box = {64, 128, 1},
                                .walk = {}};
  TensorMap map;
  TensorMapFields images = {.data = memory,
                            .dtype = DType::bf16,
                            .swizzle = TensorSwizzle::bytes128,
                            .extent = {100, 30, 20, 4},
                            .stride = {208, 6240, 124800},
                            .box = {64, 128, 1},
                            .walk = {{-1, -2}, {1, 0}, {1, 2}}};
  must(detail::encode_tensor_map(images, map));
  images.walk = {{-128, 0}, {127, -19}, {8, 8}};
  images.box[1] = 256;
  must(detail::encode_tensor_map(images, map));
  images.extent[1] = images.extent[2] = images.extent[3] = 1;
  images.walk = {{127, -128}, {127, -128}, {1, 1}};
  must(detail::encode_tensor_map(images, map));
  TensorMapFields fields = good;
  must(detail::encode_tensor_map(fields, map));
  fields.extent[0] = fields.extent[1] = fields.extent[2] = 1ULL << 32;
  fields.stride[0] = fields.stride[1] = (1ULL << 40) - 16;
  fields.box[1] = 256;
  must(detail::encode_tensor_map(fields, map));
  fields = good;
  fields.dtype = DType::f32;
  fields.box[0] = 32;
  fields.rounds_to_tf32 = true;
  must(detail::encode_tensor_map(fields, map));
  fields = good;
  fields.extent[0] = fields.extent[1] = fields.extent[2] = 1;
  fields.stride[0] = fields.stride[1] = 16;
  must(detail::encode_tensor_map(fields, map));
  for (const TensorSwizzle swizzle :
       {TensorSwizzle::none, TensorSwizzle::bytes32, TensorSwizzle::bytes64, TensorSwizzle::bytes128}) {
    fields = good;
    fields.swizzle = swizzle;
    fields.box[0] = swizzle == TensorSwizzle::none ? 8 : 8U << static_cast<int>(swizzle);
    must(detail::encode_tensor_map(fields, map));
  }
  check_no_error_left();
}

TEST_CASE("a map that is moved is the map of the other address") {
  if (!has_hopper()) return;
  must(cudaFree(nullptr));
  alignas(16) static char memory[32];
  const TensorMapFields matrix = {.data = nullptr,
                                  .dtype = DType::bf16,
                                  .swizzle = TensorSwizzle::bytes64,
                                  .extent = {100, 30, 1, 0},
                                  .stride = {208, 16, 0},
                                  .box = {32, 8, 1},
                                  .walk = {}};
  TensorMapFields images = matrix;
  images.extent[2] = 20, images.extent[3] = 4;
  images.stride[1] = 6240, images.stride[2] = 124800;
  images.walk = {{-1, -2}, {1, 0}, {1, 2}};
  for (const TensorMapFields& fields : {matrix, images}) {
    Launch launch;
    const Step& step = add_kernel(launch, 0, sizeof(TensorMap));
    add_map(launch, params_of<TensorMap>(launch, step), fields, Operand::a);
    PlanOperands pointers;
    must(detail::encode_tensor_maps(launch, pointers, launch.image));
    pointers[Operand::a] = memory + 16;
    must(detail::move_tensor_maps(launch, pointers, launch.image));
    TensorMap moved;
    std::memcpy(&moved, launch.image + step.at, sizeof moved);
    must(detail::encode_tensor_maps(launch, pointers, launch.image));
    CHECK(std::memcmp(&moved, launch.image + step.at, sizeof moved) == 0);
  }
}

TEST_CASE("Hopper's kernels compute what the reference says, whatever the controls") {
  if (!has_hopper()) return;
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (const char* name : kernel_names) {
    const Kernel kernel = must(make_kernel(name));
    const DesignMetadata& design = kernel.metadata().design;
    const bool persistent = design.schedule != Schedule::one_tile;
    for (int i = 0; i < 6; ++i) {
      Controls controls = {.raster = coin(random) ? Raster::along_n : Raster::along_m};
      if (persistent) controls.multiprocessors = between(random, 4, 12);
      if (i % 3 == 1) {
        controls.mode = Mode::split_k_parallel;
        controls.split_k_slices = between(random, 2, 5);
      }
      if (i % 3 == 2 && kernel.metadata().modes.split_k_cluster) {
        controls.mode = Mode::split_k_cluster;
        controls.split_k_slices = between(random, 2, 8);
      }
      DeviceCase c(shape_with(8 * between(random, 1, 60), 8 * between(random, 1, 60),
                              8 * between(random, 64, 90), controls),
                   {.seed = random()});
      const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
      INFO(name << " case " << i);
      REQUIRE(kernel.supports(c.arguments()));
      check_run(c, kernel, reference);
    }
  }
  check_no_error_left();
}

TEST_CASE("kernels that overlap wait for what the one before them writes") {
  if (!has_hopper()) return;
  // A chain: each product's output is the next one's A. Small kernels, so that most of them could overlap.
  constexpr int size = 256;
  constexpr int links = 24;
  const Stream stream;
  for (const char* name : kernel_names) {
    const Kernel kernel = must(make_kernel(name));
    DeviceCase c(shape_with(size, size, size, {.mode = Mode::gemm}), {.values = lab::Values::small_integers});
    GemmArguments args = c.arguments();
    args.epilogue.alpha = 1.0 / size;
    constexpr std::size_t bytes = std::size_t{size} * size * 2;
    const auto compute = [&](bool overlap) {
      lab::DeviceBuffer buffers[2] = {must(lab::DeviceBuffer::allocate(bytes, 0)),
                                      must(lab::DeviceBuffer::allocate(bytes, 0))};
      must(cudaMemcpy(buffers[0].data(), args.a.data, bytes, cudaMemcpyDeviceToDevice));
      GemmArguments link = args;
      for (int i = 0; i < links; ++i) {
        link.a = TensorView::row_major(buffers[i % 2].data(), DType::f16, {size, size});
        link.out = TensorView::row_major(buffers[(i + 1) % 2].data(), DType::f16, {size, size});
        must(kernel.run(link, {.stream = stream, .overlap = overlap}));
      }
      must(cudaStreamSynchronize(stream));
      std::vector<std::byte> result(bytes);
      must(cudaMemcpy(result.data(), buffers[links % 2].data(), bytes, cudaMemcpyDeviceToHost));
      return result;
    };
    INFO(name);
    (void)must(kernel.prepare(args));  // loaded, so that launches follow each other closely
    const std::vector<std::byte> expected = compute(false);
    for (int i = 0; i < 5; ++i) CHECK(compute(true) == expected);
  }
  check_no_error_left();
}

TEST_CASE("kernels that know no overlap are launched as usual") {
  const Kernel kernel = must(make_kernel("gemm_sm80_f16_f16_f32_f16_rrr_64x64x32_w2x2x1_s3_a8x8"));
  DeviceCase c(f16_shape(128, 128, 64));
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  check_run(c, kernel, reference, true);
}

TEST_CASE("C or a residual that all batch entries share is read for each of them") {
  if (!has_hopper()) return;
  for (const char* const name : kernel_names) {
    const Kernel kernel = must(make_kernel(name));
    for (const bool is_residual : {false, true}) {
      CAPTURE(name, is_residual);
      GemmArguments shape = {.a = TensorView::row_major(nullptr, DType::f16, {3, 200, 72}),
                             .b = TensorView::row_major(nullptr, DType::f16, {3, 72, 264}),
                             .out = TensorView::row_major(nullptr, DType::f16, {3, 200, 264})};
      const TensorView shared = TensorView::row_major(nullptr, DType::f16, {200, 264});
      if (is_residual) {
        shape.epilogue.residual = shared;
      } else {
        shape.c = shared;
        shape.epilogue.beta = 0.5;
      }
      DeviceCase c(shape, {.seed = 5});
      const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
      check_run(c, kernel, reference);
    }
  }
}
