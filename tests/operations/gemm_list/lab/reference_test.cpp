/// The float64 reference of lists.
#include "lab/reference/reference.hpp"

#include <cstdint>
#include <vector>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

/// An output of two problems that are one line each. Both of its strides may be 1.
TensorView lines(std::vector<float>& values, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                 std::int64_t column_stride) {
  return TensorView::strided(values.data(), DType::f32, {{2, rows, columns}},
                             {{rows * columns, row_stride, column_stride}});
}

}  // namespace

TEST_CASE("the reference knows the places of outputs of one line, whatever the stride between lines",
          "[gemm_list][lab]") {
  constexpr std::int64_t length = 5, k = 2;
  const std::vector<float> line = {1, 2, 3, 4};  // of each problem: its row of A, or its column of B
  std::vector<float> numbers;
  for (int i = 0; i < 2 * k * length; ++i) numbers.push_back(static_cast<float>(i + 1));
  for (const bool one_row : {true, false}) {
    const std::int64_t m = one_row ? 1 : length, n = one_row ? length : 1;
    for (const std::int64_t between : {std::int64_t{1}, length}) {
      INFO((one_row ? "one row" : "one column") << ", stride " << between);
      std::vector<float> values(2 * length, 0);
      GemmListArguments args;
      args.a = TensorView::row_major((one_row ? line : numbers).data(), DType::f32, {2, m, k});
      args.b = TensorView::row_major((one_row ? numbers : line).data(), DType::f32, {2, k, n});
      args.out = one_row ? lines(values, m, n, between, 1) : lines(values, m, n, 1, between);
      const std::vector<std::int32_t> sizes = {static_cast<int>(m), static_cast<int>(n), 2,
                                               static_cast<int>(m), static_cast<int>(n), 0};
      const std::vector<std::int32_t> leading(8, static_cast<int>(length));
      args.sizes = TensorView::row_major(sizes.data(), DType::s32, {2, 3});
      args.leading = TensorView::row_major(leading.data(), DType::s32, {2, 4});
      const auto reference = lab::compute_reference(args, {.threads = 1});
      REQUIRE(reference);
      const lab::Expected& out = (*reference)[Operand::out];
      REQUIRE(out.values.size() == 2 * length);
      for (std::size_t i = 0; i < length; ++i) {
        const double product =
            one_row ? numbers[i] + 2 * numbers[length + i] : numbers[2 * i] + 2 * numbers[2 * i + 1];
        CHECK(out.values[i] == product);
        CHECK(out.values[length + i] == 0);
      }
    }
  }
}
