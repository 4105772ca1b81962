// What kernels refuse whose copies walk over pixels, and that another family takes it.
#include <string>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

Kernel kernel_of(const std::string& direction) {
  const Result<Kernel> kernel =
      make_kernel("conv2d_sm90_" + direction + "_bf16_bf16_f32_bf16_128x128x64_c1x1_s6_ping_pong");
  INFO(kernel.status().message());
  REQUIRE(kernel);
  return *kernel;
}

Kernel phased_kernel() {
  const Result<Kernel> kernel =
      make_kernel("conv2d_sm90_dgrad_bf16_bf16_f32_bf16_128x128x64_c1x1_s6_ping_pong_strided");
  INFO(kernel.status().message());
  REQUIRE(kernel);
  return *kernel;
}

TensorView dense(std::array<std::int64_t, 4> e, DType type = DType::bf16) {
  const std::int64_t column = e[3];
  const std::int64_t row = e[2] * column;
  return TensorView::strided(nullptr, type, e, std::array<std::int64_t, 4>{e[1] * row, row, column, 1});
}

/// 2 images of 9 x 8 with 64 channels, 16 filters of 3 x 3, padding 1.
Conv2dArguments problem(Direction direction) {
  const TensorView x = dense({2, 9, 8, 64});
  const TensorView w = dense({16, 3, 3, 64});
  const TensorView y = dense({2, 9, 8, 16});
  Conv2dArguments args = {.direction = direction, .a = x, .b = w, .out = y, .padding = {1, 1}};
  if (direction == Direction::dgrad) args.a = y, args.out = x;
  if (direction == Direction::wgrad) args.a = y, args.b = x, args.out = w;
  return args;
}

void check_taken(const Conv2dArguments& args) {
  const Status status = kernel_of(std::string(to_string(args.direction))).supports(args);
  INFO(status.message());
  CHECK(status);
}

/// It is refused for this reason, and there is a kernel that takes it.
void check_refused(const Conv2dArguments& args, const std::string& why) {
  const Status status = kernel_of(std::string(to_string(args.direction))).supports(args);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message() == why);
  const auto found = get_kernels(args);
  REQUIRE_FALSE(found.empty());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i].name().find("conv2d_sm90") == std::string_view::npos);
}

}  // namespace

TEST_CASE("convolutions that the copy engine can address are taken", "[conv2d]") {
  for (const Direction direction : {Direction::fprop, Direction::dgrad, Direction::wgrad}) {
    Conv2dArguments args = problem(direction);
    check_taken(args);
    REQUIRE_FALSE(get_kernels(args).empty());
    CHECK(get_kernels(args).front().name().starts_with("conv2d_sm90_"));
    args.epilogue.alpha = 0;  // nothing is read
    args.a.assumed_alignment = 2;
    check_taken(args);
  }
  Conv2dArguments padded = problem(Direction::fprop);  // five channels of eight
  padded.a.extents[3] = padded.b.extents[3] = 5;
  check_taken(padded);
}

TEST_CASE("convolutions that the copy engine cannot address are refused by name", "[conv2d]") {
  Conv2dArguments args = problem(Direction::fprop);
  args.groups = 2;
  args.b = dense({16, 3, 3, 32});
  check_refused(args, "There are 2 groups: this kernel takes convolutions of one group");

  args = problem(Direction::fprop);
  args.a.assumed_alignment = 8;
  check_refused(args,
                "Operand `a` is misaligned: this kernel needs a pointer and strides that are multiples of 8 "
                "elements");
  args = problem(Direction::fprop);
  args.a = dense({2, 9, 8, 60}), args.b = dense({16, 3, 3, 60});
  check_refused(args,
                "Operand `a` is misaligned: this kernel needs a pointer and strides that are multiples of 8 "
                "elements");
  args = problem(Direction::wgrad);
  args.b.strides[1] += 4;
  check_refused(args,
                "Operand `b` is misaligned: this kernel needs a pointer and strides that are multiples of 8 "
                "elements");

  args = problem(Direction::fprop);
  args.stride = {1, 9};
  args.out = dense({2, 9, 1, 16});
  check_refused(args, "The stride along the width is 9: this kernel takes at most 8");
  args = problem(Direction::dgrad);
  args.stride = {2, 1};
  args.a = dense({2, 5, 8, 16});
  const Status strided = kernel_of("dgrad").supports(args);
  CHECK(strided.code() == StatusCode::unsupported);
  CHECK(strided.message() == "The stride along the height is 2: this kernel takes at most 1");

  args = problem(Direction::fprop);
  args.a = dense({1, 300, 8, 64}), args.out = dense({1, 44, 8, 16});
  args.padding = {0, 1};
  args.dilation = {128, 1};
  check_refused(args, "The filter along the height spans 257: this kernel takes at most 256");
  args = problem(Direction::fprop);
  args.padding = {129, 1};
  args.out = dense({2, 265, 8, 16});
  check_refused(args,
                "Windows along the height begin or end 129 from the image's edge: this kernel takes at most "
                "127");
}

TEST_CASE("tensors that are no matrices or have no pixels are refused by name", "[conv2d]") {
  Conv2dArguments args = problem(Direction::fprop);
  args.a = dense({2, 0, 8, 64}), args.out = dense({2, 1, 8, 16});
  args.padding = {2, 1};
  args.stride = {2, 1};
  check_refused(args, "Images have no pixels: this kernel takes at least one");

  args = problem(Direction::wgrad);
  args.b = dense({2, 9, 8, 8}), args.out = dense({16, 3, 3, 8});
  check_refused(args, "There are 8 channels: this kernel takes multiples of 64");

  args = problem(Direction::fprop);
  args.out.strides[0] += 16;
  check_refused(args, "Operand `out` is no matrix: this kernel needs its outer extents at even distances");
  args = problem(Direction::wgrad);
  args.a.strides[1] += 16, args.a.strides[0] *= 2;
  check_refused(args,
                "Operand `a` is no matrix: this kernel needs images, rows and columns at even distances");
  args = problem(Direction::fprop);
  args.b.strides[1] += 8, args.b.strides[0] *= 2;
  check_refused(args,
                "Operand `b` is no list of taps: this kernel needs rows and columns of filters at even "
                "distances");
  args = problem(Direction::fprop);
  args.epilogue.beta = 1;
  args.c = args.out;
  args.c->strides[0] += 16;
  check_refused(args, "Operand `c` is no matrix: this kernel needs its outer extents at even distances");
  for (const Direction direction : {Direction::fprop, Direction::wgrad}) {  // phases of dgrad take them
    args = problem(direction);
    args.epilogue.residual = args.epilogue.aux = args.out;
    check_taken(args);
    args.epilogue.residual->strides[1] += 8;
    check_refused(args,
                  "Operand `residual` is no matrix: this kernel needs its outer extents at even distances");
    args.epilogue.residual.reset();
    args.epilogue.aux->strides[1] += 8, args.epilogue.aux->strides[0] += 80;
    check_refused(args, "Operand `aux` is no matrix: this kernel needs its outer extents at even distances");
  }
  args = problem(Direction::fprop);
  args.a.strides[0] = 0;
  const Status status = kernel_of("fprop").supports(args);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.reason() == Reason::overlapping_stride);
  CHECK(status.operand() == Operand::a);
}

TEST_CASE("a wgrad whose tiles of 192x192 fill an H200 has four slices of them", "[conv2d]") {
  const Conv2dArguments args = {.direction = Direction::wgrad,
                                .a = dense({8, 64, 64, 320}),
                                .b = dense({8, 64, 64, 320}),
                                .out = dense({320, 3, 3, 320}),
                                .padding = {1, 1}};
  FindOptions options;
  const Result<DeviceModel> model = find_device_model("h200");
  REQUIRE(model);
  options.device = &*model;
  const auto found = get_kernels(args, Filter(), options);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().name().find("_192x192x64_") != std::string_view::npos);
  CHECK(found.front().controls().split_k_slices == 4);
}

TEST_CASE("convolutions of bytes are taken in all pairs, where positions lie at multiples of 16 bytes",
          "[conv2d]") {
  for (const DType a : {DType::s8, DType::u8}) {
    for (const DType b : {DType::s8, DType::u8}) {
      for (const DType out : {DType::s32, DType::s8, DType::f32}) {
        Conv2dArguments args = {.a = dense({2, 9, 8, 256}, a),
                                .b = dense({64, 3, 3, 256}, b),
                                .out = dense({2, 9, 8, 64}, out),
                                .padding = {1, 1}};
        const auto found = get_kernels(args);
        REQUIRE_FALSE(found.empty());
        CHECK(found.front().name().starts_with("conv2d_sm90_"));
        args.a.extents[3] = args.b.extents[3] = 83;  // of 256
        CHECK(get_kernels(args).front().name().starts_with("conv2d_sm90_"));
        args.a = dense({2, 9, 8, 24}, a), args.b = dense({64, 3, 3, 24}, b);
        for (const Kernel& kernel : get_kernels(args)) CHECK_FALSE(kernel.name().starts_with("conv2d_sm90_"));
      }
    }
  }
}

TEST_CASE("a kernel of bytes says what it needs", "[conv2d]") {
  const Result<Kernel> kernel = make_kernel("conv2d_sm90_fprop_s8_s8_s32_s32_128x128x128_c1x1_s6_ping_pong");
  REQUIRE(kernel);
  const Conv2dArguments args = {.a = dense({2, 9, 8, 24}, DType::s8),
                                .b = dense({64, 3, 3, 24}, DType::s8),
                                .out = dense({2, 9, 8, 64}, DType::s32),
                                .padding = {1, 1}};
  CHECK(kernel->supports(args).message() ==
        "Operand `a` is misaligned: this kernel needs a pointer and strides that are multiples of 16 "
        "elements");
}

TEST_CASE("convolutions do not load a tile that blocks share in turns", "[conv2d]") {
  const auto status = [](const std::string& tile) {
    return make_kernel("conv2d_sm90_fprop_bf16_bf16_f32_bf16_" + tile + "_s4_cooperative").status();
  };
  CHECK(status("128x200x64_c1x1"));
  CHECK(status("128x208x64_c2x1"));
  CHECK_THAT(status("128x200x64_c2x1").message(), Catch::Contains("cannot share the copies of an operand"));
  CHECK_THAT(status("128x208x64_c4x1").message(), Catch::Contains("cannot share the copies of an operand"));
}

TEST_CASE("configs of bytes that the copy engine or the product cannot do have a fault", "[conv2d]") {
  const auto fault = [](const std::string& name) { return make_kernel("conv2d_sm90_" + name).status(); };
  const auto says = [&](const std::string& name, const std::string& what) {
    const std::string message = fault(name).message();
    INFO(message);
    CHECK(message.find(what) != std::string::npos);
  };
  CHECK(fault("fprop_u8_s8_s32_s8_128x256x64_c1x1_s6_cooperative"));
  CHECK(fault("fprop_u8_s8_s32_s8_128x256x128_c1x1_s3_cooperative"));
  says("dgrad_s8_s8_s32_s8_128x128x128_c1x1_s4_cooperative", "contiguous along K");
  says("wgrad_s8_s8_s32_s8_128x128x128_c1x1_s4_cooperative", "contiguous along K");
  says("fprop_s8_s8_s32_s8_128x128x32_c1x1_s4_cooperative",
       "tile.k must be 64, or 128 with operands of bytes");
  says("fprop_bf16_bf16_f32_bf16_128x128x128_c1x1_s3_cooperative", "tile.k must be 64");
  says("fprop_f32_f32_f32_f32_128x128x64_c1x1_s3_cooperative", "operands must be both f16 or bf16");
  says("fprop_s8_bf16_f32_bf16_128x128x64_c1x1_s3_cooperative", "operands must be both f16 or bf16");
}

TEST_CASE("a dgrad with strides is taken in phases, wherever its output lies", "[conv2d]") {
  const auto with_stride = [](std::int64_t height, std::int64_t width) {
    Conv2dArguments args = problem(Direction::dgrad);
    args.stride = {height, width};
    args.a = dense({2, 8 / height + 1, 7 / width + 1, 16});
    return args;
  };
  const Kernel kernel = phased_kernel();
  const auto check = [&](const Conv2dArguments& args, const std::string& why) {
    const Status status = kernel.supports(args);
    CHECK(status.code() == (why.empty() ? StatusCode::ok : StatusCode::unsupported));
    CHECK(status.message() == (why.empty() ? "ok" : why));
    CHECK_FALSE(get_kernels(args).empty());
  };
  for (const auto& [height, width] : {std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 1}, std::pair{8, 8}})
    check(with_stride(height, width), "");
  for (const float alpha : {1.0F, 0.0F}) {  // phases are counted where nothing is summed, too
    Conv2dArguments far = with_stride(9, 1);
    far.epilogue.alpha = alpha;
    check(far, "The stride along the height is 9: this kernel takes at most 8");
  }
  Conv2dArguments args = with_stride(2, 2);
  CHECK(get_kernels(args).front().metadata().design.strides == WindowStrides::strided);
  args.out.strides[0] += 24;  // no matrix, and not aligned
  args.out.assumed_alignment = 2;
  check(args, "");
  args.epilogue.beta = 1;
  args.c = args.out;
  check(args, "");
  args.epilogue.residual = args.epilogue.aux = args.out;
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 64);
  check(args, "");
  args.a.assumed_alignment = 8;
  check(
      args,
      "Operand `a` is misaligned: this kernel needs a pointer and strides that are multiples of 8 elements");
  args.epilogue.alpha = 0;  // nothing is read
  check(args, "");
  args = with_stride(2, 2);
  args.groups = 2;
  args.b = dense({16, 3, 3, 32});
  check(args, "There are 2 groups: this kernel takes convolutions of one group");
}
