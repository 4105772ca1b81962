/// Scale, residual, aux and clamp, as arguments are checked.
#include <cmath>
#include <limits>
#include <string>

#include "operations/gemm/normalise.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_checks.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using test::accepted;
using test::check_refused;
using test::memory;

namespace {

/// out 16x24 of f16, packed at the start of the memory.
GemmArguments problem() {
  GemmArguments args = test::plain_problem(16, 24, 32, DType::f16);
  args.out = TensorView::row_major(memory, DType::f16, {16, 24});
  return args;
}

}  // namespace

TEST_CASE("a scale is a contiguous vector of the compute type along its axis, or one value", "[normalise]") {
  GemmArguments args = problem();
  CHECK_FALSE(accepted(args).has_scale);
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 24);
  CHECK(accepted(args).epilogue.scale.column_stride == 1);
  CHECK(accepted(args).has_scale);
  args.epilogue.scale_axis = BiasAxis::row;
  check_refused(args, "`scale` does not fit: expected an extent of 16, got 24");
  args.epilogue.scale->extents[0] = 16;
  CHECK(accepted(args).epilogue.scale.row_stride == 1);
  args.epilogue.scale->strides[0] = 2;
  check_refused(args, "`scale` is not contiguous: its stride is 2");
  args.epilogue.scale->extents[0] = 1;
  CHECK(accepted(args).epilogue.scale.row_stride == 0);
  args.epilogue.scale->extents[0] = 0;
  check_refused(args, Reason::extent, Operand::scale);
  for (const DType type : {DType::f16, DType::f64, DType::s32}) {
    args.epilogue.scale = TensorView::vector(nullptr, type, 16);
    check_refused(args, Reason::dtype, Operand::scale);
  }
  args.epilogue.scale = TensorView::row_major(nullptr, DType::f32, {1, 16});
  check_refused(args, Reason::rank, Operand::scale);
  args.epilogue.scale = TensorView::vector(memory + 2, DType::f32, 16);
  check_refused(args, "`scale` is misaligned");
  args.epilogue.scale->data = memory + 64;
  check_refused(args, Reason::output_overlap, Operand::scale);
  args.epilogue.scale->data = memory + 768;
  accepted(args);
  args.epilogue.scale_axis = static_cast<BiasAxis>(2);
  check_refused(args, "There is no scale axis of number 2");
}

TEST_CASE("the scale of f64 is f64, and what is computed in s32 has none", "[normalise]") {
  GemmArguments args = test::plain_problem(16, 24, 32, DType::f64);
  args.epilogue.scale = TensorView::vector(nullptr, DType::f64, 1);
  accepted(args);
  args.epilogue.scale->dtype = DType::f32;
  check_refused(args, Reason::dtype, Operand::scale);
  args = test::plain_problem(16, 24, 32, DType::s8);  // computed in f32
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 24);
  accepted(args);
  args.out.dtype = DType::s32;
  check_refused(args, "`scale` is unsupported: an s32 output is computed in s32, which is not scaled");
}

TEST_CASE("a residual is a matrix like the output, or the output itself", "[normalise]") {
  GemmArguments args = problem();
  args.epilogue.residual = args.out;
  CHECK(accepted(args).has_residual);
  args.epilogue.residual->data = memory + 2;
  check_refused(args, Reason::output_overlap, Operand::residual);
  args.epilogue.residual->data = memory;
  args.epilogue.residual->strides = {1, 16};
  check_refused(args, Reason::output_overlap, Operand::residual);
  args.epilogue.residual = TensorView::column_major(memory + 768, DType::f16, {16, 24});
  accepted(args);
  args.epilogue.residual->dtype = DType::f32;
  check_refused(args, Reason::dtype, Operand::residual);
  args.epilogue.residual = TensorView::row_major(nullptr, DType::f16, {24, 16});
  check_refused(args, "`residual` does not fit: expected 16 rows (M), got 24");
  args.epilogue.residual = TensorView::row_major(nullptr, DType::f16, {2, 16, 24});
  check_refused(args, Reason::rank, Operand::residual);

  args = test::plain_problem(16, 24, 32, DType::f16);
  args.out = TensorView::row_major(nullptr, DType::f16, {3, 16, 24});
  args.epilogue.residual = TensorView::row_major(nullptr, DType::f16, {16, 24});
  CHECK(accepted(args).epilogue.residual.batch_stride == 0);
  args.epilogue.residual = TensorView::row_major(nullptr, DType::f16, {2, 16, 24});
  check_refused(args, Reason::batch, Operand::residual);
}

TEST_CASE("aux is a matrix like the output, in memory of its own", "[normalise]") {
  GemmArguments args = problem();
  args.epilogue.aux = TensorView::column_major(memory + 768, DType::f16, {16, 24}, 20);
  CHECK(accepted(args).has_aux);
  CHECK(accepted(args).epilogue.aux.column_stride == 20);
  args.epilogue.aux->strides = {0, 1};
  check_refused(args, Reason::overlapping_stride, Operand::aux);
  args.epilogue.aux = TensorView::row_major(memory + 768, DType::bf16, {16, 24});
  check_refused(args, Reason::dtype, Operand::aux);
  args.epilogue.aux = TensorView::row_major(memory + 768, DType::f16, {16, 25});
  check_refused(args, Reason::columns, Operand::aux);
  args.out = TensorView::row_major(nullptr, DType::f16, {3, 16, 24});
  args.epilogue.aux = TensorView::row_major(nullptr, DType::f16, {16, 24});
  check_refused(args, Reason::rank, Operand::aux);
}

TEST_CASE("aux overlaps nothing", "[normalise]") {
  GemmArguments args = problem();
  args.epilogue.aux = args.out;
  check_refused(args, "Operand `out` overlaps `aux`: expected memory of its own, got memory of `aux`");
  args.epilogue.aux->data = memory + 766;
  check_refused(args, "Operand `out` overlaps `aux`");
  args.epilogue.aux->data = memory + 768;
  accepted(args);

  GemmArguments other = args;
  other.a.data = memory + 768 + 700;
  check_refused(other, "Operand `a` overlaps `aux`");
  other.epilogue.alpha = 0.0;  // then a is not read
  accepted(other);
  other = args;
  other.b.data = memory + 768;
  check_refused(other, "Operand `b` overlaps `aux`");
  other = args;
  other.c = *args.epilogue.aux;
  accepted(other);  // with beta 0 it is not read
  other.epilogue.beta = 1.0;
  check_refused(other, "Operand `c` overlaps `aux`");
  other = args;
  other.epilogue.residual = *args.epilogue.aux;
  check_refused(other, "Operand `residual` overlaps `aux`");
  other = args;
  other.epilogue.bias = TensorView::vector(memory + 800, DType::f16, 24);
  check_refused(other, "Operand `bias` overlaps `aux`");
  other = args;
  other.epilogue.scale = TensorView::vector(memory + 800, DType::f32, 24);
  check_refused(other, "Operand `scale` overlaps `aux`");
  other = args;
  other.out.data = nullptr;  // which is not known to lie elsewhere, but the inputs are
  other.a.data = memory + 768;
  check_refused(other, "Operand `a` overlaps `aux`");
}

TEST_CASE("operands of the epilogue lie where the output does", "[normalise]") {
  GemmArguments args = test::plain_problem(16, 24, 32, DType::f16);
  args.out.memory = {MemoryKind::device, 0};
  const TensorView elsewhere = TensorView(args.out).on({MemoryKind::host, 0});
  args.epilogue.residual = elsewhere;
  check_refused(args, Reason::mixed_devices, Operand::residual);
  args.epilogue.residual.reset();
  args.epilogue.aux = elsewhere;
  check_refused(args, Reason::mixed_devices, Operand::aux);
  args.epilogue.aux.reset();
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 24).on({MemoryKind::host, 0});
  check_refused(args, Reason::mixed_devices, Operand::scale);
}

TEST_CASE("only alpha is promised where there is nothing else", "[normalise]") {
  const auto only_alpha = [](auto change) {
    GemmArguments args = problem();
    change(args);
    return accepted(args).epilogue.only_alpha;
  };
  const float one = 1;
  CHECK(only_alpha([](GemmArguments&) {}));
  CHECK(only_alpha([](GemmArguments& a) { a.epilogue.alpha = -2; }));
  CHECK(only_alpha([](GemmArguments& a) { a.epilogue.alpha = 0; }));
  CHECK(only_alpha([&](GemmArguments& a) { a.epilogue.alpha = Scalar::at(&one); }));
  CHECK_FALSE(only_alpha([](GemmArguments& a) { a.c = a.out, a.epilogue.beta = 1; }));
  CHECK_FALSE(only_alpha([&](GemmArguments& a) { a.c = a.out, a.epilogue.beta = Scalar::at(&one); }));
  CHECK_FALSE(only_alpha([](GemmArguments& a) { a.epilogue.activation = Activation::relu; }));
  CHECK_FALSE(only_alpha([](GemmArguments& a) {
    a.epilogue.bias = TensorView::vector(nullptr, a.out.dtype, a.out.extents[a.out.rank - 1U]);
  }));
  CHECK_FALSE(
      only_alpha([](GemmArguments& a) { a.epilogue.scale = TensorView::vector(nullptr, DType::f32, 1); }));
  CHECK_FALSE(only_alpha([](GemmArguments& a) { a.epilogue.residual = a.out; }));
  CHECK_FALSE(only_alpha([](GemmArguments& a) {
    a.epilogue.aux = TensorView::row_major(nullptr, DType::f16, {16, 24});
  }));
  CHECK_FALSE(only_alpha([](GemmArguments& a) { a.epilogue.clamp.low = 0; }));
}

TEST_CASE("bounds of a clamp are in order, and whole numbers where s32 is computed in", "[normalise]") {
  GemmArguments args = problem();
  CHECK_FALSE(accepted(args).epilogue.clamps);
  args.epilogue.clamp = {-1.5, 2};
  CHECK(accepted(args).epilogue.clamps);
  CHECK(accepted(args).epilogue.clamp_low == -1.5);
  args.epilogue.clamp = {2, 2};
  accepted(args);
  args.epilogue.clamp = {.low = 0};
  CHECK(accepted(args).epilogue.clamp_high == std::numeric_limits<double>::infinity());
  args.epilogue.clamp = {2, 1};
  check_refused(args, "The clamp has no numbers from 2 to 1");
  args.epilogue.clamp = {std::nan(""), 1};
  check_refused(args, "The clamp has no numbers");
  args.epilogue.clamp = {0, std::nan("")};
  check_refused(args, "The clamp has no numbers");

  args = test::plain_problem(8, 8, 8, DType::s8);
  args.epilogue.clamp = {0.5, 1.5};
  accepted(args);
  args.out.dtype = DType::s32;
  check_refused(args, "A bound of the clamp is 0.5, and an s32 output is computed in s32");
  args.epilogue.clamp = {.high = 3e9};
  check_refused(args, "A bound of the clamp is 3e+09");
  args.epilogue.clamp = {.low = -7};
  CHECK(accepted(args).epilogue.clamp_low == -7);
  CHECK(accepted(args).epilogue.clamp_high == 2147483647.0);
}

TEST_CASE("scale, residual and aux of a problem are exchanged with it", "[normalise]") {
  GemmArguments args = problem();
  Epilogue& e = args.epilogue;
  e.scale = TensorView::vector(nullptr, DType::f32, 16);
  e.scale_axis = BiasAxis::row;
  e.residual = TensorView::column_major(nullptr, DType::f16, {16, 24}, 18);
  e.aux = TensorView::row_major(nullptr, DType::f16, {16, 24}, 40);
  const GemmProblem p = accepted(args);
  CHECK(p.epilogue.scale.row_stride == 1);
  CHECK(p.epilogue.scale.column_stride == 0);
  const GemmProblem t = exchanged(p);
  CHECK((t.has_scale && t.has_residual && t.has_aux));
  CHECK(t.epilogue.scale.row_stride == 0);
  CHECK(t.epilogue.scale.column_stride == 1);
  CHECK(t.epilogue.residual.row_stride == 18);
  CHECK(t.epilogue.residual.column_stride == 1);
  CHECK(t.epilogue.aux.row_stride == 1);
  CHECK(t.epilogue.aux.column_stride == 40);
}
