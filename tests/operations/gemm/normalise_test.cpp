// Checking arguments: every bad input is refused by name, everything else is described rightly.
#include "operations/gemm/normalise.hpp"
#include "support/gemm_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "operations/common/tensor_checks.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

namespace {

using namespace quarry;
using test::accepted;
using test::between;
using test::check_refused;
using test::coin;
using test::memory;
using test::Random;
using test::refused;

GemmArguments arguments(std::int64_t m = 64, std::int64_t n = 96, std::int64_t k = 32,
                        DType type = DType::f16) {
  return {.a = TensorView::row_major(nullptr, type, {m, k}),
          .b = TensorView::column_major(nullptr, type, {k, n}),
          .out = TensorView::row_major(nullptr, type, {m, n})};
}

GemmArguments batched(std::int64_t batch) {
  return {.a = TensorView::row_major(nullptr, DType::f16, {batch, 64, 32}),
          .b = TensorView::row_major(nullptr, DType::f16, {batch, 32, 96}),
          .out = TensorView::row_major(nullptr, DType::f16, {batch, 64, 96})};
}

}  // namespace

TEST_CASE("a plain problem is described as it is", "[normalise]") {
  const GemmProblem p = accepted(arguments());
  CHECK(p.m == 64);
  CHECK(p.n == 96);
  CHECK(p.k == 32);
  CHECK(p.batch == 1);
  CHECK(p.types == Types{DType::f16, DType::f16, DType::f32, DType::f16});
  CHECK_FALSE(p.has_c);
  CHECK_FALSE(p.has_bias);
  CHECK(p.a.fits[static_cast<int>(Layout::row)]);
  CHECK_FALSE(p.a.fits[static_cast<int>(Layout::column)]);
  CHECK(p.b.fits[static_cast<int>(Layout::column)]);
  CHECK(p.a.matrix.row_stride == 32);
  CHECK(p.b.matrix.column_stride == 32);
}

TEST_CASE("the accumulator has a default", "[normalise]") {
  CHECK(accepted(arguments(8, 8, 8, DType::f64)).types.accumulator == DType::f64);
  CHECK(accepted(arguments(8, 8, 8, DType::bf16)).types.accumulator == DType::f32);
  CHECK(accepted(arguments(8, 8, 8, DType::s8)).types.accumulator == DType::s32);
  GemmArguments args = arguments();
  args.accumulator = DType::f16;
  CHECK(accepted(args).types.accumulator == DType::f16);
  args.accumulator = DType::none;
  check_refused(args, "accumulator");
}

TEST_CASE("missing operands and types are refused by name", "[normalise]") {
  GemmArguments args = arguments();
  args.a = {};
  check_refused(args, Reason::missing, Operand::a);
  check_refused(GemmArguments{}, Reason::missing, Operand::out);
  args = arguments();
  args.b.dtype = DType::none;
  check_refused(args, "`b` has no data type");
  args = arguments();
  args.out.dtype = static_cast<DType>(99);
  check_refused(args, "`out` has no data type");
}

TEST_CASE("shapes must fit together", "[normalise]") {
  GemmArguments args = arguments();
  args.a = TensorView::row_major(nullptr, DType::f16, {63, 32});
  check_refused(args, Reason::rows, Operand::a);
  args = arguments();
  args.b = TensorView::row_major(nullptr, DType::f16, {31, 96});
  check_refused(args, Reason::rows, Operand::b);
  args.b = TensorView::row_major(nullptr, DType::f16, {32, 97});
  check_refused(args, Reason::columns, Operand::b);
}

TEST_CASE("ranks: 2 or 3, and no input has more than out", "[normalise]") {
  GemmArguments args = arguments();
  args.a = TensorView::vector(nullptr, DType::f16, 32);
  check_refused(args, Reason::rank, Operand::a);
  args = arguments();
  args.out = TensorView::row_major(nullptr, DType::f16, {2, 2, 64, 96});
  check_refused(args, Reason::rank, Operand::out);
  args = arguments();
  args.b = TensorView::row_major(nullptr, DType::f16, {1, 32, 96});
  check_refused(args, Reason::rank, Operand::b);
  args = arguments();
  args.out =
      TensorView::row_major(nullptr, DType::f16, {1, 2, 3, 4, 5});  // makes a view that every call refuses
  CHECK(refused(args).operand() == Operand::out);
}

TEST_CASE("a batch is shared or agreed upon", "[normalise]") {
  GemmArguments args = batched(5);
  CHECK(accepted(args).batch == 5);
  CHECK(accepted(args).a.matrix.batch_stride == 64 * 32);
  args.a = TensorView::row_major(nullptr, DType::f16, {64, 32});
  CHECK(accepted(args).a.matrix.batch_stride == 0);
  args.a = TensorView::row_major(nullptr, DType::f16, {4, 64, 32});
  check_refused(args, Reason::batch, Operand::a);
}

TEST_CASE("extents: not negative, not past 31 bits, zero is legal", "[normalise]") {
  GemmArguments args = arguments();
  args.a.extents[0] = args.out.extents[0] = -1;
  check_refused(args, Reason::negative_extent, Operand::out);
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  check_refused(arguments(limit + 1, 1, 1), Reason::extent_limit, Operand::out);
  check_refused(arguments(1, 1, limit + 1), Reason::extent_limit, Operand::a);
  CHECK(accepted(arguments(limit, 1, 1)).m == limit);
  for (const auto& [m, n, k] :
       {std::array{0, 5, 7}, std::array{5, 0, 7}, std::array{5, 7, 0}, std::array{0, 0, 0}}) {
    const GemmProblem p = accepted(arguments(m, n, k));
    CHECK(p.m == m);
    CHECK(p.n == n);
    CHECK(p.k == k);
  }
}

TEST_CASE("strides: not negative, and offsets that bytes can count", "[normalise]") {
  GemmArguments args = arguments();
  args.a.strides[0] = -32;
  check_refused(args, Reason::negative_stride, Operand::a);
  args = arguments();
  args.out.strides[0] =
      std::numeric_limits<std::int64_t>::max() / 63;  // in elements it fits, in bytes it does not
  check_refused(args, "`out` spans more bytes");
  args.out.strides[0] = std::numeric_limits<std::int64_t>::max();
  check_refused(args, "`out` spans more bytes");
  args.out.strides[0] = std::numeric_limits<std::int64_t>::max() / 63 / 4;
  CHECK(accepted(args).out.matrix.row_stride == args.out.strides[0]);
}

TEST_CASE("an output whose elements share addresses is refused", "[normalise]") {
  GemmArguments args = arguments();
  args.out.strides = {0, 1};
  check_refused(args, Reason::overlapping_stride, Operand::out);
  args.out.strides = {95, 1};
  check_refused(args, Reason::overlapping_stride, Operand::out);
  args.out.strides = {1, 63};
  check_refused(args, Reason::overlapping_stride, Operand::out);
  GemmArguments many = batched(3);
  many.out.strides[0] = 64 * 96 - 1;
  check_refused(many, Reason::overlapping_stride, Operand::out);
}

TEST_CASE("an input whose lines overlap is refused unless it says so", "[normalise]") {
  GemmArguments args = arguments();
  const std::int64_t columns = args.a.extents[1];
  for (const std::int64_t ld : {std::int64_t{1}, columns / 2, columns - 1}) {
    args.a.strides = {ld, 1};
    check_refused(args, Reason::overlapping_input, Operand::a);
    check_refused(args, "expected a leading dimension of at least " + std::to_string(columns) + " elements");
    GemmArguments window = args;
    window.a = args.a.with_overlap();
    CHECK(accepted(window).a.matrix.row_stride == ld);
  }
  for (const std::int64_t ld : {std::int64_t{0}, columns, columns + 1}) {  // broadcast, packed, padded
    args.a.strides = {ld, 1};
    (void)accepted(args);
  }
  args.a.strides = {1, args.a.extents[0] - 1};  // by columns
  check_refused(args, Reason::overlapping_input, Operand::a);
  args.out.overlapping = true;  // says nothing for an output
  args.a = arguments().a;
  args.out.strides = {1, 1};
  check_refused(args, Reason::overlapping_stride, Operand::out);
}

TEST_CASE("an output beside its inputs in one matrix is fine, over them it is not", "[normalise]") {
  const auto columns_at = [](std::int64_t first, std::int64_t count, std::int64_t rows) {
    return TensorView::row_major(memory + 2 * first, DType::f16, {rows, count}, 128);
  };
  GemmArguments args = {
      .a = columns_at(0, 32, 32), .b = columns_at(32, 32, 32), .out = columns_at(64, 32, 32)};
  accepted(args);
  args.out = columns_at(63, 32, 32);
  check_refused(args, Reason::output_overlap, Operand::b);
  args.out = columns_at(112, 32, 32);  // wraps into the next row's A
  check_refused(args, Reason::output_overlap, Operand::a);
  args.epilogue.alpha = 0.0;  // then a and b are not read
  accepted(args);
}

TEST_CASE("c may be out itself, and nothing else of it", "[normalise]") {
  GemmArguments args = arguments(16, 16, 16);
  args.out.data = memory;
  args.epilogue.beta = 1.0;
  check_refused(args, Reason::missing, Operand::c);
  args.c = args.out;
  CHECK(accepted(args).has_c);
  args.c->data = memory + 2;
  check_refused(args, Reason::output_overlap, Operand::c);
  args.c = args.out;
  args.c->strides = {1, 16};
  check_refused(args, Reason::output_overlap, Operand::c);
  args.c = TensorView::row_major(nullptr, DType::f32, {16, 16});
  check_refused(args, Reason::dtype, Operand::c);
  args.c = TensorView::row_major(nullptr, DType::f16, {16, 15});
  check_refused(args, Reason::columns, Operand::c);
  args.epilogue.beta = 0.0;  // whatever it holds, it is not read
  CHECK_FALSE(accepted(args).has_c);
  args.epilogue.beta = Scalar::at(memory);
  check_refused(args, Reason::columns, Operand::c);
}

TEST_CASE("a host alpha of zero leaves no K", "[normalise]") {
  GemmArguments args = arguments();
  args.epilogue.alpha = 0.0;
  CHECK(accepted(args).k == 0);
  args.epilogue.alpha = Scalar::at(memory);
  CHECK(accepted(args).k == 32);
}

TEST_CASE("a bias is a contiguous vector along its axis, of out's type", "[normalise]") {
  GemmArguments args = arguments();
  args.epilogue.bias = TensorView::vector(nullptr, DType::f16, 96);
  CHECK(accepted(args).has_bias);
  args.epilogue.bias_axis = BiasAxis::row;
  check_refused(args, Reason::extent, Operand::bias);
  args.epilogue.bias = TensorView::vector(nullptr, DType::f16, 64);
  CHECK(accepted(args).epilogue.bias_axis == BiasAxis::row);
  args.epilogue.bias->dtype = DType::f32;
  check_refused(args, Reason::dtype, Operand::bias);
  args.epilogue.bias = TensorView::row_major(nullptr, DType::f16, {1, 64});
  check_refused(args, Reason::rank, Operand::bias);
  args.epilogue.bias = TensorView::vector(nullptr, DType::f16, 64);
  args.epilogue.bias->strides[0] = 2;
  check_refused(args, "`bias` is not contiguous");
  args.epilogue.bias = TensorView::vector(memory, DType::f16, 64);
  args.out.data = memory + 64;
  check_refused(args, Reason::output_overlap, Operand::bias);
}

TEST_CASE("pointers must be multiples of an element", "[normalise]") {
  GemmArguments args = arguments();
  args.a.data = memory + 1;
  check_refused(args, "`a` is misaligned");
  args = arguments(8, 8, 8, DType::f64);
  args.out.data = memory + 4;
  check_refused(args, "`out` is misaligned");
  args = arguments();
  args.a.assumed_alignment = 3;
  check_refused(args, "no power of two");
  args = arguments();
  args.a.assumed_alignment = 0;
  check_refused(args, "no power of two");
  args = arguments();
  args.epilogue.alpha = Scalar::at(memory + 2);
  check_refused(args, "`alpha` is misaligned");
  args = arguments(8, 8, 8, DType::f64);
  args.c = args.out;
  args.epilogue.beta = Scalar::at(memory + 4);
  check_refused(args, "`beta` is misaligned");
}

TEST_CASE("controls that contradict themselves are refused", "[normalise]") {
  const auto with = [](Controls controls) {
    GemmArguments args = arguments();
    args.controls = controls;
    return args;
  };
  check_refused(with({.split_k_slices = 0}), "`split_k_slices` must be 1 or more");
  check_refused(with({.split_k_slices = -4}), "`split_k_slices` must be 1 or more");
  check_refused(with({.mode = Mode::gemm, .split_k_slices = 2}),
                "needs a mode of split_k_serial, split_k_parallel or split_k_cluster");
  check_refused(with({.mode = Mode::stream_k, .split_k_slices = 2}),
                "needs a mode of split_k_serial, split_k_parallel or split_k_cluster, not stream_k");
  check_refused(with({.mode = static_cast<Mode>(5)}), "no mode of number 5");
  for (const int swizzle : {0, 3, 16, -1})
    check_refused(with({.swizzle = swizzle}), Reason::swizzle, Operand::none);
  accepted(with({.mode = Mode::gemm, .split_k_slices = 1, .swizzle = 8}));
  accepted(with({.split_k_slices = 2}));
  GemmArguments args = arguments();
  args.epilogue.activation = static_cast<Activation>(200);
  check_refused(args, "no activation");
  args = arguments();
  args.epilogue.bias_axis = static_cast<BiasAxis>(9);
  check_refused(args, "no bias axis");
}

TEST_CASE("memory that does not go together is refused", "[normalise]") {
  const Memory host = {MemoryKind::host, 0};
  const Memory first = {MemoryKind::device, 0};
  const Memory second = {MemoryKind::device, 1};
  const Memory managed = {MemoryKind::managed, 0};
  const Memory pinned = {MemoryKind::pinned, 0};
  const auto with = [](Memory a, Memory b, Memory out) {
    GemmArguments args = arguments();
    args.a.memory = a;
    args.b.memory = b;
    args.out.memory = out;
    return args;
  };
  accepted(with(host, host, host));
  accepted(with(first, {}, first));
  accepted(with(managed, pinned, second));
  check_refused(with(first, first, host), Reason::mixed_devices, Operand::a);
  check_refused(with(first, second, first), Reason::mixed_devices, Operand::b);
  check_refused(with(first, second, {}), Reason::mixed_devices, Operand::b);
  check_refused(with(pinned, host, {}), Reason::mixed_devices, Operand::b);
  GemmArguments args = with(first, first, first);
  args.epilogue.bias = TensorView::vector(nullptr, DType::f16, 96).on(host);
  check_refused(args, Reason::mixed_devices, Operand::bias);
  check_refused(with({static_cast<MemoryKind>(50), 0}, {}, {}), "`a` has an unknown kind of memory");
  check_refused(with({MemoryKind::device, -1}, {}, {}), "`a` has an unknown kind of memory");
}

TEST_CASE("alignment against its definition", "[normalise]") {
  const auto seed = GENERATE(7U, 8U);
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 5000; ++i) {
    constexpr DType types[] = {DType::f16, DType::f32, DType::f64, DType::s8};
    const DType type = test::one_of(random, types);
    const int size = bytes_of(type);
    const bool is_batch = coin(random);
    constexpr std::int64_t some_strides[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 33, 64};
    std::array<std::int64_t, 3> extents;
    std::array<std::int64_t, 3> strides;
    for (std::size_t d = 0; d < 3; ++d) {
      extents[d] = between(random, 0, 3);
      strides[d] = test::one_of(random, some_strides);
    }
    TensorView view =
        TensorView::strided(coin(random) ? memory + size * between(random, 0, 20) : nullptr, type,
                            std::span(extents).subspan(!is_batch), std::span(strides).subspan(!is_batch));
    view.assumed_alignment = static_cast<std::uint16_t>(size << between(random, 0, 4));
    const ProblemOperand operand = detail::problem_operand(view);
    const std::uintptr_t address =
        view.data != nullptr ? reinterpret_cast<std::uintptr_t>(view.data) : view.assumed_alignment;
    for (const Layout layout : {Layout::row, Layout::column}) {
      const std::size_t contiguous = layout == Layout::row ? 2 : 1;
      const std::size_t leading = 3 - contiguous;
      int expected = 0;
      for (int elements = 1; elements * size <= 16; elements *= 2) {
        const auto multiple = [&](std::int64_t of) { return of % elements == 0; };
        const bool aligned = address % static_cast<unsigned>(elements * size) == 0 &&
                             (extents[leading] <= 1 || multiple(strides[leading])) &&
                             (!is_batch || extents[0] <= 1 || multiple(strides[0]));
        if (aligned && (extents[contiguous] <= 1 || strides[contiguous] == 1)) expected = elements;
      }
      CAPTURE(extents, strides, address, size, is_batch, static_cast<int>(layout));
      REQUIRE(operand.alignment[static_cast<int>(layout)] == expected);
      if (expected > 0) REQUIRE(operand.fits[static_cast<int>(layout)]);
    }
    REQUIRE((operand.fits[0] || operand.fits[1]));
  }
}

TEST_CASE("a problem exchanged is its transpose, and twice exchanged itself", "[normalise]") {
  GemmArguments args = arguments();
  args.epilogue.bias = TensorView::vector(memory, DType::f16, 64);
  args.epilogue.bias_axis = BiasAxis::row;
  args.b.dtype = DType::bf16;
  const GemmProblem p = accepted(args);
  const GemmProblem t = exchanged(p);
  CHECK(t.m == p.n);
  CHECK(t.n == p.m);
  CHECK(t.is_exchanged);
  CHECK(t.types == Types{DType::bf16, DType::f16, DType::f32, DType::f16});
  CHECK(t.epilogue.bias_axis == BiasAxis::column);
  CHECK(t.a.matrix.row_stride == p.b.matrix.column_stride);
  CHECK(t.out.matrix.column_stride == p.out.matrix.row_stride);
  CHECK(t.a.alignment[0] == p.b.alignment[1]);
  const GemmProblem back = exchanged(t);
  CHECK_FALSE(back.is_exchanged);
  CHECK(back.types == p.types);
  CHECK(back.a.matrix.row_stride == p.a.matrix.row_stride);
  CHECK(back.epilogue.bias_axis == p.epilogue.bias_axis);
}
