/// Kernel::run, Kernel::prepare and Plan through the public API, on host tensors: the same path that device
/// tensors take, up to the launch. And what is refused, wherever tensors lie.
#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/row.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/library.hpp"
#include "registry/device/prepared.hpp"
#include "registry/device/runtime.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using RandomProblem = lab::OperandsOf<GemmArguments>;

namespace {

constexpr Types all_types[] = {
    {DType::f16, DType::f16, DType::f32, DType::f16},   {DType::f16, DType::f16, DType::f32, DType::f32},
    {DType::f16, DType::f16, DType::f16, DType::f16},   {DType::bf16, DType::bf16, DType::f32, DType::bf16},
    {DType::bf16, DType::bf16, DType::f32, DType::f32}, {DType::f32, DType::f32, DType::f32, DType::f32},
    {DType::f64, DType::f64, DType::f64, DType::f64},   {DType::s8, DType::s8, DType::s32, DType::s32},
    {DType::s8, DType::s8, DType::s32, DType::s8},      {DType::u8, DType::u8, DType::s32, DType::u8},
    {DType::u8, DType::s8, DType::s32, DType::s32},     {DType::s8, DType::u8, DType::s32, DType::f32},
    {DType::u8, DType::u8, DType::s32, DType::s32},
};

/// 256-byte aligned host memory.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : memory_(bytes + 512) {}
  Workspace workspace(std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return {memory_.data() + (256 - address % 256), bytes};
  }

 private:
  std::vector<std::byte> memory_;
};

using detail::operands_of;

RandomProblem random_problem(test::Random& random, test::ShapeLimits limits = {90, 90, 90}) {
  const auto layout = [&random] { return test::coin(random) ? Layout::row : Layout::column; };
  const Types types = test::one_of(random, all_types);
  if (test::coin(random)) limits.alignment_bytes = 16;
  limits.arrays = true;
  const GemmArguments shape = test::random_shape(random, types, {layout(), layout(), layout()}, limits);
  Result<RandomProblem> problem = RandomProblem::make(shape, {.seed = random()});
  REQUIRE(problem);
  return *std::move(problem);
}

std::vector<std::byte> bytes_of_output(const RandomProblem& problem) {
  return {problem[Operand::out].storage(),
          problem[Operand::out].storage() + problem[Operand::out].storage_bytes()};
}

/// A problem of f16 with everything that can be left out: C and a bias, and scale, residual and aux unless
/// told.
RandomProblem full_problem(int m = 40, int n = 24, int k = 48, bool extras = true) {
  GemmArguments shape{.a = TensorView::row_major(nullptr, DType::f16, {m, k}),
                      .b = TensorView::row_major(nullptr, DType::f16, {k, n}),
                      .c = TensorView::row_major(nullptr, DType::f16, {m, n}),
                      .out = TensorView::row_major(nullptr, DType::f16, {m, n})};
  shape.epilogue.beta = 0.5;
  shape.epilogue.bias = TensorView::vector(nullptr, DType::f16, n);
  if (extras) {
    shape.epilogue.scale = TensorView::vector(nullptr, DType::f32, n);
    shape.epilogue.residual = TensorView::row_major(nullptr, DType::f16, {m, n});
    shape.epilogue.aux = TensorView::column_major(nullptr, DType::f16, {m, n});
  }
  Result<RandomProblem> problem = RandomProblem::make(shape);
  REQUIRE(problem);
  return *std::move(problem);
}

Kernel best_kernel(const GemmArguments& args) {
  const CandidateList found = get_kernels(args);
  INFO(found.status().message());
  REQUIRE_FALSE(found.empty());
  return found.front();
}

/// A kernel that can split K, and the problem's arguments with such controls.
Kernel split_kernel(GemmArguments& args, Mode mode) {
  args.controls = {.mode = mode, .split_k_slices = 3};
  return best_kernel(args);
}

std::vector<std::pair<Operand, const void**>> pointers_of(GemmArguments& args) {
  return {{Operand::a, &args.a.data},
          {Operand::b, &args.b.data},
          {Operand::c, &args.c->data},
          {Operand::out, &args.out.data},
          {Operand::bias, &args.epilogue.bias->data},
          {Operand::scale, &args.epilogue.scale->data},
          {Operand::residual, &args.epilogue.residual->data},
          {Operand::aux, &args.epilogue.aux->data}};
}

}  // namespace

TEST_CASE("kernels run on host tensors, and their plans give the same bits") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 40; ++i) {
    RandomProblem problem = random_problem(random);
    GemmArguments& args = problem.arguments;
    const Result<lab::Reference> reference = lab::compute_reference(args);
    REQUIRE(reference);
    const CandidateList found = get_kernels(args);
    INFO("case " << i << ": " << found.status().message());
    REQUIRE_FALSE(found.empty());
    for (int j = 0; j < 4; ++j) {
      const Candidate& kernel = found[random() % found.size()];
      INFO(kernel.name());
      const Result<std::size_t> bytes = kernel.workspace_size(args);
      REQUIRE(bytes);
      Scratch scratch(*bytes);
      const Workspace workspace = scratch.workspace(*bytes);

      problem.reset_outputs();
      const Status ran = kernel.run(args, {.workspace = workspace});
      INFO(ran.message());
      REQUIRE(ran);
      const Status written = problem.check_outputs();
      INFO(written.message());
      CHECK(written);
      const std::int64_t k = args.a.extents[args.a.rank - 1U];
      const lab::Comparison result = lab::compare(*reference, args, lab::tolerance(kernel.metadata(), k));
      INFO("error " << result.error << " bound " << result.bound);
      CHECK(result.within());
      const std::vector<std::byte> first = bytes_of_output(problem);

      const Result<Plan> plan = kernel.prepare(args);
      REQUIRE(plan);
      CHECK(plan->workspace_size() == *bytes);
      problem.reset_outputs();
      REQUIRE(plan->run(operands_of(args), nullptr, workspace));
      CHECK(bytes_of_output(problem) == first);
    }
  }
}

TEST_CASE("every registered kernel runs on host tensors, exactly on small integers") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (const Kernel& kernel : get_kernels()) {
    if (kernel.metadata().operation != Operation::gemm) continue;  // reduce_test.cpp has the others
    const OperandsMetadata& o = kernel.metadata().operands;
    const Types types = {o.a.dtype, o.b.dtype, o.accumulator, o.out.dtype};
    test::ShapeLimits limits = {40, 40, 100};
    limits.alignment_bytes = std::max(o.a.alignment * bytes_of(types.a), o.b.alignment * bytes_of(types.b));
    GemmArguments shape = test::random_shape(random, types, {o.a.layout, o.b.layout, o.out.layout}, limits);
    shape.epilogue.activation = Activation::relu;
    shape.math = kernel.metadata().design.math;
    test::give_scales(kernel.metadata(), shape);
    Result<RandomProblem> problem =
        RandomProblem::make(shape, {.seed = random(), .values = lab::Values::small_integers});
    REQUIRE(problem);
    const Result<lab::Reference> reference = lab::compute_reference(problem->arguments, {.threads = 1});
    REQUIRE(reference);
    INFO(kernel.name());
    const Result<std::size_t> bytes = kernel.workspace_size(problem->arguments);
    INFO(bytes.status().message());
    REQUIRE(bytes);
    Scratch scratch(*bytes);
    REQUIRE(kernel.run(problem->arguments, {.workspace = scratch.workspace(*bytes)}));
    REQUIRE(problem->check_outputs());
    // The sums are exact, so that all that is left is the rounding of the output.
    const lab::Tolerance rounding = {.output = lab::tolerance(kernel.metadata(), 1).output};
    REQUIRE(lab::compare(*reference, problem->arguments, rounding).within());
  }
}

TEST_CASE("entries are found by their names") {
  const auto entries = detail::entries();
  REQUIRE(entries.size() > 100);
  std::size_t wrong = 0;
  for (std::uint32_t i = 0; i < entries.size(); ++i) wrong += detail::find_entry(entries[i].name) != i;
  CHECK(wrong == 0);
  for (const char* name : {"", "a", "reduce_split_k", "zzz"}) CHECK_FALSE(detail::find_entry(name));
  CHECK(detail::find_entry("reduce_split_k_f32_f16"));
}

TEST_CASE("a plan runs with other pointers than it was made with, or with none") {
  RandomProblem one = full_problem();
  const Kernel kernel = best_kernel(one.arguments);
  GemmArguments fake = one.arguments;
  for (const auto& [operand, pointer] : pointers_of(fake)) *pointer = nullptr;
  const Result<Plan> plan = kernel.prepare(fake);  // the views still say that they are host memory
  REQUIRE(plan);
  Result<RandomProblem> other = RandomProblem::make(one.arguments, {.seed = 7});
  REQUIRE(other);
  REQUIRE(plan->run(operands_of(other->arguments), nullptr));
  const std::vector<std::byte> by_plan = bytes_of_output(*other);
  other->reset_outputs();
  REQUIRE(kernel.run(other->arguments));
  CHECK(bytes_of_output(*other) == by_plan);
  CHECK(bytes_of_output(one) != by_plan);
  CHECK_FALSE(one[Operand::out].check());  // still poison

  Epilogue& e = fake.epilogue;
  for (TensorView* view :
       {&fake.a, &fake.b, &*fake.c, &fake.out, &*e.bias, &*e.scale, &*e.residual, &*e.aux}) {
    view->memory = {};
  }
  CHECK(kernel.prepare(fake).status().code() == StatusCode::invalid_arguments);
}

TEST_CASE("null data is refused by name, in a run and in a plan") {
  RandomProblem problem = full_problem();
  const Kernel kernel = best_kernel(problem.arguments);
  const Result<Plan> plan = kernel.prepare(problem.arguments);
  REQUIRE(plan);
  for (std::size_t i = 0; i < 8; ++i) {
    GemmArguments args = problem.arguments;
    const auto [operand, pointer] = pointers_of(args)[i];
    *pointer = nullptr;
    for (const Status& status : {kernel.run(args), plan->run(operands_of(args), nullptr)}) {
      CHECK(status.code() == StatusCode::invalid_arguments);
      CHECK(status.reason() == Reason::null_data);
      CHECK(status.operand() == operand);
    }
    CHECK_FALSE(problem.check_outputs());  // nothing was written
  }
}

TEST_CASE("what a run does not read may be null") {
  RandomProblem problem = full_problem();
  GemmArguments args = problem.arguments;
  args.epilogue.beta = 0;
  args.c->data = nullptr;
  Kernel kernel = best_kernel(args);
  CHECK(kernel.run(args));
  CHECK(kernel.prepare(args)->run(operands_of(args), nullptr));
  CHECK(problem.check_outputs());

  RandomProblem no_k = full_problem(40, 24, 0);
  no_k.arguments.a.data = no_k.arguments.b.data = nullptr;
  kernel = best_kernel(no_k.arguments);
  CHECK(kernel.run(no_k.arguments));
  CHECK(no_k.check_outputs());
  CHECK(kernel.prepare(no_k.arguments)->run(operands_of(no_k.arguments), nullptr));

  for (const auto& [m, n] : {std::pair(0, 24), std::pair(40, 0)}) {
    RandomProblem empty = full_problem(m, n);
    for (const auto& [operand, pointer] : pointers_of(empty.arguments)) *pointer = nullptr;
    kernel = best_kernel(empty.arguments);
    CHECK(kernel.run(empty.arguments));
    CHECK(kernel.prepare(empty.arguments)->run({}, nullptr));
  }
}

TEST_CASE("a workspace that is missing, too small or misaligned is refused") {
  for (const Mode mode : {Mode::split_k_serial, Mode::split_k_parallel}) {
    RandomProblem problem = full_problem(40, 24, 200);
    GemmArguments& args = problem.arguments;
    const Kernel kernel = split_kernel(args, mode);
    const Result<std::size_t> bytes = kernel.workspace_size(args);
    REQUIRE(bytes);
    REQUIRE(*bytes > 0);
    const Result<Plan> plan = kernel.prepare(args);
    REQUIRE(plan);
    Scratch scratch(*bytes);
    const Workspace good = scratch.workspace(*bytes);
    const Workspace missing;
    const Workspace small = scratch.workspace(*bytes - 1);
    const Workspace null = {nullptr, *bytes};
    const Workspace misaligned = {static_cast<std::byte*>(good.data) + 128, *bytes};
    for (const Workspace& bad : {missing, small, null, misaligned}) {
      const auto reason = bad.data == misaligned.data ? Reason::workspace_alignment : Reason::workspace_size;
      for (const Status& status :
           {kernel.run(args, {.workspace = bad}), plan->run(operands_of(args), nullptr, bad)}) {
        CHECK(status.code() == StatusCode::invalid_workspace);
        CHECK(status.reason() == reason);
      }
      CHECK_FALSE(problem.check_outputs());
    }
    CHECK(kernel.run(args, {.workspace = good}));
    CHECK(problem.check_outputs());
  }
}

TEST_CASE("a plan refuses pointers that are less aligned than its kernel needs") {
  RandomProblem problem = full_problem();
  GemmArguments& args = problem.arguments;
  const CandidateList found = get_kernels(
      args, [](const KernelMetadata& k) { return k.operands.a.alignment > 1 && k.operands.b.alignment > 1; });
  REQUIRE_FALSE(found.empty());
  const Result<Plan> plan = found.front().prepare(args);
  REQUIRE(plan);
  const auto shifted = [](const void* p, int bytes) { return static_cast<const std::byte*>(p) + bytes; };
  const auto check = [&](const PlanOperands& operands, Operand operand) {
    const Status status = plan->run(operands, nullptr);
    CHECK(status.reason() == Reason::pointer_alignment);
    CHECK(status.operand() == operand);
    CHECK_FALSE(problem.check_outputs());
  };
  const PlanOperands good = operands_of(args);
  PlanOperands bad = good;
  bad[Operand::a] = shifted(good[Operand::a], 2);
  check(bad, Operand::a);
  bad = good;
  bad[Operand::b] = shifted(good[Operand::b], 2);
  check(bad, Operand::b);
  bad = good;
  bad[Operand::c] = shifted(good[Operand::c], 1);
  check(bad, Operand::c);
  bad = good;
  bad[Operand::bias] = shifted(good[Operand::bias], 1);
  check(bad, Operand::bias);
  bad = good;
  bad[Operand::scale] = shifted(good[Operand::scale], 2);
  check(bad, Operand::scale);
  bad = good;
  bad[Operand::residual] = shifted(good[Operand::residual], 1);
  check(bad, Operand::residual);
  bad = good;
  bad[Operand::aux] = shifted(good[Operand::aux], 1);
  check(bad, Operand::aux);
  bad = good;
  bad[Operand::out] = shifted(good[Operand::out], 1);
  check(bad, Operand::out);
  CHECK(plan->run(good, nullptr));
  CHECK(problem.check_outputs());
}

TEST_CASE("a plan that stores boxes keeps to the alignment of the output that it was made for") {
  const Result<Kernel> kernel =
      make_kernel("gemm_sm90_f16_f16_f32_f16_rrr_128x64x64_c1x1_s4_cooperative_a8x8");
  REQUIRE(kernel);
  RandomProblem problem = full_problem(40, 24, 48, false);
  GemmArguments args = problem.arguments;
  Result<Plan> plan = kernel->prepare(args);
  REQUIRE(plan);
  PlanOperands shifted = operands_of(args);
  shifted[Operand::out] = static_cast<const std::byte*>(shifted[Operand::out]) + 2;
  const Status status = plan->run(shifted, nullptr);
  CHECK(status.operand() == Operand::out);
  CHECK(status.message() ==
        "Operand `out` is misaligned: expected a pointer that is a multiple of 8 elements, got a multiple of "
        "1");
  CHECK_FALSE(problem.check_outputs());
  CHECK(plan->run(operands_of(args), nullptr));
  CHECK(problem.check_outputs());

  args.out.data = nullptr;
  args.out.assumed_alignment = 2;  // then elements are stored one by one, anywhere
  plan = kernel->prepare(args);
  REQUIRE(plan);
  CHECK(plan->run(operands_of(problem.arguments), nullptr, {}));
}

TEST_CASE("run and prepare refuse what supports refuses") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  const std::vector<Kernel> kernels = get_kernels();
  REQUIRE(kernels.size() > 100);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    RandomProblem problem = random_problem(random, {20, 20, 20});
    const Kernel& kernel = kernels[random() % kernels.size()];
    const Status supports = kernel.supports(problem.arguments);
    if (supports) continue;
    ++refused;
    CHECK(kernel.run(problem.arguments).code() == supports.code());
    CHECK(kernel.run(problem.arguments).message() == supports.message());
    CHECK(kernel.prepare(problem.arguments).status().message() == supports.message());
    CHECK(kernel.workspace_size(problem.arguments).status().message() == supports.message());
  }
  CHECK(refused > 100);
}

TEST_CASE("copies of a plan run from many threads") {
  RandomProblem first = full_problem();
  const Kernel kernel = best_kernel(first.arguments);
  const Result<Plan> plan = kernel.prepare(first.arguments);
  REQUIRE(plan);
  REQUIRE(plan->run(operands_of(first.arguments), nullptr));
  std::vector<RandomProblem> problems;
  for (int i = 0; i < 4; ++i) problems.push_back(full_problem());
  std::vector<std::thread> threads;
  std::vector<int> failures(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    threads.emplace_back([&, i, mine = *plan] {
      for (int j = 0; j < 20; ++j) {
        problems[i].reset_outputs();
        if (!mine.run(operands_of(problems[i].arguments), nullptr)) ++failures[i];
        if (bytes_of_output(problems[i]) != bytes_of_output(first)) ++failures[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == std::vector<int>(problems.size()));
}

TEST_CASE("tensors on a device that is not there are refused, with the reason") {
  GemmArguments args = full_problem().arguments;
  const Kernel kernel = best_kernel(args);
  const bool has_runtime = static_cast<bool>(detail::runtime_status());
  for (const int device : {0, 63, 64, 4000}) {
    if (device < detail::device_count()) continue;
    Epilogue& e = args.epilogue;
    for (TensorView* view :
         {&args.a, &args.b, &*args.c, &args.out, &*e.bias, &*e.scale, &*e.residual, &*e.aux}) {
      view->memory = {MemoryKind::device, device};
    }
    for (const Status& status : {kernel.run(args), kernel.prepare(args).status()}) {
      CHECK(status.code() == StatusCode::no_device);
      CHECK(status.message().find(has_runtime ? "There is no CUDA device"
                                              : detail::runtime_status().message()) != std::string::npos);
    }
  }
}

TEST_CASE("a plan refuses tensors that say that they lie elsewhere") {
  const RandomProblem problem = full_problem();
  GemmArguments args = problem.arguments;
  const Kernel kernel = best_kernel(args);
  args.a.memory = args.b.memory = args.c->memory = args.out.memory = {MemoryKind::host, 0};
  Epilogue& e = args.epilogue;
  for (TensorView* view : {&*e.bias, &*e.scale, &*e.residual, &*e.aux}) view->memory = args.a.memory;
  const Result<Plan> plan = kernel.prepare(args);
  REQUIRE(plan);
  const Result<WorkspaceBuffer> workspace = WorkspaceBuffer::on_host(plan->workspace_size());
  REQUIRE(workspace);
  CHECK(plan->run(args, nullptr, *workspace));
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed, MemoryKind::pinned}) {
    GemmArguments mixed = args;
    mixed.b.memory = {kind, 2};
    const Status status = plan->run(mixed, nullptr, *workspace);
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.message() == "Operand `b` lies in memory of CUDA device 2: the plan runs on the host");
  }
}

TEST_CASE("host tensors beside device tensors are refused") {
  GemmArguments args = full_problem().arguments;
  const Kernel kernel = best_kernel(args);
  args.b.memory = {MemoryKind::device, 0};
  for (const Status& status : {kernel.run(args), kernel.prepare(args).status()}) {
    CHECK(status.reason() == Reason::mixed_devices);
    CHECK(status.operand() == Operand::b);
  }
}
