/// Lists of GEMMs on the host executor: against the GEMM of each problem, bit for bit, and against float64.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/trials/trial.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/run_best.hpp"

using namespace quarry;
using test::run_best;

namespace {

using Random = std::mt19937_64;

struct Extents {
  std::int64_t m, n, k;
};

/// Matrices of a list, each in memory of its own, with padding between their lines.
class List {
 public:
  explicit List(std::vector<Extents> problems) : problems_(std::move(problems)) {
    Random random(lab::fresh_seed());
    std::uniform_real_distribution<float> values(-1, 1);
    const auto fill = [&](std::int64_t count) {
      std::vector<float> all(static_cast<std::size_t>(count));
      for (float& each : all) each = values(random);
      return all;
    };
    for (const Extents& p : problems_) {
      a_.push_back(fill(p.m * (p.k + 3)));
      b_.push_back(fill(p.k * (p.n + 1)));
      out_.push_back(std::vector<float>(static_cast<std::size_t>(p.m * (p.n + 2)), -7));
      expected_.push_back(out_.back());
      for (const std::int64_t each : {p.m, p.n, p.k}) sizes.push_back(static_cast<std::int32_t>(each));
      for (const std::int64_t each : {p.k + 3, p.n + 1, p.n + 2, p.n + 2})
        leading.push_back(static_cast<std::int32_t>(each));
    }
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      a_pointers.push_back(a_[i].data());
      b_pointers.push_back(b_[i].data());
      out_pointers.push_back(out_[i].data());
    }
  }

  GemmListArguments arguments() const {
    const auto count = static_cast<std::int64_t>(problems_.size());
    Extents most = {0, 0, 0};
    for (const Extents& p : problems_)
      most = {std::max(most.m, p.m), std::max(most.n, p.n), std::max(most.k, p.k)};
    GemmListArguments args;
    args.a = PointerArrayView::row_major(a_pointers.data(), DType::f32, count, {most.m, most.k}, most.k + 3);
    args.b = PointerArrayView::row_major(b_pointers.data(), DType::f32, count, {most.k, most.n}, most.n + 1);
    args.out =
        PointerArrayView::row_major(out_pointers.data(), DType::f32, count, {most.m, most.n}, most.n + 2);
    args.sizes = TensorView::row_major(sizes.data(), DType::s32, {count, 3});
    args.leading = TensorView::row_major(leading.data(), DType::s32, {count, 4});
    args.epilogue = {.activation = Activation::silu};
    args.host_sizes = sizes;
    return args;
  }

  /// Whether outputs are what gemm_simt computes of each problem, with everything around them as it was.
  bool is_right() {
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      const Extents& p = problems_[i];
      if (p.m > 0 && p.n > 0) multiply(i, p);
      const std::size_t bytes = out_[i].size() * sizeof(float);
      if (bytes > 0 && std::memcmp(out_[i].data(), expected_[i].data(), bytes) != 0) return false;
    }
    return true;
  }

  std::vector<std::int32_t> sizes;
  std::vector<std::int32_t> leading;
  std::vector<const void*> a_pointers, b_pointers, out_pointers;

 private:
  void multiply(std::size_t i, const Extents& p) {
    const GemmArguments args = {
        .a = TensorView::row_major(a_[i].data(), DType::f32, {p.m, p.k}, p.k + 3),
        .b = TensorView::row_major(b_[i].data(), DType::f32, {p.k, p.n}, p.n + 1),
        .out = TensorView::row_major(expected_[i].data(), DType::f32, {p.m, p.n}, p.n + 2),
        .epilogue = {.activation = Activation::silu},
        .controls = {.mode = Mode::gemm}};
    const CandidateList found = get_kernels(args, *Filter::parse("family == gemm_simt and tile.m == 64"));
    REQUIRE_FALSE(found.empty());
    REQUIRE(Kernel(found.front()).run(args));
  }

  std::vector<Extents> problems_;
  std::vector<std::vector<float>> a_, b_, out_, expected_;
};

std::vector<Kernel> list_kernels() { return get_kernels(*Filter::parse("operation == gemm_list")); }

}  // namespace

TEST_CASE("a list is the GEMM of each problem, and nothing around them is touched", "[gemm_list]") {
  List list({{5, 7, 9}, {1, 1, 1}, {0, 20, 30}, {70, 66, 65}, {12, 0, 4}, {3, 130, 0}, {64, 64, 64}});
  // Problems without elements have no memory, and those without K no operands.
  list.a_pointers[2] = list.b_pointers[2] = list.out_pointers[2] = nullptr;
  list.out_pointers[4] = nullptr;
  list.a_pointers[5] = list.b_pointers[5] = nullptr;
  const Status done = run_best(list.arguments());
  INFO(done.message());
  REQUIRE(done);
  CHECK(list.is_right());
}

TEST_CASE("a list without problems, and one of empty ones, does nothing", "[gemm_list]") {
  List none({});
  CHECK(run_best(none.arguments()));
  List empty({{0, 3, 4}, {3, 0, 4}, {0, 0, 0}});
  CHECK(run_best(empty.arguments()));
  CHECK(empty.is_right());
}

TEST_CASE("problems may be a batch, share an operand, and lie side by side in one matrix", "[gemm_list]") {
  constexpr std::int64_t m = 6, n = 5, k = 4;
  const std::vector<float> a(3 * m * k, 1);
  const std::vector<float> b(k * n, 2);
  std::vector<float> out(m * 3 * n, -7);
  const std::vector<const void*> columns = {out.data(), out.data() + n, out.data() + 2 * n};
  const std::vector<std::int32_t> sizes = {6, 5, 4, 2, 3, 4, 6, 5, 1};
  GemmListArguments args;
  args.a = TensorView::row_major(a.data(), DType::f32, {3, m, k});
  args.b = TensorView::row_major(b.data(), DType::f32, {k, n});
  args.out = PointerArrayView::row_major(columns.data(), DType::f32, 3, {m, n}, 3 * n);
  args.sizes = TensorView::row_major(sizes.data(), DType::s32, {3, 3});
  const Status done = run_best(args);
  INFO(done.message());
  REQUIRE(done);
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t column = 0; column < 3 * n; ++column) {
      const auto problem = static_cast<std::size_t>(column / n);
      const bool is_inside = row < sizes[3 * problem] && column % n < sizes[3 * problem + 1];
      const float expected = is_inside ? 2.0F * static_cast<float>(sizes[3 * problem + 2]) : -7.0F;
      CHECK(out[static_cast<std::size_t>(row * 3 * n + column)] == expected);
    }
  }
}

TEST_CASE("every list kernel's host run agrees with float64 on random problems", "[gemm_list]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const lab::OperationLab& lab = lab::lab_of(Operation::gemm_list);
  const std::vector<Kernel> kernels = list_kernels();
  REQUIRE(kernels.size() > 40);
  for (int i = 0; i < 60; ++i) {
    const Kernel& kernel = kernels[random() % kernels.size()];
    const auto number = static_cast<std::int64_t>(random() % (lab.paths.size() + 4));
    const std::uint64_t problem_seed = random();
    const lab::Problem problem =
        lab.stored(lab.random(kernel.metadata(), problem_seed, number), kernel.metadata(), problem_seed);
    INFO(kernel.name() << " " << command_text(problem));
    auto operands = lab::Operands::make(lab::arguments_of(problem), lab::operand_options(problem, seed));
    REQUIRE(operands);
    const auto reference = lab::compute_reference(operands->arguments());
    REQUIRE(reference);
    const Result<std::size_t> bytes = kernel.workspace_size(operands->arguments());
    REQUIRE(bytes);
    std::vector<std::max_align_t> memory(*bytes / sizeof(std::max_align_t) + 256 / sizeof(std::max_align_t));
    void* first = memory.data();
    std::size_t room = memory.size() * sizeof(std::max_align_t);
    REQUIRE(std::align(256, *bytes, first, room) != nullptr);
    const Status done = kernel.run(operands->arguments(), {.workspace = {first, *bytes}});
    INFO(done.message());
    REQUIRE(done);
    const Status guards = operands->check_outputs();
    INFO(guards.message());
    CHECK(guards);
    const lab::Comparison compared = compare(*reference, operands->arguments(), kernel.metadata());
    INFO(compared.text());
    CHECK(compared.within());
  }
}

TEST_CASE("what is launched does not depend on sizes, the ranking goes by the host's", "[gemm_list]") {
  const auto list_of = [](std::int64_t m) { return List(std::vector<Extents>(16, Extents{m, 64, 64})); };
  List some = list_of(64);
  List others = list_of(64);
  for (std::size_t i = 0; i < others.sizes.size(); i += 3) others.sizes[i] = 1;
  const auto grid_of = [](const List& list) {
    const Kernel kernel = *find_best(list.arguments());
    detail::PreparedLaunch prepared;
    REQUIRE(detail::prepare_launch(detail::row_of(kernel), {}, list.arguments(), prepared));
    return prepared.launch.steps[0].grid;
  };
  CHECK(grid_of(some) == grid_of(others));
  const auto seconds_of = [](const List& list) { return find_best(list.arguments())->predicted_seconds(); };
  List tall(std::vector<Extents>(64, Extents{2048, 256, 64}));
  List uneven(std::vector<Extents>(64, Extents{2048, 256, 64}));
  for (std::size_t i = 3; i < uneven.sizes.size(); i += 3) uneven.sizes[i] = 1;
  CHECK(seconds_of(uneven) < seconds_of(tall) / 2);
}
