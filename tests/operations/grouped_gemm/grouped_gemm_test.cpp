/// Grouped GEMMs on the host executor: against the GEMM of each group, bit for bit, and against float64.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

#include "grouped_gemm/params.hpp"
#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/trials/trial.hpp"
#include "operations/grouped_gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

using Random = std::mt19937_64;

constexpr std::int64_t n = 24;
constexpr std::int64_t k = 40;

std::vector<float> random_values(std::int64_t count, Random& random) {
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> all(static_cast<std::size_t>(count));
  for (float& each : all) each = values(random);
  return all;
}

TensorView matrix(const std::vector<float>& data, std::initializer_list<std::int64_t> extents) {
  return TensorView::row_major(data.data(), DType::f32, extents);
}

TensorView vector_of(const std::vector<std::int32_t>& sizes) {
  return TensorView::vector(sizes.data(), DType::s32, std::ssize(sizes));
}

Status run(const GroupedGemmArguments& args) {
  const auto found = find_best(args);
  return found ? found->run(args) : found.status();
}

void run_gemm(const float* a, const float* b, float* out, std::int64_t rows, std::int64_t depth,
              std::int64_t a_stride) {
  const GemmArguments args = {.a = TensorView::row_major(a, DType::f32, {rows, depth}, a_stride),
                              .b = TensorView::row_major(b, DType::f32, {depth, n}),
                              .out = TensorView::row_major(out, DType::f32, {rows, n}),
                              .epilogue = {.activation = Activation::silu}};
  const CandidateList found = get_kernels(args, *Filter::parse("family == gemm_simt and tile.m == 64"));
  REQUIRE_FALSE(found.empty());
  const Kernel kernel = found.front();
  GemmArguments whole = args;
  whole.controls = {.mode = Mode::gemm};
  REQUIRE(kernel.run(whole));
}

/// Whether rows hold the same bits.
bool same(const std::vector<float>& one, const std::vector<float>& other) {
  return std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

std::vector<Kernel> grouped_kernels() { return get_kernels(*Filter::parse("operation == grouped_gemm")); }

}  // namespace

TEST_CASE("contiguous groups are the GEMM of each, and other rows keep their bytes", "[grouped_gemm]") {
  Random random(lab::fresh_seed());
  const std::vector<std::int32_t> ends = {5, 5, 70, 81};
  const std::vector<std::int32_t> counts = {5, 0, 65, 11};
  constexpr std::int64_t rows = 90;
  const std::vector<float> a = random_values(rows * k, random);
  const std::vector<float> b = random_values(4 * k * n, random);
  std::vector<float> expected(rows * n, -7);
  for (std::size_t g = 0; g < ends.size(); ++g) {
    const std::int64_t begin = ends[g] - counts[g];
    if (counts[g] > 0)
      run_gemm(&a[static_cast<std::size_t>(begin * k)], &b[g * k * n],
               &expected[static_cast<std::size_t>(begin * n)], counts[g], k, k);
  }
  for (const SizesAre meaning : {SizesAre::ends, SizesAre::counts}) {
    for (const bool zero : {false, true}) {
      std::vector<float> out(rows * n, -7);
      const GroupedGemmArguments args = {.a = matrix(a, {rows, k}),
                                         .b = matrix(b, {4, k, n}),
                                         .out = matrix(out, {rows, n}),
                                         .sizes = vector_of(meaning == SizesAre::ends ? ends : counts),
                                         .sizes_are = meaning,
                                         .zero_outside = zero,
                                         .epilogue = {.activation = Activation::silu}};
      const Status done = run(args);
      INFO(done.message());
      REQUIRE(done);
      if (zero) std::fill(expected.begin() + 81 * n, expected.end(), 0.0F);
      CHECK(same(out, expected));
      if (zero) std::fill(expected.begin() + 81 * n, expected.end(), -7.0F);
    }
  }
}

TEST_CASE("masked groups are the GEMM of each entry's first rows", "[grouped_gemm]") {
  Random random(lab::fresh_seed());
  const std::vector<std::int32_t> counts = {3, 0, 20, 7};
  constexpr std::int64_t capacity = 20;
  const std::vector<float> a = random_values(4 * capacity * k, random);
  const std::vector<float> b = random_values(4 * k * n, random);
  for (const bool zero : {false, true}) {
    std::vector<float> expected(4 * capacity * n, zero ? 0.0F : -7.0F);
    for (std::size_t g = 0; g < 4; ++g) {
      if (counts[g] > 0)
        run_gemm(&a[g * capacity * k], &b[g * k * n], &expected[g * capacity * n], counts[g], k, k);
    }
    std::vector<float> out(4 * capacity * n, -7);
    const Status done = run({.a = matrix(a, {4, capacity, k}),
                             .b = matrix(b, {4, k, n}),
                             .out = matrix(out, {4, capacity, n}),
                             .sizes = vector_of(counts),
                             .sizes_are = SizesAre::counts,
                             .zero_outside = zero,
                             .epilogue = {.activation = Activation::silu}});
    INFO(done.message());
    REQUIRE(done);
    CHECK(same(out, expected));
  }
}

TEST_CASE("ragged K multiplies each group's part, and an empty one has the epilogue of 0", "[grouped_gemm]") {
  Random random(lab::fresh_seed());
  constexpr std::int64_t m = 19;
  constexpr std::int64_t tokens = 50;
  const std::vector<std::int32_t> ends = {17, 17, 48};
  std::vector<float> a = random_values(m * tokens, random);
  std::vector<float> b = random_values(tokens * n, random);
  // What lies behind the last group is not read.
  for (std::int64_t i = 0; i < m; ++i) a[static_cast<std::size_t>(i * tokens + 49)] = NAN;
  b[49 * n] = NAN;
  const std::vector<float> bias = random_values(n, random);
  std::vector<float> out(3 * m * n, -7);
  const Status done = run({.a = matrix(a, {m, tokens}),
                           .b = matrix(b, {tokens, n}),
                           .out = matrix(out, {3, m, n}),
                           .sizes = vector_of(ends),
                           .epilogue = {.bias = TensorView::vector(bias.data(), DType::f32, n)}});
  INFO(done.message());
  REQUIRE(done);
  int begin = 0;
  for (std::size_t g = 0; g < 3; ++g) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = bias[static_cast<std::size_t>(j)];
        for (int p = begin; p < ends[g]; ++p)
          sum += double{a[static_cast<std::size_t>(i * tokens + p)]} * b[static_cast<std::size_t>(p * n + j)];
        REQUIRE(out[g * m * n + static_cast<std::size_t>(i * n + j)] == Approx(sum).margin(1e-5));
      }
    }
    begin = ends[g];
  }
}

TEST_CASE("problems without groups or rows succeed, and zero what they are asked to", "[grouped_gemm]") {
  const std::vector<float> b(2 * k * n, 1);
  const std::vector<std::int32_t> sizes = {0, 0};
  std::vector<float> out(3 * n, -7);
  std::vector<float> a(3 * k, 1);
  GroupedGemmArguments args = {.a = matrix(a, {3, k}),
                               .b = matrix(b, {0, k, n}),
                               .out = matrix(out, {3, n}),
                               .sizes = TensorView::vector(nullptr, DType::s32, 0)};
  REQUIRE(run(args));
  CHECK(out == std::vector<float>(3 * n, -7));
  args.zero_outside = true;
  REQUIRE(run(args));
  CHECK(out == std::vector<float>(3 * n, 0));
  args = {.a = matrix(a, {0, k}),
          .b = matrix(b, {2, k, n}),
          .out = matrix(out, {0, n}),
          .sizes = vector_of(sizes)};
  REQUIRE(run(args));
  args = {.a = matrix(a, {2, 0, k}),
          .b = matrix(b, {2, k, n}),
          .out = matrix(out, {2, 0, n}),
          .sizes = vector_of(sizes),
          .sizes_are = SizesAre::counts};
  REQUIRE(run(args));
}

/// What a launch says of groups and their product. (Bytes of an image that no member has may differ.)
static auto launched(const Kernel& kernel, const Launch& launch) {
  const auto& family = detail::grouped_gemm::family_of(detail::row_of(kernel));
  const auto [gemm, groups] = family.params(launch.image, *kernel_step(launch));
  return std::tuple(gemm.m, gemm.n, gemm.k, gemm.batch, gemm.tiles_m, gemm.tiles_n, gemm.a.data, gemm.b.data,
                    gemm.out.data, gemm.a.row_stride, gemm.b.row_stride, gemm.out.row_stride, groups.sizes,
                    groups.groups, groups.room, groups.form);
}

TEST_CASE("what is launched does not depend on the sizes", "[grouped_gemm]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 60; ++i) {
    const std::vector<Kernel> kernels = grouped_kernels();
    const Kernel kernel = kernels[random() % kernels.size()];
    const lab::OperationLab& lab = lab::lab_of(Operation::grouped_gemm);
    const lab::Problem problem = lab.emulated(kernel.metadata(), random(), std::ssize(lab.paths) + i);
    auto operands = lab::Operands::make(lab::arguments_of(problem), lab::operand_options(problem, 1));
    REQUIRE(operands);
    const auto prepared = [&] {
      auto made = std::make_unique<detail::PreparedLaunch>();
      REQUIRE(detail::prepare_launch(detail::row_of(kernel), {}, operands->arguments(), *made));
      return made;
    };
    const auto before = prepared();
    auto& args = operands->arguments().as<GroupedGemmArguments>();
    auto* const sizes = static_cast<std::int32_t*>(const_cast<void*>(args.sizes.data));
    for (std::int64_t g = 0; g < args.sizes.extents[0]; ++g) sizes[g] = static_cast<std::int32_t>(random());
    const auto after = prepared();
    REQUIRE(before->launch.steps.count == after->launch.steps.count);
    CHECK(before->launch.workspace_bytes == after->launch.workspace_bytes);
    CHECK(before->launch.image_bytes == after->launch.image_bytes);
    if (!before->launch.is_empty())
      CHECK(launched(kernel, before->launch) == launched(kernel, after->launch));
    for (int s = 0; s < before->launch.steps.count; ++s)
      CHECK(before->launch.steps[s].grid == after->launch.steps[s].grid);
  }
}

TEST_CASE("every kernel is right on problems of every path", "[grouped_gemm]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const lab::OperationLab& lab = lab::lab_of(Operation::grouped_gemm);
  const std::int64_t paths = std::ssize(lab.paths);
  for (const Kernel& kernel : grouped_kernels()) {
    for (int i = 0; i < 6; ++i) {
      const auto number = static_cast<std::int64_t>(random() % (paths + 8));
      if (number < paths && !lab.paths[static_cast<std::size_t>(number)].is_of(kernel.metadata())) continue;
      const lab::Problem problem = lab.emulated(kernel.metadata(), random(), number);
      INFO(kernel.name() << " " << command_text(problem));
      auto trial = lab::TrialProblem::make(problem, random(), lab::Place::host);
      REQUIRE(trial);
      const auto reference = lab::compute_reference(trial->arguments());
      REQUIRE(reference);
      const lab::Verdict verdict = lab::run_trial(kernel, {}, *trial, *reference);
      INFO((verdict.right() ? "" : verdict.reason()));
      CHECK(verdict.right());
    }
  }
}

TEST_CASE("there is a kernel for any form, stride and layout of the output", "[grouped_gemm]") {
  const auto fake = [](Layout layout, std::initializer_list<std::int64_t> extents) {
    return layout == Layout::row ? TensorView::row_major(nullptr, DType::bf16, extents, 0)
                                 : TensorView::column_major(nullptr, DType::bf16, extents, 0);
  };
  for (const Layout a : {Layout::row, Layout::column}) {
    for (const Layout b : {Layout::row, Layout::column}) {
      for (const Layout out : {Layout::row, Layout::column}) {
        const TensorView sizes = TensorView::vector(nullptr, DType::s32, 4);
        const Filter any_stride = *Filter::parse("family == grouped_gemm_simt");
        GroupedGemmArguments args = {
            .a = fake(a, {90, 40}), .b = fake(b, {4, 40, 24}), .out = fake(out, {90, 24}), .sizes = sizes};
        CHECK(get_kernels(args, any_stride).size() == 1);
        args = {.a = fake(a, {4, 90, 40}),
                .b = fake(b, {4, 40, 24}),
                .out = fake(out, {4, 90, 24}),
                .sizes = sizes,
                .sizes_are = SizesAre::counts};
        CHECK(get_kernels(args, any_stride).size() == 1);
        args = {
            .a = fake(a, {90, 40}), .b = fake(b, {40, 24}), .out = fake(out, {4, 90, 24}), .sizes = sizes};
        CHECK(get_kernels(args, any_stride).size() == 1);
      }
    }
  }
}

TEST_CASE("what tensor cores compute of groups, plain instructions do, too", "[grouped_gemm]") {
  const std::vector<Kernel> plain = get_kernels(*Filter::parse("family == grouped_gemm_simt"));
  for (const Kernel& kernel : get_kernels(*Filter::parse("family ~ 'grouped_gemm_sm'"))) {
    const OperandsMetadata& o = kernel.metadata().operands;
    INFO(kernel.name());
    CHECK(std::ranges::any_of(plain, [&](const Kernel& each) {
      const OperandsMetadata& p = each.metadata().operands;
      return p.a.dtype == o.a.dtype && p.a.layout == o.a.layout && p.b.dtype == o.b.dtype &&
             p.b.layout == o.b.layout && p.out.dtype == o.out.dtype && p.accumulator == o.accumulator &&
             (p.scales == o.scales || (takes_blocks(p.scales) && o.scales == ScaleSupport::vector_scales));
    }));
  }
}

TEST_CASE("groups without outputs are predicted to take no time", "[grouped_gemm]") {
  for (const std::int64_t columns : {0, 8}) {
    const std::int64_t rows = columns == 0 ? 16 : 0;
    const GroupedGemmArguments args = {.a = TensorView::row_major(nullptr, DType::f16, {3, rows, 64}),
                                       .b = TensorView::row_major(nullptr, DType::f16, {3, 64, columns}),
                                       .out = TensorView::row_major(nullptr, DType::f16, {3, rows, columns}),
                                       .sizes = TensorView::vector(nullptr, DType::s32, 3),
                                       .sizes_are = SizesAre::counts};
    const CandidateList kernels = get_kernels(args);
    REQUIRE(kernels.size() > 1);
    for (const Candidate& kernel : kernels) CHECK(kernel.predicted_seconds() == 0);
    CHECK(*find_best(args) == kernels.front());
  }
}

TEST_CASE("fewer expected rows are predicted to take less time", "[grouped_gemm]") {
  GroupedGemmArguments args = {.a = TensorView::row_major(nullptr, DType::f32, {16384, 1024}),
                               .b = TensorView::row_major(nullptr, DType::f32, {8, 1024, 1024}),
                               .out = TensorView::row_major(nullptr, DType::f32, {16384, 1024}),
                               .sizes = TensorView::vector(nullptr, DType::s32, 8)};
  const double all = find_best(args)->predicted_seconds();
  args.expected_total = 1024;
  CHECK(find_best(args)->predicted_seconds() < 0.5 * all);
  args.expected_total = std::int64_t{1} << 60;  // no more than there is room for
  CHECK(find_best(args)->predicted_seconds() == all);
}
