// The host side of gemm_sm90: what it refuses, its launches, its tensor maps.
#include <span>
#include <string>

#include "lab/problems/fresh_seed.hpp"
#include "support/sm90_launch.hpp"

namespace {

using namespace quarry;
using test::bf16_problem;
using test::check_refused;
using test::h200;
using test::launch_of;
using test::Random;
using test::resolve;
using test::Resolved;
using test::sm90;

GemmArguments with(GemmArguments args, const Controls& controls) {
  args.controls = controls;
  return args;
}

}  // namespace

TEST_CASE("operands that the copy engine cannot address are refused with the reason", "[sm90]") {
  // The exchanged one computes the transposed problem: its A is the caller's B.
  for (const char* name :
       {"128x128x64_c1x1_s4_cooperative_a8x8", "64x128x64_c1x1_s4_one_tile_exchanged_a8x8"}) {
    const Kernel kernel = sm90(name);
    const GemmArguments good = bf16_problem(256, 256, 256);
    (void)launch_of(kernel, good);
    GemmArguments bad = good;
    bad.a.assumed_alignment = 8;
    check_refused(kernel, bad,
                  "Operand `a` is misaligned: expected a pointer that is a multiple of 8 elements, got a "
                  "multiple of 4");
    bad = good;
    bad.b.strides[1] = 260;
    check_refused(
        kernel, bad,
        "Operand `b` is misaligned: expected a leading dimension that is a multiple of 8 elements, got 260");
    bad = good;
    bad.a.strides[0] = 0;
    check_refused(kernel, bad,
                  "Operand `a` overlaps itself: expected a stride of at least 8 elements, got 0");
    bad = good;
    bad.b.strides[1] = 0;
    check_refused(kernel, bad,
                  "Operand `b` overlaps itself: expected a stride of at least 8 elements, got 0");
    bad = good;
    bad.a.strides[0] = std::int64_t{1} << 39;
    check_refused(
        kernel, bad,
        "Operand `a` has too large a stride: expected less than 1099511627776 bytes, got 1099511627776");
    bad = good;
    bad.b.strides[1] = std::int64_t{1} << 40;
    check_refused(
        kernel, bad,
        "Operand `b` has too large a stride: expected less than 1099511627776 bytes, got 2199023255552");
    bad = good;
    bad.a.strides[0] = (std::int64_t{1} << 39) - 8;
    CHECK(launch_of(kernel, bad).step().grid > 0);

    // Lines that may overlap are fine, and so is any stride of an operand that is not read or has one line.
    GemmArguments fine = good;
    fine.a = fine.a.with_overlap();
    fine.a.strides[0] = 8;
    CHECK(launch_of(kernel, fine).step().grid > 0);
    fine = good;
    fine.a.strides[0] = 0;
    fine.epilogue.alpha = 0.0;
    CHECK(launch_of(kernel, fine).step().grid > 0);
    fine = bf16_problem(1, 256, 256);
    fine.a.strides[0] = 0;
    CHECK(launch_of(kernel, fine).step().grid > 0);
  }
}

TEST_CASE("a batch stride can be too large, too", "[sm90]") {
  const Kernel kernel = sm90("128x128x64_c1x1_s4_cooperative_a8x8");
  const auto bf16 = DType::bf16;
  GemmArguments args{.a = TensorView::row_major(nullptr, bf16, {2, 64, 64}),
                     .b = TensorView::column_major(nullptr, bf16, {64, 64}),
                     .out = TensorView::row_major(nullptr, bf16, {2, 64, 64})};
  (void)launch_of(kernel, args);
  args.a.strides[0] = std::int64_t{1} << 39;
  check_refused(
      kernel, args,
      "Operand `a` has too large a stride: expected less than 1099511627776 bytes, got 1099511627776");
}

TEST_CASE("kernels whose threads copy take what they can reach", "[sm90]") {
  const Kernel kernel = sm90("128x128x64_c1x1_s4_cooperative_cp_async_a4x2");
  GemmArguments args = bf16_problem(256, 256, 256);
  args.a.assumed_alignment = 8;
  args.a.strides[0] = 260;
  args.b.assumed_alignment = 4;
  args.b.strides[1] = 0;
  const Resolved launch = launch_of(kernel, args);
  CHECK(launch.step().bytes == sizeof(TensorGemmParams));
  CHECK_FALSE(launch.map(Operand::a));
  CHECK_FALSE(launch.map(Operand::b));
  args.a.strides[0] = std::int64_t{1} << 41;
  (void)launch_of(kernel, args);
  args.a.strides[0] = 258;
  check_refused(
      kernel, args,
      "Operand `a` is misaligned: expected a leading dimension that is a multiple of 4 elements, got 258");
}

TEST_CASE("devices other than Hopper, and smaller ones, are refused", "[sm90]") {
  const Kernel kernel = sm90("128x256x64_c1x1_s4_cooperative_a8x8");
  const GemmArguments args = bf16_problem(64, 64, 64);
  check_refused(kernel, args, "The device is unsupported: expected compute capability at least 9.0, got 8.0",
                test::device_named("a100"));
  DeviceModel device = h200();
  device.cc = 100;
  check_refused(kernel, args, "The device is unsupported: expected compute capability at most 9.0, got 10.0",
                device);
  device.cc = 90;
  device.shared_memory_per_block = 99 * 1024;
  check_refused(kernel, args,
                "The device is unsupported: expected " +
                    std::to_string(kernel.metadata().design.shared_memory) +
                    " bytes of shared memory for a block, got 101376",
                device);
}

TEST_CASE("controls that no kernel could have are invalid", "[sm90]") {
  const Kernel kernel = sm90("128x128x64_c1x1_s4_cooperative_a8x8");
  const auto check = [&](const Controls& controls, const std::string& why) {
    const Status status = kernel.supports(with(bf16_problem(64, 64, 64), controls));
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.message() == why);
  };
  check({.raster = static_cast<Raster>(2)}, "There is no raster of number 2");
  check({.mode = static_cast<Mode>(5)}, "There is no mode of number 5");
  for (const int number : {0, -1}) {
    check({.multiprocessors = number},
          "Control `multiprocessors` is unsupported: expected at least 1, got " + std::to_string(number));
  }
}

TEST_CASE("controls that a kernel does not have are refused", "[sm90]") {
  const Kernel persistent = sm90("128x128x64_c2x2_s4_cooperative_a8x8");
  const Kernel one_tile = sm90("64x64x64_c1x1_s8_one_tile_a8x8");
  const GemmArguments args = bf16_problem(256, 256, 8192);
  check_refused(one_tile, with(args, {.multiprocessors = 8}),
                "Control `multiprocessors` is unsupported: expected it unset, got a value");
  check_refused(persistent, with(args, {.multiprocessors = 3}),
                "Control `multiprocessors` is unsupported: expected at least 4, got 3");
  check_refused(
      persistent, with(args, {.mode = Mode::split_k_cluster, .split_k_slices = 2}),
      "Control `mode` is unsupported: expected a mode that the kernel permits, got split_k_cluster");
  for (const Kernel& kernel : {persistent, one_tile}) {
    check_refused(
        kernel, with(args, {.mode = Mode::split_k_serial, .split_k_slices = 2}),
        "Control `mode` is unsupported: expected a mode that the kernel permits, got split_k_serial");
    check_refused(kernel, with(args, {.mode = Mode::split_k_parallel, .split_k_slices = 129}),
                  "Control `split_k_slices` is unsupported: expected 1 to 128, got 129");
  }
  check_refused(one_tile, with(args, {.mode = Mode::split_k_cluster, .split_k_slices = 9}),
                "Control `split_k_slices` is unsupported: expected 1 to 8, got 9");
  (void)launch_of(one_tile, with(args, {.mode = Mode::split_k_cluster, .split_k_slices = 8}));

  const Kernel other = sm90("64x64x64_c1x1_s2_one_tile_a8x8", "rrr");  // no kernel of other families either
  Resolved resolved;
  REQUIRE_FALSE(resolve(other, with(args, {.multiprocessors = 8}), resolved));
}

TEST_CASE("kernels of other families have no clusters and, but for stream_k, no persistent blocks",
          "[sm90]") {
  const GemmArguments args = bf16_problem(256, 256, 1024);
  int refused = 0;
  for (const Kernel& kernel : get_kernels([](const KernelMetadata& k) {
         return k.operation == Operation::gemm && k.cc < 90 && !k.modes.stream_k &&
                k.operands.scales == ScaleSupport::none;
       })) {
    const OperandsMetadata& o = kernel.metadata().operands;
    if (test::types_of(detail::row_of(kernel)) != Types{DType::bf16, DType::bf16, DType::f32, DType::bf16} ||
        test::layouts_of(detail::row_of(kernel)) != Layouts{Layout::row, Layout::column, Layout::row} ||
        o.a.alignment > 8) {
      continue;
    }
    check_refused(kernel, with(args, {.multiprocessors = 8}),
                  "Control `multiprocessors` is unsupported: expected it unset, got a value");
    check_refused(
        kernel, with(args, {.mode = Mode::split_k_cluster, .split_k_slices = 2}),
        "Control `mode` is unsupported: expected a mode that the kernel permits, got split_k_cluster");
    Resolved resolved;
    REQUIRE(resolve(kernel, with(args, {.raster = Raster::along_m}), resolved));
    CHECK(params_of<GemmParams>(resolved.launch.image, resolved.step()).raster == Raster::along_m);
    CHECK(resolved.step().bytes == sizeof(GemmParams));
    CHECK(resolved.launch.maps.count == 0);
    CHECK(resolved.step().cluster == 1);
    ++refused;
  }
  CHECK(refused > 5);
}

TEST_CASE("a grid has limits in whole clusters", "[sm90]") {
  GemmArguments args = bf16_problem(2147483647, 64, 64);
  args.b = TensorView::column_major(nullptr, DType::bf16, {64, 2147483647});
  args.out = TensorView::row_major(nullptr, DType::bf16, {2147483647, 2147483647});
  Resolved resolved;
  const Status status = resolve(sm90("64x64x64_c2x1_s4_one_tile_a8x8"), args, resolved);
  CHECK(status.reason() == Reason::grid_limit);
  CHECK(status.message().find("expected at most 2147483647 blocks") != std::string::npos);
}

TEST_CASE("persistent blocks: as many as the device holds at once, in whole clusters", "[sm90]") {
  struct Case {
    const char* kernel;
    std::int64_t m, n;
    std::optional<int> multiprocessors;
    unsigned grid, cluster;
    int tiles_m, tiles_n;
  };
  const Case cases[] = {
      {"128x256x64_c1x1_s4_cooperative_a8x8", 8192, 8192, {}, 132, 1, 64, 32},
      {"128x256x64_c2x1_s4_cooperative_a8x8", 8192, 8192, {}, 132, 2, 32, 32},
      {"128x128x64_c2x2_s4_cooperative_a8x8", 8192, 8192, {}, 120, 4, 32, 32},
      {"128x128x64_c1x2_s4_ping_pong_a8x8", 8192, 8192, {}, 132, 2, 64, 32},
      {"128x128x64_c1x1_s4_cooperative_a8x8", 300, 200, {}, 6, 1, 3, 2},
      {"128x128x64_c2x1_s4_cooperative_a8x8", 300, 200, {}, 8, 2, 2, 2},
      {"128x128x64_c2x2_s4_cooperative_a8x8", 1, 1, {}, 4, 4, 1, 1},
      {"128x128x64_c1x1_s4_cooperative_a8x8", 8192, 8192, 5, 5, 1, 64, 64},
      {"128x128x64_c2x1_s4_cooperative_a8x8", 8192, 8192, 5, 4, 2, 32, 64},
      {"128x128x64_c2x1_s4_cooperative_a8x8", 8192, 8192, 100000, 132, 2, 32, 64},
      {"128x128x64_c2x2_s4_cooperative_a8x8", 8192, 8192, 4, 4, 4, 32, 32},
      {"64x64x64_c1x1_s4_one_tile_a8x8", 8192, 8192, {}, 16384, 1, 128, 128},
      {"64x64x64_c2x1_s4_one_tile_a8x8", 65, 65, {}, 4, 2, 1, 2},
  };
  for (const Case& c : cases) {
    INFO(c.kernel << " " << c.m << " x " << c.n);
    const Resolved launch = launch_of(
        sm90(c.kernel),
        with(bf16_problem(c.m, c.n, 512), {.mode = Mode::gemm, .multiprocessors = c.multiprocessors}));
    CHECK(launch.step().grid == c.grid);
    CHECK(launch.step().cluster == c.cluster);
    CHECK(launch.params().gemm.tiles_m == c.tiles_m);
    CHECK(launch.params().gemm.tiles_n == c.tiles_n);
    CHECK(launch.params().gemm.slices == 1);
    CHECK(launch.launch.workspace_bytes == 0);
  }
}

TEST_CASE("slices run as clusters or as work of their own", "[sm90]") {
  const GemmArguments args = bf16_problem(128, 128, 8192);
  const Kernel kernel = sm90("64x64x64_c1x1_s8_one_tile_a8x8");
  const Resolved cluster =
      launch_of(kernel, with(args, {.mode = Mode::split_k_cluster, .split_k_slices = 6}));
  CHECK(cluster.step().grid == 4 * 6);
  CHECK(cluster.step().cluster == 6);
  CHECK(cluster.params().gemm.mode == Mode::split_k_cluster);
  CHECK(cluster.params().gemm.slices == 6);
  CHECK(cluster.params().gemm.k_tiles_per_slice == 22);
  CHECK(cluster.launch.workspace_bytes == 0);
  CHECK(kernel_step(cluster.launch, 1) == nullptr);
  CHECK(cluster.map(Operand::out));
  CHECK(cluster.params().stores_boxes);

  const Resolved parallel =
      launch_of(kernel, with(args, {.mode = Mode::split_k_parallel, .split_k_slices = 6}));
  CHECK(parallel.step().grid == 4 * 6);
  CHECK(parallel.step().cluster == 1);
  CHECK(parallel.launch.workspace_bytes == 6 * 128 * 128 * 4);
  CHECK(kernel_step(parallel.launch, 1) != nullptr);
  CHECK_FALSE(parallel.params().stores_boxes);
  CHECK_FALSE(parallel.map(Operand::out));  // the reduction writes the output

  const Resolved one = launch_of(kernel, with(args, {.mode = Mode::split_k_cluster, .split_k_slices = 1}));
  CHECK(one.params().gemm.mode == Mode::gemm);
  CHECK(one.step().cluster == 1);
  CHECK(one.step().grid == 4);
}

TEST_CASE("tensor maps lead to the operands' elements", "[sm90]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  alignas(256) static char memory[1];  // only its address counts
  int checked = 0;
  for (const std::string layouts : {"rcr", "rrr", "ccr", "crr", "rcc", "rrc", "ccc", "crc"}) {
    const Kernel kernel = sm90("128x64x64_c1x1_s3_cooperative_a8x8", layouts);
    const detail::Row& row = detail::row_of(kernel);
    for (int i = 0; i < 40; ++i) {
      GemmArguments args = test::random_shape(random, test::types_of(row), test::layouts_of(row),
                                              {.m = 300, .n = 300, .k = 300, .alignment_bytes = 16});
      args.epilogue.alpha = 1.0;
      args.a.data = memory;
      args.b.data = memory;
      Resolved resolved;
      if (!resolve(kernel, args, resolved)) continue;
      ++checked;
      CAPTURE(layouts, args.a.extents, args.a.strides, args.b.extents, args.b.strides);
      const auto check = [&](const TensorMapFields* found, const TensorView& view, bool along_rows) {
        REQUIRE(found != nullptr);
        const TensorMapFields& map = *found;
        const std::size_t rows = view.rank - 2U;
        const std::size_t line = along_rows ? rows + 1 : rows;
        const std::size_t lines = along_rows ? rows : rows + 1;
        const bool batched = view.rank == 3 && view.extents[0] > 1 && view.strides[0] != 0;
        const auto stride = [&](std::size_t axis) {
          return static_cast<unsigned long long>(view.strides[axis]) *
                 static_cast<unsigned long long>(bytes_of(view.dtype));
        };
        REQUIRE(map.data == view.data);
        REQUIRE(map.dtype == view.dtype);
        REQUIRE(map.extent[0] == static_cast<unsigned long long>(view.extents[line]));
        REQUIRE(map.extent[1] == static_cast<unsigned long long>(view.extents[lines]));
        REQUIRE(map.extent[2] == (batched ? static_cast<unsigned long long>(view.extents[0]) : 1));
        if (map.extent[1] > 1) REQUIRE(map.stride[0] == stride(lines));
        if (batched) REQUIRE(map.stride[1] == stride(0));
        for (const auto bytes : std::span(map.stride).first(2))
          REQUIRE((bytes % 16 == 0 && bytes > 0 && bytes < 1ULL << 40));
        const unsigned line_bytes = map.box[0] * static_cast<unsigned>(bytes_of(view.dtype));
        REQUIRE(line_bytes % 16 == 0);
        if (map.swizzle != TensorSwizzle::none) REQUIRE(line_bytes <= 16U << static_cast<int>(map.swizzle));
        for (const auto box : map.box) REQUIRE((box >= 1 && box <= 256));
      };
      REQUIRE_FALSE(row.exchanged);
      check(resolved.map(Operand::a), args.a, layouts[0] == 'r');
      check(resolved.map(Operand::b), args.b, layouts[1] == 'r');
      REQUIRE_FALSE(resolved.map(Operand::out));  // aligned to one element

      args.out.assumed_alignment = 16;
      const std::size_t m = args.out.rank - 2U;
      for (std::size_t axis = 0; axis < args.out.rank; ++axis) {
        if (axis == (layouts[2] == 'r' ? m + 1 : m)) continue;
        args.out.strides[axis] = (args.out.strides[axis] + 7) / 8 * 8;
      }
      if (args.out.rank == 3) args.out.strides[0] += 1000 * args.out.strides[layouts[2] == 'r' ? m : m + 1];
      const Resolved launch = launch_of(kernel, args);
      // The copy engine stores whole chunks of 16 bytes.
      const bool whole_chunks = args.out.extents[layouts[2] == 'r' ? m + 1 : m] % 8 == 0;
      REQUIRE(launch.params().stores_boxes ==
              (whole_chunks && launch.params().gemm.mode != Mode::split_k_parallel));
      if (launch.params().stores_boxes) check(launch.map(Operand::out), args.out, layouts[2] == 'r');
    }
  }
  CHECK(checked > 100);
}

TEST_CASE("gemm_sm90 rounds f32 operands to tf32 on the way, and no others") {
  alignas(256) static char memory[1];  // only its address counts
  const auto check = [](const char* name, DType type, bool rounds) {
    INFO(name);
    const Result<Kernel> kernel = make_kernel(name);
    REQUIRE(kernel);
    GemmArguments args = {.a = TensorView::row_major(memory, type, {100, 64}),
                          .b = TensorView::column_major(memory, type, {64, 80}),
                          .out = TensorView::row_major(nullptr, type, {100, 80}),
                          .math = rounds ? Math::fast_tf32 : Math::exact};
    args.out.assumed_alignment = 16;
    const Resolved resolved = launch_of(*kernel, args);
    for (const Operand name_of_map : {Operand::a, Operand::b, Operand::out}) {
      const TensorMapFields* const map = resolved.map(name_of_map);
      REQUIRE(map != nullptr);
      CHECK(map->rounds_to_tf32 == (rounds && name_of_map != Operand::out));
    }
  };
  check("gemm_sm90_f32_f32_f32_f32_rcr_128x128x32_c1x1_s6_cooperative_fast_tf32_a4x4", DType::f32, true);
  check("gemm_sm90_bf16_bf16_f32_bf16_rcr_128x128x64_c1x1_s4_cooperative_a8x8", DType::bf16, false);
}

TEST_CASE("boxes of clusters are parts of a tile", "[sm90]") {
  const GemmArguments args = bf16_problem(512, 512, 512);
  const Resolved alone = launch_of(sm90("128x256x64_c1x1_s4_cooperative_a8x8"), args);
  CHECK(alone.map(Operand::a)->box[0] == 64);
  CHECK(alone.map(Operand::a)->box[1] == 128);
  CHECK(alone.map(Operand::b)->box[1] == 256);
  CHECK(alone.map(Operand::a)->swizzle == TensorSwizzle::bytes128);
  const Resolved pair = launch_of(sm90("128x256x64_c2x1_s4_cooperative_a8x8"), args);
  CHECK(pair.map(Operand::a)->box[1] == 128);
  CHECK(pair.map(Operand::b)->box[1] == 128);  // two blocks along M share it
  const Resolved narrow = launch_of(sm90("128x128x32_c1x1_s4_cooperative_a8x8"), args);
  CHECK(narrow.map(Operand::a)->box[0] == 32);
  CHECK(narrow.map(Operand::a)->swizzle == TensorSwizzle::bytes64);
}

TEST_CASE("maps are made for what is read and written only", "[sm90]") {
  const Kernel kernel = sm90("128x128x64_c1x1_s4_cooperative_a8x8");
  GemmArguments zero = bf16_problem(256, 256, 64);
  zero.epilogue.alpha = 0.0;  // makes K 0
  const Resolved no_k = launch_of(kernel, zero);
  CHECK(no_k.params().gemm.k == 0);
  CHECK(no_k.step().grid == 4);
  CHECK_FALSE(no_k.map(Operand::a));
  CHECK_FALSE(no_k.map(Operand::b));
  CHECK(no_k.map(Operand::out));
  const Resolved empty = launch_of(kernel, bf16_problem(0, 256, 64));
  CHECK(empty.launch.is_empty());
  CHECK(empty.launch.maps.count == 0);

  GemmArguments args = bf16_problem(256, 256, 64);
  args.out.strides[0] = 264;
  CHECK(launch_of(kernel, args).map(Operand::out));
  args.out.strides[0] = 260;
  CHECK_FALSE(launch_of(kernel, args).map(Operand::out));
  args.out.strides[0] = std::int64_t{1} << 39;
  CHECK_FALSE(launch_of(kernel, args).map(Operand::out));
  args = bf16_problem(256, 252, 64);
  args.out.strides[0] = 256;
  CHECK_FALSE(launch_of(kernel, args).map(Operand::out));
  args = bf16_problem(256, 256, 64);
  args.out.assumed_alignment = 2;
  CHECK_FALSE(launch_of(kernel, args).map(Operand::out));
}

TEST_CASE("the order of tiles is the caller's, whichever way the code runs", "[sm90]") {
  const Kernel direct = sm90("128x64x64_c1x1_s4_cooperative_a8x8");
  const Kernel exchanged = sm90("64x128x64_c1x1_s4_cooperative_exchanged_a8x8");
  REQUIRE_FALSE(detail::row_of(direct).exchanged);
  REQUIRE(detail::row_of(exchanged).exchanged);
  const GemmArguments args = bf16_problem(4096, 4096, 64);
  for (const Raster raster : {Raster::along_n, Raster::along_m}) {
    CHECK(launch_of(direct, with(args, {.raster = raster})).params().gemm.raster == raster);
    CHECK(launch_of(exchanged, with(args, {.raster = raster})).params().gemm.raster != raster);
  }
  // What a query chose for a kernel reaches its launch as it was chosen.
  FindOptions options;
  options.device = &h200();
  const CandidateList found = get_kernels(
      args, [](const KernelMetadata& k) { return k.family == "gemm_sm90"; }, options);
  REQUIRE_FALSE(found.empty());
  int walked[2] = {};
  for (const Candidate& candidate : found) {
    Resolved resolved;
    REQUIRE(test::resolve(detail::row_of(candidate), args, candidate.entry_controls(), h200(),
                          resolved.problem, resolved.controls));
    const Raster raster = *candidate.controls().raster;
    ++walked[static_cast<int>(raster)];
    CAPTURE(candidate.name());
    REQUIRE((resolved.controls.raster == raster) == !detail::row_of(candidate).exchanged);
    REQUIRE(resolved.controls.swizzle == candidate.controls().swizzle);
    REQUIRE(resolved.controls.mode == candidate.controls().mode);
  }
  CHECK(walked[0] > 0);
  CHECK(walked[1] > 0);
}
