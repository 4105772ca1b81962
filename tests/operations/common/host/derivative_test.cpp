/// The derivatives of the activations are what differences of the activations tend to.
#include "operations/common/host/derivative.hpp"

#include <cmath>

#include "operations/common/host/activation.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

constexpr Activation all[] = {Activation::identity,  Activation::relu,    Activation::leaky_relu,
                              Activation::tanh,      Activation::sigmoid, Activation::silu,
                              Activation::hardswish, Activation::gelu,    Activation::gelu_tanh};

TEST_CASE("A derivative is the limit of differences", "[expression]") {
  constexpr double step = 1e-4;
  for (const Activation function : all) {
    for (double x = -40.005; x < 40; x += 0.0731) {
      const auto f = [&](double y) { return host::activate(function, 0.25F, y); };
      const double difference = (f(x + step) - f(x - step)) / (2 * step);
      INFO("activation " << static_cast<int>(function) << " at " << x);
      REQUIRE(std::abs(host::derivative(function, 0.25F, x) - difference) < 1e-6);
      REQUIRE(std::abs(host::derivative(function, 0.25F, static_cast<float>(x)) - difference) < 1e-5F);
    }
  }
}

TEST_CASE("At a corner it is that of the left side, of NaN it is NaN, and far from 0 it is a number",
          "[expression]") {
  CHECK(host::derivative(Activation::relu, 0.25F, 0.0) == 0);
  CHECK(host::derivative(Activation::leaky_relu, 0.25F, 0.0) == 0.25);
  CHECK(host::derivative(Activation::hardswish, 0.25F, -3.0) == 0);
  CHECK(host::derivative(Activation::hardswish, 0.25F, 3.0) == 1.5);
  for (const Activation function : all) {
    INFO("activation " << static_cast<int>(function));
    CHECK(std::isnan(host::derivative(function, 0.25F, std::nan(""))));
    CHECK(std::isfinite(host::derivative(function, 0.25F, 1e30F)));
    CHECK(std::isfinite(host::derivative(function, 0.25F, -1e30F)));
  }
}

}  // namespace
}  // namespace quarry
