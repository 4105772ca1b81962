// Packs of kernels with expressions: a program that never saw the expression loads them.
#include <array>
#include <string>

#include "operations/common/expression/interned.hpp"
#include "quarry/pack.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/compile/sources.hpp"
#include "registry/compile/store.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "registry/query/own_kernels.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using detail::TestFolder;

namespace {

constexpr std::string_view kernel_name = "gemm_simt_f32_f32_f32_f32_rcr_64x64x16_t4x4";

Expression parsed(std::string_view text, std::string_view with, DType sum = DType::f32) {
  const Result<Expression> expression = Expression::parse(text, *expression::Declarations::parse(with, sum));
  INFO(expression.status().message());
  REQUIRE(expression);
  return *expression;
}

/// Fake code of an entry.
std::shared_ptr<detail::ArtifactData> plain_code(std::string_view entry) {
  auto data = std::make_shared<detail::ArtifactData>();
  data->entry = entry;
  const Result<detail::EntrySource> source = detail::entry_source(entry);
  REQUIRE(source);
  data->config = source->config;
  data->compiler = "fake 1.0";
  data->target = 90;
  data->owned.resize(50);
  data->code = data->owned;
  return data;
}

/// What another process would have compiled: nothing here keeps the expression.
std::shared_ptr<detail::ArtifactData> foreign(std::string_view entry, const Expression& expression) {
  std::shared_ptr<detail::ArtifactData> data = plain_code(entry);
  data->entry = detail::entry_name_with(entry, {expression, expression.hash()});
  data->config += " " + expression.text() + " with " + expression.declarations().text();
  return data;
}

Artifact keyed(const std::shared_ptr<detail::ArtifactData>& data) {
  data->key = detail::artifact_key(data->entry, data->config, data->target, data->compiler);
  return Artifact(data);
}

/// The arguments of a GEMM with an expression of its sums and of x.
GemmArguments problem(const Expression& expression) {
  return {.a = TensorView::row_major(nullptr, DType::f32, {64, 64}),
          .b = TensorView::column_major(nullptr, DType::f32, {64, 64}),
          .out = TensorView::row_major(nullptr, DType::f32, {64, 64}),
          .expression = expression,
          .tensors = {{"x", TensorView::row_major(nullptr, DType::f32, {64, 64})}}};
}

/// The entry that a run of these arguments launches.
std::uint32_t entry_of_run(const GemmArguments& args) {
  const Kernel kernel = *find_kernel(kernel_name);
  detail::PreparedLaunch prepared;
  const Status status = detail::prepare_launch(detail::row_of(kernel), {}, args, prepared);
  INFO(status.message());
  REQUIRE(status);
  REQUIRE(prepared.launch.steps.count == 1);
  return detail::entry_of_step(detail::row_of(kernel), prepared.launch, prepared.launch.steps[0]);
}

}  // namespace

TEST_CASE("a pack brings kernels with expressions that nobody parsed yet", "[pack][expression]") {
  const TestFolder folder;
  const Expression typed = parsed("out = relu(sum) + x * 0.1", "x=f32:row,out=f32:row");
  REQUIRE(detail::find_interned(typed.hash()) == nullptr);
  const Artifact artifact = keyed(foreign(kernel_name, typed));
  const Status written = write_pack({&artifact, 1}, folder / "a.pack");
  INFO(written.message());
  REQUIRE(written);
  CHECK(read_pack(folder / "a.pack"));
  CHECK(detail::find_interned(typed.hash()) == nullptr);
  const Status loaded = load_pack(folder / "a.pack");
  INFO(loaded.message());
  REQUIRE(loaded);

  // The program declares less: the type of `out` is the type of its operand.
  const std::uint32_t entry = entry_of_run(problem(parsed("out = relu(sum) + x * 0.1", "x=f32:row")));
  CHECK(detail::entry_of(entry).name == artifact.entry());
  REQUIRE(detail::artifact_in_memory(entry, 90) != nullptr);
  CHECK(detail::artifact_in_memory(entry, 90)->code.size() == 50);
  CHECK(detail::artifact_in_memory(entry, 80) == nullptr);
  const std::uint32_t other = entry_of_run(problem(parsed("out = relu(sum) + x * 0.2", "x=f32:row")));
  CHECK(detail::artifact_in_memory(other, 90) == nullptr);
}

TEST_CASE("a kernel is precompiled with the expressions that it was packed with", "[pack][expression]") {
  constexpr std::string_view with = "x=f32:row";
  const GemmArguments packed = problem(parsed("out = silu(sum) + x * 0.1", with));
  GemmArguments half_out = packed;
  half_out.out = TensorView::row_major(nullptr, DType::f16, {64, 64});
  const GemmArguments other = problem(parsed("out = silu(sum) + x * 0.2", with));
  GemmArguments plain = packed;
  plain.expression.reset();
  plain.tensors.clear();
  GemmArguments wrong = packed;
  wrong.tensors.clear();
  const Kernel kernel = *find_kernel(kernel_name);
  const bool is_plain_there = kernel.precompiled(90);
  FindOptions options = test::on_h200();
  options.availability = Availability::precompiled;
  CHECK_FALSE(kernel.precompiled(90, packed));
  CHECK(find_best(packed, {}, options).status().code() == StatusCode::filtered_out);

  const Expression typed = parsed("out = silu(sum) + x * 0.1", "x=f32:row,out=f32:row");
  REQUIRE(add_artifact(keyed(foreign(kernel_name, typed))));
  // A run may cut K: then the plain kernel and the reduction with the expression are launched.
  REQUIRE(add_artifact(keyed(foreign("reduce_split_k_f32_f32", typed))));
  CHECK(kernel.precompiled(90, packed) == is_plain_there);
  REQUIRE(add_artifact(keyed(plain_code(kernel_name))));
  CHECK(kernel.precompiled(90, packed));
  CHECK_FALSE(kernel.precompiled(80, packed));
  CHECK_FALSE(kernel.precompiled(70, packed));
  CHECK_FALSE(kernel.precompiled(90, half_out));
  CHECK_FALSE(kernel.precompiled(90, other));
  CHECK_FALSE(kernel.precompiled(90, wrong));
  CHECK_FALSE(kernel.precompiled(90, ElementwiseArguments{.expression = typed}));
  CHECK(kernel.precompiled(90, plain));
  CHECK(kernel.precompiled(90));
  for (int time = 0; time < 2; ++time) {
    const Result<Candidate> best = find_best(packed, {}, options);
    INFO(best.status().message());
    REQUIRE(best);
    CHECK(best->name() == kernel_name);
  }
  CHECK(get_kernels(packed, {}, options).size() == 1);
  CHECK(get_kernels(other, {}, options).status().code() == StatusCode::filtered_out);
  // To ask keeps nothing.
  CHECK(detail::find_interned(*other.expression, std::array{DType::f32}) == nullptr);
}

TEST_CASE("elementwise kernels are precompiled by expression", "[pack][expression]") {
  const TensorView vector = TensorView::vector(nullptr, DType::f16, 4096);
  const auto arguments = [&](std::string_view text) {
    return ElementwiseArguments{.expression = parsed(text, "x=f16:row", DType::none),
                                .tensors = {{"x", vector}, {"out", vector}}};
  };
  const ElementwiseArguments packed = arguments("out = x * 0.3");
  FindOptions options = test::on_h200();
  options.availability = Availability::precompiled;
  CHECK(get_kernels(packed, {}, options).empty());
  REQUIRE(add_artifact(
      keyed(foreign("elementwise_v8_u4", parsed("out = x * 0.3", "x=f16:row,out=f16:row", DType::none)))));
  const CandidateList found = get_kernels(packed, {}, options);
  INFO(found.status().message());
  REQUIRE(found.size() == 1);
  CHECK(found.front().name() == "elementwise_v8_u4");
  CHECK(found.front().precompiled(90, packed));
  CHECK(get_kernels(arguments("out = x * 0.4"), {}, options).empty());
}

TEST_CASE("expressions come back from artifacts of every kind of sum", "[pack][expression]") {
  struct Case {
    std::string_view entry, text, with;
    DType sum;
  };
  const Case cases[] = {
      {"elementwise_v8_u4", "out = x + y * 0.7", "x=bf16:row,y=f16:row,out=bf16:row", DType::none},
      {"gemm_simt_f64_f64_f64_f64_rcr_64x64x16_t4x4", "out = sum * 0.7", "out=f64:row", DType::f64},
      {"gemm_sm90_s8_s8_s32_s8_rcr_128x128x128_c1x1_s4_cooperative_a16x16", "out = f32(sum) * s * 0.7",
       "s=f32:per_column,out=s8:row", DType::s32},
      {"reduce_split_k_s32_f32", "out = f32(sum) * 0.7", "out=f32:row", DType::s32},
      {"gemm_simt_f32_f32_f32_f32_rcr_64x128x16_t4x8", "m = row_sum(sum); out = sum * 0.7",
       "m=f32:per_row,out=f32:row", DType::f32}};
  for (const Case& each : cases) {
    INFO(each.entry << ": " << each.text);
    const Expression expression = parsed(each.text, each.with, each.sum);
    const Artifact artifact = keyed(foreign(each.entry, expression));
    const Status added = add_artifact(artifact);
    INFO(added.message());
    CHECK(added);
    REQUIRE(detail::find_interned(expression.hash()) != nullptr);
    CHECK(detail::find_interned(expression.hash())->expression == expression);
  }
}

TEST_CASE("artifacts that do not name the expression of their entry are refused", "[pack][expression]") {
  int next = 300;  // an expression that is known is not read again
  const auto fresh = [&](std::string_view entry) {
    const std::string text = "out = sum * 0." + std::to_string(next++);
    return foreign(entry, parsed(text, "out=f32:row"));
  };
  const auto refused_with = [&](const std::shared_ptr<detail::ArtifactData>& data, std::string_view why) {
    const Status status = add_artifact(keyed(data));
    INFO(status.message());
    CHECK(status.code() == StatusCode::invalid_artifact);
    CHECK(status.message().find(why) != std::string::npos);
  };
  auto bad = fresh(kernel_name);
  bad->config += " ";
  refused_with(bad, "another config");
  bad = fresh(kernel_name);
  bad->config.replace(bad->config.find("0.3"), 3, "0.4");
  refused_with(bad, "another expression");
  bad = fresh(kernel_name);
  bad->config.resize(bad->config.find(" with "));
  refused_with(bad, "names no expression");
  bad = fresh(kernel_name);
  bad->config = bad->config.substr(bad->config.find("out = "));
  refused_with(bad, "another one");
  bad = fresh(kernel_name);
  bad->entry.insert(bad->entry.find("_x"), "9");
  refused_with(bad, "is the name of no device function");
  refused_with(fresh("reorder_matrix_s8"), "No kernel of this library");
  bad = fresh(kernel_name);
  bad->target = 70;
  refused_with(bad, "does not run");
}

TEST_CASE("compile_for_pack says what is wrong with problems", "[pack][expression]") {
  const Kernel kernel = *find_kernel(kernel_name);
  const GemmArguments good = problem(parsed("out = sum + x", "x=f32:row"));
  GemmArguments missing = good;
  missing.tensors.clear();
  GemmArguments empty = good;
  empty.a.extents[0] = empty.out.extents[0] = empty.tensors[0].view.extents[0] = 0;
  const auto status_of = [&](const GemmArguments& args, int target) {
    const Arguments problems[] = {args};
    const auto results = compile_for_pack({&kernel, 1}, problems, {.target = target});
    REQUIRE(results.size() == 1);
    return results[0].status();
  };
  CHECK(status_of(missing, 90).message().find("is missing") != std::string::npos);
  CHECK(status_of(empty, 90).message().find("Nothing is launched") != std::string::npos);
  CHECK(status_of(good, 70).code() == StatusCode::unsupported);
  const auto none = compile_for_pack({&kernel, 1}, std::span<const Arguments>());
  REQUIRE(none.size() == 1);
  CHECK(none[0].status().message().find("a problem for each") != std::string::npos);
}
