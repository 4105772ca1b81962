/// What is refused of grouped GEMMs, and in which words.
#include <limits>
#include <string>
#include <vector>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

TensorView fake(std::initializer_list<std::int64_t> extents, DType type = DType::f32) {
  return TensorView::row_major(nullptr, type, extents);
}

GroupedGemmArguments contiguous() {
  return {.a = fake({30, 16}),
          .b = fake({4, 16, 8}),
          .out = fake({30, 8}),
          .sizes = TensorView::vector(nullptr, DType::s32, 4)};
}

GroupedGemmArguments masked() {
  GroupedGemmArguments args = contiguous();
  args.a = fake({4, 30, 16});
  args.out = fake({4, 30, 8});
  args.sizes_are = SizesAre::counts;
  return args;
}

GroupedGemmArguments ragged() {
  GroupedGemmArguments args = contiguous();
  args.b = fake({16, 8});
  args.out = fake({4, 30, 8});
  return args;
}

void check_refused(const GroupedGemmArguments& args, const std::string& words) {
  const auto found = get_kernels(args);
  INFO(found.status().message());
  CHECK(found.empty());
  CHECK(found.status().code() == StatusCode::invalid_arguments);
  CHECK(found.status().message().find(words) != std::string::npos);
}

template <class Change>
void check_refused(GroupedGemmArguments args, const Change& change, const std::string& words) {
  change(args);
  check_refused(args, words);
}

/// Runs contiguous or masked groups in host memory with these sizes.
Status run_with(GroupedGemmArguments args, const std::vector<std::int32_t>& sizes) {
  std::vector<float> memory(4 * 30 * 16 + 4 * 16 * 8 + 4 * 30 * 8, 1);
  args.a.data = memory.data();
  args.b.data = memory.data() + 4 * 30 * 16;
  args.out.data = memory.data() + 4 * 30 * 16 + 4 * 16 * 8;
  args.sizes.data = sizes.data();
  const auto found = find_best(args);
  REQUIRE(found);
  return found->run(args);
}

void check_sizes_refused(const GroupedGemmArguments& args, const std::vector<std::int32_t>& sizes,
                         const std::string& message) {
  const Status status = run_with(args, sizes);
  CHECK(status.code() == StatusCode::invalid_arguments);
  CHECK(status.message() == "Operand `sizes` is wrong at group " + message);
  GroupedGemmArguments clamped = args;
  clamped.clamp_host_sizes = true;
  CHECK(run_with(clamped, sizes));
}

}  // namespace

TEST_CASE("grouped GEMM: ranks and extents that do not go together are refused", "[grouped_gemm]") {
  for (const GroupedGemmArguments& args : {contiguous(), masked(), ragged()})
    CHECK_FALSE(get_kernels(args).empty());
  using Args = GroupedGemmArguments;
  check_refused(
      contiguous(),
      [](Args& args) {
        args.b = fake({16, 8});
      },
      "The ranks of a, b and out are 2, 2, 2: expected 2, 3, 2 (contiguous groups), 3, 3, 3 (masked "
      "groups) or 2, 2, 3 (ragged K)");
  check_refused(
      contiguous(),
      [](Args& args) {
        args.a = fake({2, 3, 4, 5});
      },
      "Operand `a`");
  check_refused(
      contiguous(),
      [](Args& args) {
        args.b = fake({4, 15, 8});
      },
      "Operand `b`");
  check_refused(
      contiguous(),
      [](Args& args) {
        args.b = fake({4, 16, 9});
      },
      "Operand `b`");
  check_refused(
      contiguous(),
      [](Args& args) {
        args.a = fake({29, 16});
      },
      "Operand `a`");
  check_refused(
      masked(),
      [](Args& args) {
        args.b = fake({3, 16, 8});
      },
      "Operand `b`");
  check_refused(
      masked(),
      [](Args& args) {
        args.a = fake({3, 30, 16});
      },
      "Operand `a`");
  check_refused(
      ragged(),
      [](Args& args) {
        args.b = fake({15, 8});
      },
      "Operand `b`");
}

TEST_CASE("grouped GEMM: only C and the residual may be the output", "[grouped_gemm]") {
  static float memory[30 * 16];
  const auto check = [](const auto& put, const std::string& message) {
    GroupedGemmArguments args = contiguous();
    args.out.data = memory;
    put(args);
    check_refused(args, message);
  };
  const std::string own = " overlaps `out`: expected memory of its own, got memory of `out`";
  check([](GroupedGemmArguments& args) { args.a.data = memory; }, "Operand `a`" + own);
  check([](GroupedGemmArguments& args) { args.b.data = memory + 8; }, "Operand `b`" + own);
  check([](GroupedGemmArguments& args) { args.sizes.data = memory; }, "Operand `sizes`" + own);
  check(
      [](GroupedGemmArguments& args) {
        args.epilogue.residual = args.out;
        args.epilogue.residual->data = memory + 1;
      },
      "Operand `residual` overlaps `out`: expected memory of its own, or exactly the memory of `out`, got a "
      "part of it");
}

TEST_CASE("grouped GEMM: a vector of sizes of another kind is refused", "[grouped_gemm]") {
  using Args = GroupedGemmArguments;
  check_refused(
      contiguous(), [](Args& args) { args.sizes = TensorView::vector(nullptr, DType::f32, 4); },
      "Operand `sizes`");
  check_refused(
      contiguous(), [](Args& args) { args.sizes = TensorView::vector(nullptr, DType::s32, 3); },
      "Operand `sizes`");
  check_refused(
      contiguous(),
      [](Args& args) {
        args.sizes = fake({2, 2}, DType::s32);
      },
      "Operand `sizes`");
  check_refused(
      contiguous(), [](Args& args) { args.sizes.strides[0] = 2; },
      "Operand `sizes` is not contiguous: its stride is 2");
  check_refused(
      contiguous(), [](Args& args) { args.sizes.is_pointer_array = true; }, "array of pointers");
  const char bytes[32] = {};
  check_refused(
      contiguous(),
      [&](Args& args) {
        args.sizes.data = bytes + (reinterpret_cast<std::uintptr_t>(bytes) % 2 == 0 ? 1 : 0);
      },
      "Operand `sizes`");
  check_refused(
      masked(), [](Args& args) { args.sizes_are = SizesAre::ends; },
      "The sizes of masked groups are counts of their rows, not ends");
  check_refused(
      contiguous(), [](Args& args) { args.sizes_are = static_cast<SizesAre>(7); }, "number 7");
  // Plain host memory beside a device's.
  check_refused(
      contiguous(),
      [](Args& args) {
        for (TensorView* view : {&args.a, &args.b, &args.out}) view->memory = {MemoryKind::device, 0};
        args.sizes.memory = {MemoryKind::host, 0};
      },
      "Operand `sizes`");
}

TEST_CASE("grouped GEMM: what no kernel has is refused by name", "[grouped_gemm]") {
  using Args = GroupedGemmArguments;
  check_refused(
      masked(), [](Args& args) { args.b.is_pointer_array = true; }, "Operand `b` is an array of pointers");
  check_refused(
      contiguous(),
      [](Args& args) {
        args.a = TensorView::column_interleaved32(nullptr, DType::s8, {32, 32});
      },
      "Operand `a`");
  check_refused(
      contiguous(),
      [](Args& args) {
        args.epilogue.bias = fake({4, 8});
      },
      "Operand `bias`");
  check_refused(
      contiguous(), [](Args& args) { args.epilogue.beta = 1.0; }, "Operand `c`");
  check_refused(
      contiguous(), [](Args& args) { args.expected_total = -1; }, "`expected_total`");
  check_refused(
      contiguous(), [](Args& args) { args.expected_largest = -1; },
      "`expected_largest` must be 0 or more, and is -1");
  check_refused(
      contiguous(), [](Args& args) { args.expected_total = 10, args.expected_largest = 11; },
      "`expected_largest` is 11: expected at most `expected_total`, which is 10");
  GroupedGemmArguments args = contiguous();
  args.a.dtype = args.b.dtype = DType::f64;
  const auto found = get_kernels(args);
  CHECK(found.status().code() == StatusCode::no_kernel);
  CHECK(found.status().message() ==
        "No kernel of grouped GEMMs is registered for operands a f64, b f64, accumulator f64, out f32");
  const Kernel gemm = get_kernels(*Filter::parse("operation == gemm")).front();
  CHECK(gemm.supports(contiguous()).code() == StatusCode::unsupported);
}

TEST_CASE("grouped GEMM: the host executor refuses sizes that make no sense, or clamps them",
          "[grouped_gemm]") {
  constexpr std::int32_t greatest = std::numeric_limits<std::int32_t>::max();
  check_sizes_refused(contiguous(), {3, 2, 30, 30}, "1: it is 2, and the group before it ends at 3");
  check_sizes_refused(contiguous(), {-1, 2, 30, 30}, "0: it is -1, and its end is negative");
  check_sizes_refused(contiguous(), {3, 31, 31, 31}, "1: it is 31, and there are only 30");
  GroupedGemmArguments counted = contiguous();
  counted.sizes_are = SizesAre::counts;
  check_sizes_refused(counted, {3, -2, 4, 4}, "1: it is -2, and its count is negative");
  check_sizes_refused(counted, {3, greatest, 4, 4},
                      "1: it is 2147483647, and the groups before it leave 27 of 30");
  check_sizes_refused(masked(), {3, 31, 4, 4}, "1: it is 31, and its capacity is 30");
  check_sizes_refused(masked(), {3, 30, 4, -5}, "3: it is -5, and its count is negative");
  check_sizes_refused(ragged(), {3, 17, 17, 17}, "1: it is 17, and there are only 16");
}

TEST_CASE("grouped GEMM: scales that do not fit the operands are refused", "[grouped_gemm]") {
  using Args = GroupedGemmArguments;
  const auto with_scales = [](Args args) {
    const std::int64_t rows = args.a.extents[args.a.rank - 2U];
    args.a_scale = args.a.rank == 3 ? fake({4, rows, 1}) : fake({rows, 1});
    args.a_scale_granularity = ScaleGranularity::block_1x128;
    args.b_scale = fake({4, 1, 1});
    args.b_scale_granularity = ScaleGranularity::block_128x128;
    return args;
  };
  check_refused(
      with_scales(contiguous()), [](Args& args) { args.a_scale->dtype = DType::f16; }, "Operand `a_scale`");
  check_refused(
      with_scales(contiguous()),
      [](Args& args) {
        args.a_scale = fake({29, 1});
      },
      "Operand `a_scale` does not fit: expected tensor {1, 1}, row {30, 1} or 1x128 {30, 1}, got 1x128 {29, "
      "1}");
  check_refused(
      with_scales(contiguous()),
      [](Args& args) {
        args.a_scale = fake({1, 30, 1});
      },
      "Operand `a_scale`");
  check_refused(
      with_scales(contiguous()),
      [](Args& args) {
        args.b_scale = fake({3, 1, 1});
      },
      "Operand `b_scale`");
  check_refused(
      with_scales(masked()),
      [](Args& args) {
        args.a_scale = fake({3, 30, 1});
      },
      "Operand `a_scale`");
  check_refused(
      with_scales(masked()), [](Args& args) { args.b_scale_granularity = ScaleGranularity::row; },
      "Operand `b_scale` does not fit");
  Args args = ragged();
  args.b_scale = fake({1, 1});
  check_refused(args, "Operand `b_scale` is unsupported with ragged K");
}

TEST_CASE("grouped GEMM: kernels with scales are for problems with scales", "[grouped_gemm]") {
  GroupedGemmArguments args = {.a = fake({30, 256}, DType::e4m3),
                               .b = TensorView::column_major(nullptr, DType::e4m3, {4, 256, 64}),
                               .out = fake({30, 64}, DType::bf16),
                               .sizes = TensorView::vector(nullptr, DType::s32, 4)};
  const auto support = [&] { return find_best(args)->metadata().operands.scales; };
  CHECK(support() == ScaleSupport::none);
  args.a_scale = fake({30, 2});
  args.a_scale_granularity = ScaleGranularity::block_1x128;
  CHECK(support() == ScaleSupport::block_scales);
  args.b_scale = fake({4, 2, 1});
  args.b_scale_granularity = ScaleGranularity::block_128x128;
  CHECK(support() == ScaleSupport::block_scales);
  for (const Kernel& kernel : get_kernels(args)) CHECK(kernel.supports(args));
  const Kernel unscaled = *find_kernel("grouped_gemm_simt_e4m3_e4m3_f32_bf16_rcr_64x64x16_t4x4");
  CHECK(unscaled.supports(args).message().find("Operand `a_scale` is unsupported") != std::string::npos);
}

TEST_CASE("grouped GEMM: kernels of vectors of scales take no blocks", "[grouped_gemm]") {
  GroupedGemmArguments args = {.a = fake({30, 256}, DType::s8),
                               .b = TensorView::column_major(nullptr, DType::s8, {4, 256, 64}),
                               .out = fake({30, 64}),
                               .sizes = TensorView::vector(nullptr, DType::s32, 4)};
  args.a_scale = fake({30, 1});
  args.a_scale_granularity = ScaleGranularity::row;
  args.b_scale = fake({4, 1, 64});
  args.b_scale_granularity = ScaleGranularity::column;
  const Kernel vectors =
      *find_kernel("grouped_gemm_sm80_s8_s8_s32_f32_rcr_64x64x128_w2x2x1_s4_a16x16_vector_scales");
  CHECK(vectors.supports(args));
  args.a_scale = fake({30, 2});
  args.a_scale_granularity = ScaleGranularity::block_1x128;
  CHECK(vectors.supports(args).reason() == Reason::granularity);
  CHECK(find_best(args)->metadata().operands.scales == ScaleSupport::block_scales);
}

TEST_CASE("grouped GEMM: all pairs of 8-bit types have kernels, without scales and with them",
          "[grouped_gemm]") {
  const auto found = [](DType a, DType b, DType out, bool has_scales) {
    GroupedGemmArguments args = {.a = fake({30, 256}, a),
                                 .b = fake({4, 256, 64}, b),
                                 .out = fake({30, 64}, out),
                                 .sizes = TensorView::vector(nullptr, DType::s32, 4)};
    if (has_scales) {
      args.a_scale = fake({30, 2});
      args.a_scale_granularity = ScaleGranularity::block_1x128;
    }
    return get_kernels(args).size();
  };
  for (const bool has_scales : {false, true}) {
    for (const DType a : {DType::e4m3, DType::e5m2}) {
      for (const DType b : {DType::e4m3, DType::e5m2}) {
        for (const DType out : {DType::bf16, DType::f16, DType::f32, DType::e4m3, DType::e5m2})
          CHECK(found(a, b, out, has_scales) > 0);
      }
    }
    for (const DType a : {DType::s8, DType::u8}) {
      for (const DType b : {DType::s8, DType::u8}) {
        for (const DType out : {DType::s8, DType::u8, DType::f32}) CHECK(found(a, b, out, has_scales) > 0);
      }
    }
  }
}
