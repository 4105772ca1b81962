// Controls of convolutions: chosen, kept, refused.
#include <string>

#include "operations/conv2d/operation.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

TensorView dense(std::array<std::int64_t, 4> e, DType type) {
  const std::int64_t row = e[2] * e[3];
  return TensorView::strided(nullptr, type, e, std::array<std::int64_t, 4>{e[1] * row, row, e[3], 1});
}

/// Images of 14 x 14, filters of 3 x 3, padding 1.
Conv2dArguments problem(Direction direction, const Controls& controls = {}, std::int64_t channels = 64) {
  const DType type = DType::f16;
  const TensorView x = dense({2, 14, 14, channels}, type);
  const TensorView w = dense({72, 3, 3, channels}, type);
  const TensorView y = dense({2, 14, 14, 72}, type);
  Conv2dArguments args = {.direction = direction, .a = x, .b = w, .out = y, .padding = {1, 1}};
  if (direction == Direction::dgrad) args.a = y, args.out = x;
  if (direction == Direction::wgrad) args.a = y, args.b = x, args.out = w;
  args.controls = controls;
  return args;
}

constexpr Direction directions[] = {Direction::fprop, Direction::dgrad, Direction::wgrad};

/// The kernel step's parameters, which begin with a product's in all families, and its grid.
struct Launched {
  GemmParams params;
  unsigned grid;
};
Launched launched(const Kernel& kernel, const Conv2dArguments& args) {
  detail::PreparedLaunch prepared;
  const Status status =
      detail::prepare_launch(detail::row_of(kernel), kernel.entry_controls(), args, prepared);
  INFO(status.message());
  REQUIRE(status);
  const Step& step = *kernel_step(prepared.launch);
  return {*reinterpret_cast<const GemmParams*>(prepared.launch.image + step.at), step.grid};
}

std::string message(const Kernel& kernel, const Conv2dArguments& args) {
  const Status status = kernel.supports(args);
  return status ? "" : status.message();
}

Kernel named(const char* name) {
  const Result<Kernel> kernel = make_kernel(name);
  INFO(kernel.status().message());
  REQUIRE(kernel);
  return *kernel;
}

}  // namespace

TEST_CASE("conv2d: candidates have the controls that are asked for, and launches keep them", "[conv2d]") {
  const DeviceModel h200 = *find_device_model("h200");
  const Controls all[] = {{.swizzle = 2, .raster = Raster::along_m},
                          {.raster = Raster::along_n},
                          {.mode = Mode::gemm},
                          {.split_k_slices = 3},
                          {.mode = Mode::split_k_serial, .split_k_slices = 2, .swizzle = 4},
                          {.mode = Mode::split_k_parallel, .split_k_slices = 4},
                          {.mode = Mode::split_k_cluster, .split_k_slices = 2}};
  for (const Direction direction : directions) {
    for (const Controls& asked : all) {
      const Conv2dArguments args = problem(direction, asked);
      const CandidateList found = get_kernels(args, {}, {.device = &h200});
      if (asked.mode == Mode::split_k_parallel && direction == Direction::fprop) REQUIRE_FALSE(found.empty());
      for (const Candidate& candidate : found) {
        INFO(candidate.name());
        const Controls chosen = candidate.controls();
        if (asked.mode) CHECK(chosen.mode == asked.mode);
        if (asked.split_k_slices) CHECK(chosen.split_k_slices == asked.split_k_slices);
        if (asked.swizzle) CHECK(chosen.swizzle == asked.swizzle);
        if (asked.raster) CHECK(chosen.raster == asked.raster);
        const GemmParams params = launched(candidate, args).params;
        CHECK(params.slices == chosen.split_k_slices);
        CHECK(params.mode == chosen.mode);
        CHECK(1 << params.swizzle_log2 == chosen.swizzle);
        CHECK(params.raster == chosen.raster);
        CHECK(candidate.workspace() == *candidate.workspace_size(args));
      }
    }
  }
}

TEST_CASE("conv2d: a candidate runs as it was found, unless the arguments say otherwise", "[conv2d]") {
  const Result<Candidate> found = find_best(problem(Direction::fprop, {.split_k_slices = 3}));
  REQUIRE(found);
  CHECK(launched(*found, problem(Direction::fprop)).params.slices == 3);
  CHECK(launched(*found, problem(Direction::fprop, {.mode = Mode::gemm})).params.slices == 1);
  CHECK(launched(*found, problem(Direction::fprop, {.split_k_slices = 2})).params.slices == 2);
}

TEST_CASE("conv2d: persistent kernels keep to multiprocessors", "[conv2d]") {
  const Kernel kernel = named("conv2d_sm90_fprop_f16_f16_f32_f16_128x128x64_c1x1_s6_ping_pong");
  const auto grid = [&](const Controls& controls) {
    return launched(kernel, problem(Direction::fprop, controls)).grid;
  };
  CHECK(grid({}) == 4);
  CHECK(grid({.multiprocessors = 3}) == 3);
  CHECK(grid({.multiprocessors = 1}) == 1);
  CHECK(grid({.multiprocessors = 4000}) == 4);
  const Kernel clusters = named("conv2d_sm90_fprop_f16_f16_f32_f16_128x128x64_c2x1_s6_ping_pong");
  CHECK(message(clusters, problem(Direction::fprop, {.multiprocessors = 1})) ==
        "Control `multiprocessors` is unsupported: expected at least 2, got 1");
}

TEST_CASE("conv2d: kernels refuse the controls that they do not have", "[conv2d]") {
  const Kernel simt = named("conv2d_simt_fprop_f16_f16_f32_f16_64x64x16_t4x4");
  const Kernel sm80 = named("conv2d_sm80_fprop_f16_f16_f32_f16_64x64x64_w2x2x1_s4_analytic_a8x8");
  const Kernel window = named("conv2d_sm80_fprop_f16_f16_f32_f16_128x64x32_w4x1x1_s2_window_a1x1");
  const Kernel phases = named("conv2d_sm90_dgrad_f16_f16_f32_f16_256x128x64_c1x1_s4_cooperative_strided");
  struct Case {
    const Kernel& kernel;
    Direction direction;
    Controls controls;
    const char* why;  // null: taken
    std::int64_t channels = 64;
  };
  const auto fprop = Direction::fprop;
  const char* const no_mode = "Control `mode` is unsupported: expected a mode that the kernel permits, got ";
  const Case cases[] = {
      {simt, fprop, {.swizzle = 8, .raster = Raster::along_m}, nullptr},
      {simt, fprop, {.mode = Mode::gemm, .split_k_slices = 1}, nullptr},
      {simt, fprop, {.mode = Mode::split_k_serial}, no_mode},
      {simt, fprop, {.split_k_slices = 2}, "Control `split_k_slices` is unsupported: expected 1 to 1, got 2"},
      {simt, fprop, {.multiprocessors = 2}, "Control `multiprocessors` is unsupported: expected it unset"},
      {sm80, fprop, {.mode = Mode::split_k_serial, .split_k_slices = 9}, nullptr},
      {sm80,
       fprop,
       {.split_k_slices = 10},
       "Control `split_k_slices` is unsupported: expected 1 to 9, got 10"},
      {sm80, fprop, {.mode = Mode::split_k_parallel, .split_k_slices = 2}, no_mode},
      {sm80, fprop, {.mode = Mode::stream_k}, no_mode},
      {sm80, fprop, {.multiprocessors = 8}, "Control `multiprocessors` is unsupported: expected it unset"},
      {window, fprop, {.swizzle = 1, .raster = Raster::along_n}, nullptr, 3},
      {window, fprop, {.swizzle = 2}, "Control `swizzle` is unsupported: expected it unset", 3},
      {window, fprop, {.raster = Raster::along_m}, "Control `raster` is unsupported: expected it unset", 3},
      {window, fprop, {.split_k_slices = 2}, "Control `split_k_slices` is unsupported", 3},
      {phases, Direction::dgrad, {.swizzle = 2, .multiprocessors = 5}, nullptr},
      {phases, Direction::dgrad, {.mode = Mode::split_k_parallel, .split_k_slices = 2}, no_mode},
  };
  for (const Case& each : cases) {
    const std::string got = message(each.kernel, problem(each.direction, each.controls, each.channels));
    INFO(each.kernel.name() << ": " << got);
    CHECK(got.starts_with(each.why == nullptr ? "" : each.why));
    CHECK(got.empty() == (each.why == nullptr));
  }
}

TEST_CASE("conv2d: controls that do not go together are refused before any kernel", "[conv2d]") {
  struct Case {
    Controls controls;
    const char* why;
  };
  const Case cases[] = {{{.split_k_slices = 0}, "`split_k_slices` must be 1 or more"},
                        {{.split_k_slices = -3}, "`split_k_slices` must be 1 or more"},
                        {{.mode = Mode::gemm, .split_k_slices = 2}, "needs a mode of split_k_serial"},
                        {{.mode = static_cast<Mode>(77)}, "no mode of number 77"},
                        {{.swizzle = 3}, "expected 1, 2, 4 or 8, got 3"},
                        {{.raster = static_cast<Raster>(9)}, "no raster of number 9"},
                        {{.multiprocessors = 0}, "expected at least 1, got 0"}};
  for (const Case& each : cases) {
    const Status status = get_kernels(problem(Direction::fprop, each.controls)).status();
    INFO(status.message());
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.message().find(each.why) != std::string::npos);
  }
}

TEST_CASE("conv2d: kernels that copy channels take no slices", "[conv2d]") {
  const Kernel kernel = get_kernels(*Filter::parse("design.reorders and operation == conv2d")).front();
  const std::array<std::int64_t, 4> x = {1, 8, 8, 64}, w = {64, 3, 3, 64};
  const auto& o = kernel.metadata().operands;
  Conv2dArguments args = {.a = nc32hw32(nullptr, o.a.dtype, x),
                          .b = c32rsk32(nullptr, o.b.dtype, w),
                          .out = nc32hw32(nullptr, o.out.dtype, x),
                          .padding = {1, 1}};
  args.controls = {.swizzle = 2, .raster = Raster::along_m};
  CHECK(message(kernel, args).empty());
  args.controls = {.split_k_slices = 2};
  CHECK(message(kernel, args).find("`split_k_slices`") != std::string::npos);
}
