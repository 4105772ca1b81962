// Questions that were asked before: their answers are as if they were new.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/held_arguments.hpp"
#include "lab/verify/path_order.hpp"
#include "quarry/quarry.hpp"
#include "registry/query/own_entries.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"
#include "support/gemm_rules.hpp"
#include "support/kernel_problems.hpp"
#include "support/registry_problems.hpp"
#include "support/same_answers.hpp"

namespace {

using namespace quarry;
using test::between;
using test::check_same;
using test::coin;
using test::h200;
using test::on_h200;
using test::Random;

}  // namespace

TEST_CASE("a question asked again is answered as if it were new", "[query]") {
  const auto seed = GENERATE(1U, 2U, 3U);
  INFO("seed " << seed);
  Random random(seed);
  const std::vector<DeviceModel> devices = test::some_devices();
  std::vector<GemmArguments> problems;
  for (int i = 0; i < 60; ++i) {
    problems.push_back(test::problem_for(random, test::any_row(random)));
    // Neighbours that differ in one thing only, which is what a key could overlook.
    GemmArguments other = problems.back();
    const auto toggle = [&other](std::optional<TensorView>& matrix) {
      matrix = matrix ? std::nullopt : std::optional(other.out);
    };
    switch (random() % 10) {
      case 0: other.a.assumed_alignment = static_cast<std::uint16_t>(bytes_of(other.a.dtype)); break;
      case 1: other.b.strides[0] += 1; break;
      case 2: other.controls = test::random_controls(random); break;
      case 3: other.epilogue.alpha = 0.0; break;
      case 4: other.epilogue.beta = other.epilogue.beta.value == 0 ? 1.0 : 0.0, other.c = other.out; break;
      case 5: other.accumulator = DType::f16; break;
      case 6: other.a.strides[other.a.rank - 1U] = 0; break;
      case 7: toggle(other.epilogue.residual); break;
      case 8: toggle(other.epilogue.aux); break;
      default: other.b.strides[other.b.rank - 2U] = 0; break;
    }
    problems.push_back(other);
  }
  for (int i = 0; i < 4000; ++i) {
    const GemmArguments& args = problems[random() % problems.size()];
    FindOptions options;
    options.limit = 1;
    DeviceModel device = devices[random() % devices.size()];
    if (random() % 8 == 0) device.multiprocessors = between(random, 40, 42);
    if (random() % 4 != 0) options.device = &device;
    constexpr std::size_t workspaces[] = {0, 1 << 20, std::numeric_limits<std::size_t>::max()};
    options.max_workspace = test::one_of(random, workspaces);
    if (random() % 4 == 0) options.order = Order::registry;
    if (random() % 8 == 0) options.availability = Availability::precompiled;
    CAPTURE(i, args.a.extents, args.b.extents, device.name, options.max_workspace);
    check_same(get_kernels(args, {}, options), test::find_afresh(args, {}, options));
  }
}

TEST_CASE("a question with another expression is another question", "[query][expression]") {
  constexpr const char* texts[] = {"out = relu(sum)",
                                   "out = silu(sum)",
                                   "out = sum; most = row_max(abs(sum))",
                                   "out = sum; all = sum(sum)",
                                   "out = silu(gate(sum)) * up(sum)",
                                   "out = sum / group_max(abs(sum))"};
  std::vector<GemmArguments> problems = {test::plain_problem(512, 512, 512)};
  for (const char* text : texts) {
    GemmArguments args = problems.front();
    args.expression = test::parsed(text, "");
    if (args.expression->is_gated()) args.b = TensorView::column_major(nullptr, args.b.dtype, {512, 1024});
    for (const DType type : {DType::f32, DType::f16}) {
      args.tensors.clear();
      for (const auto& [output, extent] : args.expression->outputs()) {
        const std::int64_t values = extent == expression::Extent::row ? 512 : 1;
        if (output.name != "out")
          args.tensors.push_back({output.name, TensorView::vector(nullptr, type, values)});
      }
      problems.push_back(args);
    }
  }
  Random random(9);
  for (int i = 0; i < 500; ++i) {
    const GemmArguments& args = problems[random() % problems.size()];
    FindOptions options = on_h200();
    options.limit = 1;
    if (coin(random)) options.order = Order::registry;
    CAPTURE(args.expression ? args.expression->text() : "");
    check_same(get_kernels(args, {}, options), test::find_afresh(args, {}, options));
  }
}

TEST_CASE("a question of any operation asked again is answered as if it were new", "[query]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<DeviceModel> devices = test::some_devices();
  for (const lab::OperationLab& lab : lab::operation_labs()) {
    INFO(lab.name);
    std::vector<lab::HeldArguments> problems;
    for (const Kernel& kernel : test::some_kernels(lab.operation, 12, random)) {
      const lab::Problem problem = test::problem_for(kernel, random(), 0);
      problems.push_back(arguments_of(problem));
      for (const std::int64_t number : lab::problem_numbers(kernel.metadata(), {}, random()))
        problems.push_back(arguments_of(test::problem_for(kernel, random(), number)));
    }
    for (int i = 0; i < 400; ++i) {
      const lab::HeldArguments& args = problems[random() % problems.size()];
      FindOptions options = on_h200();
      options.limit = 1;
      if (random() % 2 == 0) options.device = &devices[random() % devices.size()];
      if (random() % 4 == 0) options.max_workspace = 1 << 16;
      if (random() % 4 == 0) options.order = Order::registry;
      check_same(get_kernels(args, {}, options), test::find_afresh(args, {}, options));
    }
  }
}

TEST_CASE("a list of GEMMs whose sizes changed in place is another question", "[query]") {
  constexpr std::int64_t count = 64;
  std::vector<std::int32_t> sizes(3 * count, 1024);
  const std::int64_t extents[] = {count, 3};
  const std::int64_t strides[] = {3, 1};
  const GemmListArguments args = {.a = TensorView::row_major(nullptr, DType::bf16, {count, 1024, 1024}),
                                  .b = TensorView::row_major(nullptr, DType::bf16, {count, 1024, 1024}),
                                  .out = TensorView::row_major(nullptr, DType::bf16, {count, 1024, 1024}),
                                  .sizes = TensorView::strided(nullptr, DType::s32, extents, strides),
                                  .host_sizes = sizes};
  FindOptions options = on_h200();
  options.limit = 1;
  std::vector<double> times;
  for (const std::int32_t extent : {1024, 16, 512, 16, 1024}) {
    std::ranges::fill(sizes, extent);
    const CandidateList found = get_kernels(args, {}, options);
    check_same(found, test::find_afresh(args, {}, options));
    REQUIRE(found.size() == 1);
    times.push_back(found.front().predicted_seconds());
  }
  CHECK(times[0] > times[2]);
  CHECK(times[2] > times[1]);
  CHECK(times[1] == times[3]);
}

TEST_CASE("more devices than are remembered are answered all the same", "[query]") {
  const GemmArguments args = test::plain_problem(512, 512, 512);
  for (int i = 0; i < 3 * detail::most_devices; ++i) {
    DeviceModel device = h200();
    device.clock *= 1 + 0.01 * i;
    FindOptions options;
    options.device = &device;
    options.limit = 1;
    const CandidateList list = get_kernels(args, {}, options);
    REQUIRE(list.size() == 1);
    check_same(list, get_kernels(args, {}, options));
    options.limit = 1000000;
    check_same(list[0], get_kernels(args, {}, options)[0]);
  }
}
