/// What is refused of a convolution's arguments, and in which words.
#include <string>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

using Extents = std::array<std::int64_t, 4>;

TensorView tensor(const Extents& e, DType type = DType::f32) {
  const Extents strides = {e[1] * e[2] * e[3], e[2] * e[3], e[3], 1};
  return TensorView::strided(nullptr, type, e, strides);
}

/// 2x8x10x6 with 4x3x3, padding 1: all directions.
Conv2dArguments plain(Direction direction) {
  const TensorView x = tensor({2, 8, 10, 6});
  const TensorView w = tensor({4, 3, 3, 6});
  const TensorView y = tensor({2, 8, 10, 4});
  Conv2dArguments args{.direction = direction, .a = x, .b = w, .out = y, .padding = {1, 1}};
  if (direction == Direction::dgrad) args.a = y, args.out = x;
  if (direction == Direction::wgrad) args.a = y, args.b = x, args.out = w;
  return args;
}

void check_refused(const Conv2dArguments& args, const std::string& words,
                   StatusCode code = StatusCode::invalid_arguments) {
  const auto found = get_kernels(args);
  INFO("expected: " << words << "\ngot: " << found.status().message());
  CHECK(found.empty());
  CHECK(found.status().code() == code);
  CHECK(found.status().message().find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("conv2d: output extents that do not follow are told what they would be", "[conv2d]") {
  for (const Direction direction : {Direction::fprop, Direction::dgrad, Direction::wgrad}) {
    Conv2dArguments args = plain(direction);
    REQUIRE_FALSE(get_kernels(args).empty());
    TensorView& y = direction == Direction::fprop ? args.out : args.a;
    const std::string name = direction == Direction::fprop ? "`out`" : "`a`";
    y = tensor({2, 8, 9, 4});
    check_refused(args, "Operand " + name + " has images of 8x9: expected 8x10");
    args.stride = {2, 3};
    check_refused(args, "expected 4x4");
    y = tensor({2, 4, 4, 4});
    CHECK_FALSE(get_kernels(args).empty());
    y = tensor({3, 4, 4, 4});
    check_refused(args, "Operand " + name + " has 3 images: expected 2");
    y = tensor({2, 4, 4, 5});
    check_refused(args, "Operand " + name + " has 5 channels: expected one for each of the 4 filters");
  }
}

TEST_CASE("conv2d: windows that are none", "[conv2d]") {
  Conv2dArguments args = plain(Direction::fprop);
  args.stride = {0, 1};
  check_refused(args, "The stride along the height is 0: expected 1 to");
  args.stride = {1, -2};
  check_refused(args, "The stride along the width is -2: expected 1 to");
  args = plain(Direction::dgrad);
  args.dilation = {1, 0};
  check_refused(args, "The dilation along the width is 0");
  args.dilation = {-1, 1};
  check_refused(args, "The dilation along the height is -1");
  args = plain(Direction::wgrad);
  args.padding = {-1, 0};
  check_refused(args, "The padding along the height is -1: expected 0 to");
  args = plain(Direction::fprop);
  args.b = tensor({4, 3, 0, 6});
  check_refused(args, "has filters without columns");
  args = plain(Direction::fprop);
  args.direction = static_cast<Direction>(7);
  check_refused(args, "There is no direction of number 7");
}

TEST_CASE("conv2d: a filter that is larger than the padded image", "[conv2d]") {
  Conv2dArguments args = plain(Direction::fprop);
  args.dilation = {5, 1};
  check_refused(args,
                "The filter is larger than the padded image: it spans 11 rows (3 with dilation 5), the "
                "image has 10 (8 with padding 1)");
  args = plain(Direction::fprop);
  args.padding = {0, 0};
  args.b = tensor({4, 3, 11, 6});
  check_refused(args, "it spans 11 columns (11 with dilation 1), the image has 10 (10 with padding 0)");
}

TEST_CASE("conv2d: channels that groups do not divide", "[conv2d]") {
  Conv2dArguments args = plain(Direction::fprop);
  args.groups = 4;
  check_refused(args, "Groups do not divide the channels: there are 4 groups and 6 channels");
  args.groups = 3;
  check_refused(args, "Groups do not divide the filters: there are 3 groups and 4 filters");
  args.groups = 0;
  check_refused(args, "The number of groups is 0");
  args.groups = 2;
  check_refused(args, "Operand `b` has filters of 6 channels: expected 3");
  args.b = tensor({4, 3, 3, 3});
  CHECK_FALSE(get_kernels(args).empty());
}

TEST_CASE("conv2d: sizes past 32 bits", "[conv2d]") {
  constexpr std::int64_t large = 1LL << 31;
  Conv2dArguments args = plain(Direction::fprop);
  args.padding = {large, 1};
  check_refused(args, "The padding along the height is 2147483648");
  args.padding = {large - 1, 1};
  check_refused(args, "The padded height of an image is 4294967302");
  args = plain(Direction::fprop);
  args.a = tensor({large, 8, 10, 6});
  check_refused(args, "Operand `a`");
  args.a = tensor({1 << 26, 8, 10, 6});
  args.out = tensor({1 << 26, 8, 10, 4});
  check_refused(args, "Operand `a` has too many positions (67108864x8x10)");
  args = plain(Direction::fprop);
  args.a.extents[1] = args.a.extents[2] = 1 << 15, args.b.extents[1] = args.b.extents[2] = 1 << 15;
  args.padding = {0, 0};
  args.a = tensor({1, 1 << 15, 1 << 15, 6});
  args.b = tensor({4, 1 << 15, 1 << 15, 6});
  args.out = tensor({1, 1, 1, 4});
  check_refused(args, "Operand `b` has too many elements in a filter");
}

TEST_CASE("conv2d: tensors that are not what they should be", "[conv2d]") {
  Conv2dArguments args = plain(Direction::fprop);
  args.a = TensorView::row_major(nullptr, DType::f32, {8, 10, 6});
  check_refused(args, "Operand `a`");
  args = plain(Direction::fprop);
  args.b.strides[3] = 2;
  check_refused(args, "Operand `b` does not have contiguous channels: expected a stride of 1");
  args = plain(Direction::fprop);
  args.out.strides[0] = 3;
  check_refused(args, "Operand `out`");
  args = plain(Direction::fprop);
  args.a.tag = LayoutTag::column_interleaved32;
  check_refused(args, "Operand `a` is column_interleaved32");
  args = plain(Direction::fprop);
  args.out = tensor({2, 8, 10, 4}, DType::e4m3);
  check_refused(args, "No kernel is registered for fprop of operands a f32, b f32, accumulator f32, out e4m3",
                StatusCode::no_kernel);
}

TEST_CASE("conv2d: a bias and C that do not fit are refused", "[conv2d]") {
  Conv2dArguments args = plain(Direction::fprop);
  args.epilogue.bias = TensorView::vector(nullptr, DType::f32, 4);
  CHECK_FALSE(get_kernels(args).empty());
  args.epilogue.bias = TensorView::vector(nullptr, DType::f32, 5);
  check_refused(args, "`bias`");
  args = plain(Direction::wgrad);
  args.epilogue.bias = TensorView::vector(nullptr, DType::f32, 6);
  check_refused(args, "wgrad takes none");
  args = plain(Direction::fprop);
  args.epilogue.beta = 1;
  check_refused(args, "`c`");
  args.c = tensor({2, 8, 10, 5});
  check_refused(args, "`c`");
  args.c = tensor({2, 8, 10, 4}, DType::f16);
  check_refused(args, "`c`");
  args.c = args.out;
  CHECK_FALSE(get_kernels(args).empty());
}
