// Whether a kernel takes a problem, against an independent statement of the rules.
#include <string>

#include "operations/gemm/normalise.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using detail::Row;
using test::between;
using test::Random;

/// What a view says of one of its matrices.
struct Matrix {
  std::int64_t rows, columns, row_stride, column_stride, batch_stride;
};

Matrix matrix(const TensorView& view) {
  const std::size_t r = view.rank - 2U;
  const bool batched = view.rank == 3 && view.extents[0] > 1 && !view.is_pointer_array;
  return {view.extents[r], view.extents[r + 1], view.strides[r], view.strides[r + 1],
          batched ? view.strides[0] : 0};
}

bool reads_as(const TensorView& view, Layout layout) {
  if (view.tag != LayoutTag::strided) return layout == layout_of(view.tag);
  if (is_interleaved(layout)) return false;
  const Matrix x = matrix(view);
  const bool row = x.columns <= 1 || x.column_stride == 1;
  const bool column = x.rows <= 1 || x.row_stride == 1;
  if (row || column) return layout == Layout::row ? row : column;
  return layout == Layout::row ? x.column_stride <= x.row_stride : x.column_stride > x.row_stride;
}

/// What the way of copying asks of an operand's lines, beside alignment.
bool lines_can_be_copied(const Matrix& x, const OperandMetadata& wanted, bool lines_along_k, std::int64_t k,
                         const DesignMetadata& design) {
  const bool row = wanted.layout == Layout::row;
  const std::int64_t line = row ? x.columns : x.rows;
  const std::int64_t lines = row ? x.rows : x.columns;
  const std::int64_t leading = row ? x.row_stride : x.column_stride;
  if (design.math_unit == MathUnit::simt) return true;
  if (design.copy_engine == CopyEngine::tma) return k == 0 || lines <= 1 || leading > 0;
  if (design.copy_engine == CopyEngine::cp_async) return true;
  return lines_along_k || wanted.alignment == 1 || k <= design.tile.k || leading >= line;
}

/// Whether the tensor-core kernel's copies of an operand can be made.
bool copies_well(const TensorView& view, const OperandMetadata& wanted, bool lines_along_k, std::int64_t k,
                 const DesignMetadata& design) {
  const Matrix x = matrix(view);
  const bool interleaved = is_interleaved(wanted.layout);
  const bool row = has_contiguous_rows(wanted.layout) != interleaved;
  const std::int64_t line = row ? x.columns : x.rows;
  const std::int64_t lines = (row ? x.rows : x.columns) / (interleaved ? 32 : 1);
  const std::int64_t step = interleaved ? 1 : row ? x.column_stride : x.row_stride;
  const std::int64_t leading = row ? x.row_stride : x.column_stride;
  if (line > 1 && step != 1) return false;
  const long long bytes = bytes_for(view.dtype, wanted.alignment);
  if (view.assumed_alignment % bytes != 0) return false;  // test problems are fake
  if (lines > 1 && leading % wanted.alignment != 0) return false;
  if (x.batch_stride % wanted.alignment != 0) return false;
  return interleaved || lines_can_be_copied(x, wanted, lines_along_k, k, design);
}

bool has_arrays(const GemmArguments& args) {
  const Epilogue& e = args.epilogue;
  const auto is_array = [](const std::optional<TensorView>& view) { return view && view->is_pointer_array; };
  const bool reads_c = e.beta.value != 0;
  return args.a.is_pointer_array || args.b.is_pointer_array || args.out.is_pointer_array ||
         (reads_c && is_array(args.c)) || is_array(e.residual) || is_array(e.aux);
}

/// Whether a kernel has what the controls ask for.
bool permits(const KernelMetadata& kernel, const Controls& controls) {
  if (!test::has_mode(kernel, controls.mode.value_or(Mode::gemm))) return false;
  if (controls.mode == Mode::split_k_cluster && controls.split_k_slices.value_or(1) > 8) return false;
  if (!controls.multiprocessors) return true;
  return test::is_persistent(kernel.design) &&
         *controls.multiprocessors >= test::cluster_blocks(kernel.design);
}

std::int64_t tiles(std::int64_t extent, int tile) { return (extent + tile - 1) / tile; }

/// Whether the kernel without copies could not take an operand. Bytes and tf32 lie along K there.
bool needs_copy(const KernelMetadata& kernel, const TensorView& view, Layout layout, Layout along_k) {
  const Layout wanted = bits_of(view.dtype) == 16 ? layout : along_k;
  const OperandMetadata whole = {view.dtype, wanted, 16 / bytes_of(view.dtype)};
  return !copies_well(view, whole, true, 1, kernel.design);
}

bool needs_reorder(const KernelMetadata& kernel, const GemmArguments& args) {
  const OperandsMetadata& o = kernel.operands;
  return needs_copy(kernel, args.a, o.a.layout, Layout::row) ||
         needs_copy(kernel, args.b, o.b.layout, Layout::column);
}

bool expected(const KernelMetadata& kernel, const GemmArguments& args, const DeviceModel& device) {
  const OperandsMetadata& o = kernel.operands;
  if (kernel.operation != Operation::gemm) return false;
  if (args.a.dtype != o.a.dtype || args.b.dtype != o.b.dtype || args.out.dtype != o.out.dtype) return false;
  const DType accumulator =
      args.accumulator.value_or(is_byte(args.a.dtype) && is_byte(args.b.dtype) ? DType::s32
                                : args.a.dtype == DType::f64                   ? DType::f64
                                                                               : DType::f32);
  if (accumulator != o.accumulator) return false;
  const bool needs_scales = o.scales != ScaleSupport::none && o.scales != ScaleSupport::group_scales;
  if (needs_scales && args.epilogue.alpha.value != 0 && matrix(args.a).columns > 0)
    return false;  // such kernels are for problems with scales
  if (kernel.design.math != Math::exact && kernel.design.math != args.math) return false;
  if (!reads_as(args.a, o.a.layout) || !reads_as(args.b, o.b.layout) || !reads_as(args.out, o.out.layout))
    return false;
  if (device.cc < kernel.cc || device.cc > kernel.max_cc.value_or(1000)) return false;
  if (kernel.design.shared_memory > device.shared_memory_per_block) return false;

  const Matrix out = matrix(args.out);
  const std::int64_t k = args.epilogue.alpha.value == 0 ? 0 : matrix(args.a).columns;
  const Extent3& tile = kernel.design.tile;
  if (kernel.epilogue.fast_clamp && k > 256) return false;
  // Operands that the kernel cannot copy as they lie are reordered first.
  if (!kernel.design.reorders) {
    const auto copies = [&](const TensorView& view, const OperandMetadata& wanted, bool lines_along_k) {
      const bool any_strides = kernel.design.math_unit == MathUnit::simt && wanted.alignment == 1;
      return any_strides || copies_well(view, wanted, lines_along_k, k, kernel.design);
    };
    if (!copies(args.a, o.a, o.a.layout == Layout::row)) return false;
    if (!copies(args.b, o.b, o.b.layout == Layout::column)) return false;
  }
  if (kernel.design.reorders && !needs_reorder(kernel, args)) return false;
  const std::int64_t slices = args.controls.split_k_slices.value_or(1);
  if (slices > 1 && (kernel.modes.stream_k || slices > tiles(k, tile.k))) return false;
  if (!permits(kernel, args.controls)) return false;
  if (has_arrays(args) && kernel.family == "gemm_sm90") return false;
  const std::int64_t batch = args.out.rank == 3 ? args.out.extents[0] : 1;
  const Cluster cluster = kernel.design.cluster.value_or(Cluster{});
  return static_cast<double>(tiles(out.rows, tile.m * cluster.m)) *
             static_cast<double>(tiles(out.columns, tile.n * cluster.n)) *
             static_cast<double>(cluster.m * cluster.n) * static_cast<double>(batch * slices) <=
         2147483647.0;
}

/// The row of a kernel for the plain f16 problem whose tile and alignment are these.
const Row& tensor_core_row(int alignment, Layout out = Layout::row) {
  for (const Row& row : detail::rows()) {
    const OperandsMetadata& o = row.metadata.operands;
    if (row.metadata.family == "gemm_sm80" &&
        test::types_of(row) == Types{DType::f16, DType::f16, DType::f32, DType::f16} &&
        test::layouts_of(row) == Layouts{Layout::row, Layout::column, out} && o.a.alignment == alignment &&
        o.b.alignment == alignment) {
      return row;
    }
  }
  FAIL("the registry holds no such kernel");
  return detail::rows().front();
}

void check_refused(const Row& row, const GemmArguments& args, Reason reason, Operand operand) {
  const Status status = Kernel(row).supports(args);
  INFO(row.metadata.name << ": " << status.message());
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.reason() == reason);
  CHECK(status.operand() == operand);
}

}  // namespace

TEST_CASE("supports against a naive statement of the rules", "[supports]") {
  const auto seed = GENERATE(1U, 2U, 3U, 4U);
  INFO("seed " << seed);
  Random random(seed);
  const std::vector<DeviceModel> devices = test::some_devices();
  int yes = 0;
  int no = 0;
  for (int i = 0; i < 3000; ++i) {
    const Row& made_for = test::any_row(random);
    GemmArguments args = test::problem_for(random, made_for);
    if (i % 3 == 0) test::choose_arrays(random, args);
    GemmProblem whole;
    if (bits_of(args.b.dtype) < 8 && !test::normalise(args, whole)) continue;  // lines begin at whole bytes
    for (int j = 0; j < 6; ++j) {
      const Row& row =
          j == 0  ? made_for
          : j < 4 ? detail::rows()[(made_for.metadata.name.size() + random()) % detail::rows().size()]
                  : test::any_row(random);
      const DeviceModel& device = devices[random() % devices.size()];
      GemmProblem problem;
      ChosenControls controls;
      const Status status = test::resolve(row, args, {}, device, problem, controls);
      CAPTURE(row.metadata.name, device.cc, args.a.extents, args.a.strides, args.b.extents, args.b.strides,
              args.out.extents, args.out.strides, status.message());
      REQUIRE(status.code() != StatusCode::invalid_arguments);
      REQUIRE(static_cast<bool>(status) == expected(row.metadata, args, device));
      if (!status) REQUIRE(status.code() == StatusCode::unsupported);
      if (!status) REQUIRE_FALSE(status.message().empty());
      ++(status ? yes : no);
    }
  }
  CHECK(yes > 500);
  CHECK(no > 1000);
}

TEST_CASE("what is refused is named as the caller calls it, exchanged or not", "[supports]") {
  for (const Layout out : {Layout::row, Layout::column}) {
    const Row& row = tensor_core_row(8, out);
    CHECK(row.exchanged == (out == Layout::column));
    GemmArguments args = test::plain_problem(64, 64, 64);
    if (out == Layout::column) args.out = TensorView::column_major(nullptr, DType::f16, {64, 64});
    REQUIRE(Kernel(row).supports(args));

    GemmArguments wrong = args;
    wrong.a.dtype = DType::bf16;
    check_refused(row, wrong, Reason::dtype, Operand::a);
    CHECK(Kernel(row).supports(wrong).message() == "Operand `a` is unsupported: expected f16, got bf16");
    wrong = args;
    wrong.accumulator = DType::f16;
    CHECK_THAT(Kernel(row).supports(wrong).message(),
               Catch::Contains("Accumulator is unsupported: expected f32, got f16"));
    wrong = args;
    wrong.b = TensorView::row_major(nullptr, DType::f16, {64, 64});
    check_refused(row, wrong, Reason::layout, Operand::b);
    wrong = args;
    wrong.a.strides[0] = 68;
    check_refused(row, wrong, Reason::leading_alignment, Operand::a);
    CHECK_THAT(Kernel(row).supports(wrong).message(),
               Catch::Contains("a leading dimension that is a multiple of 8 elements, got 68"));
    wrong = args;
    wrong.b.strides[1] = 68;         // lines of B lie along K,
    wrong.epilogue.alpha.value = 0;  // which is 0 then
    check_refused(row, wrong, Reason::leading_alignment, Operand::b);
    wrong = args;
    wrong.b.assumed_alignment = 2;
    check_refused(row, wrong, Reason::pointer_alignment, Operand::b);
    CHECK_THAT(Kernel(row).supports(wrong).message(),
               Catch::Contains("a pointer that is a multiple of 8 elements, got a multiple of 1"));
    wrong = {.a = TensorView::row_major(nullptr, DType::f16, {2, 64, 64}),
             .b = TensorView::column_major(nullptr, DType::f16, {2, 64, 64}),
             .out = TensorView::row_major(nullptr, DType::f16, {2, 64, 64})};
    if (out == Layout::column) wrong.out = TensorView::column_major(nullptr, DType::f16, {2, 64, 64});
    wrong.b.strides[0] = 4100;
    check_refused(row, wrong, Reason::batch_alignment, Operand::b);
    CHECK_THAT(Kernel(row).supports(wrong).message(),
               Catch::Contains("a batch stride that is a multiple of 8 elements, got 4100"));
    wrong = args;
    wrong.a.strides = {1000, 2};
    check_refused(row, wrong, Reason::layout, Operand::a);
    wrong = args;
    wrong.controls.split_k_slices = 65;
    check_refused(row, wrong, Reason::split_k_slices, Operand::none);
  }
}

TEST_CASE("devices and grids have limits", "[supports]") {
  const Row& row = tensor_core_row(8);
  GemmProblem problem;
  ChosenControls controls;
  const auto resolved = [&](const GemmArguments& args, const DeviceModel& device) {
    return test::resolve(row, args, {}, device, problem, controls);
  };
  DeviceModel device = test::device_named("h200");
  const GemmArguments args = test::plain_problem(64, 64, 64);
  REQUIRE(resolved(args, device));
  device.cc = 75;
  CHECK(resolved(args, device).reason() == Reason::compute_capability);
  device.cc = 90;
  device.shared_memory_per_block = row.metadata.design.shared_memory - 1;
  CHECK(resolved(args, device).reason() == Reason::shared_memory);
  device = test::device_named("h200");
  CHECK(resolved(test::plain_problem(2147483647, 2147483647, 8), device).reason() == Reason::grid_limit);
  CHECK(resolved(args, DeviceModel{}).code() == StatusCode::invalid_arguments);
  CHECK_THAT(resolved(args, DeviceModel{}).message(), Catch::Contains("device model is incomplete"));
}

TEST_CASE("the fast clamp takes K up to 256", "[supports]") {
  int found = 0;
  for (const Row& row : detail::rows()) {
    if (!row.metadata.epilogue.fast_clamp) continue;
    ++found;
    const Kernel kernel(row);
    GemmArguments args = test::plain_problem(64, 64, 256, DType::s8);
    if (row.metadata.operands.out.layout == Layout::column) {
      args.out = TensorView::column_major(nullptr, DType::s8, {64, 64});
    }
    CHECK(kernel.supports(args));
    args.a = TensorView::row_major(nullptr, DType::s8, {64, 257}, 272);
    args.b = TensorView::column_major(nullptr, DType::s8, {257, 64}, 272);
    CHECK(kernel.supports(args).reason() == Reason::k_limit);
    CHECK(kernel.supports(args).message() == "K is unsupported: expected at most 256, got 257");
    args.epilogue.alpha = 0.0;  // then nothing is summed
    CHECK(kernel.supports(args));
  }
  CHECK(found > 0);
}

TEST_CASE("without K, a batch stride is to blame before lines of which there may be one", "[query]") {
  const std::vector<Kernel> kernels = get_kernels(
      *Filter::parse("family == gemm_sm80 and a.dtype == f32 and a.layout == column and a.alignment == 4 and "
                     "b.alignment == 1 and b.layout == row and out.layout == row"));
  REQUIRE_FALSE(kernels.empty());
  GemmArguments args{.a = TensorView::column_major(nullptr, DType::f32, {5, 636, 1}, 1),
                     .b = TensorView::row_major(nullptr, DType::f32, {5, 1, 2}),
                     .out = TensorView::row_major(nullptr, DType::f32, {5, 636, 2})};
  args.a.strides = {641, 1, 1, 0};
  args.a.assumed_alignment = 4;
  args.math = kernels[0].metadata().design.math;
  args.epilogue.alpha.value = 0;
  check_refused(detail::row_of(kernels[0]), args, Reason::batch_alignment, Operand::a);
}

TEST_CASE("without K, a pointer that is known to be misaligned is to blame before lines", "[query]") {
  const std::vector<Kernel> kernels = get_kernels(
      *Filter::parse("family == gemm_sm80 and a.dtype == f16 and b.dtype == f16 and a.layout == column and "
                     "a.alignment == 4 and b.alignment == 4 and b.layout == row and out.layout == row"));
  REQUIRE_FALSE(kernels.empty());
  const OperandsMetadata& o = kernels[0].metadata().operands;
  GemmArguments args{.a = TensorView::column_major(nullptr, DType::f16, {127, 1}, 1),
                     .b = TensorView::row_major(nullptr, DType::f16, {1, 8}),
                     .out = TensorView::row_major(nullptr, o.out.dtype, {127, 8})};
  args.a.strides = {1, 1, 0, 0};
  args.a.assumed_alignment = 2;
  args.accumulator = o.accumulator;
  args.math = kernels[0].metadata().design.math;
  args.epilogue.alpha.value = 0;
  check_refused(detail::row_of(kernels[0]), args, Reason::pointer_alignment, Operand::a);
}

TEST_CASE("controls of a kernel give way to those of the arguments, and to what is possible", "[supports]") {
  const Row& row = tensor_core_row(8);
  const DeviceModel device = test::device_named("h200");
  GemmProblem problem;
  ChosenControls chosen;
  const Controls kernel = {
      .mode = Mode::split_k_parallel, .split_k_slices = 4, .swizzle = 2, .raster = Raster::along_m};
  GemmArguments args = test::plain_problem(256, 256, 4096);
  REQUIRE(test::resolve(row, args, kernel, device, problem, chosen));
  CHECK(chosen.mode == Mode::split_k_parallel);
  CHECK(chosen.split_k_slices == 4);
  CHECK(chosen.swizzle == 2);
  CHECK(chosen.raster == Raster::along_m);
  CHECK(chosen.multiprocessors == device.multiprocessors);

  args.controls.raster = Raster::along_n;
  args.controls.swizzle = 8;
  args.controls.split_k_slices = 2;
  REQUIRE(test::resolve(row, args, kernel, device, problem, chosen));
  CHECK(chosen.swizzle == 8);
  CHECK(chosen.raster == Raster::along_n);
  CHECK(chosen.split_k_slices == 2);

  args.controls = {.mode = Mode::gemm};
  REQUIRE(test::resolve(row, args, kernel, device, problem, chosen));
  CHECK(chosen.mode == Mode::gemm);
  CHECK(chosen.split_k_slices == 1);

  args = test::plain_problem(256, 256, 8);  // too little K for what was chosen for another problem
  REQUIRE(test::resolve(row, args, kernel, device, problem, chosen));
  CHECK(chosen.split_k_slices == 1);
}
