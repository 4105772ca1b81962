/// reduce_split_k as an operation of its own: its kernels, and what they take and compute on host tensors.
#include <algorithm>
#include <cstring>
#include <set>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/element.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/random_reduction.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using detail::Row;
using RandomProblem = lab::OperandsOf<ReduceSplitKArguments>;
using test::random_reduction;
using test::reduction_rows;

namespace {

RandomProblem operands(const ReduceSplitKArguments& shape, const lab::OperandOptions& options) {
  Result<RandomProblem> problem = RandomProblem::make(shape, options);
  INFO(problem.status().message());
  REQUIRE(problem);
  return *std::move(problem);
}

lab::Reference reference(const RandomProblem& problem) {
  Result<lab::Reference> computed = lab::compute_reference(problem.arguments, {.threads = 1});
  REQUIRE(computed);
  return *std::move(computed);
}

/// 3 slices of f32 to 40 x 24 of f16; fake.
ReduceSplitKArguments plain() {
  return {.partials = TensorView::row_major(nullptr, DType::f32, {3, 40, 24}),
          .out = TensorView::row_major(nullptr, DType::f16, {40, 24})};
}

Kernel kernel_named(std::string_view name) {
  const Result<Kernel> kernel = find_kernel(name);
  REQUIRE(kernel);
  return *kernel;
}

const Kernel& f32_to_f16() {
  static const Kernel kernel = kernel_named("reduce_split_k_f32_f16");
  return kernel;
}

/// The kernel, a query and a run refuse alike.
void check_refused(const ReduceSplitKArguments& args, StatusCode code, const std::string& words,
                   Operand operand = Operand::none) {
  const Status status = f32_to_f16().supports(args);
  INFO(status.message());
  CHECK(status.code() == code);
  CHECK_THAT(status.message(), Catch::Contains(words));
  if (operand != Operand::none) CHECK(status.operand() == operand);
  CHECK(f32_to_f16().run(args).message() == status.message());
  CHECK(f32_to_f16().prepare(args).status().message() == status.message());
  CHECK(f32_to_f16().workspace_size(args).status().message() == status.message());
  const CandidateList found = get_kernels(args);
  CHECK(found.empty());
  CHECK_FALSE(found.status());
  if (code == StatusCode::invalid_arguments) CHECK(found.status().message() == status.message());
}

}  // namespace

TEST_CASE("the registry has a reduction for every two types that a parallel split-K needs", "[reduce]") {
  std::set<std::string> names;
  for (const Row& row : reduction_rows()) {
    const KernelMetadata& k = row.metadata;
    names.emplace(k.name);
    CHECK(k.operation == Operation::reduce_split_k);
    CHECK(k.family == "reduce_split_k");
    CHECK(k.operands.a.dtype == DType::none);
    CHECK(k.operands.b.dtype == DType::none);
    CHECK(k.operands.c.dtype == k.operands.out.dtype);
    CHECK(k.design.threads == 256);
    CHECK(k.epilogue.activation);
    CHECK(k.epilogue.scale == (k.operands.out.dtype != DType::s32));
    const Result<Kernel> found = find_kernel(k.name);
    REQUIRE(found);
    CHECK(&detail::row_of(*found) == &row);
  }
  CHECK(names.size() == 18);
  for (const Row& row : test::gemm_rows()) {
    REQUIRE((row.companions[0] != detail::no_entry) == row.metadata.modes.split_k_parallel);
    if (!row.metadata.modes.split_k_parallel) continue;
    const Result<Kernel> reduction = find_kernel(detail::entry_of(row.companions[0]).name);
    const OperandMetadata& out = row.metadata.operands.out;
    REQUIRE(reduction->metadata().operands.accumulator == partial_type(row.metadata.operands.accumulator));
    REQUIRE(reduction->metadata().operands.out.dtype == out.dtype);
  }
}

TEST_CASE("filters see reductions by what they have, and not by what they lack", "[reduce]") {
  const auto count = [](const char* text) { return get_kernels(*Filter::parse(text)).size(); };
  const std::size_t all = reduction_rows().size();
  CHECK(count("operation == reduce_split_k") == all);
  CHECK(count("family == reduce_split_k and threads == 256 and epilogue.bias") == all);
  CHECK(count("operation == reduce_split_k and accumulator == s32 and out.dtype == s8") == 2);
  CHECK(count("operation == reduce_split_k and out.layout == column_interleaved32") == 4);
  CHECK(count("operation == reduce_split_k and has(out.layout)") == 4);
  for (const char* const lacking :
       {"has(a.dtype)", "has(b.layout)", "out.layout == row", "has(tile.m)", "has(math)", "has(math_unit)",
        "has(stages)", "has(warps)", "a.alignment == 1", "a.dtype == none", "math_unit == simt",
        "not split_k_parallel and tile.k == 0"}) {
    CAPTURE(lacking);
    CHECK(count((std::string("operation == reduce_split_k and ") + lacking).c_str()) == 0);
  }
}

TEST_CASE("a query for a reduction gives its kernel", "[reduce]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (const Row& row : reduction_rows()) {
    const ReduceSplitKArguments args = random_reduction(random, row);
    const CandidateList found = get_kernels(args);
    INFO(row.metadata.name << ": " << found.status().message());
    REQUIRE(found.size() == 1);
    CHECK(found.matched() == 1);
    CHECK(&detail::row_of(found.front()) == &row);
    CHECK(found.front().workspace() == 0);
    CHECK(found.front().predicted_seconds() > 0);
    CHECK_FALSE(found.front().controls().mode);
    CHECK(found.front().supports(args));
    CHECK(*found.front().workspace_size(args) == 0);
    for (const Row& other : reduction_rows()) CHECK(bool(Kernel(other).supports(args)) == (&other == &row));
  }
}

TEST_CASE("more memory to move takes longer", "[reduce]") {
  const auto seconds = [](std::int64_t slices, std::int64_t n) {
    return get_kernels(ReduceSplitKArguments{
                           .partials = TensorView::row_major(nullptr, DType::f32, {slices, 1024, n}),
                           .out = TensorView::row_major(nullptr, DType::f16, {1024, n})})
        .front()
        .predicted_seconds();
  };
  CHECK(seconds(2, 1024) < seconds(8, 1024));
  CHECK(seconds(2, 1024) < seconds(2, 4096));
}

TEST_CASE("filter, limit, availability and device narrow the answer, and say why", "[reduce]") {
  const ReduceSplitKArguments args = plain();
  const CandidateList filtered = get_kernels(args, *Filter::parse("threads > 256"), {.explain = true});
  CHECK(filtered.status().code() == StatusCode::filtered_out);
  REQUIRE(filtered.rejections().size() == 1);
  CHECK_THAT(filtered.rejections()[0].reason, Catch::Contains("filter"));
  CHECK(get_kernels(args, {}, {.limit = 0}).status().code() == StatusCode::filtered_out);
  CHECK(get_kernels(args, {}, {.limit = 1, .max_workspace = 0}).size() == 1);
  DeviceModel old = default_device_model();
  old.cc = 75;
  const CandidateList none = get_kernels(args, {}, {.device = &old});
  CHECK(none.status().code() == StatusCode::unsupported);
  CHECK_THAT(none.status().message(), Catch::Contains("compute capability"));
  old.clock = 0;
  CHECK(get_kernels(args, {}, {.device = &old}).status().code() == StatusCode::invalid_arguments);
}

TEST_CASE("types that no kernel has are said", "[reduce]") {
  ReduceSplitKArguments args = plain();
  args.partials.dtype = DType::f16;
  CHECK(get_kernels(args).status().code() == StatusCode::no_kernel);
  CHECK_THAT(get_kernels(args).status().message(),
             Catch::Contains("partials f16, out f16") && Catch::Contains("f32 or f64"));
  check_refused(args, StatusCode::unsupported, "Operand `partials` is unsupported: expected f32, got f16",
                Operand::partials);
  args = plain();
  args.out.dtype = DType::s8;
  check_refused(args, StatusCode::unsupported, "Operand `out` is unsupported: expected f16, got s8",
                Operand::out);
}

TEST_CASE("arguments of another operation are refused", "[reduce]") {
  const GemmArguments gemm = test::plain_problem(64, 64, 64);
  const Kernel multiplies = get_kernels(gemm, {}, {.limit = 1}).front();
  const auto refused = [](const Status& status, const char* words) {
    CHECK(status.code() == StatusCode::unsupported);
    CHECK(status.message() == words);
  };
  const char* const expects_gemm = "Operation is unsupported: expected gemm, got reduce_split_k";
  refused(multiplies.supports(plain()), expects_gemm);
  refused(multiplies.run(plain()), expects_gemm);
  refused(multiplies.prepare(plain()).status(), expects_gemm);
  refused(multiplies.workspace_size(plain()).status(), expects_gemm);
  const char* const expects_reduction = "Operation is unsupported: expected reduce_split_k, got gemm";
  refused(f32_to_f16().supports(gemm), expects_reduction);
  refused(f32_to_f16().run(gemm), expects_reduction);
  refused(f32_to_f16().prepare(gemm).status(), expects_reduction);
  refused(f32_to_f16().workspace_size(gemm).status(), expects_reduction);
}

TEST_CASE("partial sums that do not fit are refused", "[reduce]") {
  constexpr auto invalid = StatusCode::invalid_arguments;
  const auto with_partials = [](const TensorView& partials) {
    ReduceSplitKArguments args = plain();
    args.partials = partials;
    return args;
  };
  const auto sums = [](std::initializer_list<std::int64_t> extents) {
    return TensorView::row_major(nullptr, DType::f32, extents);
  };
  check_refused(with_partials({}), invalid, "Operand `partials` is missing", Operand::partials);
  check_refused(with_partials(sums({40, 24})), invalid, "expected rank 3, got rank 2", Operand::partials);
  check_refused(with_partials(sums({1, 1, 40, 24})), invalid, "expected rank 3, got rank 4");
  check_refused(with_partials(sums({0, 40, 24})), invalid, "no slices: expected 1 or more, got 0");
  check_refused(with_partials(sums({3, 41, 24})), invalid, "expected 40 rows (M), got 41");
  check_refused(with_partials(sums({3, 40, 25})), invalid, "expected 24 columns (N), got 25");
  check_refused(with_partials(sums({3, -40, 24})), invalid, "negative extent");
  check_refused(with_partials(sums({std::int64_t{1} << 31, 40, 24})), invalid, "too large");
  ReduceSplitKArguments batched = with_partials(sums({3, 2, 40, 24}));
  check_refused(batched, invalid, "expected rank 3, got rank 4");
  batched.out = TensorView::row_major(nullptr, DType::f16, {4, 40, 24});
  check_refused(batched, invalid, "expected a batch of 4, got 2", Operand::partials);
  check_refused({.partials = sums({3, 40, 24}), .out = TensorView::vector(nullptr, DType::f16, 40)}, invalid,
                "rank 2", Operand::out);
}

TEST_CASE("partial sums are packed, but for strides that lead nowhere", "[reduce]") {
  const auto stored = [](std::array<std::int64_t, 3> extents, std::array<std::int64_t, 3> strides) {
    ReduceSplitKArguments args = plain();
    args.partials = TensorView::strided(nullptr, DType::f32, extents, strides);
    args.out = TensorView::row_major(nullptr, DType::f16, {extents[1], extents[2]});
    return args;
  };
  const char* const packed = "Operand `partials` is unsupported: expected packed slices";
  check_refused(stored({3, 40, 24}, {1000, 24, 1}), StatusCode::unsupported, packed);
  check_refused(stored({3, 40, 24}, {40 * 25, 25, 1}), StatusCode::unsupported, packed);
  check_refused(stored({3, 40, 24}, {960, 1, 40}), StatusCode::unsupported, packed);
  check_refused(stored({3, 40, 24}, {0, 24, 1}), StatusCode::unsupported, packed);
  check_refused(stored({3, 40, 24}, {0, 0, 0}), StatusCode::unsupported, packed);
  check_refused(stored({3, 40, 24}, {960, 24, -1}), StatusCode::invalid_arguments, "negative stride");
  CHECK(f32_to_f16().supports(stored({1, 40, 24}, {7, 24, 1})));
  CHECK(f32_to_f16().supports(stored({3, 1, 24}, {24, 99, 1})));
  CHECK(f32_to_f16().supports(stored({3, 40, 1}, {40, 1, 5})));
  CHECK(f32_to_f16().supports(stored({3, 0, 24}, {5, 4, 3})));
}

TEST_CASE("what lies around the sums is checked as that of a GEMM", "[reduce]") {
  constexpr auto invalid = StatusCode::invalid_arguments;
  ReduceSplitKArguments args = plain();
  args.epilogue.beta = 1;
  check_refused(args, invalid, "Operand `c` is missing", Operand::c);
  args = plain();
  args.epilogue.bias = TensorView::vector(nullptr, DType::f16, 40);
  check_refused(args, invalid, "expected an extent of 24, got 40", Operand::bias);
  args = plain();
  args.epilogue.scale = TensorView::vector(nullptr, DType::f16, 24);
  check_refused(args, invalid, "Operand `scale` is unsupported: expected f32, got f16", Operand::scale);
  args = plain();
  args.epilogue.clamp = {1, -1};
  check_refused(args, invalid, "clamp");
  args = plain();
  args.out.strides[0] = 3;
  check_refused(args, invalid, "overlaps itself", Operand::out);
  args = plain();
  args.partials.memory = {MemoryKind::host, 0};
  args.out.memory = {MemoryKind::device, 0};
  check_refused(args, invalid, "Operand `partials` lies elsewhere", Operand::partials);
}

TEST_CASE("outputs may not overlap what is read", "[reduce]") {
  alignas(16) static std::byte memory[1 << 16];
  ReduceSplitKArguments args = plain();
  args.partials.data = memory;
  args.out.data = memory + 64;
  check_refused(args, StatusCode::invalid_arguments, "Operand `partials` overlaps `out`", Operand::partials);
  args.out.data = memory + (1 << 15);
  CHECK(f32_to_f16().supports(args));
  args.epilogue.aux = args.out;
  args.epilogue.aux->data = memory + 1024;
  check_refused(args, StatusCode::invalid_arguments, "Operand `partials` overlaps `aux`", Operand::partials);
  args.epilogue.aux->data = args.out.data;
  check_refused(args, StatusCode::invalid_arguments, "Operand `out` overlaps `aux`", Operand::out);
}

TEST_CASE("more blocks than a grid has are refused", "[reduce]") {
  const std::int64_t rows = (std::int64_t{1} << 31) - 1;
  const ReduceSplitKArguments args = {.partials = TensorView::row_major(nullptr, DType::f32, {1, rows, 4096}),
                                      .out = TensorView::row_major(nullptr, DType::f16, {rows, 4096})};
  check_refused(args, StatusCode::unsupported, "too large");
}

TEST_CASE("data that a run needs and has not is named", "[reduce]") {
  RandomProblem problem = operands(plain(), {.seed = 1});
  ReduceSplitKArguments args = problem.arguments;
  args.partials.data = nullptr;
  CHECK(f32_to_f16().run(args).operand() == Operand::partials);
  CHECK(f32_to_f16().run(args).reason() == Reason::null_data);
  args = problem.arguments;
  args.out.data = nullptr;
  CHECK(f32_to_f16().run(args).operand() == Operand::out);
  args = problem.arguments;
  args.epilogue.bias = TensorView::vector(nullptr, DType::f16, 24).on({MemoryKind::host, 0});
  CHECK(f32_to_f16().run(args).operand() == Operand::bias);
  args = problem.arguments;
  args.partials.data = static_cast<const std::byte*>(args.partials.data) + 2;
  CHECK_THAT(f32_to_f16().run(args).message(), Catch::Contains("`partials` is misaligned"));
}

TEST_CASE("a workspace is neither needed nor looked at", "[reduce]") {
  RandomProblem problem = operands(plain(), {.seed = 2});
  char odd = 7;
  CHECK(f32_to_f16().run(problem.arguments, {.workspace = {&odd, 1}}));
  CHECK(odd == 7);
}

TEST_CASE("an output without elements is done at once", "[reduce]") {
  for (const auto& [m, n] : {std::pair(0, 24), std::pair(40, 0), std::pair(0, 0)}) {
    const ReduceSplitKArguments args = {
        .partials = TensorView::row_major(nullptr, DType::f32, {3, m, n}).on({MemoryKind::host, 0}),
        .out = TensorView::row_major(nullptr, DType::f16, {m, n}).on({MemoryKind::host, 0})};
    CHECK(f32_to_f16().run(args));
    const Result<Plan> plan = f32_to_f16().prepare(args);
    REQUIRE(plan);
    CHECK(plan->run({}, nullptr));
  }
}

TEST_CASE("every reduction is a plain sum on small integers, whatever memory's strides", "[reduce]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (const Row& row : reduction_rows()) {
    for (int i = 0; i < 8; ++i) {
      ReduceSplitKArguments shape = random_reduction(random, row, 60);
      shape.epilogue = {};
      shape.c.reset();
      RandomProblem problem = operands(shape, {.seed = random(), .values = lab::Values::small_integers});
      INFO(row.metadata.name);
      REQUIRE(Kernel(row).run(problem.arguments));
      REQUIRE(problem.check_outputs());
      const lab::Matrices sums(problem.arguments.partials);
      const lab::Matrices out(problem.arguments.out);
      std::size_t wrong = 0;
      for (std::int64_t entry = 0; entry < out.count(); ++entry) {
        for (std::int64_t m = 0; m < out.rows(); ++m) {
          for (std::int64_t n = 0; n < out.columns(); ++n) {
            double sum = 0;
            for (std::int64_t slice = 0; slice < problem.arguments.partials.extents[0]; ++slice) {
              sum +=
                  host::read_element(sums.type(), sums.first(slice * out.count() + entry), sums.index(m, n));
            }
            if (out.type() == DType::u8) sum = std::max(sum, 0.0);
            std::byte nearest[8];
            host::write_element(out.type(), nearest, 0, sum);  // few of these are numbers of 8-bit types
            const double expected = is_fp8(out.type()) ? host::read_element(out.type(), nearest, 0) : sum;
            wrong += host::read_element(out.type(), out.first(entry), out.index(m, n)) != expected ? 1 : 0;
          }
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("every reduction is right against float64, with any epilogue, by run and by plan", "[reduce]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (const Row& row : reduction_rows()) {
    const Kernel kernel(row);
    for (int i = 0; i < 20; ++i) {
      const lab::OperandOptions options = {.seed = random(), .in_place = test::random_in_place(random)};
      RandomProblem problem = operands(random_reduction(random, row, 100), options);
      const ReduceSplitKArguments args = problem.arguments;
      const lab::Reference right = reference(problem);
      problem.reset_outputs();
      INFO(row.metadata.name << ", problem " << i);
      const Status ran = kernel.run(args);
      INFO(ran.message());
      REQUIRE(ran);
      REQUIRE(problem.check_outputs());
      const lab::Comparison compared = lab::compare(right, args, row.metadata);
      INFO(compared.error << " of " << compared.bound << ", expected " << compared.expected << ", got "
                          << compared.got);
      REQUIRE(compared.within());
      const lab::GuardedTensor& out = problem[Operand::out];
      const std::vector<std::byte> by_run(out.storage(), out.storage() + out.storage_bytes());

      const Result<Plan> plan = kernel.prepare(args);
      REQUIRE(plan);
      CHECK(plan->workspace_size() == 0);
      problem.reset_outputs();
      REQUIRE(plan->run(detail::operands_of(args), nullptr));
      CHECK(std::memcmp(out.storage(), by_run.data(), by_run.size()) == 0);
    }
  }
}

TEST_CASE("sums of s32 wrap, and slices are added in their order", "[reduce]") {
  const std::int32_t sums[] = {2147483647, 1};
  std::int32_t out = 0;
  const Status ran =
      kernel_named("reduce_split_k_s32_s32")
          .run(ReduceSplitKArguments{.partials = TensorView::row_major(sums, DType::s32, {2, 1, 1}),
                                     .out = TensorView::row_major(&out, DType::s32, {1, 1})});
  CHECK(ran);
  CHECK(out == -2147483647 - 1);
  const float parts[] = {1e8F, -1e8F, 1};
  float sum = 0;
  REQUIRE(kernel_named("reduce_split_k_f32_f32")
              .run(ReduceSplitKArguments{.partials = TensorView::row_major(parts, DType::f32, {3, 1, 1}),
                                         .out = TensorView::row_major(&sum, DType::f32, {1, 1})}));
  CHECK(sum == 1);  // (1e8 - 1e8) + 1, and not 1e8 + (-1e8 + 1)
}

TEST_CASE("a plan of a reduction needs pointers as aligned as elements", "[reduce]") {
  RandomProblem problem = operands(plain(), {.seed = 5});
  const Result<Plan> plan = f32_to_f16().prepare(problem.arguments);
  REQUIRE(plan);
  PlanOperands given = detail::operands_of(problem.arguments);
  CHECK(given[Operand::a] == nullptr);
  CHECK(plan->run(given, nullptr));
  given[Operand::partials] = static_cast<const std::byte*>(given[Operand::partials]) + 2;
  CHECK(plan->run(given, nullptr).operand() == Operand::partials);
  given = detail::operands_of(problem.arguments);
  given[Operand::partials] = nullptr;
  CHECK(plan->run(given, nullptr).reason() == Reason::null_data);
  CHECK_THAT(f32_to_f16().prepare(plain()).status().message(), Catch::Contains("Nothing says where"));
}

TEST_CASE("a parallel split-K is the GEMMs of its slices and a reduction, bit for bit", "[reduce]") {
  const Kernel gemm = kernel_named("gemm_simt_f32_f32_f32_f32_rcr_64x64x16_t4x4");
  GemmArguments shape = {.a = TensorView::row_major(nullptr, DType::f32, {70, 96}),
                         .b = TensorView::column_major(nullptr, DType::f32, {96, 50}),
                         .out = TensorView::row_major(nullptr, DType::f32, {70, 50}),
                         .epilogue = {.alpha = 0.75, .activation = Activation::gelu},
                         .controls = {.mode = Mode::split_k_parallel, .split_k_slices = 3}};
  shape.epilogue.bias = TensorView::vector(nullptr, DType::f32, 50);
  auto problem = lab::OperandsOf<GemmArguments>::make(shape, {.seed = 11});
  REQUIRE(problem);
  const GemmArguments& whole = problem->arguments;
  std::vector<std::byte> memory(*gemm.workspace_size(whole) + 256);
  void* workspace = memory.data();
  std::size_t space = memory.size();
  std::align(256, 1, workspace, space);
  REQUIRE(gemm.run(whole, {.workspace = {workspace, space}}));
  std::vector<float> split(70 * 50);
  std::memcpy(split.data(), whole.out.data, split.size() * sizeof(float));

  std::vector<float> partials(3 * 70 * 50);
  for (int slice = 0; slice < 3; ++slice) {
    const auto from = [&](const TensorView& view, std::size_t k) {
      TensorView part = view;
      part.extents[k] = 32;
      part.data = static_cast<const float*>(view.data) + slice * 32;
      return part;
    };
    REQUIRE(gemm.run(GemmArguments{
        .a = from(whole.a, 1),
        .b = from(whole.b, 0),
        .out =
            TensorView::row_major(&partials[static_cast<std::size_t>(slice) * 70 * 50], DType::f32, {70, 50}),
        .controls = {.mode = Mode::gemm}}));
  }
  problem->reset_outputs();
  REQUIRE(kernel_named("reduce_split_k_f32_f32")
              .run(ReduceSplitKArguments{
                  .partials = TensorView::row_major(partials.data(), DType::f32, {3, 70, 50}),
                  .out = whole.out,
                  .epilogue = whole.epilogue}));
  CHECK(std::memcmp(whole.out.data, split.data(), split.size() * sizeof(float)) == 0);
}

TEST_CASE("a reduction by itself is not exported", "[reduce]") {
  const Status status = export_kernel(f32_to_f16(), "/nowhere");
  CHECK(status.code() == StatusCode::unsupported);
  CHECK_THAT(status.message(), Catch::Contains("cannot be exported by itself"));
}

TEST_CASE("a config of a reduction makes its kernel, and one that cannot be is refused", "[reduce]") {
  const Result<Kernel> made = make_kernel(R"({"family": "reduce_split_k", "partials": "f64", "out": "f16"})");
  REQUIRE(made);
  CHECK(made->name() == "reduce_split_k_f64_f16");
  const auto refused = [](const char* text, const char* words) {
    const Result<Kernel> kernel = make_kernel(text);
    REQUIRE_FALSE(kernel);
    CHECK_THAT(kernel.status().message(), Catch::Contains(words));
  };
  refused("reduce_split_k_f16_f16", "partial sums are f32, f64 or s32");
  refused("reduce_split_k_f32_s8", "the output of floating-point sums must be floating-point");
  refused("reduce_split_k_f64_e4m3", "an output of e4m3 or e5m2 needs sums of f32");
  refused("reduce_split_k_f32_s4", "the output of floating-point sums must be floating-point");
  refused("reduce_split_k_s32_f16", "the output of s32 sums must be s32, s8, u8 or f32");
  refused("reduce_split_k_s32_s4", "the output of s32 sums must be s32, s8, u8 or f32");
  refused(R"({"family": "reduce_split_k", "partials": "f64"})", "`out` is missing");
}
