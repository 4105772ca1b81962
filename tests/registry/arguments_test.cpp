/// Arguments of any operation: which kernels take them, and what is said of arguments of another one.
#include <cstddef>
#include <vector>

#include "quarry/quarry.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

GemmArguments gemm(std::vector<float>& memory) {
  const auto at = [&](std::size_t i) { return memory.data() + i; };
  const Memory host = {MemoryKind::host, 0};
  return {.a = TensorView::row_major(at(0), DType::f32, {4, 8}).on(host),
          .b = TensorView::row_major(at(32), DType::f32, {8, 4}).on(host),
          .out = TensorView::row_major(at(64), DType::f32, {4, 4}).on(host)};
}

ReduceSplitKArguments reduction(std::vector<float>& memory) {
  const Memory host = {MemoryKind::host, 0};
  return {.partials = TensorView::row_major(memory.data(), DType::f32, {2, 4, 4}).on(host),
          .out = TensorView::row_major(memory.data() + 64, DType::f32, {4, 4}).on(host)};
}

/// A struct that calls itself arguments of a GEMM, and is not: as a program has it that was compiled with
/// other headers.
struct StaleArguments {
  static constexpr Operation operation = Operation::gemm;
  int extent = 0;
};

/// An operation that there is not.
struct UnknownArguments {
  static constexpr Operation operation = static_cast<Operation>(200);
};

}  // namespace

TEST_CASE("every operation has a row that knows its arguments") {
  for (std::size_t i = 0; i < detail::operations().size(); ++i)
    CHECK(detail::operations()[i].name == to_string(static_cast<Operation>(i)));
  CHECK(to_string(static_cast<Operation>(detail::operations().size())) == "unknown");
  CHECK(detail::info_of(Operation::gemm).name == to_string(Operation::gemm));
  CHECK(detail::info_of(Operation::gemm).argument_bytes == sizeof(GemmArguments));
  CHECK(detail::info_of(Operation::reduce_split_k).name == to_string(Operation::reduce_split_k));
  CHECK(detail::info_of(Operation::reduce_split_k).argument_bytes == sizeof(ReduceSplitKArguments));
  CHECK(detail::info_of(Operation::reorder).argument_bytes == sizeof(ReorderArguments));
  CHECK(detail::info_of(Operation::elementwise).argument_bytes == sizeof(ElementwiseArguments));
  CHECK(detail::info_of(Operation::grouped_gemm).argument_bytes == sizeof(GroupedGemmArguments));
  CHECK(detail::info_of(Operation::conv2d).argument_bytes == sizeof(Conv2dArguments));
  CHECK(detail::info_of(Operation::gemm_list).argument_bytes == sizeof(GemmListArguments));
}

TEST_CASE("arguments of another operation are refused by every call of a kernel") {
  std::vector<float> memory(80, 1.0F);
  const GemmArguments product = gemm(memory);
  const ReduceSplitKArguments sum = reduction(memory);
  const Kernel multiplies = get_kernels(product).front();
  const Kernel adds = get_kernels(sum).front();
  const auto check = [](const Status& status, const char* expected) {
    CHECK(status.code() == StatusCode::unsupported);
    CHECK(status.message() == expected);
  };
  const char* const wants_gemm = "Operation is unsupported: expected gemm, got reduce_split_k";
  check(multiplies.supports(sum), wants_gemm);
  check(multiplies.workspace_size(sum).status(), wants_gemm);
  check(multiplies.run(sum), wants_gemm);
  check(multiplies.prepare(sum).status(), wants_gemm);
  check(candidate_of(multiplies, sum).status(), wants_gemm);
  check(adds.run(product), "Operation is unsupported: expected reduce_split_k, got gemm");
  const Result<Plan> plan = multiplies.prepare(product);
  REQUIRE(plan);
  check(plan->run(sum, nullptr), wants_gemm);
  CHECK(memory[64] == 1.0F);  // nothing was written
  REQUIRE(plan->run(product, nullptr));
  CHECK(memory[64] == 8.0F);
}

TEST_CASE("a struct of another size, or of no operation, is refused") {
  CHECK(get_kernels(StaleArguments{}).status().code() == StatusCode::invalid_arguments);
  CHECK_THAT(get_kernels(StaleArguments{}).status().message(),
             Catch::Contains("compiled with the headers of another version"));
  CHECK(find_best(StaleArguments{}).status().code() == StatusCode::invalid_arguments);
  CHECK(get_kernels(UnknownArguments{}).status().message() == "There is no operation of number 200");
  std::vector<float> memory(80);
  const Kernel kernel = get_kernels(gemm(memory)).front();
  CHECK(kernel.run(StaleArguments{}).code() == StatusCode::invalid_arguments);
  CHECK(kernel.supports(UnknownArguments{}).code() == StatusCode::invalid_arguments);
}

TEST_CASE("find_best gives the first of the list, and fails as the list does") {
  std::vector<float> memory(80);
  GemmArguments args = gemm(memory);
  for (int turn = 0; turn < 2; ++turn) {  // found, then remembered
    const Result<Candidate> best = find_best(args);
    REQUIRE(best);
    const CandidateList all = get_kernels(args);
    CHECK(best->name() == all.front().name());
    CHECK(best->workspace() == all.front().workspace());
    CHECK(best->controls().mode == all.front().controls().mode);
  }
  const Filter simt = Filter([](const KernelMetadata& k) { return k.family == "gemm_simt"; });
  const Filter none = Filter([](const KernelMetadata&) { return false; });
  CHECK(find_best(args, simt)->metadata().family == "gemm_simt");
  CHECK(find_best(args, none).status().code() == StatusCode::filtered_out);
  CHECK(find_best(args, none).status().message() == get_kernels(args, none).status().message());
  args.b.extents[0] = 7;
  CHECK(find_best(args).status().message() == get_kernels(args).status().message());
}

TEST_CASE("a plan says what it needs, and takes pointers by name in any order") {
  std::vector<float> memory(80, 1.0F);
  const GemmArguments args = gemm(memory);
  const Result<Plan> plan = get_kernels(args).front().prepare(args);
  REQUIRE(plan);
  std::vector<Operand> names;
  for (const PlanOperandNeed& need : plan->operands()) {
    names.push_back(need.name);
    CHECK(need.dtype == DType::f32);
    CHECK(need.is_output == (need.name == Operand::out));
    CHECK(need.alignment >= 4);
  }
  CHECK(names.size() == 3);
  REQUIRE(plan->run({{Operand::out, args.out.data}, {Operand::b, args.b.data}, {Operand::a, args.a.data}},
                    nullptr));
  CHECK(memory[64] == 8.0F);
  const Status twice = plan->run({{Operand::a, args.a.data},
                                  {Operand::b, args.b.data},
                                  {Operand::out, args.out.data},
                                  {Operand::a, args.a.data}},
                                 nullptr);
  CHECK(twice.code() == StatusCode::invalid_arguments);
  CHECK(twice.message() == "Operand `a` is named twice");
  const Status missing = plan->run({{Operand::a, args.a.data}, {Operand::out, args.out.data}}, nullptr);
  CHECK(missing.operand() == Operand::b);
}

TEST_CASE("partial sums may not overlap the output, whatever alpha is: they are read all the same") {
  std::vector<float> memory(80);
  ReduceSplitKArguments args = reduction(memory);
  args.out.data = memory.data() + 8;
  for (const double alpha : {1.0, 0.0}) {
    args.epilogue.alpha = alpha;
    const Status status = get_kernels(args).status();
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.operand() == Operand::partials);
  }
}
