/// Convolutions on host tensors: every kernel against sums of single products, in exact numbers; strides of
/// any kind; what is known of small cases.
#include <algorithm>
#include <random>
#include <span>

#include "basic/numbers.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/element.hpp"
#include "operations/conv2d/problem.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/random_convolution.hpp"

using namespace quarry;
using lab::conv2d::Extents;

namespace {

constexpr Memory host_memory = {MemoryKind::host};

TensorView packed(const void* data, DType type, const Extents& e) {
  const Extents strides = {e[1] * e[2] * e[3], e[2] * e[3], e[3], 1};
  return TensorView::strided(data, type, e, strides).on(host_memory);
}

std::vector<Kernel> convolutions() {
  std::vector<Kernel> all = get_kernels();
  std::erase_if(all, [](const Kernel& k) { return k.metadata().operation != Operation::conv2d; });
  return all;
}

}  // namespace

TEST_CASE("conv2d: a window that is known by heart", "[conv2d]") {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<float> w = {1, 10, 100, 1000};
  std::vector<float> y(4, -1);
  Conv2dArguments args{.a = packed(x.data(), DType::f32, {1, 3, 3, 1}),
                       .b = packed(w.data(), DType::f32, {1, 2, 2, 1}),
                       .out = packed(y.data(), DType::f32, {1, 2, 2, 1})};
  const auto run = [&] {
    const Result<Candidate> best = find_best(args);
    INFO(best.status().message());
    REQUIRE(best);
    const Status done = best->run(args);
    INFO(done.message());
    REQUIRE(done);
  };
  run();
  CHECK(y == std::vector<float>{5421, 6532, 8754, 9865});
  args.flips = true;
  run();
  CHECK(y == std::vector<float>{1245, 2356, 4578, 5689});
  // Padding and a stride: the corners of the image.
  args.flips = false;
  args.padding = {1, 1};
  args.stride = {2, 2};
  run();
  CHECK(y == std::vector<float>{1000, 3200, 7040, 9865});
}

TEST_CASE("conv2d: every kernel computes what its products add up to, exactly", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  for (const Kernel& kernel : convolutions()) {
    const KernelMetadata& m = kernel.metadata();
    if (is_interleaved(m.operands.out.layout)) continue;  // interleaved_test.cpp
    INFO(kernel.name());
    REQUIRE(m.direction);
    Conv2dArguments shape =
        test::random_convolution(*m.direction, m.operands.a.dtype, m.operands.out.dtype, 1e5, dice);
    shape.b.dtype = m.operands.b.dtype;
    shape.accumulator = m.operands.accumulator;
    auto problem =
        lab::OperandsOf<Conv2dArguments>::make(shape, {.seed = seed, .values = lab::Values::small_integers});
    REQUIRE(problem);
    const Conv2dArguments& args = problem->arguments;
    const Extents& out = args.out.extents;
    const auto roles = detail::conv2d::roles_of(args);
    const Extents x = roles.activations.extents;
    const Extents w = roles.filters.extents;
    const Extents y = roles.output.extents;
    const Extents e = out;
    std::vector<double> expected(static_cast<std::size_t>(e[0] * e[1] * e[2] * e[3]));
    const auto number = [](const TensorView& view, std::size_t at) {
      return host::read_element(view.dtype, view.data, static_cast<std::int64_t>(at));
    };
    test::each_product(args, x, w, y, [&](const auto& in_x, const auto& in_w, const auto& in_y) {
      const std::size_t at_x = test::packed_index(x, in_x);
      const std::size_t at_w = test::packed_index(w, in_w);
      const std::size_t at_y = test::packed_index(y, in_y);
      switch (args.direction) {
        case Direction::fprop: expected[at_y] += number(args.a, at_x) * number(args.b, at_w); break;
        case Direction::dgrad: expected[at_x] += number(args.a, at_y) * number(args.b, at_w); break;
        default: expected[at_w] += number(args.a, at_y) * number(args.b, at_x);
      }
    });
    // Kernels whose copies move pieces take fewer problems, and say so: tests/kernels/conv2d_sm80/,
    // conv2d_sm90/.
    if (kernel.metadata().family != "conv2d_simt" && !kernel.supports(args)) continue;
    const Result<std::size_t> bytes = kernel.workspace_size(args);
    REQUIRE(bytes);
    std::vector<std::byte> memory(*bytes + 256);  // where K is cut
    void* const workspace =
        reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 255) / 256 * 256);
    const Status done = kernel.run(args, {.workspace = {workspace, *bytes}});
    INFO(done.message());
    REQUIRE(done);
    CHECK(problem->check_outputs());
    int wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double rounded = [&] {
        double value = 0;
        host::with_element(args.out.dtype, [&]<class E>(E) {
          value = static_cast<double>(E::to_value(E::from_value(expected[i])));
        });
        return value;
      }();
      wrong += number(args.out, i) != rounded;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("conv2d: kernels of fast_tf32 multiply rounded operands on the host, too", "[conv2d][math]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  const auto exact = Filter::parse("family == conv2d_simt");
  REQUIRE(exact);
  int tried[3] = {};
  for (const Kernel& kernel : convolutions()) {
    if (kernel.metadata().design.math != Math::fast_tf32) continue;
    INFO(kernel.name());
    const Direction direction = *kernel.metadata().direction;
    Conv2dArguments shape = test::random_convolution(direction, DType::f32, DType::f32, 1e5, dice);
    shape.math = Math::fast_tf32;
    shape.controls.mode = Mode::gemm;  // slices of K would be added up in another order
    auto problem = lab::OperandsOf<Conv2dArguments>::make(shape, {.seed = seed});
    REQUIRE(problem);
    const Conv2dArguments& args = problem->arguments;
    if (!kernel.supports(args)) continue;
    ++tried[static_cast<int>(direction)];
    REQUIRE(kernel.run(args));
    const auto numbers = [](const TensorView& view) {
      const auto& e = view.extents;
      return std::span(static_cast<float*>(const_cast<void*>(view.data)),
                       static_cast<std::size_t>(e[0] * e[1] * e[2] * e[3]));
    };
    const std::vector<float> found(numbers(args.out).begin(), numbers(args.out).end());
    for (const TensorView* operand : {&args.a, &args.b}) {
      const std::span<float> values = numbers(*operand);
      const std::vector<float> before(values.begin(), values.end());
      std::ranges::transform(values, values.begin(), &host::f32_to_tf32);
      CHECK((values.empty() || !std::ranges::equal(values, before)));
    }
    const CandidateList simt = get_kernels(args, *exact);
    REQUIRE_FALSE(simt.empty());
    REQUIRE(simt.front().run(args));
    CHECK(std::ranges::equal(numbers(args.out), found));
  }
  CHECK(std::ranges::all_of(tried, [](int count) { return count > 0; }));
}

TEST_CASE("conv2d: strides of any kind, and what lies between is left alone", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  for (int i = 0; i < 30; ++i) {
    const auto direction = static_cast<Direction>(i % 3);
    Conv2dArguments shape = test::random_convolution(direction, DType::bf16, DType::f32, 1e5, dice);
    for (TensorView* view : {&shape.a, &shape.b, &shape.out}) {
      const auto& e = view->extents;  // images lie inside of rows
      view->strides = {e[3] + dice.between(0, 2), 0, 0, 1};
      view->strides[2] = std::max<std::int64_t>(e[0], 1) * view->strides[0] + dice.between(0, 3);
      view->strides[1] = std::max<std::int64_t>(e[2], 1) * view->strides[2] + dice.between(0, 3);
    }
    shape.epilogue.beta = 0.5;
    shape.c = packed(nullptr, DType::f32, shape.out.extents);
    shape.c->memory = {};
    auto problem = lab::OperandsOf<Conv2dArguments>::make(shape, {.seed = seed});
    INFO(problem.status().message());
    REQUIRE(problem);
    const auto reference = lab::compute_reference(problem->arguments, {.threads = 1});
    REQUIRE(reference);
    const Result<Candidate> best = find_best(problem->arguments);
    INFO(best.status().message());
    REQUIRE(best);
    REQUIRE(best->run(problem->arguments));
    CHECK(problem->check_outputs());
    const lab::Comparison result = compare(*reference, problem->arguments, best->metadata());
    INFO(to_string(direction) << ": " << result.text());
    CHECK(result.within());
  }
}

TEST_CASE("conv2d: without images nothing is done, without products the epilogue remains", "[conv2d]") {
  std::vector<float> w(9 * 4 * 2, 1);
  std::vector<float> none(1);
  Conv2dArguments empty{.a = packed(none.data(), DType::f32, {0, 5, 5, 4}),
                        .b = packed(w.data(), DType::f32, {2, 3, 3, 4}),
                        .out = packed(none.data(), DType::f32, {0, 3, 3, 2})};
  CHECK(find_best(empty)->run(empty));
  std::vector<float> gradient(w.size(), 7);
  const std::vector<float> c(w.size(), 3);
  const Conv2dArguments of_nothing{.direction = Direction::wgrad,
                                   .a = packed(none.data(), DType::f32, {0, 3, 3, 2}),
                                   .b = packed(none.data(), DType::f32, {0, 5, 5, 4}),
                                   .c = packed(c.data(), DType::f32, {2, 3, 3, 4}),
                                   .out = packed(gradient.data(), DType::f32, {2, 3, 3, 4}),
                                   .epilogue = {.beta = 2}};
  REQUIRE(find_best(of_nothing)->run(of_nothing));
  CHECK(gradient == std::vector<float>(w.size(), 6));
}

TEST_CASE("conv2d: kernels say what they are for", "[conv2d]") {
  const std::vector<Kernel> all = convolutions();
  REQUIRE(all.size() == 340 + 137 + 39 + 48);
  int directions[3] = {};
  for (const Kernel& kernel : all) {
    const KernelMetadata& m = kernel.metadata();
    ++directions[static_cast<int>(*m.direction)];
    CHECK(m.epilogue.bias == (m.direction != Direction::wgrad));
    CHECK(find_kernel(kernel.name()));
  }
  CHECK((directions[0] == 172 + 58 + 39 + 48 && directions[1] == 94 + 52 && directions[2] == 74 + 27));
}
