// What a campaign draws, and how it judges refusals.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "operations/gemm/lab/campaign_problems.hpp"
#include "operations/gemm/lab/expression.hpp"
#include "operations/gemm/lab/refusal.hpp"
#include "operations/gemm/normalise.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"
#include "support/gemm_rules.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using lab::gemm::CampaignProblem;
using lab::gemm::CampaignSpace;

namespace {

constexpr int draws = 4000;

CampaignSpace space_of(double cost) {
  const auto filter = Filter::parse("operation == gemm");
  REQUIRE(filter);
  return lab::gemm::campaign_space(get_kernels(*filter), cost);
}

struct Sizes {
  std::int64_t m, n, k, batch;
};

Sizes sizes_of(const GemmArguments& args) {
  const TensorView& out = args.out;
  return {out.extents[out.rank - 2U], out.extents[out.rank - 1U], args.a.extents[args.a.rank - 1U],
          out.rank == 3 ? out.extents[0] : 0};
}

/// What is seen of the ways to store an operand.
void see_storage(const TensorView& view, std::set<std::string>& seen) {
  const std::int64_t rows = view.strides[view.rank - 2U];
  const std::int64_t columns = view.strides[view.rank - 1U];
  if (rows == 1) seen.insert("column");
  if (columns == 1) seen.insert("row");
  if (rows == 0 || columns == 0) seen.insert("repeated");
  if (rows > 1 && columns > 1) seen.insert("spread");
  if (view.rank == 3 && view.strides[0] == 0) seen.insert("same batch");
  if (view.assumed_alignment < 16 && view.assumed_alignment > bytes_of(view.dtype))
    seen.insert("some alignment");
  seen.insert(view.assumed_alignment >= 16 ? "aligned" : "misaligned");
}

/// The matrix operands that there are.
std::vector<std::pair<Operand, const TensorView*>> matrices_of(const GemmArguments& args) {
  std::vector<std::pair<Operand, const TensorView*>> all = {
      {Operand::a, &args.a}, {Operand::b, &args.b}, {Operand::out, &args.out}};
  if (args.c) all.emplace_back(Operand::c, &*args.c);
  if (args.epilogue.residual) all.emplace_back(Operand::residual, &*args.epilogue.residual);
  if (args.epilogue.aux) all.emplace_back(Operand::aux, &*args.epilogue.aux);
  return all;
}

/// A kernel of the plain f16 problem, of rows of A that are multiples of 16 bytes.
const KernelMetadata& aligned_kernel() {
  const auto filter =
      Filter::parse("family == gemm_sm80 and a.dtype == f16 and a.alignment == 8 and b.alignment == 8");
  REQUIRE(filter);
  return get_kernels(test::plain_problem(64, 64, 64), *filter).front().metadata();
}

std::string fault(const Status& status, const KernelMetadata& kernel, const GemmArguments& args) {
  return lab::gemm::fault_of_refusal(status, kernel, args, default_device_model());
}

Status refused(Reason reason, Operand operand, int expected = 0, int got = 0) {
  return {StatusCode::unsupported, reason, operand, expected, got};
}

}  // namespace

TEST_CASE("a campaign draws every type, layout, stride, mode and epilogue", "[campaign]") {
  const CampaignSpace space = space_of(1e9);
  std::set<lab::TypeKey> types;
  std::map<std::string, std::set<std::string>> storage;
  std::set<Mode> modes;
  std::set<Activation> activations;
  int invalid = 0, in_place = 0, by_pointer = 0, biased = 0, free = 0, batched = 0;
  int low = 0, high = 0, residual_in_place = 0;
  std::set<std::string> scales;
  std::map<Operand, int> arrays;
  std::map<Operand, int> beside_arrays;  // batches with a stride where others are arrays
  for (int i = 0; i < draws; ++i) {
    const CampaignProblem problem = lab::gemm::campaign_problem(space, static_cast<std::uint64_t>(i));
    const GemmArguments& args = problem.arguments;
    types.insert({args.a.dtype, args.b.dtype, *args.accumulator, args.out.dtype, args.math});
    see_storage(args.a, storage["a"]);
    see_storage(args.b, storage["b"]);
    if (args.c) see_storage(*args.c, storage["c"]);
    see_storage(args.out, storage["out"]);
    if (args.controls.mode) modes.insert(*args.controls.mode);
    activations.insert(args.epilogue.activation);
    in_place += problem.drawn.in_place;
    by_pointer += problem.drawn.scalars_by_pointer;
    biased += args.epilogue.bias.has_value();
    batched += args.out.rank == 3;
    low += std::isfinite(args.epilogue.clamp.low);
    high += std::isfinite(args.epilogue.clamp.high);
    residual_in_place += problem.drawn.residual_in_place;
    if (const auto& scale = args.epilogue.scale) {
      const bool by_row = args.epilogue.scale_axis == BiasAxis::row;
      scales.insert(scale->extents[0] == 1 ? "tensor" : by_row ? "row" : "column");
    }
    if (args.epilogue.residual) see_storage(*args.epilogue.residual, storage["residual"]);
    if (args.epilogue.aux) see_storage(*args.epilogue.aux, storage["aux"]);
    const std::vector<std::pair<Operand, const TensorView*>> matrices = matrices_of(args);
    const bool any = std::ranges::any_of(matrices, [](const auto& m) { return m.second->is_pointer_array; });
    for (const auto& [operand, view] : matrices) {
      arrays[operand] += view->is_pointer_array;
      beside_arrays[operand] += any && view->rank == 3 && !view->is_pointer_array;
    }
    free += !args.controls.mode && !args.controls.split_k_slices && !args.controls.swizzle;
    GemmProblem normalised;
    const Status valid = test::normalise(args, normalised);
    INFO("seed " << i << ": " << lab::gemm::described(problem) << ": " << valid.message());
    if (!valid) REQUIRE(lab::gemm::fault_of_empty_answer(valid, args).empty());
    invalid += !valid;
  }
  for (const lab::TypeKey& key : space.types) CHECK(types.contains(key));
  CHECK(types.size() > space.types.size() + 100);  // and such as there are no kernels of
  const std::set<std::string> plain = {"row", "column", "spread", "aligned", "misaligned", "some alignment"};
  std::set<std::string> all = plain;
  all.insert({"repeated", "same batch"});
  CHECK(storage["a"] == all);
  CHECK(storage["b"] == all);
  CHECK(storage["c"] == all);
  CHECK(storage["residual"] == all);
  CHECK(storage["out"] == plain);  // no two outputs in one place
  CHECK(storage["aux"] == plain);
  CHECK(scales == std::set<std::string>{"row", "column", "tensor"});
  CHECK(low > draws / 8);
  CHECK(high > draws / 8);
  CHECK(residual_in_place > draws / 50);
  for (const Operand operand :
       {Operand::a, Operand::b, Operand::c, Operand::out, Operand::residual, Operand::aux}) {
    CHECK(arrays[operand] > draws / 200);
    CHECK(beside_arrays[operand] > draws / 200);
  }
  CHECK(modes.size() == 5);
  CHECK(activations.size() == 9);
  CHECK(invalid > 0);
  CHECK(invalid < draws / 25);
  CHECK(in_place > draws / 50);
  CHECK(by_pointer > draws / 20);
  CHECK(biased > draws / 3);
  CHECK(batched > draws / 5);
  CHECK(free > draws / 3);
}

TEST_CASE("a campaign draws expressions, some with gated pairs and reductions", "[campaign]") {
  const CampaignSpace space = space_of(1e9);
  int all = 0, lines = 0, groups = 0, pairs = 0, taken = 0;
  for (int i = 0; i < draws; ++i) {
    const CampaignProblem problem = lab::gemm::campaign_problem(space, static_cast<std::uint64_t>(i));
    const GemmArguments& args = problem.arguments;
    if (!args.expression) continue;
    const lab::gemm::WideParts parts = lab::gemm::wide_parts(*args.expression);
    const std::int64_t columns = args.b.extents[args.b.rank - 1U];
    CHECK(args.out.extents[args.out.rank - 1U] == (parts.pairs ? columns / 2 : columns));
    all += 1;
    lines += parts.lines;
    groups += parts.groups;
    pairs += parts.pairs;
    const bool is_wide = parts.lines || parts.groups || parts.pairs;
    taken += is_wide && lab::gemm::is_always_taken(space, args);
  }
  CHECK(all > draws / 30);
  CHECK(lines > all / 20);
  CHECK(groups > all / 40);
  CHECK(pairs > all / 20);
  CHECK(taken > all / 20);
}

TEST_CASE("sizes of a campaign are log-uniform, within their cost", "[campaign]") {
  const CampaignSpace space = space_of(std::numeric_limits<double>::infinity());
  const CampaignSpace cheap = space_of(1e7);
  int small = 0;
  int large = 0;
  for (int i = 0; i < draws; ++i) {
    const Sizes s = sizes_of(lab::gemm::campaign_problem(space, static_cast<std::uint64_t>(i)).arguments);
    for (const std::int64_t extent : {s.m, s.n, s.k}) {
      REQUIRE(extent >= 1);
      REQUIRE(extent <= 2000);
      small += extent < 45;  // the root of 2000
      large += extent > 1000;
    }
    const Sizes c = sizes_of(lab::gemm::campaign_problem(cheap, static_cast<std::uint64_t>(i)).arguments);
    REQUIRE(lab::gemm::campaign_cost(c.m, c.n, c.k, c.batch) <= 1e7);
  }
  CHECK(std::abs(small - 3 * draws / 2) < 3 * draws / 20);
  CHECK(std::abs(large - 0.0912 * 3 * draws) < 0.02 * 3 * draws);
}

TEST_CASE("a campaign's problem follows from its seed", "[campaign]") {
  const CampaignSpace space = space_of(1e9);
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = lab::gemm::described(lab::gemm::campaign_problem(space, seed));
    CHECK(text == lab::gemm::described(lab::gemm::campaign_problem(space, seed)));
    texts.insert(text);
  }
  CHECK(texts.size() == 200);
}

TEST_CASE("what is always there is what some kernel takes whatever the problem", "[campaign]") {
  const CampaignSpace all = space_of(1e9);
  for (const lab::TypeKey& key : all.types) CHECK(all.always_there.contains(key));
  const auto tensor_cores = Filter::parse("math_unit == tensor_core");
  REQUIRE(tensor_cores);
  CHECK(lab::gemm::campaign_space(get_kernels(*tensor_cores), 1e9).always_there.empty());
  const auto rows_only = Filter::parse("a.layout == row");
  REQUIRE(rows_only);
  CHECK(lab::gemm::campaign_space(get_kernels(*rows_only), 1e9).always_there.empty());
}

TEST_CASE("a refusal is good where its cause is true", "[campaign]") {
  const KernelMetadata& kernel = aligned_kernel();
  const Kernel handle = *find_kernel(kernel.name);
  const GemmArguments plain = test::plain_problem(64, 64, 64);
  REQUIRE(handle.supports(plain));
  const auto check = [&](const GemmArguments& args) {
    const Status status = handle.supports(args);
    REQUIRE_FALSE(status);
    CHECK(fault(status, kernel, args).empty());
    CHECK_FALSE(fault(status, kernel, plain).empty());  // where it is not true
  };
  GemmArguments args = plain;
  args.a.dtype = DType::bf16;
  check(args);
  args = plain;
  args.b = TensorView::row_major(nullptr, DType::f16, {64, 64});
  check(args);
  args = plain;
  args.a.strides[0] = 68;
  check(args);
  args = plain;
  args.b.assumed_alignment = 2;
  check(args);
  args = plain;
  args.accumulator = DType::f16;
  check(args);
  args = plain;
  args.controls.mode = Mode::split_k_cluster;
  check(args);
  args = plain;
  args.controls = {.mode = Mode::split_k_serial, .split_k_slices = 65};
  check(args);
  args = plain;
  args.controls.multiprocessors = 4;
  check(args);
  args = plain;
  args.controls.swizzle = 3;
  check(args);
  args = plain;
  args.epilogue.clamp = {.low = 2, .high = 1};
  check(args);
  args = plain;
  args.out = PointerArrayView::row_major(nullptr, DType::f16, 2, {64, 64}).aligned(24);
  check(args);
}

TEST_CASE("a refusal to copy operands first is good where nothing has to be copied", "[campaign]") {
  const Kernel kernel = *find_kernel("gemm_sm90_u8_s8_s32_s32_rcr_64x128x128_c1x1_s8_one_tile_a1x1");
  GemmArguments args;
  args.a = TensorView::row_major(nullptr, DType::u8, {2, 64, 96});
  args.b = TensorView::column_major(nullptr, DType::s8, {2, 96, 64});
  args.out = TensorView::row_major(nullptr, DType::s32, {2, 64, 64});
  const Status status = kernel.supports(args);
  REQUIRE_FALSE(status);
  CHECK(fault(status, kernel.metadata(), args).empty());
  const auto check_copied = [&](const auto& change) {
    GemmArguments changed = args;
    change(changed);
    CHECK(kernel.supports(changed));
    CHECK_FALSE(fault(status, kernel.metadata(), changed).empty());
  };
  check_copied([](GemmArguments& a) { a.a = TensorView::row_major(nullptr, DType::u8, {2, 64, 96}, 104); });
  check_copied([](GemmArguments& a) { a.a.assumed_alignment = 8; });
  check_copied([](GemmArguments& a) { a.a.strides[1] = 0; });
  check_copied([](GemmArguments& a) { a.b.strides[0] += 1; });
}

TEST_CASE("a refusal of pairs and reductions is good where the kernel does not compute them", "[campaign]") {
  GemmArguments args = test::plain_problem(64, 64, 64);
  args.accumulator = DType::f32;
  args.out = TensorView::row_major(nullptr, args.out.dtype, {64, 64});
  args.b = TensorView::column_major(nullptr, args.b.dtype, {64, 64});
  std::set<std::string> seen;
  for (const char* text : {"out = sum; r = row_sum(sum)", "out = sum / group_max(sum)",
                           "out = gate(sum) * up(sum)", "out = sum; r = max(sum)"}) {
    GemmArguments with = args;
    with.expression = test::parsed(text, "");
    const lab::gemm::WideParts parts = lab::gemm::wide_parts(*with.expression);
    if (parts.pairs) with.out = TensorView::row_major(nullptr, args.out.dtype, {64, 32});
    const bool is_all = std::string_view(text).find(" max(") != std::string_view::npos;
    if (parts.lines) with.tensors = {{"r", TensorView::vector(nullptr, DType::f32, is_all ? 1 : 64)}};
    GemmArguments without = with;
    without.expression = test::parsed("out = sum * 2", "");
    without.tensors = {};
    for (const Mode mode : {Mode::gemm, Mode::split_k_cluster}) {
      with.controls.mode = mode;
      for (const Kernel& kernel :
           get_kernels(*Filter::parse("operation == gemm and a.dtype == f16 and not reorders"))) {
        const Status status = kernel.supports(with);
        if (status || status.code() != StatusCode::unsupported || status.operand() != Operand::none) continue;
        INFO(kernel.name() << ": " << text << ": " << status.message());
        CHECK(fault(status, kernel.metadata(), with).empty());
        const bool is_of_parts = status.reason() == Reason::text &&
                                 !std::string_view(status.message()).starts_with("The expression") &&
                                 !std::string_view(status.message()).starts_with("Acc") &&
                                 !std::string_view(status.message()).starts_with("Math");
        if (!is_of_parts) continue;
        seen.insert(std::string(status.message()).substr(0, 9));
        CHECK_FALSE(fault(status, kernel.metadata(), without).empty());
      }
    }
  }
  CHECK(seen == std::set<std::string>{"Gated pai", "Groups of", "Mode `spl", "Tiles of "});
}

TEST_CASE("a refusal of arrays is good where there are some, and the kernel does not permit them",
          "[campaign]") {
  const auto filter = Filter::parse("family == gemm_sm90 and a.dtype == f16");
  REQUIRE(filter);
  const GemmArguments plain = test::plain_problem(64, 64, 64);
  const Kernel kernel = get_kernels(plain, *filter).front();
  GemmArguments args = plain;
  args.out = PointerArrayView::row_major(nullptr, DType::f16, 2, {64, 64});
  for (const bool residual : {false, true}) {
    if (residual) {
      args.out = TensorView::row_major(nullptr, DType::f16, {2, 64, 64});
      args.epilogue.residual = PointerArrayView::row_major(nullptr, DType::f16, 2, {64, 64});
    }
    const Status status = kernel.supports(args);
    CHECK(status.reason() == Reason::mode_array);
    CHECK(fault(status, kernel.metadata(), args).empty());
    CHECK_FALSE(fault(status, kernel.metadata(), plain).empty());
    CHECK_FALSE(fault(status, aligned_kernel(), args).empty());  // which permits them
  }
}

TEST_CASE("rules of scale, clamp and s32 are broken where a refusal says so", "[campaign]") {
  GemmArguments args = test::plain_problem(64, 64, 64, DType::s8);
  args.accumulator = DType::s32;
  args.out.dtype = DType::s32;
  const GemmArguments plain = args;
  const auto check = [&](const GemmArguments& broken) {
    GemmProblem problem;
    const Status status = test::normalise(broken, problem);
    INFO(status.message());
    REQUIRE_FALSE(status);
    CHECK(lab::gemm::fault_of_empty_answer(status, broken).empty());
    CHECK_FALSE(lab::gemm::fault_of_empty_answer(status, plain).empty());
  };
  args.epilogue.scale = TensorView::vector(nullptr, DType::s32, 1);
  check(args);
  args = plain;
  args.epilogue.clamp.low = 0.5;
  check(args);
  args = plain;
  args.epilogue.alpha = 0.5;
  check(args);
  args = plain;
  args.epilogue.activation = Activation::gelu;
  check(args);
}

TEST_CASE("a refusal without a cause, or with another one, is found out", "[campaign]") {
  const KernelMetadata& kernel = aligned_kernel();
  GemmArguments args = test::plain_problem(64, 64, 64);
  args.a.strides[0] = 68;
  CHECK(fault(refused(Reason::leading_alignment, Operand::a, 8, 4), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::leading_alignment, Operand::b, 8, 4), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::pointer_alignment, Operand::a, 8, 4), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::batch_alignment, Operand::a, 8, 4), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::dtype, Operand::a), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::layout, Operand::a), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::mode, Operand::none), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::compute_capability, Operand::none, 80, 75), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::grid_limit, Operand::none), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::k_limit, Operand::none, 256, 64), kernel, args).empty());
  CHECK_FALSE(fault(refused(Reason::none, Operand::none), kernel, args).empty());
  for (const char* text : {"", "no", "Math is unsupported: expected fast_tf32, got exact",
                           "Accumulator is unsupported: expected f16, got f32"}) {
    CHECK_FALSE(fault(Status(StatusCode::unsupported, text), kernel, args).empty());
  }
  CHECK_FALSE(fault(Status(StatusCode::device_error, "Operand `a` is misaligned"), kernel, args).empty());
  CHECK_FALSE(fault(Status(StatusCode::invalid_arguments, "Operand `alpha` is 0.5"), kernel, args).empty());

  const auto empty = [&](StatusCode code, const char* text) {
    return lab::gemm::fault_of_empty_answer(Status(code, text), args);
  };
  CHECK(
      empty(StatusCode::unsupported, "None of the 3 kernels is left: 3: Operand `a` is misaligned").empty());
  CHECK(empty(StatusCode::no_kernel,
              "No kernel is registered for operands a f16 row, b f16, accumulator f32, out f16")
            .empty());
  CHECK_FALSE(empty(StatusCode::unsupported, "None of the 3 kernels is left: ").empty());
  CHECK_FALSE(
      empty(StatusCode::no_kernel, "No kernel is registered for operands a bf16, b f16, out f16").empty());
  CHECK_FALSE(empty(StatusCode::not_found, "No kernel").empty());
}

TEST_CASE("a campaign draws interleaved operands, of bytes alone", "[campaign]") {
  const CampaignSpace space = space_of(1e9);
  std::set<std::vector<LayoutTag>> tags;
  int interleaved = 0;
  int refused_ones = 0;
  int always = 0;
  for (int i = 0; i < 3 * draws; ++i) {
    const GemmArguments args = lab::gemm::campaign_problem(space, static_cast<std::uint64_t>(i)).arguments;
    const std::vector<LayoutTag> of_this = {args.a.tag, args.b.tag, args.out.tag};
    tags.insert(of_this);
    if (of_this == std::vector(3, LayoutTag::strided)) continue;
    REQUIRE((is_byte(args.a.dtype) && is_byte(args.b.dtype)));
    ++interleaved;
    always += lab::gemm::is_always_taken(space, args);
    GemmProblem problem;
    const Status status = test::normalise(args, problem);
    const bool by_layout = status.reason() == Reason::interleaved_extent || status.reason() == Reason::tag;
    refused_ones += by_layout;
    if (by_layout) {
      CHECK(lab::gemm::fault_of_empty_answer(status, args).empty());
      CHECK_FALSE(
          lab::gemm::fault_of_empty_answer(status, test::plain_problem(64, 64, 64, DType::s8)).empty());
    }
  }
  CHECK(tags.size() == 27);
  CHECK(interleaved > draws / 8);
  CHECK(refused_ones > interleaved / 50);
  CHECK(refused_ones < interleaved / 5);
  CHECK(always > interleaved / 10);
}

TEST_CASE("a refusal of an interleaved operand is good where its cause is true", "[campaign]") {
  const auto filter = Filter::parse(
      "family == gemm_sm80 and a.layout == column_interleaved32 and out.layout == row and "
      "out.dtype == s8 and a.dtype == s8 and b.dtype == s8");
  REQUIRE(filter);
  const Kernel handle = get_kernels(*filter).front();
  const GemmArguments plain = {.a = TensorView::column_interleaved32(nullptr, DType::s8, {64, 64}),
                               .b = TensorView::row_interleaved32(nullptr, DType::s8, {64, 64}),
                               .out = TensorView::row_major(nullptr, DType::s8, {64, 64}),
                               .accumulator = DType::s32};
  REQUIRE(handle.supports(plain));
  const auto check = [&](const GemmArguments& args) {
    const Status status = handle.supports(args);
    REQUIRE_FALSE(status);
    INFO(status.message());
    CHECK(fault(status, handle.metadata(), args).empty());
    CHECK_FALSE(fault(status, handle.metadata(), plain).empty());  // where it is not true
  };
  GemmArguments args = plain;
  args.a = TensorView::row_interleaved32(nullptr, DType::s8, {64, 64});
  check(args);
  args.a = TensorView::row_major(nullptr, DType::s8, {64, 64});
  check(args);
  args = plain;
  args.a.strides[1] += 8;
  check(args);
  args = plain;
  args.b.assumed_alignment = 8;
  check(args);
  args = plain;
  args.out = TensorView::column_interleaved32(nullptr, DType::s8, {64, 64});
  check(args);
}
