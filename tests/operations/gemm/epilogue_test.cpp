/// What an epilogue computes, by hand: scale, residual, aux and clamp, through the public API on host
/// tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// 2 x 3 outputs of one product each: sums[i][j] = a[i] * b[j].
template <class In, class Out>
struct Small {
  std::array<In, 2> a = {};
  std::array<In, 3> b = {};
  std::array<Out, 6> out = {};
  std::array<Out, 6> aux = {};
  GemmArguments args;

  Small(const Small&) = delete;
  Small(DType in, DType result, std::array<In, 2> of_a, std::array<In, 3> of_b) : a(of_a), b(of_b) {
    args.a = TensorView::row_major(a.data(), in, {2, 1});
    args.b = TensorView::row_major(b.data(), in, {1, 3});
    args.out = TensorView::row_major(out.data(), result, {2, 3});
  }

  /// Runs the best kernel. @return the outputs
  std::array<Out, 6> run() {
    const CandidateList found = get_kernels(args);
    INFO(found.status().message());
    REQUIRE_FALSE(found.empty());
    const Status ran = found.front().run(args);
    INFO(ran.message());
    REQUIRE(ran);
    return out;
  }
};

using Floats = Small<float, float>;
using Bytes = Small<std::int8_t, std::int8_t>;

Floats floats(std::array<float, 2> a, std::array<float, 3> b) { return {DType::f32, DType::f32, a, b}; }

}  // namespace

TEST_CASE("a scale is one factor a row, a column, or for all") {
  const std::array<float, 3> scale = {2, 0.5, -4};
  Floats small = floats({1, 2}, {1, 2, 3});
  small.args.epilogue.alpha = 2;
  small.args.epilogue.scale = TensorView::vector(scale.data(), DType::f32, 3);
  CHECK(small.run() == std::array<float, 6>{4, 2, -24, 8, 4, -48});
  small.args.epilogue.scale->extents[0] = 2;
  small.args.epilogue.scale_axis = BiasAxis::row;
  CHECK(small.run() == std::array<float, 6>{4, 8, 12, 2, 4, 6});
  small.args.epilogue.scale->extents[0] = 1;
  CHECK(small.run() == std::array<float, 6>{4, 8, 12, 8, 16, 24});
  small.args.epilogue.alpha = 0;  // then nothing of the product counts, not even a NaN of its scale
  small.args.epilogue.scale->data = &nan_value;
  CHECK(small.run() == std::array<float, 6>{});
}

TEST_CASE("sums of bytes are requantised by the channel, rounded and saturated") {
  const std::array<float, 3> scale = {0.25, 0.5, 1};
  Bytes small(DType::s8, DType::s8, {10, -100}, {1, 7, 5});
  small.args.epilogue.scale = TensorView::vector(scale.data(), DType::f32, 3);
  // 2.5, 35, 50, -25, -350, -500
  CHECK(small.run() == std::array<std::int8_t, 6>{2, 35, 50, -25, -128, -128});
  small.args.epilogue.clamp = {-30, 40};
  CHECK(small.run() == std::array<std::int8_t, 6>{2, 35, 40, -25, -30, -30});
}

TEST_CASE("a residual is added after the activation, and clamped with it") {
  const std::array<float, 6> residual = {1, 2, 3, -4, 5, 6};
  Floats small = floats({1, -1}, {1, 2, 3});
  small.args.epilogue.activation = Activation::relu;
  small.args.epilogue.residual = TensorView::row_major(residual.data(), DType::f32, {2, 3});
  CHECK(small.run() == std::array<float, 6>{2, 4, 6, -4, 5, 6});
  small.args.epilogue.clamp = {-1, 4.5};
  CHECK(small.run() == std::array<float, 6>{2, 4, 4.5, -1, 4.5, 4.5});
  small.args.epilogue.residual = TensorView::column_major(residual.data(), DType::f32, {2, 3});
  CHECK(small.run() == std::array<float, 6>{2, 4.5, 4.5, 2, -1, 4.5});
  small.args.epilogue.clamp = {};
  small.args.epilogue.residual = small.args.out;
  small.out = {10, 20, 30, 40, 50, 60};
  CHECK(small.run() == std::array<float, 6>{11, 22, 33, 40, 50, 60});
}

TEST_CASE("aux holds what the activation is applied to, rounded and not clamped") {
  const std::array<float, 3> bias = {0.5, -1, 0};
  Floats small = floats({1, -1}, {1, 2, 3});
  Epilogue& e = small.args.epilogue;
  e.activation = Activation::relu;
  e.bias = TensorView::vector(bias.data(), DType::f32, 3);
  e.aux = TensorView::row_major(small.aux.data(), DType::f32, {2, 3});
  e.clamp.high = 1;
  CHECK(small.run() == std::array<float, 6>{1, 1, 1, 0, 0, 0});
  CHECK(small.aux == std::array<float, 6>{1.5, 1, 3, -0.5, -3, -3});
  e.aux = TensorView::column_major(small.aux.data(), DType::f32, {2, 3});
  small.run();
  CHECK(small.aux == std::array<float, 6>{1.5, -0.5, 1, -3, 3, -3});

  Bytes bytes(DType::s8, DType::s8, {10, -100}, {1, 7, 5});
  bytes.args.epilogue.alpha = 0.25;
  bytes.args.epilogue.activation = Activation::relu;
  bytes.args.epilogue.aux = TensorView::row_major(bytes.aux.data(), DType::s8, {2, 3});
  CHECK(bytes.run() == std::array<std::int8_t, 6>{2, 18, 12, 0, 0, 0});
  CHECK(bytes.aux == std::array<std::int8_t, 6>{2, 18, 12, -25, -128, -125});
}

TEST_CASE("a clamp leaves NaN, and turns infinities into its bounds") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  Floats small = floats({1, 1}, {nan_value, inf, -inf});
  small.args.epilogue.clamp = {-65504, 65504};
  const std::array<float, 6> out = small.run();
  CHECK(std::isnan(out[0]));
  CHECK(out[1] == 65504);
  CHECK(out[2] == -65504);
  small.args.epilogue.clamp = {.low = infinity};
  CHECK(small.run()[2] == inf);
}

TEST_CASE("an epilogue in s32 is exact: it wraps, and then is clamped") {
  constexpr int greatest = std::numeric_limits<int>::max();
  Small<std::int8_t, std::int32_t> small(DType::s8, DType::s32, {1, -1}, {1, 2, 3});
  const std::array<std::int32_t, 6> residual = {greatest, 1, 1, 7, 8, 9};
  Epilogue& e = small.args.epilogue;
  e.activation = Activation::relu;
  e.residual = TensorView::row_major(residual.data(), DType::s32, {2, 3});
  e.aux = TensorView::row_major(small.aux.data(), DType::s32, {2, 3});
  CHECK(small.run() == std::array<std::int32_t, 6>{-greatest - 1, 3, 4, 7, 8, 9});
  CHECK(small.aux == std::array<std::int32_t, 6>{1, 2, 3, -1, -2, -3});
  e.clamp = {.low = -5, .high = 8};
  CHECK(small.run() == std::array<std::int32_t, 6>{-5, 3, 4, 7, 8, 8});
}

TEST_CASE("kernels of all families agree with the reference on epilogues of every kind") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  int with_extras = 0;
  for (int i = 0; i < 400; ++i) {
    const detail::Row& row = test::any_row(random);
    const OperandsMetadata& o = row.metadata.operands;
    test::ShapeLimits limits = {60, 60, 200};
    limits.alignment_bytes =
        std::max(o.a.alignment * bytes_of(o.a.dtype), o.b.alignment * bytes_of(o.b.dtype));
    GemmArguments shape = test::random_shape(random, test::types_of(row), test::layouts_of(row), limits);
    shape.math = row.metadata.design.math;
    const Epilogue& e = shape.epilogue;
    const int extras = e.scale.has_value() + e.residual.has_value() + e.aux.has_value();
    if (extras < 2) continue;
    ++with_extras;
    Result<lab::OperandsOf<GemmArguments>> problem = lab::OperandsOf<GemmArguments>::make(
        shape, {.seed = random(), .in_place = test::random_in_place(random)});
    REQUIRE(problem);
    const GemmArguments& args = problem->arguments;
    const Result<Kernel> kernel = find_kernel(row.metadata.name);
    REQUIRE(kernel);
    INFO(kernel->name());
    const Result<std::size_t> bytes = kernel->workspace_size(args);
    INFO(bytes.status().message());
    REQUIRE(bytes);
    std::vector<std::byte> memory(*bytes + 256);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const Result<lab::Reference> reference = lab::compute_reference(args, {.threads = 1});
    REQUIRE(reference);
    REQUIRE(kernel->run(args, {.workspace = {memory.data() + (256 - address % 256), *bytes}}));
    const Status written = problem->check_outputs();
    INFO(written.message());
    REQUIRE(written);
    const lab::Tolerance bounds = lab::tolerance(row.metadata, args.a.extents[args.a.rank - 1U]);
    const lab::Comparison result = lab::compare(*reference, args, bounds);
    INFO(to_string(result.operand) << ": error " << result.error << ", bound " << result.bound);
    REQUIRE(result.within());
    // A comparison sees what is wrong in aux alone.
    if (!args.epilogue.aux) continue;
    const host::Matrix aux(*args.epilogue.aux);
    const double first = host::read_element(aux.type, aux.data, 0);
    host::write_element(aux.type, const_cast<void*>(aux.data), 0, first > 50 ? first - 100 : first + 100);
    const lab::Comparison spoilt = lab::compare(*reference, args, bounds);
    CHECK(spoilt.operand == Operand::aux);
    CHECK(spoilt.error > result.error);
  }
  CHECK(with_extras > 30);
}
