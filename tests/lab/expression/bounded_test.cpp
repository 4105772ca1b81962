/// What the float64 reference says of kernels' values.
#include "lab/expression/bounded.hpp"

#include <cmath>
#include <limits>

#include "lab/expression/reference.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

using detail::ValueType;
using lab::Bounded;
using lab::could_be_stored;

Bounded call(const char* name, std::initializer_list<Bounded> x, ValueType type = ValueType::f32) {
  const auto function = detail::find_function(name, x.size());
  REQUIRE(function);
  return lab::BoundedArithmetic(1).call(detail::functions()[*function], type, x.begin());
}

TEST_CASE("A bound grows by rounding and by what operands may be", "[expression]") {
  CHECK(call("*", {{3, 0}, {5, 0}}).radius == Approx(15 * 0x1p-24).epsilon(1e-6));
  CHECK(call("*", {{3, 0.5}, {5, 0.25}}).radius == Approx(3.5 * 5.25 - 15).epsilon(1e-6));
  CHECK(call("abs", {{0.125, 0.5}}).radius == Approx(0.5));
  CHECK(call("max", {{1, 0}, {2, 0}}).radius == 0);
  CHECK(call("exp", {{2, 0}}).radius == Approx(4 * 0x1p-24 * std::exp(2)).epsilon(1e-6));
  CHECK(call("+", {{1, 0}, {2, 0}}, ValueType::f64).radius < 1e-15);
  CHECK(call("+", {{2147483647, 0}, {1, 0}}, ValueType::s32).value == -2147483648.0);
}

TEST_CASE("A bound holds what a function has between the ends of its operand", "[expression]") {
  // As both were met: the ends differ less from the centre than what lies at the jump behind it.
  CHECK(call("hardswish_derivative", {{3.00039, 0.313}}).radius >= 0.5);
  CHECK(call("hardswish_derivative", {{-3.5, 6}}).radius >= 1);
  const auto function =
      GENERATE(as<std::string>(), "hardswish_derivative", "silu_derivative", "gelu_derivative",
               "gelu_tanh_derivative", "hardswish", "silu", "gelu", "gelu_tanh", "tanh");
  const detail::Function& f = detail::functions()[*detail::find_function(function, 1)];
  for (double centre = -12; centre < 12; centre += 0.37) {
    for (const double radius : {0.01, 0.3, 1.0, 4.0, 11.0}) {
      const Bounded bound = call(function.c_str(), {{centre, radius}});
      for (int i = -200; i <= 200; ++i) {
        const double x = centre + radius * i / 200;
        INFO(function << " around " << centre << " within " << radius << " at " << x);
        REQUIRE(std::abs(f.in_f64(&x) - bound.value) <= bound.radius);
      }
    }
  }
}

TEST_CASE("A bound says where nothing is known", "[expression]") {
  CHECK_FALSE(call("/", {{1, 0}, {0.5, 1}}).is_known());
  CHECK_FALSE(call("log", {{0.5, 1}}).is_known());
  CHECK_FALSE(call("*", {{1e30, 0}, {1e30, 0}}).is_known());
  CHECK(call("*", {{1e30, 0}, {1e30, 0}}, ValueType::f64).is_known());
  // It multiplies by 6 before it divides by 6.
  CHECK_FALSE(call("hardswish", {{6.07603023e37, 0}}).is_known());
  CHECK(call("hardswish", {{4e37, 0}}).is_known());
  CHECK(call("relu", {{6.07603023e37, 0}}).is_known());
  CHECK(call("<", {{1, 0.1}, {1.05, 0}}).radius == 1);
  CHECK(call("<", {{1, 0.1}, {1.15, 0}}).radius == 0);
  CHECK(call("select", {{1, 0}, {3, 0}, {0, std::numeric_limits<double>::infinity()}}).radius == 0);
  CHECK(call("select", {{1, 1}, {3, 0}, {7, 0}}).radius == Approx(4));
}

TEST_CASE("What is stored lies between the rounded ends of the bound", "[expression]") {
  CHECK(could_be_stored({1, 0}, DType::f32, 1));
  CHECK_FALSE(could_be_stored({1, 0}, DType::f32, 1 + 0x1p-23));
  CHECK(could_be_stored({1, 0x1p-22}, DType::f32, 1 + 0x1p-23));
  CHECK_FALSE(could_be_stored({1, 0x1p-22}, DType::f32, 1 + 0x1p-21));
  CHECK(could_be_stored({0.5, 0x1p-30}, DType::s8, 0));
  CHECK(could_be_stored({0.5, 0x1p-30}, DType::s8, 1));
  CHECK_FALSE(could_be_stored({0.5, 0x1p-30}, DType::s8, 2));
  CHECK(could_be_stored({300, 1}, DType::s8, 127));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(could_be_stored({nan, 0}, DType::f16, nan));
  CHECK_FALSE(could_be_stored({nan, 0}, DType::f16, 0));
  CHECK_FALSE(could_be_stored({0, 0}, DType::f16, nan));
  CHECK(could_be_stored({nan, 0}, DType::s8, 0));
  CHECK(could_be_stored({5, std::numeric_limits<double>::infinity()}, DType::s8, 100));
}

TEST_CASE("Wrong elements are counted", "[expression]") {
  float values[] = {1, 2, 3, 4, 5, 6};
  const host::HostOperand output = {.data = values, .type = DType::f32, .strides = {0, 0, 3, 1}};
  lab::ExpectedOutput expected = {{1, 1, 2, 3}, {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}}};
  std::int64_t unknown = 0;
  CHECK(lab::wrong_elements(expected, output, unknown) == 0);
  values[4] = 5.001F;
  values[0] = 0;
  CHECK(lab::wrong_elements(expected, output, unknown) == 2);
  expected.values[0].radius = std::numeric_limits<double>::infinity();
  CHECK(lab::wrong_elements(expected, output, unknown) == 1);
  CHECK(unknown == 1);
}

}  // namespace
}  // namespace quarry
