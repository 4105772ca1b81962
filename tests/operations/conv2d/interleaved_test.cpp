/// Convolutions of tensors whose channels lie in groups of 32.
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

using Extents = std::array<std::int64_t, 4>;
using Bytes = std::vector<std::int8_t>;

std::int64_t count(const Extents& e) { return e[0] * e[1] * e[2] * e[3]; }

Bytes random_bytes(const Extents& e, std::mt19937& random) {
  Bytes bytes(static_cast<std::size_t>(count(e)));
  for (std::int8_t& each : bytes) each = static_cast<std::int8_t>(static_cast<int>(random() % 7) - 3);
  return bytes;
}

TensorView on_host(const void* data, DType type, const Extents& e) {
  return TensorView::row_major(data, type, {e[0], e[1], e[2], e[3]}).on({MemoryKind::host});
}

/// 2 x 5 x 4 x 64 by 96 x 3 x 3, in groups of 32; fake.
Conv2dArguments plain() {
  return {.a = nc32hw32(nullptr, DType::s8, {2, 5, 4, 64}),
          .b = c32rsk32(nullptr, DType::s8, {96, 3, 3, 64}),
          .out = nc32hw32(nullptr, DType::s8, {2, 5, 4, 96}),
          .padding = {1, 1}};
}

void check_no_best(const Conv2dArguments& args, const std::string& words) {
  const auto found = find_best(args);
  REQUIRE_FALSE(found);
  INFO(found.status().message());
  REQUIRE(found.status().code() == StatusCode::invalid_arguments);
  REQUIRE(found.status().message().find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("tensors in groups of 32 channels have their elements where the layout says", "[conv2d]") {
  const Extents e = {2, 3, 5, 64};
  const auto at = [](const TensorView& v, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t c) {
    return i * v.strides[0] + j * v.strides[1] + k * v.strides[2] + c / 32 * v.strides[3] + c % 32;
  };
  const TensorView images = nc32hw32(nullptr, DType::s8, e);
  const TensorView filters = c32rsk32(nullptr, DType::s8, e);
  for (std::int64_t i = 0; i < e[0]; ++i) {
    for (std::int64_t j = 0; j < e[1]; ++j) {
      for (std::int64_t k = 0; k < e[2]; ++k) {
        for (std::int64_t c = 0; c < e[3]; ++c) {
          REQUIRE(at(images, i, j, k, c) == (((i * 2 + c / 32) * 3 + j) * 5 + k) * 32 + c % 32);
          REQUIRE(at(filters, i, j, k, c) == (((c / 32 * 3 + j) * 5 + k) * 2 + i) * 32 + c % 32);
        }
      }
    }
  }
}

TEST_CASE("reordered there and back, a convolution has the bytes of neighbouring channels",
          "[conv2d][reorder]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    const auto in = [&](int least, int most) {
      return least + static_cast<int>(random() % (most - least + 1U));
    };
    const Extents x = {in(1, 3), in(1, 9), in(1, 9), 32 * in(1, 3)};
    const Extents w = {32 * in(1, 3), in(1, 3), in(1, 3), x[3]};
    const ImageAxes padding = {in(1, 2), in(1, 2)};
    const ImageAxes stride = {in(1, 2), in(1, 2)};
    const Extents y = {x[0], window_positions(x[1], w[1], padding.height, stride.height, 1),
                       window_positions(x[2], w[2], padding.width, stride.width, 1), w[0]};
    const Bytes images = random_bytes(x, random);
    const Bytes filters = random_bytes(w, random);
    Bytes expected(static_cast<std::size_t>(count(y))), got(expected), groups(expected), images32(images),
        filters32(filters);
    Conv2dArguments args{.a = on_host(images.data(), DType::s8, x),
                         .b = on_host(filters.data(), DType::s8, w),
                         .out = on_host(expected.data(), DType::s8, y),
                         .padding = padding,
                         .stride = stride};
    args.epilogue.alpha = 0.125;
    REQUIRE(find_best(args)->run(args));
    const Memory host = {MemoryKind::host};
    const TensorView a = nc32hw32(images32.data(), DType::s8, x).on(host);
    const TensorView b = c32rsk32(filters32.data(), DType::s8, w).on(host);
    const TensorView out = nc32hw32(groups.data(), DType::s8, y).on(host);
    REQUIRE(reorder(args.a, a));
    REQUIRE(reorder(args.b, b));
    args.a = a, args.b = b, args.out = out;
    const auto candidate = find_best(args);
    INFO(candidate.status().message());
    REQUIRE(candidate);
    REQUIRE(candidate->run(args));
    REQUIRE(reorder(out, on_host(got.data(), DType::s8, y)));
    REQUIRE(got == expected);
  }
}

namespace {

/// s8 256x14x14x256 by 256x3x3; fake.
Conv2dArguments measured(bool in_groups) {
  const Extents image = {256, 14, 14, 256};
  const Extents filters = {256, 3, 3, 256};
  const auto row = [](const Extents& e) {
    return TensorView::row_major(nullptr, DType::s8, {e[0], e[1], e[2], e[3]});
  };
  return {.a = in_groups ? nc32hw32(nullptr, DType::s8, image) : row(image),
          .b = in_groups ? c32rsk32(nullptr, DType::s8, filters) : row(filters),
          .out = in_groups ? nc32hw32(nullptr, DType::s8, image) : row(image),
          .padding = {1, 1}};
}

/// Predicted microseconds of the best kernel of a family.
double predicted_us(const Arguments& args, const std::string& family, const DeviceModel& model) {
  const CandidateList found = get_kernels(args, *Filter::parse("family == " + family), {.device = &model});
  REQUIRE_FALSE(found.empty());
  return found.front().predicted_seconds() * 1e6;
}

}  // namespace

TEST_CASE("copies around a convolution are predicted by what they cost alone, near what was measured",
          "[conv2d][reorder]") {
  const DeviceModel h100 = *find_device_model("h100");
  const Conv2dArguments grouped = measured(true);
  const auto copy = [&](const DeviceModel& model) {
    return predicted_us(ReorderArguments{.from = measured(false).a, .to = grouped.a}, "reorder_matrix",
                        model);
  };
  const auto whole = [&](const DeviceModel& model) { return predicted_us(grouped, "conv2d_sm90", model); };
  CHECK(copy(h100) == Approx(13.1).epsilon(0.05));
  CHECK(whole(h100) == Approx(71).epsilon(0.05));
  const double copies = whole(h100) - predicted_us(measured(false), "conv2d_sm90", h100);
  CHECK(copies > 21.6);
  CHECK(copies < 26);

  DeviceModel slower = h100;
  slower.rates.launch.copy += 1e-6;
  CHECK(copy(slower) - copy(h100) == Approx(1));
  CHECK(whole(slower) - whole(h100) == Approx(3));
  slower = h100;
  slower.rates.memory.copy_share /= 2;
  const double bytes = 256.0 * 14 * 14 * 256;
  const double byte = 1e6 / (h100.memory_bandwidth * h100.rates.memory.copy_share);
  CHECK(copy(slower) - copy(h100) == Approx(2 * bytes * byte));
  CHECK(whole(slower) - whole(h100) == Approx((3 * bytes + 2 * 256.0 * 9 * 256) * byte));
  // The kernel's calibration says nothing of copies.
  slower = h100;
  slower.rates.calibration.wgmma.memory *= 2;
  CHECK(whole(slower) - predicted_us(measured(false), "conv2d_sm90", slower) == Approx(copies).epsilon(0.01));
}

TEST_CASE("mma.sync takes longer with channels in groups of 32, and is predicted near what was measured",
          "[conv2d]") {
  const DeviceModel h200 = *find_device_model("h200");
  const double grouped = predicted_us(measured(true), "conv2d_sm80", h200);
  const double neighbours = predicted_us(measured(false), "conv2d_sm80", h200);
  CHECK(grouped == Approx(142).epsilon(0.08));
  CHECK(neighbours == Approx(123).epsilon(0.1));
}

TEST_CASE("channels in groups of 32 that are none are refused", "[conv2d]") {
  REQUIRE(find_best(plain()));
  Conv2dArguments args = plain();
  args.a = nc32hw32(nullptr, DType::s8, {2, 5, 4, 48});
  args.b = c32rsk32(nullptr, DType::s8, {96, 3, 3, 48});
  check_no_best(args, "32");
  args = plain();
  args.out = TensorView::row_major(nullptr, DType::s8, {2, 5, 4, 96});
  check_no_best(args, "is stored differently from `out`");
  args = plain();
  args.a.strides[2] = 64;
  check_no_best(args, "its strides fit neither images");
  args = plain();
  args.b = nc32hw32(nullptr, DType::s8, {96, 3, 3, 64});
  check_no_best(args, "is not laid out as filters (C/32, R, S, K, 32)");
  args = plain();
  args.direction = Direction::dgrad;
  args.a = nc32hw32(nullptr, DType::s8, {2, 5, 4, 96});
  args.out = nc32hw32(nullptr, DType::s8, {2, 5, 4, 64});
  check_no_best(args, "expected fprop of one group");
  args = plain();
  args.a.dtype = args.b.dtype = args.out.dtype = DType::f16;
  check_no_best(args, "which is for operands of s8 and u8");
}
