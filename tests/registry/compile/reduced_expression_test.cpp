// Packs and plans of kernels that may leave their expression to the reduction of a parallel split-K.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "operations/common/expression/interned.hpp"
#include "quarry/export.hpp"
#include "quarry/pack.hpp"
#include "quarry/quarry.hpp"
#include "registry/query/own_kernels.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"
#include "support/fake_artifact.hpp"
#include "support/prepared_launch.hpp"

using namespace quarry;
using detail::TestFolder;

namespace {

constexpr std::size_t code_bytes = 77;

/// A kernel that nobody compiled, and what it may run with an expression.
struct Made {
  Kernel kernel;
  std::string plain;
  std::string reduction;
};

/// A kernel of row-major f32 outputs that cuts K in parallel.
Made fresh_kernel() {
  for (;;) {
    const Kernel kernel = test::required_kernel(test::fresh_name());
    const KernelMetadata& m = kernel.metadata();
    const detail::Row& row = detail::row_of(kernel);
    if (m.operation != Operation::gemm || !m.modes.split_k_parallel ||
        m.operands.scales != ScaleSupport::none)
      continue;
    if (m.operands.accumulator != DType::f32 || m.operands.out.layout != Layout::row) continue;
    return {kernel, std::string(detail::entry_of(row.entry).name),
            std::string(detail::entry_of(row.companions[0]).name)};
  }
}

TensorView view(const OperandMetadata& operand, std::int64_t rows, std::int64_t columns) {
  return operand.layout == Layout::row ? TensorView::row_major(nullptr, operand.dtype, {rows, columns})
                                       : TensorView::column_major(nullptr, operand.dtype, {rows, columns});
}

GemmArguments problem(const Kernel& kernel, std::string_view text, Controls controls) {
  const OperandsMetadata& o = kernel.metadata().operands;
  GemmArguments args = {.a = view(o.a, 256, 2048),
                        .b = view(o.b, 2048, 256),
                        .out = view(o.out, 256, 256),
                        .accumulator = o.accumulator,
                        .math = kernel.metadata().design.math,
                        .controls = controls};
  args.expression = test::parsed(text, "");
  return args;
}

/// Puts fake code for an entry where packs and exports find it.
void add_code(const std::string& entry) {
  const Status added = add_artifact(test::fake_artifact(entry, code_bytes));
  INFO(added.message());
  REQUIRE(added);
}

/// The name of an entry with the expression of a launch.
std::string with_expression(const std::string& entry, const Kernel& kernel, const GemmArguments& args) {
  return detail::entry_name_with(entry, *test::launch_of(kernel, args)->launch.expression);
}

}  // namespace

TEST_CASE("a pack has the entries of an expression whether K is cut in parallel or not",
          "[pack][expression]") {
  const Made made = fresh_kernel();
  for (const Controls controls :
       {Controls{.mode = Mode::gemm}, Controls{.mode = Mode::split_k_parallel, .split_k_slices = 2}}) {
    const GemmArguments args = problem(made.kernel, "out = relu(sum) * 0.37", controls);
    const std::string own = with_expression(made.plain, made.kernel, args);
    const std::string reduction = with_expression(made.reduction, made.kernel, args);
    for (const std::string& entry : {own, made.plain, reduction}) add_code(entry);
    const Arguments problems[] = {args};
    const auto results = compile_for_pack({&made.kernel, 1}, problems);
    std::vector<std::string> entries;
    for (const auto& result : results) {
      INFO(result.status().message());
      REQUIRE(result);
      entries.emplace_back(result->entry());
    }
    REQUIRE(entries.size() == 3);
    CHECK(entries[0] == own);
    CHECK(std::set(entries.begin(), entries.end()) == std::set{own, made.plain, reduction});
  }
}

TEST_CASE("a pack of an expression with reductions has the kernel alone", "[pack][expression]") {
  const Made made = fresh_kernel();
  GemmArguments args = problem(made.kernel, "out = sum; m = max(sum * 0.37)", {});
  args.tensors = {{"m", TensorView::vector(nullptr, DType::f32, 1)}};
  add_code(with_expression(made.plain, made.kernel, args));
  const Arguments problems[] = {args};
  const auto results = compile_for_pack({&made.kernel, 1}, problems);
  REQUIRE(results.size() == 1);
  CHECK(results[0]);
}

TEST_CASE("a plan whose reduction has the expression is exported with the plain kernel",
          "[export][expression]") {
  const TestFolder folder;
  const Made made = fresh_kernel();
  const GemmArguments args =
      problem(made.kernel, "out = relu(sum) * 0.73", {.mode = Mode::split_k_parallel, .split_k_slices = 2});
  const std::string reduction = with_expression(made.reduction, made.kernel, args);
  add_code(made.plain);
  add_code(reduction);
  const Status status = export_plan(made.kernel, args, folder / "made", {.name = "mine"});
  INFO(status.message());
  REQUIRE(status);
  for (const std::string& file : {std::string("mine.cubin"), reduction + ".cubin"})
    CHECK(detail::file_bytes(folder / ("made/" + file)).size() == code_bytes);
  const std::vector<std::byte> bytes = detail::file_bytes(folder / "made/mine.plan.h");
  const std::string header(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  CHECK(header.find('"' + made.plain + '"') != std::string::npos);
  CHECK(header.find('"' + reduction + '"') != std::string::npos);

  const Status same = export_plan(made.kernel, args, folder / "same", {.name = reduction});
  CHECK(same.code() == StatusCode::invalid_arguments);
  CHECK(same.message().find("another of its files has that name") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "same"));
}
