// Lines of a matrix that some kernels cannot count in 32 bits: these refuse the problem, and others take it.
#include <string>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;

namespace {

CandidateList kernels_for(const GemmArguments& args, const char* where) {
  const DeviceModel h100 = test::device_named("h100");
  const Result<Filter> filter = Filter::parse(where);
  INFO(filter.status().message());
  REQUIRE(filter);
  return get_kernels(args, *filter, {.device = &h100});
}

/// f16 with columns of B, which only copies by threads take: no line is a multiple of 16 bytes.
GemmArguments of_odd_lines(std::int64_t k) {
  return {.a = TensorView::row_major(nullptr, DType::f16, {8, k}),
          .b = TensorView::column_major(nullptr, DType::f16, {k, 8}),
          .out = TensorView::row_major(nullptr, DType::f16, {8, 8})};
}

/// Weights of 8 bits with scales of 128 along K.
GemmArguments of_weights(std::int64_t k) {
  return {.a = TensorView::row_major(nullptr, DType::bf16, {8, k}),
          .b = TensorView::column_major(nullptr, DType::e4m3, {k, 128}),
          .out = TensorView::row_major(nullptr, DType::bf16, {8, 128}),
          .b_scale = TensorView::row_major(nullptr, DType::f32, {(k + 127) / 128, 128}),
          .b_scale_granularity = ScaleGranularity::block_1x128};
}

}  // namespace

TEST_CASE("threads copy lines of less than 2^31 bytes") {
  const char* const by_threads = "family == gemm_sm90 and name ~ 'cp_async'";
  CHECK_FALSE(kernels_for(of_odd_lines((1 << 30) - 2), by_threads).empty());
  const CandidateList refused = kernels_for(of_odd_lines((1 << 30) + 2), by_threads);
  CHECK(refused.empty());
  CHECK(refused.status().message().find("expected an extent of at most 1073741823, got 1073741826") !=
        std::string::npos);
  CHECK_FALSE(kernels_for(of_odd_lines((1 << 30) + 2), "true").empty());
  // Lines along M.
  const GemmArguments tall = {.a = TensorView::column_major(nullptr, DType::f16, {(1 << 30) + 2, 8}),
                              .b = TensorView::column_major(nullptr, DType::f16, {8, 2}, 10),
                              .out = TensorView::row_major(nullptr, DType::f16, {(1 << 30) + 2, 2})};
  CHECK(kernels_for(tall, by_threads).empty());
}

TEST_CASE("weights of 8 bits on wgmma have lines of less than 2^28 elements") {
  CHECK_FALSE(kernels_for(of_weights((1 << 28) - 128), "family == gemm_sm90").empty());
  const CandidateList refused = kernels_for(of_weights(1 << 28), "family == gemm_sm90");
  CHECK(refused.empty());
  CHECK(refused.status().message().find("K is unsupported: expected at most 268435455, got 268435456") !=
        std::string::npos);
  CHECK_FALSE(kernels_for(of_weights(1 << 28), "true").empty());
}
