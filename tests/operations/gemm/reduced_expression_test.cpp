/// GEMMs that cut K in parallel and leave their expression to the reduction: on the host, in launches, in the
/// ranking, and what is refused.
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "gemm/expression_params.hpp"
#include "gemm/params.hpp"
#include "operations/common/expression/interned.hpp"
#include "quarry/quarry.hpp"
#include "reduce_split_k/params.hpp"
#include "registry/query/own_kernels.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"
#include "support/prepared_launch.hpp"

using namespace quarry;

namespace {

using test::parsed;
using test::run_all;

constexpr Controls cut_in_three = {.mode = Mode::split_k_parallel, .split_k_slices = 3};

/// 3 x 5 sums of 500 products of small whole numbers: exact in whatever order.
struct Numbers {
  static constexpr std::int64_t m = 3, n = 5, k = 500;
  std::vector<float> a = std::vector<float>(m * k);
  std::vector<float> b = std::vector<float>(k * n);
  std::vector<float> out = std::vector<float>(m * n);

  Numbers() {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 5) - 2;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 11 % 7) - 3;
  }
  GemmArguments product(Layout layout, Controls controls) {
    GemmArguments args = {.a = TensorView::row_major(a.data(), DType::f32, {m, k}),
                          .b = TensorView::row_major(b.data(), DType::f32, {k, n}),
                          .out = TensorView::row_major(out.data(), DType::f32, {m, n}),
                          .controls = controls};
    if (layout == Layout::column) args.out = TensorView::column_major(out.data(), DType::f32, {m, n});
    return args;
  }
  float sum(std::int64_t row, std::int64_t column) const {
    float sum = 0;
    for (std::int64_t i = 0; i < k; ++i)
      sum += a[static_cast<std::size_t>(row * k + i)] * b[static_cast<std::size_t>(i * n + column)];
    return sum;
  }
};

/// A problem without memory, 64 x 48 outputs of 8192 products.
GemmArguments fake(DType type, Layout layout, std::string_view text, std::string_view with) {
  GemmArguments args = {.a = TensorView::row_major(nullptr, type, {64, 8192}),
                        .b = TensorView::column_major(nullptr, type, {8192, 48}),
                        .out = TensorView::row_major(nullptr, type, {64, 48}),
                        .controls = cut_in_three};
  if (layout == Layout::column) args.out = TensorView::column_major(nullptr, type, {64, 48});
  args.expression = parsed(text, with);
  return args;
}

/// One with tensors of unequal strides.
GemmArguments fake_with_tensors(Layout layout) {
  GemmArguments args =
      fake(DType::bf16, layout, "z = sum + v; out = z * x", "v=f32:per_row,x=f16:col,z=f32:row");
  args.tensors = {{"x", TensorView::column_major(nullptr, DType::f16, {64, 48}, 80)},
                  {"v", TensorView::vector(nullptr, DType::f32, 64)},
                  {"z", TensorView::row_major(nullptr, DType::f32, {64, 48}, 56)}};
  return args;
}

std::string entry_name(const Kernel& kernel, const Launch& launch, const Step& step) {
  return std::string(detail::entry_of(detail::entry_of_step(detail::row_of(kernel), launch, step)).name);
}

}  // namespace

TEST_CASE("gemm: a reduction computes an expression with tensors of every shape", "[gemm][expression]") {
  Numbers numbers;
  const float row[] = {10, 20, 30};
  const float column[] = {100, 200, 300, 400, 500};
  std::array<float, Numbers::m* Numbers::n> matrix = {};
  std::iota(matrix.begin(), matrix.end(), 1.F);
  std::array<int, Numbers::m* Numbers::n> twice = {};
  for (const Layout layout : {Layout::row, Layout::column}) {
    GemmArguments args = numbers.product(layout, cut_in_three);
    args.expression = parsed("twice = sum * 2; out = sum + r + c + m * s",
                             "r=f32:per_row,c=f32:per_column,m=f32:row,s=f32:scalar,twice=s32:row");
    args.tensors = {{"c", TensorView::vector(column, DType::f32, Numbers::n)},
                    {"m", TensorView::row_major(matrix.data(), DType::f32, {Numbers::m, Numbers::n})},
                    {"twice", TensorView::row_major(twice.data(), DType::s32, {Numbers::m, Numbers::n})},
                    {"r", TensorView::vector(row, DType::f32, Numbers::m)},
                    {"s", {}, 0.5}};
    CHECK(run_all(args, [&] {
            for (std::int64_t i = 0; i < Numbers::m; ++i) {
              for (std::int64_t j = 0; j < Numbers::n; ++j) {
                const auto by_rows = static_cast<std::size_t>(i * Numbers::n + j);
                const auto at =
                    layout == Layout::row ? by_rows : static_cast<std::size_t>(j * Numbers::m + i);
                const float sum = numbers.sum(i, j);
                REQUIRE(numbers.out[at] == sum + row[i] + column[j] + matrix[by_rows] / 2);
                REQUIRE(twice[by_rows] == static_cast<int>(2 * sum));
              }
            }
            numbers.out.assign(numbers.out.size(), 0);
            twice = {};
          }) > 0);
  }
}

TEST_CASE("gemm: a plan whose reduction has the expression runs on other tensors", "[gemm][expression]") {
  Numbers numbers;
  GemmArguments args = numbers.product(Layout::row, cut_in_three);
  args.expression = parsed("out = sum + x", "x=f32:row");
  args.tensors = {{"x", args.out}};  // in place
  const Result<Candidate> best = find_best(args);
  REQUIRE(best);
  const Result<Plan> plan = best->prepare(args);
  REQUIRE(plan);
  std::vector<float> x(numbers.out.size(), 7);
  std::vector<float> out(numbers.out.size(), 0);
  alignas(256) static std::array<std::byte, 1 << 16> memory;
  REQUIRE(best->workspace() <= memory.size());
  const PlanOperands operands = {{Operand::a, numbers.a.data()},
                                 {Operand::b, numbers.b.data()},
                                 {tensor_operand(0), x.data()},
                                 {Operand::out, out.data()}};
  REQUIRE(plan->run(operands, nullptr, {memory.data(), memory.size()}));
  for (std::int64_t i = 0; i < Numbers::m * Numbers::n; ++i)
    REQUIRE(out[static_cast<std::size_t>(i)] == numbers.sum(i / Numbers::n, i % Numbers::n) + 7);
  CHECK(plan->run(operands, nullptr, {memory.data(), 16}).code() == StatusCode::invalid_workspace);
  args.tensors = {{"x", TensorView::row_major(nullptr, DType::f32, {Numbers::m, Numbers::n})}};
  CHECK(best->run(args, {.workspace = {memory.data(), memory.size()}}).operand() == tensor_operand(0));
}

TEST_CASE("gemm: the kernel of a parallel split-K is the plain one, and its reduction has the expression",
          "[gemm][expression]") {
  std::set<std::string_view> families;
  for (const Layout layout : {Layout::row, Layout::column}) {
    const GemmArguments args = fake_with_tensors(layout);
    GemmArguments plain = args;
    plain.expression = std::nullopt;
    plain.tensors = {};
    for (const Candidate& kernel : get_kernels(args)) {
      INFO(kernel.name());
      const detail::Row& row = detail::row_of(kernel);
      const auto prepared = test::launch_of(kernel, args);
      const Launch& launch = prepared->launch;
      const auto without = test::launch_of(kernel, plain);
      REQUIRE(launch.steps.count == 2);
      const Step& gemm = launch.steps[0];
      const Step& reduction = launch.steps[1];
      CHECK(entry_name(kernel, launch, gemm) == detail::entry_of(row.entry).name);
      CHECK(entry_name(kernel, launch, reduction) ==
            detail::entry_name_with(detail::entry_of(row.companions[0]).name, *launch.expression));
      // The expression is all that is added to the launch without one.
      CHECK(gemm.bytes == without->launch.steps[0].bytes);
      CHECK(reduction.bytes == without->launch.steps[1].bytes + sizeof(ExpressionParams));
      CHECK(launch.workspace_bytes == without->launch.workspace_bytes);
      CHECK(launch.relocations.count == without->launch.relocations.count + 3);
      families.insert(kernel.metadata().family);
    }
  }
  CHECK(families == std::set<std::string_view>{"gemm_simt", "gemm_sm80", "gemm_sm90"});
}

TEST_CASE("gemm: a reduction's tensors lie as its output does", "[gemm][expression]") {
  std::map<bool, int> transposed;
  for (const Layout layout : {Layout::row, Layout::column}) {
    const GemmArguments args = fake_with_tensors(layout);
    for (const Candidate& kernel : get_kernels(args)) {
      INFO(kernel.name());
      const auto prepared = test::launch_of(kernel, args);
      const Launch& launch = prepared->launch;
      const Step& step = launch.steps[1];
      const auto& params = params_of<WithExpression<ReduceParams>>(launch.image, step);
      // A reduction of 64 rows is the arguments' own.
      const bool is_transposed = params.m != 64;
      REQUIRE(params.out.row_stride == (is_transposed == (layout == Layout::row) ? 1 : params.n));
      const auto check = [&](int place, long long row_stride, long long column_stride, int tensor) {
        const MatrixParams& matrix = params.expression.tensors[place].matrix;
        CHECK(matrix.row_stride == (is_transposed ? column_stride : row_stride));
        CHECK(matrix.column_stride == (is_transposed ? row_stride : column_stride));
        const auto at = reinterpret_cast<const std::byte*>(&matrix.data) - launch.image;
        int found = 0;
        for (const Relocation& r : launch.relocations)
          found += r.source == tensor_operand(tensor) && r.at == at && r.kind == Relocation::Kind::pointer;
        CHECK(found == 1);
      };
      const auto inputs = args.expression->inputs();
      REQUIRE((inputs.size() == 2 && inputs[0].name == "v" && inputs[1].name == "x"));
      check(0, 1, 0, 1);
      check(1, 1, 80, 0);
      check(2, 56, 1, 2);
      ++transposed[is_transposed];
    }
  }
  CHECK(transposed[false] > 0);
  CHECK(transposed[true] > 0);
}

TEST_CASE("gemm: one slice leaves the expression to the kernel", "[gemm][expression]") {
  GemmArguments args = fake(DType::bf16, Layout::row, "out = relu(sum)", "");
  args.controls = {.mode = Mode::split_k_parallel, .split_k_slices = 1};
  for (const Candidate& kernel : get_kernels(args)) {
    INFO(kernel.name());
    const auto prepared = test::launch_of(kernel, args);
    REQUIRE(prepared->launch.steps.count == 1);
    CHECK(has_expression(prepared->launch, prepared->launch.steps[0]));
    CHECK(prepared->launch.workspace_bytes == 0);
  }
}

TEST_CASE("gemm: the modes that are chosen for an expression are those without", "[gemm][expression]") {
  std::map<std::string_view, int> cut;
  GemmArguments args = fake(DType::bf16, Layout::row, "out = relu(sum)", "");
  args.controls = {};
  for (const Candidate& kernel : get_kernels(args)) {
    if (kernel.controls().mode != Mode::split_k_parallel) continue;
    ++cut[kernel.metadata().family];
    CHECK(kernel.workspace() == *kernel.workspace_size(args));
  }
  CHECK(cut["gemm_sm80"] > 0);
  CHECK(cut["gemm_sm90"] > 0);
}

TEST_CASE("gemm: the reduction takes the time of an expression's matrices", "[gemm][expression]") {
  const GemmArguments without = fake(DType::bf16, Layout::row, "out = relu(sum)", "");
  GemmArguments with = fake(DType::bf16, Layout::row, "out = sum + x + y", "x=bf16:row,y=bf16:row");
  with.tensors = {{"x", with.out}, {"y", with.out}};
  const DeviceModel& device = default_device_model();
  const double bytes = 64 * 48 * 2 * 2;
  int checked = 0;
  for (const Candidate& kernel : get_kernels(with)) {
    INFO(kernel.name());
    const Result<Account> one = account_of(kernel, without);
    const Result<Account> other = account_of(kernel, with);
    REQUIRE((one && other));
    const double more = (*other)[TimePart::exchange] - (*one)[TimePart::exchange];
    CHECK(more > 0.3 * bytes / device.memory_bandwidth);
    CHECK(more < 3 * bytes / device.memory_bandwidth);
    CHECK(std::abs(other->seconds - one->seconds - more) < 1e-3 * more);
    CHECK((*other)[TimePart::epilogue] == (*one)[TimePart::epilogue]);
    ++checked;
  }
  CHECK(checked > 20);
}

TEST_CASE("gemm: reductions refuse pairs and reductions of an expression", "[gemm][expression]") {
  GemmArguments lines = fake(DType::bf16, Layout::row, "out = sum; r = row_sum(sum)", "");
  lines.tensors = {{"r", TensorView::vector(nullptr, DType::f32, 64)}};
  const GemmArguments pairs = [] {
    GemmArguments args = fake(DType::bf16, Layout::row, "out = silu(gate(sum)) * up(sum)", "");
    args.out = test::matrix(DType::bf16, 64, 24);
    return args;
  }();
  const GemmArguments groups = fake(DType::bf16, Layout::row, "out = sum / group_max(sum)", "");
  for (GemmArguments args : {lines, pairs, groups}) {
    test::check_nothing_found(args, "Mode `split_k_parallel` is unsupported with gated pairs and reductions",
                              StatusCode::unsupported);
    args.controls = {};
    const auto found = get_kernels(args);
    REQUIRE_FALSE(found.empty());
    for (const Candidate& kernel : found) CHECK(kernel.controls().mode != Mode::split_k_parallel);
  }
}
