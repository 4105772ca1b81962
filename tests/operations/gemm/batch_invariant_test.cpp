// Queries whose kernels give a row the same bits whatever M is: one class for all M. (That a class keeps its
// promise: tests/lab/emulate/sum_class_test.cpp, tests/gpu.)
#include "quarry/batch_invariant.hpp"

#include <map>
#include <set>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/quarry.hpp"
#include "registry/tuning/table_file.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"
#include "support/tuned_problems.hpp"

namespace {

using namespace quarry;
using test::Random;

GemmArguments shape(Types types, Layouts layouts, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto view = [](Layout layout, DType type, std::int64_t rows, std::int64_t columns) {
    return layout == Layout::row ? TensorView::row_major(nullptr, type, {rows, columns})
                                 : TensorView::column_major(nullptr, type, {rows, columns});
  };
  GemmArguments args{.a = view(layouts.a, types.a, m, k),
                     .b = view(layouts.b, types.b, k, n),
                     .out = view(layouts.out, types.out, m, n)};
  args.accumulator = types.accumulator;
  return args;
}

const FindOptions invariant = {.batch_invariant = true};

constexpr Types invariant_types[] = {
    {DType::bf16, DType::bf16, DType::f32, DType::bf16}, {DType::f16, DType::f16, DType::f16, DType::f16},
    {DType::f32, DType::f32, DType::f32, DType::f32},    {DType::f64, DType::f64, DType::f64, DType::f64},
    {DType::s8, DType::s8, DType::s32, DType::s8},       {DType::e4m3, DType::e4m3, DType::f32, DType::bf16}};

}  // namespace

TEST_CASE("one class answers all M of one N, K and types, in one piece of K, whatever the layouts") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  int answered = 0;
  for (int round = 0; round < 60; ++round) {
    const Types types = test::one_of(random, invariant_types);
    const auto layout = [&random] { return test::coin(random) ? Layout::row : Layout::column; };
    const Layouts layouts = {layout(), layout(), layout()};
    const std::int64_t n = test::between(random, 1, 3000);
    const std::int64_t k = test::between(random, 1, 9000);
    const DeviceModel device = test::device_named(test::coin(random) ? "h200" : "a100");
    std::set<std::pair<SumClass, Math>> classes;
    for (int i = 0; i < 8; ++i) {
      // A column of one row cannot be told from a row.
      const GemmArguments args = shape(types, layouts, test::between(random, 2, i < 4 ? 40 : 4000), n, k);
      CAPTURE(round, args.a.extents[0], n, k);
      const CandidateList found = get_kernels(args, {}, {.device = &device, .batch_invariant = true});
      INFO(found.status().message());
      REQUIRE_FALSE(found.empty());
      for (const Candidate& kernel : found) {
        classes.insert({*sum_class(kernel.metadata()), kernel.metadata().design.math});
        REQUIRE(*kernel.controls().mode == Mode::gemm);
        REQUIRE(*kernel.controls().split_k_slices == 1);
      }
      const Result<Candidate> first = find_best(args, {}, {.device = &device, .batch_invariant = true});
      REQUIRE(first);
      CHECK(first->predicted_seconds() == found.front().predicted_seconds());
      ++answered;
    }
    CHECK(classes.size() == 1);
  }
  CHECK(answered == 480);
}

TEST_CASE("one row has the class of many, for rows that are contiguous") {
  for (const Types& types : invariant_types) {
    const Layouts layouts = {Layout::row, Layout::column, Layout::row};
    const Result<InvariantClass> one = invariant_class(shape(types, layouts, 1, 1024, 4096));
    const Result<InvariantClass> many = invariant_class(shape(types, layouts, 999, 1024, 4096));
    REQUIRE(one);
    REQUIRE(many);
    CHECK(one->sum_class == many->sum_class);
    CHECK(one->math == many->math);
  }
}

TEST_CASE("the layout of B, which has no rows of the problem, costs a batch-invariant query nothing") {
  const DeviceModel h100 = test::device_named("h100");
  const FindOptions on_h100 = {.device = &h100};
  const Types types[] = {invariant_types[0], invariant_types[5]};
  for (const Types& each : types) {
    for (const Layout b : {Layout::row, Layout::column}) {
      if (each.b == DType::e4m3 && b == Layout::row) continue;  // another family's
      const GemmArguments args = shape(each, {Layout::row, b, Layout::row}, 4096, 8192, 4096);
      const Result<Candidate> any = find_best(args, {}, on_h100);
      const Result<Candidate> steady = find_best(args, {}, {.device = &h100, .batch_invariant = true});
      REQUIRE(any);
      REQUIRE(steady);
      CHECK(steady->metadata().family == "gemm_sm90");
      CHECK(steady->predicted_seconds() == any->predicted_seconds());
    }
  }
}

TEST_CASE("batch-invariant queries take what kernels of the class must take") {
  const DeviceModel h100 = test::device_named("h100");
  const FindOptions steady = {.device = &h100, .batch_invariant = true};
  const auto plain = [](std::int64_t m) {
    return shape(invariant_types[0], {Layout::row, Layout::column, Layout::row}, m, 512, 1024);
  };
  const auto one_class = [&](const auto& change) {
    std::set<SumClass> classes;
    for (const std::int64_t m : {std::int64_t{2}, std::int64_t{33}, std::int64_t{1000}}) {
      GemmArguments args = plain(m);
      change(args, m);
      const CandidateList found = get_kernels(args, {}, steady);
      INFO(found.status().message());
      REQUIRE_FALSE(found.empty());
      for (const Candidate& each : found) classes.insert(*sum_class(each.metadata()));
    }
    return classes.size() == 1;
  };
  using expression::Declarations;
  const auto with = [](GemmArguments& args, const char* text, const char* tensors) {
    args.expression = *Expression::parse(text, *Declarations::parse(tensors));
  };
  const auto matrix = [](std::int64_t m, std::int64_t n, DType type = DType::bf16) {
    return TensorView::row_major(nullptr, type, {m, n});
  };
  CHECK(one_class([&](GemmArguments& args, std::int64_t m) {  // gated: B has twice the columns
    with(args, "out = silu(gate(sum)) * up(sum)", "");
    args.out = matrix(m, 256);
  }));
  CHECK(one_class([&](GemmArguments& args, std::int64_t m) {
    with(args, "out = (sum + shift) * factor + x + y; most = row_max(out)",
         "shift=f32:per_column,factor=f32:per_row,x=bf16:row,y=bf16:row");
    args.tensors = {{"shift", TensorView::vector(nullptr, DType::f32, 512)},
                    {"factor", TensorView::vector(nullptr, DType::f32, m)},
                    {"x", matrix(m, 512)},
                    {"y", matrix(1, 512)},
                    {"most", TensorView::vector(nullptr, DType::f32, m)}};
  }));
  CHECK(one_class([&](GemmArguments& args, std::int64_t m) {
    args.epilogue.bias = TensorView::vector(nullptr, DType::bf16, m);
    args.epilogue.bias_axis = BiasAxis::row;
    args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 1);
    args.epilogue.residual = args.epilogue.aux = matrix(m, 512);
    args.epilogue.beta = 1;
    args.c = matrix(m, 512);
  }));
  // An array of pointers as C, which kernels of Hopper's own class do not take.
  CHECK(one_class([&](GemmArguments& args, std::int64_t m) {
    args.a = TensorView::row_major(nullptr, DType::bf16, {2, m, 1024});
    args.b = TensorView::column_major(nullptr, DType::bf16, {2, 1024, 512});
    args.out = TensorView::row_major(nullptr, DType::bf16, {2, m, 512});
    args.epilogue.beta = 1;
    args.c = PointerArrayView::row_major(nullptr, DType::bf16, 2, {m, 512});
  }));
}

TEST_CASE("the class is the same whatever was measured") {
  const test::WithoutTuning none;
  const DeviceModel h200 = test::device_named("h200");
  const FindOptions on_h200 = {.device = &h200};
  const auto problem = [](std::int64_t m) {
    return shape(invariant_types[0], {Layout::row, Layout::column, Layout::row}, m, 128, 4096);
  };
  const Result<InvariantClass> before = invariant_class(problem(64), {}, on_h200);
  REQUIRE(before);
  const Filter in_class([&](const KernelMetadata& kernel) { return before->holds(kernel); });
  // The class's slowest kernel comes first for the problems that the class is chosen by.
  std::vector<detail::Measurement> measurements;
  for (const std::int64_t m : {16, 256, 4096}) {
    GemmArguments whole = problem(m);
    whole.controls = {.mode = Mode::gemm, .split_k_slices = 1};
    const CandidateList found = get_kernels(whole, in_class, on_h200);
    REQUIRE(found.size() > 10);
    measurements.push_back(test::measured(whole, found[found.size() - 1], 3));
  }
  const detail::TestFolder folder;
  REQUIRE(detail::append_to_table(folder / "table.jsonl", measurements));
  REQUIRE(load_tuning(folder / "table.jsonl"));
  GemmArguments whole = problem(256);
  whole.controls = {.mode = Mode::gemm, .split_k_slices = 1};
  REQUIRE(find_best(whole, {}, on_h200)->measured_seconds());
  const Result<InvariantClass> after = invariant_class(problem(64), {}, on_h200);
  REQUIRE(after);
  CHECK(after->sum_class == before->sum_class);
  CHECK(after->math == before->math);
}

TEST_CASE("classes of kernels: one of warps that share K is alone, integers are exact") {
  std::map<std::string_view, int> counts;
  for (const Kernel& kernel : get_kernels()) {
    const KernelMetadata& metadata = kernel.metadata();
    const std::optional<SumClass> of_kernel = sum_class(metadata);
    CAPTURE(kernel.name());
    if (!is_product(metadata.operation)) {
      REQUIRE_FALSE(of_kernel);
      continue;
    }
    const bool shares = metadata.design.warps && metadata.design.warps->k > 1;
    const ScaleSupport scales = metadata.operands.scales;
    const bool promotes = takes_blocks(scales);
    const bool is_exact = metadata.operands.accumulator == DType::s32;
    REQUIRE(of_kernel.has_value() == (!promotes && (!shares || is_exact)));
    if (!of_kernel) continue;
    ++counts[to_string(*of_kernel)];
    REQUIRE((*of_kernel == SumClass::exact) == (metadata.operands.accumulator == DType::s32));
    const bool is_wgmma = to_string(*of_kernel).starts_with("wgmma");
    REQUIRE(is_wgmma == (metadata.family.ends_with("_sm90") && *of_kernel != SumClass::exact));
  }
  for (const char* word :
       {"exact", "fma", "mma_k4", "mma_k8", "mma_k16", "wgmma_k8", "wgmma_k16", "wgmma_k32"})
    CHECK(counts[word] > 0);
  const std::vector<Kernel> by_field = get_kernels(*Filter::parse("sum_class == wgmma_k16"));
  CHECK(static_cast<int>(by_field.size()) == counts["wgmma_k16"]);
}

TEST_CASE("batch-invariant queries refuse slices of K, and say why nothing is left") {
  GemmArguments args = shape(invariant_types[0], {Layout::row, Layout::column, Layout::row}, 64, 64, 512);
  args.controls = {.mode = Mode::split_k_parallel, .split_k_slices = 4};
  const Status cut = invariant_class(args).status();
  CHECK(cut.code() == StatusCode::invalid_arguments);
  CHECK(cut.message().find("split_k_parallel and 4") != std::string::npos);
  CHECK(get_kernels(args, {}, invariant).status().message() == cut.message());
  CHECK(find_best(args, {}, invariant).status().message() == cut.message());
  args.controls = {};
  GemmArguments scaled = args;
  scaled.a_scale = TensorView::row_major(nullptr, DType::f32, {1, 1});
  CHECK(get_kernels(scaled, {}, invariant).status().code() == StatusCode::unsupported);
  const Filter none([](const KernelMetadata&) { return false; });
  CHECK(get_kernels(args, none, invariant).status().code() == StatusCode::filtered_out);
  args.b.extents[0] = 511;
  CHECK(get_kernels(args, {}, invariant).status().code() == StatusCode::invalid_arguments);
}

TEST_CASE("a row of a batch-invariant problem may lie as far from the next one as 64 bits count") {
  const std::int64_t extents[] = {1, 1, 8}, strides[] = {8, std::int64_t{1} << 57, 1};
  const TensorView row = TensorView::strided(nullptr, DType::f32, extents, strides);
  GemmArguments args{.a = row,
                     .b = TensorView::row_major(nullptr, DType::f32, {8, 8}),
                     .out = row,
                     .accumulator = DType::f32};
  REQUIRE_FALSE(get_kernels(args).empty());
  const Status status = find_best(args, {}, invariant).status();
  CHECK((status || status.code() == StatusCode::invalid_arguments));
}
