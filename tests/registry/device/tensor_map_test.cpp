// Tensor maps that cannot be encoded are refused with the reason, before the driver is asked.
#include "registry/device/tensor_map.hpp"

#include <string>
#include <utility>

#include "registry/device/runtime.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

alignas(256) char memory[16];

constexpr TensorMapFields good() {
  return {.data = memory,
          .dtype = DType::bf16,
          .swizzle = TensorSwizzle::bytes128,
          .extent = {1000, 300, 2, 0},
          .stride = {2000, 640000, 0},
          .box = {64, 128, 1},
          .walk = {}};
}

void check_refused(const TensorMapFields& fields, const std::string& why) {
  TensorMap map;
  const Status status = detail::encode_tensor_map(fields, map);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message() == "A tensor map cannot be encoded: " + why);
}

}  // namespace

TEST_CASE("tensor maps past their limits are refused", "[maps]") {
  TensorMapFields bad = good();
  bad.extent[1] = 0;
  check_refused(bad, "an extent of 0, expected 1 to 4294967296");
  bad = good();
  bad.extent[0] = (1ULL << 32) + 1;
  check_refused(bad, "an extent of 4294967297, expected 1 to 4294967296");
  bad = good();
  bad.stride[0] = 2008;
  check_refused(bad, "a stride of 2008 bytes, expected a multiple of 16 below 1099511627776");
  bad = good();
  bad.stride[1] = 1ULL << 40;
  check_refused(bad, "a stride of 1099511627776 bytes, expected a multiple of 16 below 1099511627776");
  bad = good();
  bad.box[1] = 257;
  check_refused(bad, "a box of 257, expected 1 to 256");
  bad = good();
  bad.box[2] = 0;
  check_refused(bad, "a box of 0, expected 1 to 256");
  bad = good();
  bad.box[0] = 12;
  check_refused(bad, "a box with lines of 24 bytes, expected a multiple of 16");
  bad = good();
  bad.swizzle = TensorSwizzle::bytes64;
  check_refused(bad, "a box with lines of 128 bytes, expected at most the 64 of its swizzle");
  bad = good();
  bad.data = memory + 8;
  check_refused(bad, "its address is no multiple of 16 bytes");
  bad = good();
  for (const auto& [type, name] : {std::pair(DType::none, "none"), {DType::s4, "s4"}, {DType::u4, "u4"}}) {
    bad.dtype = type;
    check_refused(bad, "there are no tensors of type " + std::string(name));
  }
  bad = good();
  bad.rounds_to_tf32 = true;
  check_refused(bad, "there are no tensors of type bf16, rounded to tf32");
  bad = good();
  bad.dtype = DType::e4m3;
  bad.box[0] = 24;
  check_refused(bad, "a box with lines of 24 bytes, expected a multiple of 16");
}

TEST_CASE("tensor maps of images past their limits are refused", "[maps]") {
  constexpr TensorMapFields good = {.data = memory,
                                    .dtype = DType::bf16,
                                    .swizzle = TensorSwizzle::bytes128,
                                    .extent = {100, 30, 20, 4},
                                    .stride = {208, 6240, 124800},
                                    .box = {64, 128, 1},
                                    .walk = {{-1, -2}, {1, 0}, {1, 2}}};
  TensorMapFields bad = good;
  bad.extent[3] = 0;
  check_refused(bad, "an extent of 0, expected 1 to 4294967296");
  bad = good;
  bad.stride[2] += 8;
  check_refused(bad, "a stride of 124808 bytes, expected a multiple of 16 below 1099511627776");
  bad = good;
  bad.walk.lower[0] = -129;
  check_refused(bad, "a corner of -129, expected -128 to 127");
  bad = good;
  bad.walk.upper[1] = 128;
  check_refused(bad, "a corner of 128, expected -128 to 127");
  bad = good;
  bad.walk.upper[1] = -22;
  check_refused(bad, "a walk over 0 pixels, expected 1 or more");
  bad = good;
  bad.walk.step[1] = 9;
  check_refused(bad, "a step of 9 pixels, expected 1 to 8");
  bad = good;
  bad.walk.step[1] = 0;
  check_refused(bad, "a step of 0 pixels, expected 1 to 8");
}

TEST_CASE("without a driver there are no tensor maps, and that is said", "[maps]") {
  if (detail::runtime_status()) return;  // tests/gpu encodes them
  TensorMap map;
  const Status status = detail::encode_tensor_map(good(), map);
  CHECK(status.code() == detail::runtime_status().code());
  CHECK(status.message() == detail::runtime_status().message());
  Launch launch;
  const Step& step = add_kernel(launch, 0, sizeof map);
  CHECK(detail::encode_tensor_maps(launch, {}, launch.image));  // it has no map
  CHECK(detail::move_tensor_maps(launch, {}, launch.image));
  add_map(launch, params_of<TensorMap>(launch, step), good(), Operand::a);
  CHECK_FALSE(detail::encode_tensor_maps(launch, {}, launch.image));
}
