// Kernels exported for any shape with an expression: what the files say against what the library itself
// launches.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gemm/expression_params.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/gemm/lab/expression.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/export.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "support/cache_folder.hpp"
#include "support/exported_kernels.hpp"
#include "support/expressions.hpp"
#include "support/fake_artifact.hpp"
#include "support/prepared_launch.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using detail::TestFolder;
using test::ExportedProblem;
using test::LoadedC;
using test::Random;
using Tensors = std::array<ExpressionTensorParams, gemm_expression_tensors>;

namespace {

constexpr std::string_view four_shapes_text = "z = sum * s + per; out = gelu(z) - m; z16 = z";
constexpr std::string_view four_shapes_with = "s=bf16:scalar,per=f32:per_column,m=f16:col,z16=f16:row";

/// A problem of a kernel's types and layouts with an expression.
GemmArguments problem_with(const Kernel& kernel, std::string_view text, std::string_view with,
                           const Controls& controls = {}) {
  const OperandsMetadata& o = kernel.metadata().operands;
  const auto view = [](const OperandMetadata& operand, std::int64_t rows, std::int64_t columns) {
    return operand.layout == Layout::row ? TensorView::row_major(nullptr, operand.dtype, {rows, columns})
                                         : TensorView::column_major(nullptr, operand.dtype, {rows, columns});
  };
  GemmArguments args = {.a = view(o.a, 64, 512),
                        .b = view(o.b, 512, 64),
                        .out = view(o.out, 64, 64),
                        .accumulator = o.accumulator,
                        .math = kernel.metadata().design.math,
                        .controls = controls};
  args.expression = test::parsed(text, with, partial_type(o.accumulator));
  for (const expression::Tensor& tensor : args.expression->declarations().tensors) {
    if (tensor.name == "out") continue;
    const bool is_matrix = detail::has_rows(*tensor.shape);
    const std::int64_t extent = *tensor.shape == expression::Shape::scalar ? 1 : 64;
    args.tensors.push_back({tensor.name, is_matrix ? test::matrix(tensor.dtype, 64, 64)
                                                   : TensorView::vector(nullptr, tensor.dtype, extent)});
  }
  return args;
}

/// The expression of arguments, as kernels have it compiled in.
const detail::InternedExpression* interned_of(const GemmArguments& args) {
  std::array<DType, expression::max_outputs> room = {};
  return detail::interned(*args.expression, detail::expression_types(detail::given_expression(args), room));
}

/// A kernel of f32 sums and row-major f32 outputs that takes expressions and operands of any strides.
Kernel plain_kernel() { return test::required_kernel("gemm_simt_f32_f32_f32_f32_rcr_64x64x16_t4x4"); }

/// The kernel with a column-major output that runs the entry of this one transposed; this one where there is
/// no such.
Kernel exchanged_with(const Kernel& kernel) {
  for (const std::string_view layouts : {"_rrr_", "_rcr_", "_crr_", "_ccr_"}) {
    std::string name(kernel.name());
    const std::size_t at = name.find(layouts);
    if (at == name.npos) continue;
    name[at + 1] = layouts[2] == 'r' ? 'c' : 'r';
    name[at + 2] = layouts[1] == 'r' ? 'c' : 'r';
    name[at + 3] = 'c';
    const Result<Kernel> other = make_kernel(name);
    if (other && detail::row_of(*other).entry == detail::row_of(kernel).entry) return *other;
  }
  return kernel;
}

/// A kernel like that whose entry nobody compiled, and that may run the transposed problem.
Kernel uncompiled_kernel(bool exchanged = false) {
  for (;;) {
    const Kernel kernel = test::required_kernel(test::fresh_name());
    const KernelMetadata& m = kernel.metadata();
    if (m.family != "gemm_simt" || m.operands.scales != ScaleSupport::none) continue;
    if (m.operands.accumulator != DType::f32 || m.operands.out.dtype != DType::f32) continue;
    if (!exchanged) return kernel;
    const Kernel other = exchanged_with(kernel);
    if (detail::row_of(other).exchanged) return other;
  }
}

/// Where a tensor of the expression lies, as C gets it: strides of 0 along extents of 1 and where its
/// elements are shared.
ExpressionTensorParams in_c(const ExpressionTensor& tensor, expression::Shape shape, const TensorView& out) {
  using expression::Shape;
  ExpressionTensorParams params = {};
  const TensorView& view = tensor.view;
  if (view.dtype == DType::none) {
    params.value = tensor.value;
    return params;
  }
  params.matrix.data = view.data;
  const auto rank = [&](const TensorView& of, int last) { return static_cast<std::size_t>(of.rank - last); };
  const bool many_rows = out.extents[rank(out, 2)] > 1;
  const bool many_columns = out.extents[rank(out, 1)] > 1;
  if (shape == Shape::per_row && many_rows) params.matrix.row_stride = view.strides[rank(view, 1)];
  if (shape == Shape::per_column && many_columns) params.matrix.column_stride = view.strides[rank(view, 1)];
  if (shape != Shape::row && shape != Shape::column) return params;
  if (many_rows) params.matrix.row_stride = view.strides[rank(view, 2)];
  if (many_columns) params.matrix.column_stride = view.strides[rank(view, 1)];
  if (view.rank == 3 && view.extents[0] > 1) params.matrix.batch_stride = view.strides[0];
  return params;
}

/// A tensor of the expression for a problem, stored in any way, at an address of its own.
ExpressionTensor random_tensor(Random& random, const detail::OwnTensor& own, const TensorView& out) {
  using expression::Shape;
  const expression::Tensor& declared = own.declared;
  ExpressionTensor tensor = {declared.name};
  if (*declared.shape == Shape::scalar && !is_fp8(declared.dtype) && test::coin(random)) {
    tensor.value = test::between(random, 0, 9);
    return tensor;
  }
  const int m = static_cast<int>(out.extents[out.rank - 2U]);
  const int n = static_cast<int>(out.extents[out.rank - 1U]);
  const bool is_shared = out.rank < 3 || (!own.is_output && test::coin(random));
  const int batch = is_shared ? 0 : static_cast<int>(out.extents[0]);
  switch (*declared.shape) {
    case Shape::scalar: tensor.view = TensorView::vector(nullptr, declared.dtype, 1); break;
    case Shape::per_row: tensor.view = TensorView::vector(nullptr, declared.dtype, m); break;
    case Shape::per_column: tensor.view = TensorView::vector(nullptr, declared.dtype, n); break;
    default:
      tensor.view = test::padded_matrix(random, declared.dtype,
                                        test::coin(random) ? Layout::row : Layout::column, 1, batch, m, n);
  }
  tensor.view.data = reinterpret_cast<void*>(std::uintptr_t{0x1000'0000'0000} + (random() % 1000 << 32));
  return tensor;
}

/// Gives a problem the expression, and what its tensors are in C, by place.
Tensors give_tensors(Random& random, const Expression& expression, GemmArguments& args) {
  args.c.reset();
  args.epilogue = {};
  args.expression = expression;
  args.tensors.clear();
  Tensors tensors = {};
  std::size_t place = 0;
  for (const detail::OwnTensor& own : detail::own_tensors(expression)) {
    args.tensors.push_back(random_tensor(random, own, args.out));
    tensors.at(place++) = in_c(args.tensors.back(), *own.declared.shape, args.out);
  }
  std::shuffle(args.tensors.begin(), args.tensors.end(), random);
  return tensors;
}

/// Compares what the header computes with the launch. Nothing where the kernel does not take the problem,
/// else the mode.
std::optional<Mode> check_launch(const detail::Row& row, const LoadedC& c, const GemmArguments& args,
                                 const Tensors& tensors) {
  GemmProblem problem;
  ChosenControls controls;
  if (!test::resolve(row, args, {}, test::h200(), problem, controls)) return std::nullopt;
  void* const workspace = reinterpret_cast<void*>(std::uintptr_t{0x7000'0000'0000});
  Launch launch;
  detail::gemm::Rules::launch(row, problem, controls, launch);
  const Step* const kernel = kernel_step(launch);
  if (kernel == nullptr) return std::nullopt;
  PlanOperands pointers = detail::operands_of(args);
  pointers[Operand::workspace] = workspace;
  put_pointers(launch, pointers, launch.image);
  ExportedProblem exported = test::exported_problem(row, args, controls, workspace);
  const ExportedProblem* const p = &exported;
  CAPTURE(exported.m, exported.n, exported.k, exported.batch, exported.mode, exported.slices);
  REQUIRE(c.call<unsigned>("q_grid", p) == kernel->grid);
  REQUIRE(c.call<std::size_t>("q_workspace_bytes", p) == launch.workspace_bytes);
  const Step* const reduction = kernel_step(launch, 1);
  REQUIRE(c.call<unsigned>("q_reduce_grid", p) == (reduction == nullptr ? 0 : reduction->grid));
  exported.epilogue.alpha = 0;  // whatever the epilogue asks for
  exported.epilogue.beta = 3;
  std::array<std::byte, 1024> params = {};
  const auto same = [&](const Step& step, std::string_view struct_name) {
    REQUIRE(step.bytes == detail::find_param_struct(struct_name)->bytes);
    return test::same_params(params.data(), launch.image + step.at, struct_name);
  };
  if (reduction == nullptr) {
    c.call<void>("q_expression_params", p, tensors.data(), params.data());
    REQUIRE(same(*kernel, detail::gemm_expression_params_name));
    return controls.mode;
  }
  c.call<void>("q_params", p, params.data());
  REQUIRE(same(*kernel, detail::gemm_params_name));
  c.call<void>("q_reduce_expression_params", p, tensors.data(), params.data());
  REQUIRE(same(*reduction, detail::reduce_expression_params_name));
  return controls.mode;
}

/// Whether the header has the places of the tensors in the parameters: a function of C.
std::string place_check(const std::string& name, const Expression& expression) {
  std::string text = "int q_places(void);\nint q_places(void) { return " + name + "_tensors == ";
  const auto tensors = detail::own_tensors(expression);
  text += std::to_string(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    text += " && " + name + "_tensor_" + tensors[i].declared.name + " == " + std::to_string(i);
  return text + "; }\n";
}

/// Puts fake code where export finds it for all that runs with the expression launch.
void add_fake_entries(const Kernel& kernel, const detail::InternedExpression& expression) {
  const detail::ExportedKernel exported = test::described(kernel, default_device_model().cc, &expression);
  for (const detail::ExportedFunction* function : {&exported.kernel, &exported.reduction, &exported.plain})
    test::must(add_artifact(test::fake_artifact(function->entry, 77)));
}

void check_not_exported(const Kernel& kernel, const Arguments& args, const std::string& words,
                        const ExportOptions& options = {}, StatusCode code = StatusCode::unsupported) {
  const TestFolder folder;
  const Status status = export_kernel(kernel, args, folder / "x", options);
  INFO(status.message());
  CHECK(status.code() == code);
  CHECK(status.message().find(words) != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "x"));
}

}  // namespace

TEST_CASE("an exported header with an expression computes what the library launches",
          "[export][expression]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  lab::Dice dice(seed);
  const TestFolder folder;
  int by_mode[3] = {};
  for (const Kernel& kernel : test::kinds_of_kernels()) {
    if (!lab::gemm::takes_expressions(kernel.metadata())) continue;
    const detail::Row& row = detail::row_of(kernel);
    const Types types = test::types_of(row);
    GemmArguments example = test::problem_for(random, row);
    std::optional<Expression> drawn;
    do drawn = lab::gemm::random_expression_of(partial_type(types.accumulator), types.out, dice);
    while (detail::gathers(*drawn));
    const Expression expression = *drawn;
    INFO(kernel.name() << ": " << expression.text() << " with " << expression.declarations().text());
    (void)give_tensors(random, expression, example);
    const detail::ExportedKernel exported = test::described(kernel, 90, interned_of(example));
    std::ofstream(folder / (exported.name + ".h")) << detail::export_header(exported);
    const LoadedC c =
        test::load_exported(folder.path(), exported.name, place_check(exported.name, expression));
    CHECK(c.call<int>("q_places") == 1);
    int checked = 0;
    for (int i = 0; i < 400; ++i) {
      GemmArguments args = test::problem_for(random, row);
      args.out.is_pointer_array = false;
      if (i % 2 == 0) args.controls = {.mode = static_cast<Mode>(i / 2 % 3)};
      if (i % 2 == 0 && args.controls.mode != Mode::gemm)
        args.controls.split_k_slices = test::between(random, 2, 5);
      const Tensors tensors = give_tensors(random, expression, args);
      const std::optional<Mode> mode = check_launch(row, c, args, tensors);
      if (!mode) continue;
      ++checked;
      ++by_mode[static_cast<int>(*mode)];
    }
    CHECK(checked > 40);
  }
  for (const int problems : by_mode) CHECK(problems > 40);
}

TEST_CASE("exported parameters of an expression lie where kernels read them", "[export][expression]") {
  const auto check = [](const auto& whole, std::string_view struct_name) {
    const detail::ParamStruct& s = *detail::find_param_struct(struct_name);
    const auto* const begin = reinterpret_cast<const std::byte*>(&whole);
    const auto* const tensors = reinterpret_cast<const std::byte*>(&whole.expression.tensors);
    CHECK(s.bytes == sizeof whole);
    CHECK(s.fields.back().name == "tensors");
    CHECK(s.fields.back().offset == static_cast<std::size_t>(tensors - begin));
    CHECK(s.fields.back().count == gemm_expression_tensors);
  };
  check(WithExpression<GemmParams>{}, detail::gemm_expression_params_name);
  check(WithExpression<ReduceParams>{}, detail::reduce_expression_params_name);
}

TEST_CASE("headers with expressions and without go into one source file", "[export][expression]") {
  const TestFolder folder;
  const Kernel kernel = plain_kernel();
  std::vector<detail::ExportedKernel> all = {test::described(kernel, 80)};
  // Names of tensors may be words of C.
  const std::pair<std::string_view, std::string_view> expressions[] = {
      {four_shapes_text, four_shapes_with}, {"out = relu(sum)", ""}, {"out = sum / int", "int=f32:per_row"}};
  for (const auto& [text, with] : expressions) {
    all.push_back(test::described(kernel, 80, interned_of(problem_with(kernel, text, with))));
    all.back().name = "mine" + std::to_string(all.size());
  }
  std::ofstream source(folder / "all.c");
  for (const detail::ExportedKernel& each : all) {
    std::ofstream(folder / (each.name + ".h")) << detail::export_header(each);
    source << "#include \"" << each.name << ".h\"\n";
  }
  source << "int sum(void);\nint sum(void) { return (int)mine2_tensors + (int)mine3_tensors + "
            "(int)mine4_tensor_int; }\n";
  source.close();
  for (const char* const flags :
       {"-x c -std=c11", "-x c -std=c17", "-x c++ -std=c++11", "-x c++ -std=c++20"}) {
    INFO(flags);
    CHECK(test::compiles(std::string(flags) + " -fsyntax-only", folder / "all.c"));
  }
}

TEST_CASE("exported JSON has the expression and the places of its tensors", "[export][expression]") {
  const Kernel kernel = plain_kernel();
  const GemmArguments args = problem_with(kernel, four_shapes_text, four_shapes_with);
  const detail::ExportedKernel exported = test::described(kernel, 90, interned_of(args));
  const auto document = nlohmann::json::parse(detail::export_json(exported));
  CHECK(document["name"] == std::string(kernel.name()) + "_expression");
  CHECK(document["kernel"] == kernel.name());
  const auto& expression = document["expression"];
  const std::string text = expression["text"];
  const Result<Expression> parsed = Expression::parse(text, args.expression->declarations());
  REQUIRE(parsed);
  CHECK(*parsed == *args.expression);
  const auto& tensors = expression["tensors"];
  REQUIRE(tensors.size() == 4);
  std::vector<std::string> said;
  for (const auto& t : tensors) {
    said.push_back(t["name"].get<std::string>() + "=" + t["type"].get<std::string>() + ":" +
                   t["shape"].get<std::string>() + (t["written"].get<bool>() ? " written" : ""));
  }
  CHECK(said ==
        std::vector<std::string>{"s=bf16:scalar", "per=f32:per_column", "m=f16:col", "z16=f16:row written"});
  const auto check = [](const nlohmann::json& parameters, std::size_t bytes, std::size_t tensors_at) {
    CHECK(parameters["bytes"] == bytes);
    std::size_t last = 0;
    for (const auto& field : parameters["fields"]) {
      if (field["name"] == "tensors[3].value") last = field["offset"];
      CHECK(field["name"].get<std::string>().rfind("tensors[4]", 0) != 0);
    }
    CHECK(last == tensors_at + 3 * sizeof(ExpressionTensorParams) + offsetof(ExpressionTensorParams, value));
  };
  check(document["parameters"], sizeof(WithExpression<GemmParams>), sizeof(GemmParams));
  check(document["reduction"]["parameters"], sizeof(WithExpression<ReduceParams>), sizeof(ReduceParams));
  CHECK(document["plain"]["parameters"]["bytes"] == sizeof(GemmParams));
  CHECK(document["plain"]["entry"] == kernel.name());
  CHECK_FALSE(document["launch"]["computed_parameters"].contains("c"));
}

TEST_CASE("an export with an expression is a folder of whole files", "[export][expression]") {
  const TestFolder folder;
  for (const bool exchanged : {false, true}) {
    const Kernel kernel = uncompiled_kernel(exchanged);
    INFO(kernel.name());
    const GemmArguments args = problem_with(kernel, "out = relu(sum) * 0.61 + x", "x=f32:per_row");
    const detail::InternedExpression& expression = *interned_of(args);
    add_fake_entries(kernel, expression);
    const detail::ExportedKernel exported = test::described(kernel, default_device_model().cc, &expression);
    const std::string into = folder / (exchanged ? "one" : "two");
    test::must(export_kernel(kernel, args, into));
    test::must(export_kernel(kernel, args, into, {.compile = {}, .name = "mine"}));
    std::set<std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(into)) files.insert(file.path().filename());
    const std::string name = std::string(kernel.name()) + "_expression";
    CHECK(files == std::set<std::string>{name + ".cubin", name + ".h", name + ".json", "mine.cubin", "mine.h",
                                         "mine.json", exported.reduction.file, exported.plain.file});
    const LoadedC c = test::load_exported(into, "mine", place_check("mine", *args.expression));
    CHECK(c.call<int>("q_places") == 1);
  }
}

TEST_CASE("arguments without an expression export the plain kernel", "[export][expression]") {
  const TestFolder folder;
  const Kernel kernel = uncompiled_kernel();
  GemmArguments args = problem_with(kernel, "out = sum", "");
  args.expression.reset();
  const detail::ExportedKernel exported = test::described(kernel, default_device_model().cc);
  for (const detail::ExportedFunction* function : {&exported.kernel, &exported.reduction}) {
    const auto entry = detail::find_entry(function->entry);
    if (entry && detail::entry_of(*entry).unit >= 0) return;  // precompiled: it would be compiled
    test::must(add_artifact(test::fake_artifact(function->entry, 77)));
  }
  test::must(export_kernel(kernel, args, folder / "x", {.compile = {}, .name = "mine"}));
  CHECK(std::filesystem::exists(folder / "x/mine.h"));
  CHECK(detail::file_bytes(folder / "x/mine.cubin").size() == 77);
}

TEST_CASE("expressions that no export for any shape takes", "[export][expression]") {
  const Kernel kernel = plain_kernel();
  const GemmArguments good = problem_with(kernel, "out = sum + x", "x=f32:per_row");
  GemmArguments bad = problem_with(kernel, "out = sum; m = max(sum)", "m=f32:scalar");
  check_not_exported(kernel, bad, "gated pairs or reductions");
  bad = problem_with(kernel, "out = sum; m = row_sum(sum)", "m=f32:per_row");
  check_not_exported(kernel, bad, "gated pairs or reductions");
  bad = problem_with(kernel, "out = sum + t[i]", "t=f32:gathered,i=s32:per_row");
  check_not_exported(kernel, bad, "rows that an index chooses");
  bad = problem_with(kernel, "out = gate(sum) * up(sum)", "");
  bad.b = TensorView::column_major(nullptr, DType::f32, {512, 128});
  check_not_exported(kernel, bad, "gated pairs or reductions");

  bad = good;
  bad.tensors.clear();
  check_not_exported(kernel, bad, "Operand `x` is missing", {}, StatusCode::invalid_arguments);
  bad = good;
  bad.tensors.push_back({"y", TensorView::vector(nullptr, DType::f32, 64)});
  check_not_exported(kernel, bad, "`y`", {}, StatusCode::invalid_arguments);
  bad = good;
  bad.epilogue.activation = Activation::relu;
  check_not_exported(kernel, bad, "`activation` stands beside an expression", {},
                     StatusCode::invalid_arguments);
  bad = good;
  bad.a = TensorView::row_major(nullptr, DType::f32, {0, 512});
  bad.out = TensorView::row_major(nullptr, DType::f32, {0, 64});
  bad.tensors[0].view = TensorView::vector(nullptr, DType::f32, 0);
  check_not_exported(kernel, bad, "has no elements", {}, StatusCode::invalid_arguments);
  check_not_exported(kernel, good, "ompute capability", {.compile = {.target = 70}, .name = {}});
}

TEST_CASE("bad names of exports with an expression", "[export][expression]") {
  const Kernel kernel = uncompiled_kernel();
  const GemmArguments args = problem_with(kernel, "out = sum * 0.77", "");
  const detail::InternedExpression& expression = *interned_of(args);
  add_fake_entries(kernel, expression);
  for (const char* name : {"a-b", "1a", " ", "a/b", "union", "template"})
    check_not_exported(kernel, args, "expected a C identifier", {.compile = {}, .name = name},
                       StatusCode::invalid_arguments);
  const detail::ExportedKernel exported = test::described(kernel, default_device_model().cc, &expression);
  for (const std::string& name : {exported.plain.entry, exported.reduction.entry})
    check_not_exported(kernel, args, "another of its files has that name", {.compile = {}, .name = name},
                       StatusCode::invalid_arguments);
}

TEST_CASE("kernels that are not exported for any shape with an expression", "[export][expression]") {
  for (const char* name : {"gemm_sm90_f16_f16_f32_f16_rcr_64x64x64_c1x1_s4_one_tile_a8x8",
                           "gemm_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x1_s4_stream_k_a8x8"}) {
    const Kernel kernel = test::required_kernel(name);
    check_not_exported(kernel, problem_with(kernel, "out = relu(sum)", ""),
                       "`" + std::string(name) + "` cannot be exported");
  }
  const auto first_where = [](const auto& holds) {
    for (const Kernel& kernel : get_kernels()) {
      if (holds(kernel.metadata())) return kernel;
    }
    FAIL("no such kernel");
    return get_kernels()[0];
  };
  // Its operands have scales.
  const Kernel scaled = first_where([](const KernelMetadata& m) {
    return m.family == "gemm_sm80" && m.operands.scales == ScaleSupport::block_scales;
  });
  check_not_exported(scaled, problem_with(scaled, "out = relu(sum)", ""), "scales");
  // Arguments of another operation.
  const Kernel convolution = first_where([](const KernelMetadata& m) { return m.family == "conv2d_simt"; });
  check_not_exported(convolution, problem_with(plain_kernel(), "out = relu(sum)", ""), "gemm");
}
