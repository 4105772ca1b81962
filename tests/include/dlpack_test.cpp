/// Views of DLPack tensors.
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"
#include "support/dlpack.hpp"

namespace quarry {
namespace {

using test::DLDataType;
using test::DLDevice;
using test::DLTensor;
using enum test::DLDeviceType;

using Extents = std::array<std::int64_t, TensorView::max_rank>;

/// A good tensor, for tests to change a part of.
struct Example {
  std::array<float, 64> memory = {};
  std::array<std::int64_t, 5> shape = {3, 5, 2, 2, 2};
  std::array<std::int64_t, 5> strides = {8, 1, 1, 1, 1};
  DLTensor tensor = {memory.data(), {kDLCPU, 0}, 2, {2, 32, 1}, shape.data(), strides.data(), 0};
};

TEST_CASE("A tensor keeps its type, extents and strides", "[dlpack]") {
  Example example;
  const auto view = TensorView::from_dlpack(example.tensor);
  REQUIRE(view);
  CHECK(view->data == example.memory.data());
  CHECK(view->dtype == DType::f32);
  CHECK(view->rank == 2);
  CHECK(view->extents == Extents{3, 5});
  CHECK(view->strides == Extents{8, 1});
  CHECK(view->memory == Memory{MemoryKind::host, 0});
}

TEST_CASE("Every type that the library knows is known", "[dlpack]") {
  struct Case {
    DLDataType type;
    DType expected;
  };
  for (const Case& each :
       {Case{{2, 16, 1}, DType::f16}, Case{{4, 16, 1}, DType::bf16}, Case{{2, 32, 1}, DType::f32},
        Case{{2, 64, 1}, DType::f64}, Case{{0, 8, 1}, DType::s8}, Case{{1, 8, 1}, DType::u8},
        Case{{0, 32, 1}, DType::s32}, Case{{10, 8, 1}, DType::e4m3}, Case{{12, 8, 1}, DType::e5m2},
        Case{{0, 4, 1}, DType::s4}, Case{{1, 4, 1}, DType::u4}}) {
    Example example;
    example.tensor.dtype = each.type;
    const auto view = TensorView::from_dlpack(example.tensor);
    REQUIRE(view);
    CHECK(view->dtype == each.expected);
    CHECK(info_of(each.expected).dlpack_code == each.type.code);
    CHECK(bits_of(each.expected) == each.type.bits);
  }
}

TEST_CASE("Every row of the table of types comes back from its DLPack type", "[dlpack]") {
  for (int i = 1; i < dtype_count; ++i) {
    const TypeInfo info = info_of(static_cast<DType>(i));
    Example example;
    example.tensor.dtype = {static_cast<std::uint8_t>(info.dlpack_code), static_cast<std::uint8_t>(info.bits),
                            1};
    const auto view = TensorView::from_dlpack(example.tensor);
    INFO(info.name);
    REQUIRE(view);
    CHECK(view->dtype == info.type);
  }
}

TEST_CASE("Devices become kinds of memory", "[dlpack]") {
  struct Case {
    DLDevice device;
    Memory expected;
  };
  for (const Case& each :
       {Case{{kDLCPU, 0}, {MemoryKind::host, 0}}, Case{{kDLCUDA, 1}, {MemoryKind::device, 1}},
        Case{{kDLCUDAHost, 0}, {MemoryKind::pinned, 0}},
        Case{{kDLCUDAManaged, 2}, {MemoryKind::managed, 2}}}) {
    Example example;
    example.tensor.device = each.device;
    const auto view = TensorView::from_dlpack(example.tensor);
    REQUIRE(view);
    CHECK(view->memory == each.expected);
  }
}

TEST_CASE("Null strides are those of a packed tensor", "[dlpack]") {
  Example example;
  example.tensor.strides = nullptr;
  example.tensor.ndim = 4;
  const auto view = TensorView::from_dlpack(example.tensor);
  REQUIRE(view);
  CHECK(view->strides == Extents{20, 4, 2, 1});
  example.shape = {3, 0, 2, 2, 2};
  CHECK(TensorView::from_dlpack(example.tensor)->strides == Extents{4, 4, 2, 1});
}

TEST_CASE("The byte offset is added", "[dlpack]") {
  Example example;
  example.tensor.byte_offset = 8;
  CHECK(TensorView::from_dlpack(example.tensor)->data == example.memory.data() + 2);
}

TEST_CASE("A null pointer is a fake tensor, whatever its offset", "[dlpack]") {
  Example example;
  example.tensor.data = nullptr;
  example.tensor.byte_offset = 8;
  const auto view = TensorView::from_dlpack(example.tensor);
  REQUIRE(view);
  CHECK(view->data == nullptr);
}

TEST_CASE("What the library does not know is refused, and said", "[dlpack]") {
  struct Case {
    std::function<void(DLTensor&)> spoil;
    std::string message;
  };
  static std::int64_t negative[] = {3, -5};
  static std::int64_t huge[] = {2, std::numeric_limits<std::int64_t>::max(), 4};
  const std::string type =
      "expected elements of f16, bf16, f32, f64, s8, u8, s32, e4m3, e5m2, s4 or u4, got ";
  const std::string device =
      "expected device type 1 (CPU), 2 (CUDA), 3 (CUDA host) or 13 (CUDA managed), got ";
  std::vector<Case> cases = {
      {[](DLTensor& t) { t.ndim = 0; }, "expected rank 1 to 4, got rank 0"},
      {[](DLTensor& t) { t.ndim = 5; }, "expected rank 1 to 4, got rank 5"},
      {[](DLTensor& t) { t.ndim = -1; }, "expected rank 1 to 4, got rank -1"},
      {[](DLTensor& t) { t.dtype.lanes = 4; }, "expected 1 lane, got 4 lanes"},
      {[](DLTensor& t) { t.dtype.lanes = 0; }, "expected 1 lane, got 0 lanes"},
      {[](DLTensor& t) { t.device.device_type = kDLROCM; }, device + "10"},
      {[](DLTensor& t) {
         t.device = {kDLCUDA, -1};
       },
       "expected a device id of 0 or more, got -1"},
      {[](DLTensor& t) { t.shape = nullptr; }, "expected a shape, got a null pointer"},
      {[](DLTensor& t) { t.shape = negative; }, "expected extents of 0 or more, got -5"},
      {[](DLTensor& t) { t.byte_offset = std::numeric_limits<std::uint64_t>::max(); },
       "expected a byte offset within memory, got 18446744073709551615"},
      {[](DLTensor& t) {
         t.shape = huge;
         t.strides = nullptr;
         t.ndim = 3;
       },
       "expected extents whose product fits 64 bits, got more"},
  };
  struct Type {
    DLDataType type;
    std::string word;
  };
  const Type types[] = {{{0, 64, 1}, "int64"},
                        {{0, 16, 1}, "int16"},
                        {{1, 32, 1}, "uint32"},
                        {{2, 8, 1}, "float8"},
                        {{4, 32, 1}, "bfloat32"},
                        {{5, 64, 1}, "complex64"},
                        {{6, 8, 1}, "bool"},
                        {{6, 1, 1}, "type code 6 with 1 bits"},
                        {{3, 64, 1}, "type code 3 with 64 bits"},
                        {{8, 8, 1}, "float8_e4m3"},
                        {{11, 8, 1}, "float8_e4m3fnuz"},
                        {{17, 4, 1}, "float4_e2m1fn"},
                        {{255, 0, 1}, "type code 255 with 0 bits"}};
  for (const Type& each : types)
    cases.push_back({[each](DLTensor& t) { t.dtype = each.type; }, type + each.word});
  for (const Case& each : cases) {
    Example example;
    each.spoil(example.tensor);
    const auto view = TensorView::from_dlpack(example.tensor);
    INFO(each.message);
    REQUIRE_FALSE(view);
    CHECK(view.status().code() == StatusCode::invalid_arguments);
    CHECK(view.status().message() == "DLPack tensor is unsupported: " + each.message);
  }
}

}  // namespace
}  // namespace quarry
