/// Elementwise problems on the host, and what stands between arguments and kernels.
#include <array>
#include <string>
#include <vector>

#include "operations/common/expression/interned.hpp"
#include "operations/elementwise/code.hpp"
#include "operations/elementwise/operation.hpp"
#include "operations/elementwise/problem.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"

using namespace quarry;

namespace {

using test::parsed_elementwise;
using test::run_all;

ElementwiseProblem simplified(const ElementwiseArguments& args) {
  detail::OperandList operands;
  detail::elementwise::Rules::operands(args, operands);
  ElementwiseProblem problem;
  const Status status = detail::elementwise::Rules::check(args, operands, problem);
  INFO(status.message());
  REQUIRE(status);
  return problem;
}

std::vector<long long> extents_of(const ElementwiseProblem& problem) {
  return {problem.params.extents, problem.params.extents + 4};
}

TensorView fake(std::initializer_list<std::int64_t> extents, DType type = DType::f32) {
  return TensorView::row_major(nullptr, type, extents);
}

}  // namespace

TEST_CASE("elementwise: rows, columns, vectors and scalars are broadcast", "[elementwise]") {
  const float x[] = {1, 2, 3, 4, 5, 6};
  const float per_row[] = {10, 20};
  const float per_column[] = {100, 200, 300};
  const float by_columns[] = {1000, 4000, 2000, 5000, 3000, 6000};
  std::array<float, 8> out = {};
  const ElementwiseArguments args = {
      .expression = parsed_elementwise("out = x + r + c + t + s",
                                       "x=f32:row,r=f32:per_row,c=f32:per_column,t=f32:col,s=f32:scalar"),
      .tensors = {{"x", TensorView::row_major(x, DType::f32, {2, 3})},
                  {"r", TensorView::vector(per_row, DType::f32, 2)},
                  {"c", TensorView::vector(per_column, DType::f32, 3)},
                  {"t", TensorView::column_major(by_columns, DType::f32, {2, 3})},
                  {"s", {}, 0.5},
                  {"out", TensorView::row_major(out.data(), DType::f32, {2, 3}, 4)}}};
  run_all(args, [&] {
    CHECK(out == std::array<float, 8>{1111.5, 2212.5, 3313.5, 0, 4124.5, 5225.5, 6326.5, 0});
    out = {};
  });
}

TEST_CASE("elementwise: an index chooses rows of a table", "[elementwise]") {
  const float table[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::array<int, 3> index = {2, -1, 0};
  std::array<float, 12> out = {};
  ElementwiseArguments args = {.expression = parsed_elementwise("out = t[i]", "t=f32:gathered,i=s32:per_row"),
                               .tensors = {{"t", TensorView::row_major(table, DType::f32, {3, 4})},
                                           {"i", TensorView::vector(index.data(), DType::s32, 3)},
                                           {"out", TensorView::row_major(out.data(), DType::f32, {3, 4})}}};
  CHECK(run_all(args, [&] {
          CHECK(out == std::array<float, 12>{9, 10, 11, 12, 0, 0, 0, 0, 1, 2, 3, 4});
          out = {};
        }) > 5);
  CHECK(extents_of(simplified(args)) == std::vector<long long>{1, 1, 3, 4});
  index = {3, 1, 2147483647};
  run_all(args, [&] {
    CHECK(out == std::array<float, 12>{0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0});
    out = {};
  });
  args.tensors[0].view = TensorView::row_major(table, DType::f32, {2, 3, 4});
  test::check_nothing_found(args, "`t` does not fit `out` along the batch");
  args.tensors[0].view = TensorView::row_major(table, DType::f32, {4, 3});
  test::check_nothing_found(args, "`t` does not fit `out` along columns: expected 4 or 1, got 3");
  args.tensors[0].view = TensorView::vector(table, DType::f32, 4);
  test::check_nothing_found(args, "is gathered: expected a matrix");
  args.tensors[0].view = args.tensors[2].view;
  test::check_nothing_found(args, "`t`");
}

TEST_CASE("elementwise: one row of a table, whose lines lie apart, and its reduction", "[elementwise]") {
  const float table[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const int index = 2;
  std::array<float, 4> out = {};
  float total = 0;
  ElementwiseArguments args = {
      .expression = parsed_elementwise("x = t[i]; out = x; total = row_sum(x)",
                                       "t=f32:gathered,i=s32:per_row,total=f32:per_row"),
      .tensors = {{"t", TensorView::row_major(table, DType::f32, {3, 4}, 5)},
                  {"i", TensorView::vector(&index, DType::s32, 1)},
                  {"out", TensorView::vector(out.data(), DType::f32, 4)},
                  {"total", TensorView::vector(&total, DType::f32, 1)}}};
  run_all(args, [&] {
    CHECK(out == std::array<float, 4>{11, 12, 13, 14});
    CHECK(total == 50);
    out = {};
  });
  const auto found = get_kernels(args);  // lines at odd addresses: no vectors
  for (const Candidate& kernel : found) CHECK(kernel.name().substr(0, 14) == "elementwise_v1");
  // What they are reduced to is the only output.
  args.expression = parsed_elementwise("out = row_sum(t[i])", "t=f32:gathered,i=s32:per_row");
  args.tensors = {args.tensors[0], args.tensors[1], {"out", TensorView::vector(&total, DType::f32, 1)}};
  run_all(args, [&] {
    CHECK(total == 50);
    total = 0;
  });
}

TEST_CASE("elementwise: an output may be its input, and types convert with saturation", "[elementwise]") {
  std::array<float, 4> values = {1, -200, 3.5, 1e9};
  const Expression twice = parsed_elementwise("out = x * 2", "x=f32:row");
  const TensorView view = TensorView::vector(values.data(), DType::f32, 4);
  REQUIRE(find_best(ElementwiseArguments{twice, {{"x", view}, {"out", view}}})
              ->run(ElementwiseArguments{twice, {{"x", view}, {"out", view}}}));
  CHECK(values == std::array<float, 4>{2, -400, 7, 2e9});
  std::array<signed char, 4> bytes = {};
  run_all({parsed_elementwise("out = x", "x=f32:row"),
           {{"out", TensorView::vector(bytes.data(), DType::s8, 4)}, {"x", view}}},
          [&] {
            CHECK(bytes == std::array<signed char, 4>{2, -128, 7, 127});
          });
}

TEST_CASE("elementwise: several outputs, and none with elements", "[elementwise]") {
  const float x[] = {-1, 2};
  float out[2] = {};
  int whole[2] = {};
  const Expression both = parsed_elementwise("y = x * 3; out = relu(x)", "x=f32:row,y=s32:row");
  run_all({both,
           {{"x", TensorView::vector(x, DType::f32, 2)},
            {"y", TensorView::vector(whole, DType::s32, 2)},
            {"out", TensorView::vector(out, DType::f32, 2)}}},
          [&] {
            CHECK((whole[0] == -3 && whole[1] == 6));
            CHECK((out[0] == 0 && out[1] == 2));
          });
  run_all({both, {{"x", fake({0, 5})}, {"y", fake({0, 5}, DType::s32)}, {"out", fake({0, 5})}}}, [] {});
}

TEST_CASE("elementwise: a copy keeps all bits", "[elementwise]") {
  const std::array<unsigned, 3> x = {0x7f800001, 0xffc12345, 0x80000000};  // NaNs among them
  std::array<unsigned, 3> out = {};
  const Expression copy = parsed_elementwise("out = x", "x=f32:row");
  const ElementwiseArguments args = {copy,
                                     {{"x", TensorView::vector(x.data(), DType::f32, 3)},
                                      {"out", TensorView::vector(out.data(), DType::f32, 3)}}};
  run_all(args, [&] {
    CHECK(out == x);
    out = {};
  });
  CHECK(simplified(args).expression == nullptr);
  CHECK(extents_of(simplified(args)) == std::vector<long long>{1, 1, 1, 12});
}

TEST_CASE("elementwise: extents are as few as can be", "[elementwise]") {
  const Expression sum = parsed_elementwise("out = x + y", "x=f32:row,y=f32:row");
  const auto of = [&](const TensorView& x, const TensorView& y, const TensorView& out) {
    return extents_of(simplified({sum, {{"x", x}, {"y", y}, {"out", out}}}));
  };
  using Extents = std::vector<long long>;
  CHECK(of(fake({2, 3, 4, 5}), fake({2, 3, 4, 5}), fake({2, 3, 4, 5})) == Extents{1, 1, 1, 120});
  CHECK(of(fake({2, 3, 4, 5}), fake({1, 1, 4, 5}), fake({2, 3, 4, 5})) == Extents{1, 1, 6, 20});
  CHECK(of(fake({6, 5}), fake({5}), fake({6, 5})) == Extents{1, 1, 6, 5});
  CHECK(of(fake({6, 5}), fake({6, 5}), TensorView::row_major(nullptr, DType::f32, {6, 5}, 8)) ==
        Extents{1, 1, 6, 5});
  const TensorView columns = TensorView::column_major(nullptr, DType::f32, {6, 5});
  CHECK(of(columns, columns, columns) == Extents{1, 1, 1, 30});
  CHECK(of(fake({6, 5}), columns, columns) == Extents{1, 1, 5, 6});
  CHECK(of(fake({6, 1}), fake({6, 1}), fake({6, 1})) == Extents{1, 1, 1, 6});
}

TEST_CASE("elementwise: kernels of vectors take what is aligned and lies together", "[elementwise]") {
  const Expression sum = parsed_elementwise("out = x + y", "x=bf16:row,y=bf16:row");
  const auto supported = [&](const TensorView& x) {
    const TensorView out = fake({6, 16}, DType::bf16);
    return find_kernel("elementwise_v8_u2")
        ->supports(ElementwiseArguments{sum, {{"x", x}, {"y", out}, {"out", out}}});
  };
  CHECK(supported(fake({6, 16}, DType::bf16)));
  TensorView unaligned = fake({6, 16}, DType::bf16);
  unaligned.assumed_alignment = 8;
  CHECK(supported(unaligned).message().find("misaligned") != std::string::npos);
  CHECK(supported(TensorView::row_major(nullptr, DType::bf16, {6, 16}, 20)).message().find("misaligned") !=
        std::string::npos);
  CHECK(supported(TensorView::row_major(nullptr, DType::bf16, {6, 16}, 24)));
  CHECK_FALSE(supported(TensorView::column_major(nullptr, DType::bf16, {6, 16})));
}

TEST_CASE("elementwise: code has the expression's types, and entries its number", "[elementwise]") {
  const Expression sum = parsed_elementwise("out = x + y", "x=bf16:row,y=f32:row,out=f16:row");
  const Result<std::string> code = detail::elementwise::code_of(sum, "name");
  REQUIRE(code);
  CHECK(code->find("struct name {") != std::string::npos);
  CHECK(code->find("i == 0 ? DType::bf16 : i == 1 ? DType::f32 : DType::f16") != std::string::npos);
  const detail::InternedExpression* const kept = detail::interned(sum);
  CHECK(kept == detail::interned(parsed_elementwise(sum.text(), sum.declarations().text())));
  CHECK(kept->number == sum.hash());
  CHECK(detail::find_interned(kept->number) == kept);
  const std::string name = detail::entry_name_with("elementwise_v8_u4", *kept);
  const auto parts = detail::parse_expression_entry(name);
  REQUIRE(parts);
  CHECK((parts->entry == "elementwise_v8_u4" && parts->number == kept->number));
  CHECK_FALSE(detail::parse_expression_entry("elementwise_v8_u4"));
  CHECK_FALSE(detail::parse_expression_entry("elementwise_v8_u4_x0123456789abcdeg"));
}

TEST_CASE("elementwise: a plan runs on other tensors", "[elementwise]") {
  const float x[] = {1, 2, 3};
  const float other[] = {4, 5, 6};
  float out[3] = {};
  const Expression sum = parsed_elementwise("out = x + s", "x=f32:row,s=f32:scalar");
  const ElementwiseArguments args = {sum,
                                     {{"s", {}, 1},
                                      {"x", TensorView::vector(x, DType::f32, 3)},
                                      {"out", TensorView::vector(out, DType::f32, 3)}}};
  const Result<Plan> plan = find_best(args)->prepare(args);
  REQUIRE(plan);
  REQUIRE(plan->run({{tensor_operand(1), other}, {Operand::out, out}}, nullptr));
  CHECK((out[0] == 5 && out[1] == 6 && out[2] == 7));
}

TEST_CASE("many elements go to wide accesses, one vector a thread", "[elementwise][ranking]") {
  // Four vectors a thread took twice as long for 2^28 sums on an H200.
  const Expression sum = parsed_elementwise("out = x + y", "x=bf16:row,y=bf16:row");
  const TensorView view = fake({16384, 16384}, DType::bf16);
  const ElementwiseArguments args = {sum, {{"x", view}, {"y", view}, {"out", view}}};
  const DeviceModel h200 = *find_device_model("h200");
  const CandidateList found = get_kernels(args, {}, {.device = &h200});
  INFO(found.status().message());
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().name() == "elementwise_v16_u1");
}
