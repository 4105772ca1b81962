/// What a convolution's epilogue takes beside C and a bias: a scale, a residual, and aux.
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "lab/reference/reference.hpp"
#include "operations/conv2d/lab/campaign.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/random_convolution.hpp"

using namespace quarry;
using lab::conv2d::Extents;

namespace {

TensorView packed_tensor(const Extents& e, DType type = DType::f32, const void* data = nullptr) {
  const Extents strides = {e[1] * e[2] * e[3], e[2] * e[3], e[3], 1};
  return TensorView::strided(data, type, e, strides);
}

/// 2x8x10x6 with 4x3x3, padding 1: all directions.
Conv2dArguments convolution(Direction direction = Direction::fprop) {
  const TensorView x = packed_tensor({2, 8, 10, 6});
  const TensorView w = packed_tensor({4, 3, 3, 6});
  const TensorView y = packed_tensor({2, 8, 10, 4});
  Conv2dArguments args{.direction = direction, .a = x, .b = w, .out = y, .padding = {1, 1}};
  if (direction == Direction::dgrad) args.a = y, args.out = x;
  if (direction == Direction::wgrad) args.a = y, args.b = x, args.out = w;
  return args;
}

void check_told(const Conv2dArguments& args, const std::string& words) {
  const auto found = get_kernels(args);
  INFO("expected: " << words << "\ngot: " << found.status().message());
  CHECK(found.empty());
  CHECK(found.status().code() == StatusCode::invalid_arguments);
  CHECK(found.status().message().find(words) != std::string::npos);
}

std::vector<Kernel> kernels_of_conv2d() {
  std::vector<Kernel> all = get_kernels();
  std::erase_if(all, [](const Kernel& k) { return k.metadata().operation != Operation::conv2d; });
  return all;
}

/// Rows outside of images, with gaps.
void store_by_rows(TensorView& view, lab::Dice& dice) {
  const auto& e = view.extents;
  view.strides = {e[3] + dice.between(0, 2), 0, 0, 1};
  view.strides[2] = std::max<std::int64_t>(e[0], 1) * view.strides[0] + dice.between(0, 3);
  view.strides[1] = std::max<std::int64_t>(e[2], 1) * view.strides[2] + dice.between(0, 3);
}

/// Runs the best kernel on random values, and compares with the reference.
void check_right(const Conv2dArguments& shape, std::uint64_t seed,
                 const std::vector<Operand>& in_place = {}) {
  auto problem = lab::OperandsOf<Conv2dArguments>::make(shape, {.seed = seed, .in_place = in_place});
  INFO(problem.status().message());
  REQUIRE(problem);
  const auto reference = lab::compute_reference(problem->arguments, {.threads = 1});
  REQUIRE(reference);
  const Result<Candidate> best = find_best(problem->arguments, {}, {.max_workspace = 0});
  INFO(best.status().message());
  REQUIRE(best);
  const Status done = best->run(problem->arguments);
  INFO(done.message());
  REQUIRE(done);
  CHECK(problem->check_outputs());
  const lab::Comparison result = compare(*reference, problem->arguments, best->metadata());
  INFO(to_string(shape.direction) << " by " << best->name() << ": " << result.text());
  CHECK(result.within());
}

}  // namespace

TEST_CASE("conv2d: scale, residual and aux of a window that is known by heart", "[conv2d]") {
  const std::array<float, 2> x = {1, -2};  // two pixels of one channel
  const std::array<float, 2> w = {3, 5};   // two filters of one element
  const std::array<float, 2> scale = {10, 100};
  const std::array<float, 4> residual = {0.5, 0.25, -1, 7};
  std::array<float, 4> y = {}, z = {};
  Conv2dArguments args{.a = packed_tensor({1, 1, 2, 1}, DType::f32, x.data()),
                       .b = packed_tensor({2, 1, 1, 1}, DType::f32, w.data()),
                       .out = packed_tensor({1, 1, 2, 2}, DType::f32, y.data())};
  args.epilogue = {.alpha = 2, .activation = Activation::relu};
  args.epilogue.scale = TensorView::vector(scale.data(), DType::f32, 2);
  args.epilogue.residual = packed_tensor({1, 1, 2, 2}, DType::f32, residual.data());
  args.epilogue.aux = packed_tensor({1, 1, 2, 2}, DType::f32, z.data());
  const Memory host = {MemoryKind::host};
  args.a.memory = args.b.memory = args.out.memory = host;
  REQUIRE(find_best(args)->run(args));
  CHECK(z == std::array<float, 4>{60, 1000, -120, -2000});
  CHECK(y == std::array<float, 4>{60.5, 1000.25, -1, 7});
  args.epilogue.scale = TensorView::vector(scale.data(), DType::f32, 1);
  args.epilogue.scale_axis = BiasAxis::row;  // channels, whatever it says
  REQUIRE(find_best(args)->run(args));
  CHECK(z == std::array<float, 4>{60, 100, -120, -200});
  CHECK(y == std::array<float, 4>{60.5, 100.25, -1, 7});
}

TEST_CASE("conv2d: an epilogue of all parts is right for strides of any kind", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  for (int i = 0; i < 60; ++i) {
    const auto direction = static_cast<Direction>(i % 3);
    const DType out = i % 2 == 0 ? DType::f32 : DType::bf16;
    Conv2dArguments shape = test::random_convolution(direction, DType::bf16, out, 1e5, dice);
    Epilogue& e = shape.epilogue;
    e.activation = Activation::gelu;
    e.beta = 0.5;
    shape.c = packed_tensor(shape.out.extents, out);
    e.residual = packed_tensor(shape.out.extents, out);
    e.aux = packed_tensor(shape.out.extents, out);
    if (dice.one_in(2)) store_by_rows(*e.residual, dice);
    if (dice.one_in(2)) store_by_rows(*e.aux, dice);
    if (dice.one_in(3)) e.residual->strides[static_cast<std::size_t>(dice.between(0, 2))] = 0;  // broadcast
    if (direction != Direction::wgrad)
      e.scale = TensorView::vector(nullptr, DType::f32, dice.one_in(2) ? 1 : shape.out.extents[3]);
    check_right(shape, seed);
  }
}

TEST_CASE("conv2d: the residual may be the output itself", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  for (const Direction direction : {Direction::fprop, Direction::dgrad, Direction::wgrad}) {
    Conv2dArguments args = convolution(direction);
    args.epilogue.activation = Activation::relu;
    args.epilogue.residual = args.out;
    check_right(args, seed, {Operand::residual});
  }
}

TEST_CASE("conv2d: kernels of each type take each part of the epilogue that their direction has",
          "[conv2d]") {
  std::map<lab::conv2d::TypeKey, std::set<Operand>> taken;
  for (const Kernel& kernel : kernels_of_conv2d()) {
    const KernelMetadata& m = kernel.metadata();
    INFO(kernel.name());
    const bool sums_whole = m.operands.accumulator == DType::s32 && m.operands.out.dtype == DType::s32;
    CHECK(m.epilogue.scale == (m.direction != Direction::wgrad && !sums_whole));
    auto& of_type = taken[lab::conv2d::type_key(m)];
    if (m.epilogue.residual) of_type.insert(Operand::residual);
    if (m.epilogue.aux) of_type.insert(Operand::aux);
  }
  for (const auto& [key, operands] : taken) {
    INFO(to_string(key.direction) << " " << to_string(key.a) << " " << to_string(key.out));
    CHECK(operands.size() == 2);
  }
}

TEST_CASE("conv2d: groups of any number of channels are scaled", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  for (const std::int64_t channels : {1, 2, 3, 4, 5}) {
    const std::int64_t all = 3 * channels;
    Conv2dArguments args{.a = packed_tensor({2, 7, 6, all}, DType::f16),
                         .b = packed_tensor({all, 3, 3, channels}, DType::f16),
                         .out = packed_tensor({2, 7, 6, all}, DType::f16),
                         .padding = {1, 1},
                         .groups = 3};
    args.epilogue.scale = TensorView::vector(nullptr, DType::f32, all);
    args.epilogue.aux = args.out;
    check_right(args, seed);
    args.direction = Direction::dgrad;
    check_right(args, seed);
  }
}

TEST_CASE("conv2d: channels in groups of 32 have a residual and aux alike", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  const auto images = [](std::int64_t channels) { return nc32hw32(nullptr, DType::s8, {2, 5, 4, channels}); };
  Conv2dArguments args{.a = images(64),
                       .b = c32rsk32(nullptr, DType::s8, {96, 3, 3, 64}),
                       .out = images(96),
                       .padding = {1, 1}};
  args.epilogue.alpha = 0.0625;
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 96);
  args.epilogue.residual = images(96);
  args.epilogue.residual->strides[0] += 64;
  args.epilogue.aux = images(96);
  check_right(args, seed);
  Conv2dArguments bad = args;
  bad.epilogue.aux = packed_tensor({2, 5, 4, 96}, DType::s8);
  check_told(bad, "`aux` is stored differently from `out`");
  bad = args;
  bad.epilogue.residual = c32rsk32(nullptr, DType::s8, {2, 5, 4, 96});
  check_told(bad, "Operand `residual` is not laid out as images (N, C/32, H, W, 32)");
}

TEST_CASE("conv2d: what is wrong with a scale is told", "[conv2d]") {
  Conv2dArguments args = convolution();
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 4);
  CHECK_FALSE(get_kernels(args).empty());
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 5);
  check_told(args, "`scale`");
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 0);
  check_told(args, "`scale`");
  args.epilogue.scale = TensorView::vector(nullptr, DType::f16, 4);
  check_told(args, "`scale`");
  args.epilogue.scale = TensorView::row_major(nullptr, DType::f32, {1, 4});
  check_told(args, "`scale`");
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 4);
  args.epilogue.scale->strides[0] = 2;
  check_told(args, "Operand `scale` is not contiguous: its stride is 2");
  args = convolution(Direction::wgrad);
  for (const std::int64_t extent : {1, 6}) {
    args.epilogue.scale = TensorView::vector(nullptr, DType::f32, extent);
    check_told(args, "Operand `scale` is unsupported: wgrad takes none");
  }
  args = convolution();
  args.a.dtype = args.b.dtype = DType::s8, args.out.dtype = DType::s32;
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 4);
  check_told(args, "Operand `scale` is unsupported: an s32 output is computed in s32");
  args.epilogue.scale = TensorView::vector(nullptr, DType::s32, 4);
  check_told(args, "Operand `scale` is unsupported: an s32 output is computed in s32");
}

TEST_CASE("conv2d: what is wrong with a residual or aux is told", "[conv2d]") {
  for (const auto part : {&Epilogue::residual, &Epilogue::aux}) {
    const std::string name = part == &Epilogue::residual ? "Operand `residual`" : "Operand `aux`";
    for (const Direction direction : {Direction::fprop, Direction::dgrad, Direction::wgrad}) {
      const Conv2dArguments good = [&] {
        Conv2dArguments args = convolution(direction);
        args.epilogue.*part = args.out;
        return args;
      }();
      CHECK_FALSE(get_kernels(good).empty());
      const auto check_changed = [&](auto change, const std::string& words) {
        Conv2dArguments args = good;
        change(*(args.epilogue.*part));
        check_told(args, words);
      };
      for (std::size_t i = 0; i < 4; ++i)
        check_changed([i](TensorView& view) { ++view.extents[i], view.strides[0] *= 2; }, name);
      check_changed([](TensorView& view) { view.rank = 3; }, name + " does not fit: expected rank 4");
      check_changed([](TensorView& view) { view.dtype = DType::f16; }, name);
      check_changed([](TensorView& view) { view.strides[3] = 2; },
                    name + " does not have contiguous channels");
      check_changed([](TensorView& view) { view.strides[1] = -1; }, name);
      check_changed([](TensorView& view) { view.tag = LayoutTag::column_interleaved32; }, name);
    }
  }
  Conv2dArguments args = convolution();
  args.epilogue.residual = args.out;
  args.epilogue.residual->strides[0] = 0;  // one image for all
  CHECK_FALSE(get_kernels(args).empty());
  args = convolution();
  args.epilogue.aux = args.out;
  args.epilogue.aux->strides[0] = 0;
  check_told(args, "`aux`");
}

TEST_CASE("conv2d: aux lies apart from all other operands", "[conv2d]") {
  std::vector<float> memory(4096);
  const auto at = [&](std::size_t first, const TensorView& view) {
    TensorView placed = view;
    placed.data = memory.data() + first;
    return placed.on({MemoryKind::host});
  };
  Conv2dArguments args = convolution();
  args.a = at(0, args.a), args.b = at(960, args.b), args.out = at(1200, args.out);
  args.epilogue.residual = args.out;
  args.epilogue.aux = at(1840, convolution().out);
  CHECK(find_best(args)->run(args));
  args.epilogue.aux = at(1839, convolution().out);
  check_told(args, "Operand `residual` overlaps `aux`");
  args.epilogue.residual.reset();
  check_told(args, "Operand `out` overlaps `aux`");
  args.epilogue.residual = args.out;
  args.epilogue.aux = at(400, convolution().out);
  check_told(args, "Operand `a` overlaps `aux`");
  args.epilogue.aux = at(1840, convolution().out);
  args.epilogue.residual = at(1201, convolution().out);
  check_told(args, "Operand `residual` overlaps `out`");
}
