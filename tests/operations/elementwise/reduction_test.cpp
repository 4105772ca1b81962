/// Elementwise problems with reductions on the host, and how their launches are made.
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "elementwise/reduced_params.hpp"
#include "operations/elementwise/code.hpp"
#include "operations/elementwise/operation.hpp"
#include "quarry/quarry.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"

using namespace quarry;

namespace {

using test::parsed_elementwise;
using test::run_all;

constexpr float x_values[] = {1, -2, 3, 4, 5, -6};
const TensorView x = TensorView::row_major(x_values, DType::f32, {2, 3});
TensorView vector_of(float* data, std::int64_t length) {
  return TensorView::vector(data, DType::f32, length);
}

}  // namespace

TEST_CASE("elementwise: rows, columns and all are reduced", "[elementwise][reductions]") {
  std::array<float, 6> out = {};
  std::array<float, 2> rows = {};
  std::array<float, 3> columns = {};
  float most = 0;
  float all = 0;
  const float factors[] = {2, 3};
  const ElementwiseArguments args = {
      .expression =
          parsed_elementwise("out = abs(x); rows = row_sum(x) * f; columns = column_max(x); m = max(abs(x)); "
                             "all = sum(x)",
                             "x=f32:row,f=f32:per_row"),
      .tensors = {{"x", x},
                  {"f", TensorView::vector(factors, DType::f32, 2)},
                  {"out", TensorView::row_major(out.data(), DType::f32, {2, 3})},
                  {"rows", vector_of(rows.data(), 2)},
                  {"columns", vector_of(columns.data(), 3)},
                  {"m", vector_of(&most, 1)},
                  {"all", vector_of(&all, 1)}}};
  CHECK(run_all(args, [&] {
          CHECK(out == std::array<float, 6>{1, 2, 3, 4, 5, 6});
          CHECK(rows == std::array<float, 2>{4, 9});
          CHECK(columns == std::array<float, 3>{4, 5, 3});
          CHECK((most == 6 && all == 5));
          out = {}, rows = {}, columns = {}, most = all = 0;
        }) > 0);
}

TEST_CASE("elementwise: `out` may be what a reduction leaves, of inputs that say the extents",
          "[elementwise][reductions]") {
  std::array<float, 2> out = {};
  CHECK(
      run_all(
          {parsed_elementwise("out = row_sum(x * b)", "x=f32:row,b=f32:per_column"),
           {{"x", x}, {"b", TensorView::vector(x_values, DType::f32, 3)}, {"out", vector_of(out.data(), 2)}}},
          [&] {
            CHECK(out == std::array<float, 2>{14, -24});
            out = {};
          }) > 0);
}

TEST_CASE("elementwise: groups of 128 columns scale 8-bit outputs", "[elementwise][reductions]") {
  constexpr int columns = 300;
  std::vector<float> values(2 * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97) - 40;
  std::vector<unsigned char> out(values.size());
  std::array<float, 6> scales = {};
  const ElementwiseArguments args = {
      .expression =
          parsed_elementwise("s = group_max(abs(x)) / 448; out = x / s", "x=f32:row,s=f32:row,out=e4m3:row"),
      .tensors = {{"x", TensorView::row_major(values.data(), DType::f32, {2, columns})},
                  {"s", TensorView::row_major(scales.data(), DType::f32, {2, 3})},
                  {"out", TensorView::row_major(out.data(), DType::e4m3, {2, columns})}}};
  CHECK(run_all(args, [&] {
          for (std::size_t group = 0; group < scales.size(); ++group) {
            float most = 0;
            for (std::size_t i = group % 3 * 128; i < std::min<std::size_t>(columns, group % 3 * 128 + 128);
                 ++i)
              most = std::max(most, std::abs(values[group / 3 * columns + i]));
            CHECK(scales[group] == most / 448);
          }
          CHECK(out[56 + 40] != 0);
        }) > 0);
}

TEST_CASE("elementwise: NaN passes through the greatest value", "[elementwise][reductions]") {
  const float with_nan[] = {1, std::nanf(""), 3, 4, 5, 6};
  std::array<float, 2> out = {};
  run_all({parsed_elementwise("out = row_max(x)", "x=f32:row"),
           {{"x", TensorView::row_major(with_nan, DType::f32, {2, 3})}, {"out", vector_of(out.data(), 2)}}},
          [&] {
            CHECK((std::isnan(out[0]) && out[1] == 6));
            out = {};
          });
}

TEST_CASE("elementwise: reductions of nothing are 0, or the lowest number", "[elementwise][reductions]") {
  std::array<float, 2> total = {1, 1};
  std::array<float, 2> most = {1, 1};
  const TensorView none = TensorView::row_major(nullptr, DType::f32, {2, 0});
  CHECK(run_all({parsed_elementwise("out = x; total = row_sum(x); most = row_max(x)", "x=f32:row"),
                 {{"x", none},
                  {"out", none},
                  {"total", vector_of(total.data(), 2)},
                  {"most", vector_of(most.data(), 2)}}},
                [&] {
                  CHECK(total == std::array<float, 2>{0, 0});
                  CHECK(most[1] == -std::numeric_limits<float>::infinity());
                  total = most = {1, 1};
                }) > 0);
}

TEST_CASE("elementwise: long rows are shared, and a second step adds up", "[elementwise][reductions]") {
  const auto prepared = [](std::string_view text, std::int64_t rows, std::int64_t columns) {
    const TensorView tensor = TensorView::row_major(nullptr, DType::f32, {rows, columns});
    ElementwiseArguments args = {.expression = parsed_elementwise(text, "x=f32:row"),
                                 .tensors = {{"x", tensor}}};
    for (const expression::Output& output : args.expression.outputs()) {
      const bool is_element = output.extent == expression::Extent::element;
      args.tensors.push_back(
          {output.tensor.name, is_element ? tensor : TensorView::vector(nullptr, DType::f32, rows)});
    }
    return args;
  };
  const auto steps = [](const ElementwiseArguments& args) {
    const auto kernel = find_kernel("elementwise_v4_u1");
    REQUIRE(kernel);
    detail::OperandList operands;
    detail::elementwise::Rules::operands(args, operands);
    ElementwiseProblem problem;
    REQUIRE(detail::elementwise::Rules::check(args, operands, problem));
    Launch launch;
    detail::elementwise::Rules::launch(detail::row_of(*kernel), problem, {}, launch);
    const Result<std::size_t> workspace = kernel->workspace_size(args);
    REQUIRE(workspace);
    CHECK(*workspace == launch.workspace_bytes);
    return launch.steps.count;
  };
  CHECK(steps(prepared("out = x; r = row_sum(x)", 100000, 512)) == 1);
  CHECK(steps(prepared("out = x; r = row_sum(x)", 4, 1 << 20)) == 2);
  CHECK(steps(prepared("out = x / group_max(x)", 4, 1 << 20)) == 1);
}

TEST_CASE("elementwise: code of reductions names what is reduced", "[elementwise][reductions]") {
  const Expression e = parsed_elementwise("out = x; r = row_max(x); s = row_sum(x) * f",
                                          "x=f32:row,f=f32:per_row,out=f32:row,r=f32:per_row,s=f32:per_row");
  const Result<std::string> code = detail::elementwise::code_of(e, "own");
  REQUIRE(code);
  for (const char* part :
       {"row_count = 2", "f.template of<true>(0, a.", "f.template of<false>(1, a.",
        "using Parameters = ReducedElementwiseParams", "lane.template input<DType::f32, 1>()",
        "lane.template output<DType::f32, 3>(out.out1)"}) {
    INFO(*code);
    CHECK(code->find(part) != std::string::npos);
  }
}

TEST_CASE("elementwise: outputs of reductions that do not fit are refused", "[elementwise][reductions]") {
  std::array<float, 6> memory = {};
  const auto refused = [&](const TensorView& r, const std::string& words) {
    test::check_nothing_found(
        ElementwiseArguments{
            parsed_elementwise("out = x; r = row_sum(x)", "x=f32:row"),
            {{"x", x}, {"r", r}, {"out", TensorView::row_major(memory.data(), DType::f32, {2, 3})}}},
        words);
  };
  float lines[3] = {};
  refused(TensorView::vector(lines, DType::f32, 3), "`r` does not fit `out` along rows: expected 2, got 3");
  refused(TensorView::vector(memory.data() + 2, DType::f32, 2), "`r`");
  // A vector is read again after the first elements of `out` are written.
  float line[3] = {1, 2, 3};
  const TensorView one = TensorView::row_major(line, DType::f32, {1, 3});
  test::check_nothing_found(ElementwiseArguments{parsed_elementwise("out = x + b; c = column_sum(x) * b",
                                                                    "x=f32:row,b=f32:per_column"),
                                                 {{"x", TensorView::row_major(x_values, DType::f32, {1, 3})},
                                                  {"b", TensorView::vector(line, DType::f32, 3)},
                                                  {"c", vector_of(memory.data(), 3)},
                                                  {"out", one}}},
                            "`b`");
}
