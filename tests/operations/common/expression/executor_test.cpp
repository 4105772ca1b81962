/// Expressions on host tensors: small ones whose results are known.
#include "operations/common/expression/executor.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

using expression::Declarations;
using host::Extents4;
using host::HostOperand;

/// An expression on vectors of f32 or s32: inputs as they are given, outputs that are compared.
struct Run {
  Expression e;
  Extents4 extents;
  std::vector<HostOperand> inputs = {};
  std::vector<HostOperand> outputs = {};

  Run(const std::string& text, const std::string& tensors, Extents4 all, DType sum = DType::f32)
      : e(*Expression::parse(text, *Declarations::parse(tensors, sum))), extents(all) {}

  template <class T>
  void add(std::vector<HostOperand>& to, std::vector<T>& values, const TensorView& view) {
    const bool is_input = &to == &inputs;
    const auto shape = is_input ? e.inputs()[to.size()].shape : e.outputs()[to.size()].tensor.shape;
    to.push_back(host::operand_of(view, *shape));
    to.back().data = values.data();
  }

  void run(const std::vector<double>& sums = {}, const std::vector<double>& ups = {}) {
    host::ExpressionExecutor executor(e.graph(), extents, inputs, {}, {outputs});
    executor.run([&](const host::ElementPlace& p) {
      const std::int64_t at = ((p[0] * extents[1] + p[1]) * extents[2] + p[2]) * extents[3] + p[3];
      return host::PartSums{sums.data() + at, ups.empty() ? nullptr : ups.data() + at};
    });
  }
};

TensorView matrix(DType type, std::int64_t rows, std::int64_t columns) {
  return TensorView::row_major(nullptr, type, {rows, columns});
}

TEST_CASE("Inputs broadcast by their shapes", "[expression]") {
  Run run("out = x * 100 + r * 10 + f32(c) + s", "x=f32:col,r=f32:per_row,c=s32:per_column,s=f32:scalar",
          {1, 1, 2, 3}, DType::none);
  std::vector<float> x = {1, 2, 3, 4, 5, 6};  // columns (1, 2), (3, 4), (5, 6)
  std::vector<float> r = {1, 2};
  std::vector<std::int32_t> c = {7, 8, 9};
  std::vector<float> s = {0.5F};
  std::vector<float> out(6);
  run.add(run.inputs, x, TensorView::column_major(nullptr, DType::f32, {2, 3}));
  run.add(run.inputs, r, TensorView::vector(nullptr, DType::f32, 2));
  run.add(run.inputs, c, TensorView::vector(nullptr, DType::s32, 3));
  run.add(run.inputs, s, TensorView::vector(nullptr, DType::f32, 1));
  run.add(run.outputs, out, matrix(DType::f32, 2, 3));
  run.run();
  CHECK(out == std::vector<float>{117.5F, 318.5F, 519.5F, 227.5F, 428.5F, 629.5F});
  run.inputs[3].data = nullptr;  // a value from the host
  run.inputs[3].value = 1000;
  run.run();
  CHECK(out[0] == 1117);
}

TEST_CASE("An index chooses rows of a table, and none outside of it", "[expression]") {
  Run run("out = t[i] + f32(i) / 8; m = column_max(u[i])", "t=f32:gathered,i=s32:per_row,u=s8:gathered",
          {1, 1, 6, 2}, DType::none);
  std::vector<std::int32_t> i = {2, 0, -1, 3, 2147483647, -2147483647 - 1};
  std::vector<float> t = {1, 2, 3, 4, 5, 6};
  std::vector<std::int8_t> u = {-7, -8, -5, -6, -3, -4};
  std::vector<float> out(12);
  std::vector<std::int32_t> m(2);
  run.add(run.inputs, i, TensorView::vector(nullptr, DType::s32, 6));
  run.add(run.inputs, t, matrix(DType::f32, 3, 2));
  run.add(run.inputs, u, TensorView::column_major(nullptr, DType::s8, {3, 2}));
  run.add(run.outputs, out, matrix(DType::f32, 6, 2));
  run.add(run.outputs, m, TensorView::vector(nullptr, DType::s32, 2));
  run.run();
  const std::vector<float> first(out.begin(), out.begin() + 8);
  CHECK(first == std::vector<float>{5.25F, 6.25F, 1, 2, -0.125F, -0.125F, 0.375F, 0.375F});
  CHECK(out[8] == static_cast<float>(2147483647.0 / 8));
  CHECK(m == std::vector<std::int32_t>{0, 0});
  run.inputs[1] = {nullptr, DType::f32, {}, 0, 0};  // a table without rows
  run.run();
  CHECK(out[0] == 0.25F);
}

TEST_CASE("Batches of matrices share what has no batch", "[expression]") {
  Run run("out = x + y", "x=f32:row,y=f32:row", {1, 2, 1, 2}, DType::none);
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> y = {10, 20};
  std::vector<float> out(4);
  run.add(run.inputs, x, TensorView::row_major(nullptr, DType::f32, {2, 1, 2}));
  run.add(run.inputs, y, matrix(DType::f32, 1, 2));
  run.add(run.outputs, out, TensorView::row_major(nullptr, DType::f32, {2, 1, 2}));
  run.run();
  CHECK(out == std::vector<float>{11, 22, 13, 24});
}

TEST_CASE("Reductions leave one value for all, rows, columns and groups", "[expression]") {
  constexpr std::int64_t columns = 130;
  Run run(
      "out = sum; a = max(abs(sum)); r = row_sum(sum); c = column_max(sum); g = group_sum(sum); "
      "n = sqrt(row_sum(sum) + 6)",
      "", {1, 1, 2, columns});
  std::vector<double> sums(2 * columns, 1);
  sums[5] = -7;
  sums[columns + 129] = 3;
  std::vector<float> out(2 * columns), a(1), r(2), c(columns), g(4), n(2);
  run.add(run.outputs, out, matrix(DType::f32, 2, columns));
  run.add(run.outputs, a, TensorView::vector(nullptr, DType::f32, 1));
  run.add(run.outputs, r, TensorView::vector(nullptr, DType::f32, 2));
  run.add(run.outputs, c, TensorView::vector(nullptr, DType::f32, columns));
  run.add(run.outputs, g, matrix(DType::f32, 2, 2));
  run.add(run.outputs, n, TensorView::vector(nullptr, DType::f32, 2));
  run.run(sums);
  CHECK(a[0] == 7);
  CHECK(r == std::vector<float>{122, 132});
  CHECK(c[5] == 1);
  CHECK(c[129] == 3);
  CHECK(g == std::vector<float>{120, 2, 128, 4});
  CHECK(n[0] == std::sqrt(128.0F));
}

TEST_CASE("A reduction of parts that are added is that of the whole", "[expression]") {
  const Expression e = *Expression::parse("out = sum; r = column_sum(sum); a = max(sum)");
  std::vector<float> out(6), r(3), a(1);
  const HostOperand outputs[] = {{out.data(), DType::f32, {0, 0, 3, 1}},
                                 {r.data(), DType::f32, {0, 0, 0, 1}},
                                 {a.data(), DType::f32, {}}};
  const std::vector<double> sums = {1, 2, 3, 4, 5, 6};
  host::ExpressionExecutor first(e.graph(), {1, 1, 2, 3}, {}, {}, {outputs});
  host::ExpressionExecutor second(e.graph(), {1, 1, 2, 3}, {}, {}, {outputs});
  first.part({0, 0, 0, 0}, 3, {sums.data(), nullptr});
  second.part({0, 0, 1, 0}, 3, {sums.data() + 3, nullptr});
  first.add(second);
  first.finish();
  CHECK(out == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(r == std::vector<float>{5, 7, 9});
  CHECK(a[0] == 6);
}

TEST_CASE("Pairs, scales of groups, whole numbers and NaN", "[expression]") {
  Run gated("out = gate(sum) * up(sum)", "", {1, 1, 1, 2});
  std::vector<float> out(2);
  gated.add(gated.outputs, out, matrix(DType::f32, 1, 2));
  gated.run({2, 3}, {10, 20});
  CHECK(out == std::vector<float>{20, 60});

  Run scaled("s = group_max(abs(sum)) / 4; out = sum / s", "s=f32:row", {1, 1, 1, 2});
  std::vector<float> s(1);
  scaled.add(scaled.outputs, s, matrix(DType::f32, 1, 1));
  scaled.add(scaled.outputs, out, matrix(DType::f32, 1, 2));
  scaled.run({-8, 2});
  CHECK(s[0] == 2);
  CHECK(out == std::vector<float>{-4, 1});

  Run whole("out = sum * 2 + f; a = sum(sum)", "f=s32:scalar", {1, 1, 1, 2}, DType::s32);
  std::vector<std::int32_t> f = {1}, integers(2), a(1);
  whole.add(whole.inputs, f, TensorView::vector(nullptr, DType::s32, 1));
  whole.add(whole.outputs, integers, matrix(DType::s32, 1, 2));
  whole.add(whole.outputs, a, TensorView::vector(nullptr, DType::s32, 1));
  whole.run({2147483647, 3});
  CHECK(integers == std::vector<std::int32_t>{-1, 7});  // it wraps
  CHECK(a[0] == -2147483646);

  Run nans("out = max(min(sum, 1), 0); m = max(sum); t = select(sum > 0, 1, sum)", "", {1, 1, 1, 2});
  std::vector<float> m(1), t(2);
  nans.add(nans.outputs, out, matrix(DType::f32, 1, 2));
  nans.add(nans.outputs, m, TensorView::vector(nullptr, DType::f32, 1));
  nans.add(nans.outputs, t, matrix(DType::f32, 1, 2));
  nans.run({std::nan(""), 2});
  CHECK(std::isnan(out[0]));
  CHECK(out[1] == 1);
  CHECK(std::isnan(m[0]));
  CHECK(std::isnan(t[0]));
}

TEST_CASE("Numbers alone are as exact as the sums", "[expression]") {
  Run wide("out = select(sum > 0, 0.1, sqrt(2))", "", {1, 1, 1, 2}, DType::f64);
  std::vector<double> out(2);
  wide.add(wide.outputs, out, matrix(DType::f64, 1, 2));
  wide.run({1, -1});
  CHECK(out == std::vector<double>{0.1, std::sqrt(2.0)});

  Run whole("out = select(sum > 0, 16777217, -2147483648)", "", {1, 1, 1, 2}, DType::s32);
  std::vector<std::int32_t> integers(2);
  whole.add(whole.outputs, integers, matrix(DType::s32, 1, 2));
  whole.run({1, -1});
  CHECK(integers == std::vector<std::int32_t>{16777217, std::numeric_limits<std::int32_t>::min()});
}

TEST_CASE("Nothing is read or written where an extent is 0", "[expression]") {
  Run run("out = sum; a = max(sum); r = row_sum(sum)", "", {1, 1, 2, 0});
  std::vector<float> a(1), r = {5, 5};
  run.outputs = {{nullptr, DType::f32, {}}, {a.data(), DType::f32, {}}, {r.data(), DType::f32, {0, 0, 1, 0}}};
  run.run();
  CHECK(a[0] == -HUGE_VALF);
  CHECK(r == std::vector<float>{0, 0});
}

}  // namespace
}  // namespace quarry
