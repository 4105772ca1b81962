/// NaN and infinities of e4m3 and e5m2 on the device: what operands make of sums, and what outputs of 8 bits
/// make of them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gpu/device_case.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/common/host/element.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

constexpr int a_rows = 96;
constexpr int b_columns = 80;
constexpr int sum_terms = 272;

/// What stands in a row of A or a column of B, each in one place: NaN of any code and, of e5m2, infinities.
std::vector<std::vector<std::uint8_t>> special_lines(DType type) {
  if (type == DType::e4m3) return {{0x7f}, {0xff}, {0xff, 0x7f}};
  return {{0x7d}, {0xff}, {0x7c}, {0xfc}, {0x7c, 0xfc}, {0xfc, 0xfc}, {0x7c, 0xfe}};
}

/// Puts them into lines of an operand that are contiguous along K, here and on the device.
void place_specials(const TensorView& host, const TensorView& device, int lines, Random& random) {
  auto* const codes = static_cast<std::uint8_t*>(const_cast<void*>(host.data));
  int line = 0;
  for (const std::vector<std::uint8_t>& special : special_lines(host.dtype)) {
    int place = between(random, 0, sum_terms - 1);
    for (const std::uint8_t code : special) {
      codes[line * sum_terms + place] = code;
      place = (place + between(random, 1, sum_terms - 1)) % sum_terms;
    }
    line += 11;
  }
  must(cudaMemcpy(const_cast<void*>(device.data), host.data, static_cast<std::size_t>(lines) * sum_terms,
                  cudaMemcpyHostToDevice));
}

GemmArguments fp8_shape(DType a, DType b, DType out, Accumulation accumulation) {
  GemmArguments shape = {.a = TensorView::row_major(nullptr, a, {a_rows, sum_terms}),
                         .b = TensorView::column_major(nullptr, b, {sum_terms, b_columns}),
                         .out = TensorView::row_major(nullptr, out, {a_rows, b_columns}),
                         .accumulation = accumulation};
  // Sums are whole numbers of about 33. Many are too large for an output of 8 bits then.
  if (out == DType::e4m3) shape.epilogue.alpha = 16;
  if (out == DType::e5m2) shape.epilogue.alpha = 2048;
  return shape;
}

std::vector<GemmArguments> all_shapes() {
  std::vector<GemmArguments> shapes;
  for (const DType a : {DType::e4m3, DType::e5m2}) {
    for (const DType b : {DType::e4m3, DType::e5m2}) {
      for (const DType out : {DType::e4m3, DType::e5m2, DType::bf16}) {
        for (const Accumulation sums : {Accumulation::fast, Accumulation::precise})
          shapes.push_back(fp8_shape(a, b, out, sums));
      }
    }
  }
  return shapes;
}

/// Sums are exact, and so is what an output of its type holds of them: NaN, or that very number.
void check_outputs(const TensorView& out, std::span<const double> reference) {
  int wrong = 0;
  for (int i = 0; i < a_rows * b_columns; ++i) {
    double stored = 0;
    host::write_element(out.dtype, &stored, 0, reference[static_cast<std::size_t>(i)]);
    const double wanted = host::read_element(out.dtype, &stored, 0);
    const double got = host::read_element(out.dtype, out.data, i);
    if (wanted == got || (std::isnan(wanted) && std::isnan(got))) continue;
    INFO("row " << i / b_columns << ", column " << i % b_columns);
    CHECK(got == wanted);
    if (++wrong == 4) return;  // they show enough
  }
}

/// Whether the reference has what the test is about: NaN, and infinities where an operand can hold some.
void check_reference(std::span<const double> values, bool has_infinity) {
  CHECK(std::ranges::any_of(values, [](double x) { return std::isnan(x); }));
  CHECK(std::ranges::any_of(values, [](double x) { return std::isfinite(x); }));
  for (const double sign : {1.0, -1.0})
    CHECK(std::ranges::any_of(values, [&](double x) { return x * sign == INFINITY; }) == has_infinity);
}

}  // namespace

TEST_CASE("NaN and infinities of 8-bit floats become what the reference says") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const std::vector<GemmArguments> shapes = all_shapes();
  const std::vector<Arguments> problems(shapes.begin(), shapes.end());
  const bool is_hopper = default_device_model().cc == 90;
  for (const char* const which : {"family == gemm_simt", "family == gemm_sm90 and orientation == direct",
                                  "family == gemm_sm90 and orientation == exchanged"}) {
    const Filter filter = must(Filter::parse(which));
    (void)warm_up(problems, {.device = 0}, filter);  // compiles on all processors
    int ran = 0;
    for (const GemmArguments& shape : shapes) {
      CAPTURE(which, to_string(shape.a.dtype), to_string(shape.b.dtype), to_string(shape.out.dtype),
              to_string(shape.accumulation));
      DeviceCase c(shape, {.seed = random(), .values = lab::Values::small_integers});
      const GemmArguments& host = c.problem.arguments;
      place_specials(host.a, c.arguments().a, a_rows, random);
      place_specials(host.b, c.arguments().b, b_columns, random);
      const lab::Reference reference = must(lab::compute_reference(host));
      const std::vector<double>& values = reference[Operand::out].values;
      check_reference(values, shape.a.dtype == DType::e5m2 || shape.b.dtype == DType::e5m2);
      const CandidateList found = get_kernels(c.arguments(), filter, {.limit = 1});
      if (found.empty()) continue;  // Hopper's are for Hopper, and not all of its promote sums
      const DeviceWorkspace workspace(found.front(), c.arguments());
      c.reset();
      must(found.front().run(c.arguments(), {.workspace = workspace}));
      must(c.device.download_outputs(c.problem));
      must(c.problem.check_outputs());
      INFO(found.front().name());
      check_outputs(host.out, values);
      ++ran;
    }
    // gemm_simt has kernels of all; Hopper's have all types, half of which are without promoted sums.
    const auto all = static_cast<int>(shapes.size());
    const bool is_simt = std::string_view(which) == "family == gemm_simt";
    CHECK(ran >= (is_simt ? all : is_hopper ? all / 2 : 0));
  }
  check_no_error_left();
}
