// What kernels refuse whose copies gather pieces of channels, that another family takes it, and that they are
// chosen where they are the fastest.
#include <string>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

Kernel kernel_of(Direction direction, const std::string& design) {
  const Result<Kernel> kernel =
      make_kernel("conv2d_sm80_" + std::string(to_string(direction)) + "_bf16_bf16_f32_bf16_64x64x" + design);
  INFO(kernel.status().message());
  REQUIRE(kernel);
  return *kernel;
}
Kernel kernel_of(Direction direction) { return kernel_of(direction, "64_w2x2x1_s4_analytic_a8x8"); }

TensorView dense(std::array<std::int64_t, 4> e, DType type = DType::bf16) {
  const std::int64_t column = e[3];
  const std::int64_t row = e[2] * column;
  return TensorView::strided(nullptr, type, e, std::array<std::int64_t, 4>{e[1] * row, row, column, 1});
}

/// Images of 9 x 8, filters of 3 x 3, padding 1, of so many channels and filters.
Conv2dArguments problem(Direction direction, std::int64_t channels = 64, std::int64_t filters = 32,
                        std::int64_t groups = 1, DType type = DType::bf16) {
  const TensorView x = dense({2, 9, 8, channels}, type);
  const TensorView w = dense({filters, 3, 3, channels / groups}, type);
  const TensorView y = dense({2, 9, 8, filters}, type);
  Conv2dArguments args = {.direction = direction, .a = x, .b = w, .out = y, .padding = {1, 1}};
  args.groups = groups;
  if (direction == Direction::dgrad) args.a = y, args.out = x;
  if (direction == Direction::wgrad) args.a = y, args.b = x, args.out = w;
  return args;
}

void check_taken(const Conv2dArguments& args) {
  const Status status = kernel_of(args.direction).supports(args);
  INFO(status.message());
  CHECK(status);
}

/// The kernels of 16 bytes refuse it for this reason, and there is a kernel that takes it.
void check_refused(const Conv2dArguments& args, const std::string& why) {
  const Status status = kernel_of(args.direction).supports(args);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message() == why);
  CHECK_FALSE(get_kernels(args).empty());
}

constexpr Direction directions[] = {Direction::fprop, Direction::dgrad, Direction::wgrad};

std::string first_choice(const Conv2dArguments& args, const char* device) {
  const Result<DeviceModel> model = find_device_model(device);
  REQUIRE(model);
  FindOptions options;
  options.device = &*model;
  const auto found = get_kernels(args, Filter(), options);
  REQUIRE_FALSE(found.empty());
  return std::string(found.front().metadata().family);
}

}  // namespace

TEST_CASE("convolutions whose channels are whole pieces are taken", "[conv2d]") {
  for (const Direction direction : directions) {
    check_taken(problem(direction));
    check_taken(problem(direction, 32, 16, 2));
    Conv2dArguments args = problem(direction);
    args.epilogue.alpha = 0;  // nothing is read
    args.a.assumed_alignment = 2;
    check_taken(args);
    args = problem(direction, 64, 32, 1);
    args.a.strides[0] = args.b.strides[1] = 0;  // broadcast
    check_taken(args);
    CHECK(kernel_of(direction, "32_w2x2x1_s4_analytic_a1x1").supports(problem(direction, 3, 5)));
  }
  CHECK(kernel_of(Direction::fprop, "32_w2x2x1_s4_few_channels_a1x1")
            .supports(problem(Direction::fprop, 3, 5)));
}

TEST_CASE("convolutions whose channels are no whole pieces are refused by name", "[conv2d]") {
  const std::string misaligned =
      " is misaligned: this kernel needs a pointer and strides that are multiples of 8 elements";
  for (const Direction direction : directions) {
    Conv2dArguments args = problem(direction);
    args.a.assumed_alignment = 8;
    check_refused(args, "Operand `a`" + misaligned);
    args = problem(direction);
    args.b.strides[0] += 4;
    check_refused(args, "Operand `b`" + misaligned);
  }
  const auto pieces = [](const char* name, int channels) {
    return "Operand `" + std::string(name) + "` has " + std::to_string(channels) +
           " channels in a group: this kernel takes multiples of 8";
  };
  check_refused(problem(Direction::fprop, 16, 8, 4), pieces("a", 4));
  check_refused(problem(Direction::dgrad, 64, 8, 2), pieces("a", 4));
  check_refused(problem(Direction::wgrad, 64, 8, 2), pieces("a", 4));
  check_refused(problem(Direction::wgrad, 24, 16, 2), pieces("b", 12));
  Conv2dArguments args = problem(Direction::dgrad, 12, 16);
  args.b.strides = {144, 48, 16, 1};
  check_refused(args, pieces("b", 12));
}

TEST_CASE("a scale of groups without whole quads of channels is refused by name", "[conv2d]") {
  const auto scaled = [](Direction direction, std::int64_t channels, std::int64_t groups,
                         std::int64_t values) {
    Conv2dArguments args = problem(direction, 8 * channels, 8 * channels, groups);
    for (TensorView* view : {&args.a, &args.b, &args.out}) view->assumed_alignment = 2;
    args.epilogue.scale = TensorView::vector(nullptr, DType::f32, values > 0 ? values : 8 * channels);
    return args;
  };
  const auto check = [](const Conv2dArguments& args, const std::string& why) {
    const Status status = kernel_of(args.direction, "32_w2x2x1_s4_analytic_a1x1").supports(args);
    CHECK(status.message() == (why.empty() ? "ok" : why));
    CHECK_FALSE(get_kernels(args).empty());
  };
  for (const Direction direction : {Direction::fprop, Direction::dgrad}) {
    check(
        scaled(direction, 3, 8, 0),
        "A group has 3 channels of the output: this kernel takes a scale of several groups where these have "
        "multiples of 4");
    check(scaled(direction, 3, 8, 1), "");  // one value for all
    check(scaled(direction, 4, 8, 0), "");
    check(scaled(direction, 3, 1, 0), "");
  }
}

TEST_CASE("phases take no residual and no aux, which other kernels do", "[conv2d]") {
  Conv2dArguments args = problem(Direction::dgrad, 64, 64);
  args.stride = {2, 2};
  args.a = dense({2, 5, 4, 64});
  const Kernel phased = kernel_of(Direction::dgrad, "64_w2x2x1_s4_analytic_strided_a8x8");
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 64);
  CHECK(phased.supports(args));
  for (const auto& [part, name] :
       {std::pair(&Epilogue::residual, "residual"), std::pair(&Epilogue::aux, "aux")}) {
    Conv2dArguments with = args;
    with.epilogue.*part = args.out;
    CHECK(phased.supports(with).message() ==
          "Operand `" + std::string(name) + "` is unsupported: expected none, got a tensor");
    check_taken(with);
  }
}

TEST_CASE("kernels that know windows beforehand refuse others by name", "[conv2d]") {
  const auto check = [](const Conv2dArguments& args, const std::string& design, const std::string& why) {
    const Status status = kernel_of(args.direction, design).supports(args);
    INFO(design);
    CHECK(status.code() == (why.empty() ? StatusCode::ok : StatusCode::unsupported));
    if (!why.empty()) CHECK(status.message() == why);
  };
  const std::string unity = "64_w2x2x1_s4_optimized_unity_a8x8";
  const std::string strided = "64_w2x2x1_s4_analytic_strided_a8x8";
  const auto with_stride = [](std::int64_t height, std::int64_t width) {
    Conv2dArguments args = problem(Direction::dgrad, 64, 64);
    args.stride = {height, width};
    args.a = dense({2, (9 - 1) / height + 1, (8 - 1) / width + 1, 64});
    return args;
  };
  check(with_stride(1, 1), unity, "");
  check(with_stride(1, 2), unity, "The stride along the width is 2: this kernel takes strides up to 1");
  check(with_stride(1, 1), strided, "");
  check(with_stride(8, 8), strided, "");
  check(with_stride(9, 1), strided, "The stride along the height is 9: this kernel takes strides up to 8");
  CHECK_FALSE(get_kernels(with_stride(9, 9)).empty());

  const auto tiles = [](int channels) {
    return "A group has " + std::to_string(channels) + " channels along K: this kernel takes multiples of 64";
  };
  check(problem(Direction::fprop, 64), "64_w2x2x1_s4_optimized_a8x8", "");
  check(problem(Direction::fprop, 96), "64_w2x2x1_s4_optimized_a8x8", tiles(96));
  check(problem(Direction::fprop, 64, 64, 2), "64_w2x2x1_s4_optimized_a8x8", tiles(32));
  check(problem(Direction::dgrad, 64, 32), unity, tiles(32));
  Conv2dArguments nothing = problem(Direction::fprop, 96);
  nothing.epilogue.alpha = 0;
  check(nothing, "64_w2x2x1_s4_optimized_a8x8", "");

  check(problem(Direction::fprop, 4), "32_w2x2x1_s4_fixed_channels_a4x4", "");
  check(problem(Direction::fprop, 8), "32_w2x2x1_s4_fixed_channels_a4x4",
        "A group has 8 channels along K: this kernel takes exactly 4");

  const std::string filters = "This kernel takes filters of 1x1 without padding";
  check(problem(Direction::fprop), "64_w2x2x1_s4_analytic_one_a8x8", filters);
  Conv2dArguments args = problem(Direction::fprop);
  args.b = dense({32, 1, 1, 64});
  args.out = dense({2, 11, 10, 32});
  check(args, "64_w2x2x1_s4_analytic_one_a8x8", filters);
  args.padding = {0, 0};
  args.out = dense({2, 9, 8, 32});
  check(args, "64_w2x2x1_s4_analytic_one_a8x8", "");
}

TEST_CASE("dgrad with strides goes to kernels that leave out what does not contribute", "[conv2d]") {
  Conv2dArguments args = problem(Direction::dgrad, 64, 64);
  args.stride = {2, 2};
  args.a = dense({32, 28, 28, 64});
  args.out = dense({32, 56, 56, 64});
  const auto found = get_kernels(args);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().metadata().design.strides == WindowStrides::strided);
}

TEST_CASE("filters name what kernels know of windows", "[conv2d]") {
  const auto count = [](const char* text) {
    const Result<Filter> filter = Filter::parse(text);
    REQUIRE(filter);
    return get_kernels(*filter).size();
  };
  CHECK(count("design.strides == strided && family == conv2d_sm80") > 0);
  CHECK(count("design.filter == one") > 0);
  CHECK(count("design.iterator == fixed_channels") > 0);
  CHECK(count("design.iterator == optimized && design.strides == unity") > 0);
}

TEST_CASE("configs that no kernel can have are refused by name", "[conv2d]") {
  const auto check_fault = [](const std::string& name, const std::string& why) {
    const Result<Kernel> kernel = make_kernel("conv2d_sm80_" + name);
    CHECK_FALSE(kernel);
    INFO(kernel.status().message());
    CHECK(kernel.status().message().find(why) != std::string::npos);
  };
  check_fault("dgrad_bf16_bf16_f32_bf16_64x64x32_w2x2x1_s4_few_channels_a1x1",
              "few_channels can be chosen only for fprop");
  check_fault("fprop_bf16_bf16_f32_bf16_64x64x32_w2x2x1_s4_few_channels_a8x8",
              "few_channels can be chosen only for fprop");
  check_fault("fprop_bf16_bf16_f32_bf16_128x128x64_w2x2x1_s2_analytic_a1x1", "in single elements");
  check_fault("fprop_bf16_bf16_f32_bf16_64x64x64_w2x2x1_s4_analytic_strided_a8x8", "only for dgrad");
  check_fault("wgrad_bf16_bf16_f32_bf16_64x64x64_w2x2x1_s4_optimized_a8x8",
              "optimized can be chosen only for fprop and dgrad");
  check_fault("fprop_bf16_bf16_f32_bf16_64x64x32_w2x2x1_s4_optimized_a1x1",
              "optimized can be chosen only for fprop and dgrad");
  check_fault("dgrad_bf16_bf16_f32_bf16_64x64x64_w2x2x1_s4_optimized_a8x8", "with strides unity or strided");
  check_fault("fprop_bf16_bf16_f32_bf16_64x64x32_w2x2x1_s4_fixed_channels_a8x4", "both alignments 2, 4 or 8");
  check_fault("fprop_s8_s8_s32_s8_64x64x64_w2x2x1_s4_fixed_channels_a16x16", "both alignments 2, 4 or 8");
  check_fault("dgrad_bf16_bf16_f32_bf16_64x64x64_w2x2x1_s4_analytic_one_a8x8", "dgrad with strides unity");
  check_fault("fprop_s8_s8_s32_s8_64x64x64_w2x2x1_s4_analytic_a2x2",
              "the alignment of bytes must be 4, 8 or 16");
  check_fault("wgrad_s8_s8_s32_s8_64x64x64_w2x2x1_s4_analytic_a16x16", "bytes must be contiguous along K");
  check_fault("dgrad_bf16_bf16_f32_bf16_128x64x32_w4x1x1_s2_window_a1x1",
              "window can be chosen only for fprop of f16 and bf16, with alignments of 1, and for wgrad");
  check_fault("fprop_bf16_bf16_f32_bf16_128x64x32_w4x1x1_s2_window_a8x8",
              "window can be chosen only for fprop");
  check_fault("fprop_bf16_bf16_f32_bf16_128x64x32_w2x1x2_s2_window_a1x1", "window has no warps along K");
  check_fault("fprop_bf16_bf16_f32_bf16_96x64x32_w2x1x1_s2_window_a1x1", "tile.m must be a power of two");
  check_fault("fprop_bf16_bf16_f32_bf16_128x128x32_w4x1x1_s2_window_a1x1", "64 sums at most");
  check_fault("fprop_bf16_bf16_f32_bf16_128x64x64_w4x1x1_s32_window_a1x1", "stages must be 1 to 16");
  check_fault("wgrad_bf16_bf16_f32_bf16_64x160x128_w1x5x1_s1_window_a1x1",
              "an alignment of a of 4 bytes or more, and of b of 1");
  check_fault("wgrad_f32_f32_f32_f32_64x160x128_w1x5x1_s1_window_fast_tf32_a4x1", "has f16 or bf16");
  check_fault("wgrad_bf16_bf16_f32_bf16_64x160x128_w1x5x1_s2_window_a8x1", "has one stage");
  check_fault("wgrad_bf16_bf16_f32_bf16_64x160x96_w1x5x1_s1_window_a8x1", "tile.k must be a power of two");
  check_fault("wgrad_bf16_bf16_f32_bf16_128x160x128_w1x5x1_s1_window_a8x1", "64 sums at most");
  check_fault("wgrad_bf16_bf16_f32_bf16_64x64x1024_w1x2x1_s1_window_a8x1", "more shared memory");
  check_fault("wgrad_bf16_bf16_f32_bf16_64x160x128_w1x5x1_s2_analytic_a8x8", "cannot share the copies");
}

TEST_CASE("first layers bring the pixels of all windows of a tile at once", "[conv2d]") {
  Conv2dArguments args = problem(Direction::fprop, 3, 64);
  const auto found = get_kernels(args, *Filter::parse("family == conv2d_sm80"));
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().metadata().design.iterator == WindowIterator::window);
}

TEST_CASE("kernels of patches say which filters and windows they have no room for", "[conv2d]") {
  const Result<Kernel> kernel =
      make_kernel("conv2d_sm80_fprop_bf16_bf16_f32_bf16_128x64x32_w4x1x1_s2_window_a1x1");
  REQUIRE(kernel);
  Conv2dArguments args = problem(Direction::fprop, 3, 64);  // 3x3
  CHECK(kernel->supports(args));
  args.a = dense({2, 9, 8, 64}), args.b = dense({64, 3, 3, 64});
  CHECK(kernel->supports(args).message() ==
        "A filter of a group has 576 elements, where channels are even: this kernel takes at most 64");
  const Conv2dArguments no_images = {
      .a = dense({0, 9, 8, 64}), .b = dense({64, 3, 3, 64}), .out = dense({0, 9, 8, 64}), .padding = {1, 1}};
  CHECK(kernel->supports(no_images).message() == kernel->supports(args).message());
  args = {.a = dense({1, 400, 400, 3}), .b = dense({8, 2, 2, 3}), .out = dense({1, 102, 102, 8})};
  args.dilation = {298, 298};
  CHECK(kernel->supports(args).message() ==
        "A window spans 715208 bytes of an image: this kernel takes at most 18432");
  args.epilogue.alpha = 0;  // nothing is read
  CHECK(kernel->supports(args));
}

namespace {

/// The gradient of filters of a first layer.
Conv2dArguments first_layer_gradient(std::int64_t filters = 64) {
  return {.direction = Direction::wgrad,
          .a = dense({32, 112, 112, filters}),
          .b = dense({32, 224, 224, 3}),
          .out = dense({filters, 7, 7, 3}),
          .padding = {3, 3},
          .stride = {2, 2}};
}

}  // namespace

TEST_CASE("gradients of first layers bring the pixels of all windows of a tile, and cut K", "[conv2d]") {
  for (const char* device : {"h200", "a100"}) {
    const Result<DeviceModel> model = find_device_model(device);
    REQUIRE(model);
    FindOptions options;
    options.device = &*model;
    const auto found = get_kernels(first_layer_gradient(), Filter(), options);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().metadata().design.iterator == WindowIterator::window);
    CHECK(found.front().controls().mode == Mode::split_k_parallel);
    CHECK(found.front().controls().split_k_slices.value_or(1) > 100);
  }
}

TEST_CASE("of the gradients of first layers, the kernel comes first that is fastest on an H200", "[conv2d]") {
  struct Measured {
    std::int64_t images, extent, filters, taps;
    int stride, padding;
    const char* fastest;  // its tile
  };
  const Measured layers[] = {{32, 224, 64, 7, 2, 3, "_64x160x128_"},
                             {32, 224, 64, 3, 1, 1, "_64x32x128_"},
                             {32, 224, 32, 3, 2, 1, "_64x32x128_"},
                             {32, 224, 96, 11, 4, 2, "_64x160x128_"},
                             {4, 56, 64, 7, 2, 3, "_64x32x128_"}};
  FindOptions options;
  const Result<DeviceModel> model = find_device_model("h200");
  REQUIRE(model);
  options.device = &*model;
  for (const Measured& each : layers) {
    const std::int64_t out = (each.extent + 2 * each.padding - each.taps) / each.stride + 1;
    const Conv2dArguments args = {.direction = Direction::wgrad,
                                  .a = dense({each.images, out, out, each.filters}),
                                  .b = dense({each.images, each.extent, each.extent, 3}),
                                  .out = dense({each.filters, each.taps, each.taps, 3}),
                                  .padding = {each.padding, each.padding},
                                  .stride = {each.stride, each.stride}};
    const auto found = get_kernels(args, Filter(), options);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().metadata().design.iterator == WindowIterator::window);
    CHECK(found.front().name().find(each.fastest) != std::string_view::npos);
  }
}

TEST_CASE("kernels of patches say which wgrad they do not take", "[conv2d]") {
  const Result<Kernel> kernel =
      make_kernel("conv2d_sm80_wgrad_bf16_bf16_f32_bf16_64x160x128_w1x5x1_s1_window_a8x1");
  REQUIRE(kernel);
  const auto why = [&](const Conv2dArguments& args) { return std::string(kernel->supports(args).message()); };
  CHECK(kernel->supports(first_layer_gradient(40)));
  CHECK(why(first_layer_gradient(36)).find("this kernel") != std::string::npos);  // not in eights
  Conv2dArguments args = first_layer_gradient();
  args.out.strides = {196, 28, 4, 1};
  CHECK(why(args) ==
        "Operand `out` is no matrix: this kernel needs filters whose elements follow one another");
  args = first_layer_gradient();
  args.epilogue.beta = 1;
  args.c = args.out;
  CHECK(kernel->supports(args));
  args.c->strides = {154, 22, 3, 1};
  CHECK(why(args) == "Operand `c` is no matrix: this kernel needs filters whose elements follow one another");
  for (const auto& [part, name] :
       {std::pair(&Epilogue::residual, "residual"), std::pair(&Epilogue::aux, "aux")}) {
    args = first_layer_gradient();
    args.epilogue.*part = args.out;
    CHECK(kernel->supports(args));
    (args.epilogue.*part)->strides = {154, 22, 3, 1};
    CHECK(why(args) == "Operand `" + std::string(name) +
                           "` is no matrix: this kernel needs filters whose elements follow one another");
  }
  args = first_layer_gradient();
  args.out.strides[0] = 1000;  // from filter to filter they may lie anywhere
  CHECK(kernel->supports(args));
  args.b.strides[1] = std::int64_t{1} << 28;
  args.b.strides[0] = args.b.strides[1] * 224;
  CHECK(why(args) == "Outputs of a tile lie 2^30 elements apart or more: this kernel counts them in 32 bits");
  args = {.direction = Direction::wgrad,
          .a = dense({1, 102, 102, 8}),
          .b = dense({1, 400, 400, 3}),
          .out = dense({8, 2, 2, 3})};
  args.dilation = {298, 298};
  CHECK(why(args) == "A window spans 536406 bytes of an image: this kernel takes at most 18432");
  args.epilogue.alpha = 0;  // nothing is read
  CHECK(kernel->supports(args));
}

TEST_CASE("what rounds its operands must be allowed", "[conv2d]") {
  const Result<Kernel> kernel =
      make_kernel("conv2d_sm80_fprop_f32_f32_f32_f32_64x64x32_w2x2x1_s3_analytic_fast_tf32_a4x4");
  REQUIRE(kernel);
  Conv2dArguments args = problem(Direction::fprop, 64, 32, 1, DType::f32);
  const Status status = kernel->supports(args);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message() == "Math is unsupported: expected fast_tf32, got exact");
  CHECK(first_choice(args, "h200") == "conv2d_simt");
  args.math = Math::fast_tf32;
  CHECK(kernel->supports(args));
  CHECK(first_choice(args, "h200") == "conv2d_sm80");
}

TEST_CASE("tensor cores come before plain multiplication, and the copy engine before threads", "[conv2d]") {
  for (const Direction direction : directions) {
    CHECK(first_choice(problem(direction), "h200") == "conv2d_sm90");
    CHECK(first_choice(problem(direction), "a100") == "conv2d_sm80");
    CHECK(first_choice(problem(direction, 32, 16, 2), "h200") == "conv2d_sm80");
  }
  Conv2dArguments args = problem(Direction::dgrad);
  args.stride = {2, 2};
  args.a = dense({2, 5, 4, 32});
  CHECK(first_choice(args, "h200") == "conv2d_sm90");
  CHECK(first_choice(args, "a100") == "conv2d_sm80");
}

TEST_CASE("K is cut where an output has few tiles, in slices that add up in turn", "[conv2d]") {
  Conv2dArguments args = problem(Direction::wgrad);
  args.a = dense({64, 56, 56, 32}), args.b = dense({64, 56, 56, 64});
  const Kernel kernel = kernel_of(Direction::wgrad);
  const Result<std::size_t> bytes = kernel.workspace_size(args);
  REQUIRE(bytes);
  CHECK(*bytes > 0);
  CHECK(kernel.metadata().modes.split_k_serial);
  CHECK_FALSE(kernel.metadata().modes.split_k_parallel);
}
