/// Problems of paths that cut K, and of paths that are about taps.
#include <random>
#include <set>

#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/conv2d/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using Convolution = lab::conv2d::Problem;

TEST_CASE("conv2d: problems of paths that cut K keep their slices", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const lab::OperationLab& lab = lab::lab_of(Operation::conv2d);
  std::set<std::string_view> met;
  for (const Kernel& kernel : get_kernels(*Filter::parse("operation == conv2d"))) {
    for (std::int64_t number = 0; number < std::ssize(lab.paths); ++number) {
      const lab::Path& path = lab.paths[static_cast<std::size_t>(number)];
      const bool cuts_long_k = path.name == "slices";
      if ((!path.name.starts_with("split_k") && !cuts_long_k) || !path.is_of(kernel.metadata())) continue;
      met.insert(path.name);
      const lab::Problem drawn = lab.emulated(kernel.metadata(), random(), number);
      const Convolution& p = drawn.as<Convolution>();
      INFO(path.name << ", " << kernel.name() << ": " << command_text(drawn));
      CHECK(to_string(p.controls.mode.value()) == (cuts_long_k ? "split_k_serial" : path.name));
      CHECK(p.controls.split_k_slices.value_or(1) >= 2);
    }
  }
  CHECK(met == std::set<std::string_view>{"slices", "split_k_serial", "split_k_parallel", "split_k_cluster"});
}

TEST_CASE("conv2d: paths that are about taps have some", "[conv2d]") {
  const lab::OperationLab& lab = lab::lab_of(Operation::conv2d);
  int kernels = 0;
  for (const Kernel& kernel : get_kernels(*Filter::parse("operation == conv2d"))) {
    for (std::int64_t number = 0; number < std::ssize(lab.paths); ++number) {
      const lab::Path& path = lab.paths[static_cast<std::size_t>(number)];
      const bool is_padding = path.name == "padding";
      const bool is_of_taps = is_padding || path.name == "dilation" || path.name == "turned";
      if (!is_of_taps || !path.is_of(kernel.metadata())) continue;
      ++kernels;
      const lab::Problem drawn = lab.emulated(kernel.metadata(), 1, number);
      const Convolution& p = drawn.as<Convolution>();
      INFO(path.name << ", " << kernel.name() << ": " << command_text(drawn));
      CHECK(p.r * p.s > 1);
      CHECK((path.name == "turned") == p.flips);
      if (is_padding) CHECK(p.padding.height > 0);
    }
  }
  CHECK(kernels > 100);
}

TEST_CASE("conv2d: the residual of whole tiles moves in whole quads", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const lab::OperationLab& lab = lab::lab_of(Operation::conv2d);
  int problems = 0;
  for (const Kernel& kernel : get_kernels(*Filter::parse("operation == conv2d and direction == fprop"))) {
    for (std::int64_t number = 0; number < std::ssize(lab.paths); ++number) {
      const lab::Path& path = lab.paths[static_cast<std::size_t>(number)];
      if (path.name != "whole_tiles_residual" || !path.is_of(kernel.metadata())) continue;
      ++problems;
      const lab::Problem drawn = lab.emulated(kernel.metadata(), random(), number);
      const Convolution& p = drawn.as<Convolution>();
      INFO(kernel.name() << ": " << command_text(drawn));
      REQUIRE(p.epilogue.residual);
      CHECK(p.epilogue.residual->alignment % 4 == 0);
      CHECK(p.epilogue.residual->alignment > 0);
      CHECK(p.epilogue.residual->ld % 4 == 0);
      CHECK(p.out.alignment % 4 == 0);
    }
  }
  CHECK(problems > 0);
}
