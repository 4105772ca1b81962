/// What is refused of lists of GEMMs, and in which words.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/run_best.hpp"

using namespace quarry;
using test::run_best;

namespace {

TensorView fake(std::initializer_list<std::int64_t> extents, DType type = DType::f32) {
  return TensorView::row_major(nullptr, type, extents);
}

/// Three problems within 30 x 8 x 16.
GemmListArguments list() {
  GemmListArguments args;
  args.a = fake({3, 30, 16});
  args.b = fake({3, 16, 8});
  args.out = fake({3, 30, 8});
  args.sizes = fake({3, 3}, DType::s32);
  return args;
}

GemmListArguments list_with_leading() {
  GemmListArguments args = list();
  args.leading = fake({3, 4}, DType::s32);
  return args;
}

template <class Change>
void check_refused(GemmListArguments args, const Change& change, const std::string& words) {
  change(args);
  const auto found = get_kernels(args);
  INFO(found.status().message());
  CHECK(found.empty());
  CHECK(found.status().code() == StatusCode::invalid_arguments);
  CHECK(found.status().message().find(words) != std::string::npos);
}

/// Memory of three problems, and how it is found.
struct HostMemory {
  std::vector<float> a = std::vector<float>(3 * 30 * 16, 1);
  std::vector<float> b = std::vector<float>(3 * 16 * 8, 1);
  std::vector<float> out = std::vector<float>(3 * 30 * 8, 1);
  std::vector<const void*> a_pointers = {a.data(), a.data() + 480, a.data() + 960};
  std::vector<const void*> b_pointers = {b.data(), b.data() + 128, b.data() + 256};
  std::vector<const void*> out_pointers = {out.data(), out.data() + 240, out.data() + 480};
  std::vector<std::int32_t> sizes = {30, 8, 16, 4, 5, 6, 0, 8, 16};
  std::vector<std::int32_t> leading = {16, 8, 0, 8, 7, 6, 0, 5, 16, 8, 0, 8};

  GemmListArguments arguments() const {
    GemmListArguments args;
    args.a = PointerArrayView::row_major(a_pointers.data(), DType::f32, 3, {30, 16});
    args.b = PointerArrayView::row_major(b_pointers.data(), DType::f32, 3, {16, 8});
    args.out = PointerArrayView::row_major(out_pointers.data(), DType::f32, 3, {30, 8});
    args.sizes = TensorView::row_major(sizes.data(), DType::s32, {3, 3});
    args.leading = TensorView::row_major(leading.data(), DType::s32, {3, 4});
    return args;
  }
};

/// What a run says, with one thing changed; then clamped, where that makes it right.
template <class Change>
void check_run(const Change& change, const std::string& message, bool is_right_clamped = true) {
  HostMemory memory;
  change(memory);
  GemmListArguments args = memory.arguments();
  const Status status = run_best(args);
  CHECK(status.code() == StatusCode::invalid_arguments);
  CHECK(status.message() == message);
  CHECK(memory.out == std::vector<float>(3 * 30 * 8, 1));  // nothing was written
  args.clamp_host_sizes = true;
  CHECK(static_cast<bool>(run_best(args)) == is_right_clamped);
}

}  // namespace

TEST_CASE("gemm_list: ranks and extents that do not go together are refused", "[gemm_list]") {
  using Args = GemmListArguments;
  CHECK_FALSE(get_kernels(list()).empty());
  CHECK_FALSE(get_kernels(list_with_leading()).empty());
  check_refused(
      list(),
      [](Args& args) {
        args.out = fake({30, 8});
      },
      "Operand `out`");
  check_refused(
      list(),
      [](Args& args) {
        args.a = fake({3, 30, 15});
      },
      "Operand `b`");
  check_refused(
      list(),
      [](Args& args) {
        args.b = fake({3, 16, 9});
      },
      "Operand `b`");
  check_refused(
      list(),
      [](Args& args) {
        args.a = fake({2, 30, 16});
      },
      "Operand `a`");
  check_refused(
      list(),
      [](Args& args) {
        args.a = fake({1, 3, 30, 16});
      },
      "Operand `a`");
  check_refused(
      list(), [](Args& args) { args.out.strides[2] = 0; }, "Operand `out`");
  check_refused(
      list(),
      [](Args& args) {
        args.a = TensorView::row_interleaved32(nullptr, DType::s8, {3, 32, 32});
        args.b = fake({3, 32, 8}, DType::s8);
        args.out = fake({3, 32, 8}, DType::s32);
      },
      "Operand `a`");
  check_refused(
      list(), [](Args& args) { args.epilogue.beta = 1; }, "`c`");
  check_refused(
      list(), [](Args& args) { args.epilogue.bias = TensorView::vector(nullptr, DType::f32, 9); },
      "Operand `bias`");
}

TEST_CASE("gemm_list: types that no kernel has are named", "[gemm_list]") {
  GemmListArguments args = list();
  args.b.dtype = DType::f16;
  CHECK(get_kernels(args).status().message() ==
        "No kernel of lists of GEMMs is registered for operands a f32, b f16, accumulator f32, out f32");
}

TEST_CASE("gemm_list: tables of another form are refused", "[gemm_list]") {
  using Args = GemmListArguments;
  check_refused(
      list(),
      [](Args& args) {
        args.sizes = fake({2, 3}, DType::s32);
      },
      "Operand `sizes`");
  check_refused(
      list(),
      [](Args& args) {
        args.sizes = fake({3, 4}, DType::s32);
      },
      "Operand `sizes`");
  check_refused(
      list(), [](Args& args) { args.sizes = fake({9}, DType::s32); }, "Operand `sizes`");
  check_refused(
      list(),
      [](Args& args) {
        args.sizes = fake({3, 3});
      },
      "Operand `sizes`");
  check_refused(
      list(), [](Args& args) { args.sizes.strides[0] = 4; },
      "Operand `sizes` is not contiguous: expected strides of 3 and 1, got 4 and 1");
  check_refused(
      list(),
      [](Args& args) {
        args.sizes.rank = 3;
        args.sizes.is_pointer_array = true;
      },
      "Operand `sizes` is an array of pointers: expected a matrix of s32");
  check_refused(
      list(), [](Args& args) { args.sizes.data = reinterpret_cast<const void*>(std::uintptr_t{3}); },
      "Operand `sizes` is misaligned");
  check_refused(
      list(),
      [](Args& args) {
        args.leading = fake({3, 3}, DType::s32);
      },
      "Operand `leading`");
  check_refused(
      list(),
      [](Args& args) {
        args.leading = fake({3, 4});
      },
      "Operand `leading`");
  const std::vector<std::int32_t> five(5);
  check_refused(
      list(), [&](Args& args) { args.host_sizes = five; },
      "`host_sizes` has 5 numbers: expected 9, M, N and K of each problem");
  check_refused(
      list(), [&](Args& args) { args.schedule = ListSchedule::host; },
      "`schedule` is host, and `host_sizes` is empty: expected 9 numbers, M, N and K of each problem");
  check_refused(
      list(), [&](Args& args) { args.schedule = static_cast<ListSchedule>(9); },
      "`schedule` is 9: expected device or host");
}

TEST_CASE("gemm_list: beside leading dimensions, lines are contiguous and do not overlap", "[gemm_list]") {
  using Args = GemmListArguments;
  check_refused(
      list_with_leading(),
      [](Args& args) {
        args.a.strides = {960, 32, 2};
      },
      "Operand `a` has neither contiguous rows nor contiguous columns");
  check_refused(
      list_with_leading(),
      [](Args& args) {
        args.b.strides = {128, 4, 1};
        args.b.overlapping = true;
      },
      "Operand `b` has lines of 8 elements that are 4 apart: beside `leading`, lines do not overlap");
}

TEST_CASE("gemm_list: sizes that make no sense are refused on the host", "[gemm_list]") {
  REQUIRE(run_best(HostMemory().arguments()));
  const std::string sizes = "Operand `sizes` is wrong at problem ";
  check_run([](HostMemory& m) { m.sizes[3] = -1; }, sizes + "1: its M is -1, which is negative");
  check_run([](HostMemory& m) { m.sizes[1] = 9; }, sizes + "0: its N is 9, and the bound is 8");
  check_run([](HostMemory& m) { m.sizes[8] = std::numeric_limits<std::int32_t>::max(); },
            sizes + "2: its K is 2147483647, and the bound is 16");
  const std::string leading = "Operand `leading` is wrong at problem ";
  check_run([](HostMemory& m) { m.leading[4] = 5; },
            leading + "1: for a it is 5, and its lines have 6 elements");
  check_run([](HostMemory& m) { m.leading[7] = 9; }, leading + "1: for out it is 9, and the view's is 8");
}

TEST_CASE("gemm_list: pointers that are null or overlap are refused on the host", "[gemm_list]") {
  check_run([](HostMemory& m) { m.b_pointers[1] = nullptr; }, "Null pointer: problem 1 of operand `b`",
            false);
  check_run(
      [](HostMemory& m) { m.a_pointers[0] = reinterpret_cast<const char*>(m.a.data()) + 2; },
      "Misaligned pointer: problem 0 of operand `a`: it is not a multiple of the 4 bytes that the kernel "
      "needs",
      false);
  check_run([](HostMemory& m) { m.out_pointers[1] = m.out.data() + 230; },
            "Operand `out` of problem 1 overlaps `out` of problem 0", false);
  check_run([](HostMemory& m) { m.a_pointers[1] = m.out.data() + 3; },
            "Operand `a` of problem 1 overlaps `out` of problem 0", false);
}

TEST_CASE("gemm_list: pointers that break the promise of an array are refused on the host", "[gemm_list]") {
  HostMemory m;
  m.sizes = {4, 4, 4, 4, 4, 4, 0, 8, 16};
  GemmListArguments args = m.arguments();
  args.leading.reset();
  args.a = PointerArrayView::row_major(m.a_pointers.data(), DType::f32, 3, {30, 16}).aligned(16);
  args.out = PointerArrayView::row_major(m.out_pointers.data(), DType::f32, 3, {30, 8}).aligned(16);
  m.a_pointers[2] = m.a.data() + 1;  // of a problem without rows: it is not looked at
  REQUIRE(run_best(args));
  const std::vector<float> before = m.out;
  const auto refused = [&](const void*& pointer, const void* wrong, const std::string& entry) {
    const void* const right = std::exchange(pointer, wrong);
    const Status status = run_best(args);
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.message() ==
          "Misaligned pointer: entry " + entry + "`: it is not a multiple of the 16 bytes that are promised");
    const auto best = find_best(args);
    REQUIRE(best);
    const Result<Plan> plan = best->prepare(args);
    REQUIRE(plan);
    CHECK(plan->run(args, nullptr).message() == status.message());
    pointer = right;
  };
  refused(m.a_pointers[1], m.a.data() + 481, "1 of the array of pointers `a");
  refused(m.out_pointers[0], m.out.data() + 2, "0 of the array of pointers `out");
  CHECK(m.out == before);
  m.sizes[2] = 0;  // without K, A is not read
  m.a_pointers[0] = m.a.data() + 1;
  CHECK(run_best(args));
}

TEST_CASE("gemm_list: scales that do not fit the bounds are refused", "[gemm_list]") {
  using Args = GemmListArguments;
  Args scaled;
  scaled.a = fake({3, 30, 300}, DType::e4m3);
  scaled.b = fake({3, 300, 8}, DType::e4m3);
  scaled.out = fake({3, 30, 8});
  scaled.sizes = fake({3, 3}, DType::s32);
  scaled.a_scale = fake({3, 30, 3});
  scaled.a_scale_granularity = ScaleGranularity::block_1x128;
  scaled.b_scale = fake({3, 1});
  scaled.b_scale_granularity = ScaleGranularity::block_128x128;
  CHECK_FALSE(get_kernels(scaled).empty());
  check_refused(
      scaled,
      [](Args& args) {
        args.a_scale = fake({3, 30, 2});
      },
      "Operand `a_scale` does not fit: expected tensor {1, 1}, row {30, 1} or 1x128 {30, 3}, got 1x128 {30, "
      "2}");
  check_refused(
      scaled, [](Args& args) { args.a_scale_granularity = ScaleGranularity::block_1x32; },
      "Operand `a_scale` does not fit");
  check_refused(
      scaled,
      [](Args& args) {
        args.a_scale = fake({2, 30, 3});
      },
      "Operand `a_scale`");
  check_refused(
      scaled, [](Args& args) { args.b_scale->dtype = DType::f16; }, "Operand `b_scale`");
  check_refused(
      scaled, [](Args& args) { args.b_scale_granularity = ScaleGranularity::row; }, "Operand `b_scale`");
  check_refused(
      scaled, [](Args& args) { args.b_scale = fake({3}); }, "Operand `b_scale`");
  const auto whole = [](Args& args) {
    args.a.dtype = args.b.dtype = DType::s8;
    args.out.dtype = DType::s32;
  };
  check_refused(scaled, whole, "Operand `a_scale` is unsupported: an s32 output is computed in s32");
  scaled.a.dtype = scaled.b.dtype = scaled.out.dtype = DType::f32;
  const Status refused = find_kernel("gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4")->supports(scaled);
  CHECK(refused.message().find("Operand `a_scale` is unsupported") != std::string::npos);
}

TEST_CASE("gemm_list: kernels of vectors of scales take no blocks", "[gemm_list]") {
  GemmListArguments args;
  args.a = fake({3, 30, 256}, DType::s8);
  args.b = TensorView::column_major(nullptr, DType::s8, {3, 256, 64});
  args.out = fake({3, 30, 64});
  args.sizes = fake({3, 3}, DType::s32);
  const Kernel vectors =
      *find_kernel("gemm_list_sm80_s8_s8_s32_f32_rcr_64x64x128_w2x2x1_s4_a16x16_vector_scales");
  CHECK(vectors.supports(args).reason() == Reason::granularity);
  args.a_scale = fake({3, 30, 1});
  args.a_scale_granularity = ScaleGranularity::row;
  CHECK(vectors.supports(args));
  args.b_scale = fake({1, 64});  // the same for all problems
  args.b_scale_granularity = ScaleGranularity::column;
  CHECK(vectors.supports(args));
  CHECK(find_best(args)->metadata().family == "gemm_list_sm80");
  args.a_scale = fake({3, 30, 2});
  args.a_scale_granularity = ScaleGranularity::block_1x128;
  CHECK(vectors.supports(args).reason() == Reason::granularity);
  CHECK(find_best(args)->metadata().operands.scales == ScaleSupport::block_scales);
}

TEST_CASE("gemm_list: scales in memory that a run cannot use are refused", "[gemm_list]") {
  std::vector<std::uint8_t> a(2 * 4 * 16, 0x38), b(2 * 16 * 4, 0x38);  // 1
  std::vector<float> out(2 * 4 * 4, -7), scales(2 * 4, 2);
  std::vector<const void*> pointers = {scales.data(), scales.data() + 4};
  const std::vector<std::int32_t> sizes = {4, 4, 16, 3, 4, 16};
  GemmListArguments args;
  args.a = TensorView::row_major(a.data(), DType::e4m3, {2, 4, 16});
  args.b = TensorView::row_major(b.data(), DType::e4m3, {2, 16, 4});
  args.out = TensorView::row_major(out.data(), DType::f32, {2, 4, 4});
  args.sizes = TensorView::row_major(sizes.data(), DType::s32, {2, 3});
  args.a_scale = PointerArrayView::row_major(pointers.data(), DType::f32, 2, {4, 1});
  args.a_scale_granularity = ScaleGranularity::row;
  const auto refused = [&](const std::string& message) {
    const Status status = run_best(args);
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.message() == message);
    CHECK(out == std::vector<float>(2 * 4 * 4, -7));
  };
  pointers[1] = nullptr;
  refused("Null pointer: problem 1 of operand `a_scale`");
  pointers[1] = reinterpret_cast<const char*>(scales.data() + 4) + 2;
  refused(
      "Misaligned pointer: problem 1 of operand `a_scale`: it is not a multiple of the 4 bytes that the "
      "kernel "
      "needs");
  pointers[1] = out.data() + 2;
  refused("Operand `a_scale` of problem 1 overlaps `out` of problem 0");
  pointers[1] = out.data() + 16 + 12;  // a row of the second problem's bounds that it does not have
  CHECK(run_best(args));
  CHECK(out[0] == 32);
}
