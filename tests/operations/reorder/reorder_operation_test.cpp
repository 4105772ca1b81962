// Reorder as an operation of the registry: its kernels, queries, plans and exports.
#include <cstring>
#include <set>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/random_reorder.hpp"

using namespace quarry;
using detail::Row;
using test::Random;
using test::reorder_rows;

namespace {

constexpr DType types[] = {DType::f16, DType::bf16, DType::f32,  DType::f64, DType::s8,
                           DType::u8,  DType::s32,  DType::e4m3, DType::e5m2};

/// Rows to columns, as fake tensors.
ReorderArguments plain(DType type) {
  return {.from = TensorView::row_major(nullptr, type, {70, 50}),
          .to = TensorView::column_major(nullptr, type, {70, 50})};
}

Kernel kernel_for(DType type) {
  const CandidateList found = get_kernels(plain(type));
  INFO(found.status().message());
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace

TEST_CASE("there is a kernel for each type of whole bytes", "[reorder]") {
  std::set<std::string> expected;
  for (const DType type : types) expected.insert("reorder_matrix_" + std::string(to_string(type)));
  std::set<std::string> names;
  for (const Row& row : reorder_rows()) {
    const KernelMetadata& k = row.metadata;
    names.emplace(k.name);
    CHECK(k.operation == Operation::reorder);
    CHECK(k.family == "reorder_matrix");
    CHECK(k.design.threads == 256);
    const int bytes = bytes_of(k.operands.out.dtype);
    const int extent = bytes == 1 ? 128 : 64;  // of a tile
    CHECK(k.design.shared_memory == extent * extent * bytes);
    CHECK_FALSE(k.epilogue.activation);
    CHECK_FALSE(row.exchanged);
    const Result<Kernel> found = find_kernel(k.name);
    REQUIRE(found);
    CHECK(&detail::row_of(*found) == &row);
  }
  CHECK(names == expected);
}

TEST_CASE("kernels for elements of one size share their code", "[reorder]") {
  for (const DType type : types) {
    constexpr std::string_view entries[] = {"", "reorder_matrix_s8", "reorder_matrix_f16", "",
                                            "reorder_matrix_s32"};
    const int bytes = bytes_of(type);
    CHECK(entry_name(kernel_for(type)) == (bytes == 8 ? "reorder_matrix_f64" : entries[bytes]));
  }
}

TEST_CASE("filters see reorders by what they have, and not by what they lack", "[reorder]") {
  const auto count = [](const char* text) { return get_kernels(*Filter::parse(text)).size(); };
  const std::size_t all = reorder_rows().size();
  CHECK(count("operation == reorder") == all);
  CHECK(count("family == reorder_matrix and threads == 256") == all);
  CHECK(count("operation == reorder and out.dtype in (s8, u8)") == 2);
  for (const char* const lacking : {"has(a.dtype)", "has(b.layout)", "has(c.dtype)", "has(c.alignment)",
                                    "has(accumulator)", "accumulator == none", "has(out.layout)",
                                    "has(tile.m)", "has(math)", "has(stages)", "epilogue.bias"}) {
    CAPTURE(lacking);
    CHECK(count((std::string("operation == reorder and ") + lacking).c_str()) == 0);
  }
}

TEST_CASE("a query for a reorder gives the kernel of its type", "[reorder]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 200; ++i) {
    const Row& row = reorder_rows()[random() % reorder_rows().size()];
    const ReorderArguments args = test::random_reorder(random, row.metadata.operands.out.dtype, i, 0, 300);
    const CandidateList found = get_kernels(args);
    INFO(found.status().message());
    REQUIRE(found.size() == 1);
    CHECK(&detail::row_of(found.front()) == &row);
    CHECK(found.front().workspace() == 0);
    CHECK(found.front().predicted_seconds() > 0);
    const Result<Candidate> best = find_best(args);
    REQUIRE(best);
    CHECK(*best == found.front());
    CHECK(*found.front().workspace_size(args) == 0);
    for (const Row& other : reorder_rows()) CHECK(bool(Kernel(other).supports(args)) == (&other == &row));
  }
}

TEST_CASE("twice the bytes take longer", "[reorder]") {
  const auto seconds = [](DType type, std::int64_t rows) {
    return find_best(ReorderArguments{.from = TensorView::row_major(nullptr, type, {rows, 4096}),
                                      .to = TensorView::column_major(nullptr, type, {rows, 4096})})
        ->predicted_seconds();
  };
  CHECK(seconds(DType::s8, 8192) > 1.5 * seconds(DType::s8, 4096));
  CHECK(seconds(DType::f64, 4096) > 1.9 * seconds(DType::f32, 4096));
  // 16 MiB read and 16 written at 4.8 TB/s, and what a launch costs.
  CHECK(seconds(DType::s8, 4096) > 2 * 4096.0 * 4096 / 4.9e12);
  CHECK(seconds(DType::s8, 4096) < 2 * 4096.0 * 4096 / 3e12 + 5e-6);
}

TEST_CASE("a kernel of another type or operation refuses", "[reorder]") {
  const ReorderArguments args = plain(DType::s8);
  const Status other_type = kernel_for(DType::u8).supports(args);
  CHECK(other_type.code() == StatusCode::unsupported);
  CHECK(other_type.message() == "Operand `to` is unsupported: expected u8, got s8");
  const GemmArguments product{.a = TensorView::row_major(nullptr, DType::f16, {8, 8}),
                              .b = TensorView::row_major(nullptr, DType::f16, {8, 8}),
                              .out = TensorView::row_major(nullptr, DType::f16, {8, 8})};
  CHECK(kernel_for(DType::s8).supports(product).message() ==
        "Operation is unsupported: expected reorder, got gemm");
  CHECK(get_kernels(product).front().run(args).message() ==
        "Operation is unsupported: expected gemm, got reorder");
}

TEST_CASE("every reorder is exact, by run and by plan", "[reorder]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (const Row& row : reorder_rows()) {
    for (int i = 0; i < 16; ++i) {
      const Kernel kernel(row);
      const ReorderArguments shape = test::random_reorder(random, row.metadata.operands.out.dtype, i, 1, 150);
      auto operands = lab::OperandsOf<ReorderArguments>::make(shape, {.seed = random()});
      REQUIRE(operands);
      const Result<lab::Reference> reference = lab::compute_reference(operands->arguments);
      REQUIRE(reference);
      ReorderArguments elsewhere = operands->arguments;
      elsewhere.from.memory = elsewhere.to.memory = {MemoryKind::host, 0};
      elsewhere.from.data = elsewhere.to.data = nullptr;
      const Result<Plan> plan = kernel.prepare(elsewhere);
      INFO(plan.status().message());
      REQUIRE(plan);
      for (const bool by_plan : {false, true}) {
        operands->reset_outputs();
        REQUIRE((by_plan ? plan->run(operands->arguments, nullptr) : kernel.run(operands->arguments)));
        REQUIRE(operands->check_outputs());
        const lab::Comparison right = lab::compare(*reference, operands->arguments, row.metadata);
        CHECK(right.bound == 0);
        CHECK(right.within());
      }
      // What is not so is found out.
      auto* const first = static_cast<std::byte*>(const_cast<void*>(operands->arguments.to.data));
      first[bytes_of(shape.to.dtype) - 1] ^= std::byte{1};
      CHECK_FALSE(lab::compare(*reference, operands->arguments, row.metadata).within());
    }
  }
}

TEST_CASE("a plan of a reorder says what it needs, and refuses what it is not given", "[reorder]") {
  ReorderArguments args = plain(DType::s32);
  args.from.memory = args.to.memory = {MemoryKind::host, 0};
  const Result<Plan> plan = kernel_for(DType::s32).prepare(args);
  REQUIRE(plan);
  REQUIRE(plan->operands().size() == 2);
  for (const PlanOperandNeed& need : plan->operands()) {
    CHECK(need.dtype == DType::s32);
    CHECK(need.alignment == 4);
    CHECK(need.is_output == (need.name == Operand::to));
  }
  alignas(16) std::byte memory[2 * 70 * 50 * 4 + 16] = {};
  std::byte* const other = memory + 70 * 50 * 4;
  CHECK(plan->run({{Operand::from, memory}, {Operand::to, other}}, nullptr));
  CHECK(plan->run({{Operand::to, other}}, nullptr).message() ==
        "Operand `from` has no data: expected a pointer, got null");
  CHECK_THAT(plan->run({{Operand::from, memory}, {Operand::to, other + 2}}, nullptr).message(),
             Catch::Contains("Operand `to` is misaligned"));
  CHECK(plan->run({{Operand::from, memory}, {Operand::from, memory}, {Operand::to, other}}, nullptr)
            .message() == "Operand `from` is named twice");
}

TEST_CASE("a config makes its kernel, and one that cannot be is refused", "[reorder]") {
  const Result<Kernel> made = make_kernel(R"({"family": "reorder_matrix", "type": "u8"})");
  REQUIRE(made);
  CHECK(made->name() == "reorder_matrix_u8");
  for (const char* const text : {"reorder_matrix_s4", "reorder_matrix_u4"}) {
    const Result<Kernel> refused = make_kernel(text);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.status().message(), Catch::Contains("elements must be whole bytes"));
  }
  CHECK_FALSE(make_kernel(R"({"family": "reorder_matrix"})"));
}

TEST_CASE("a reorder is exported as a plan alone", "[reorder]") {
  const Status whole = export_kernel(kernel_for(DType::s8), "/nowhere");
  CHECK(whole.code() == StatusCode::unsupported);
  CHECK_THAT(whole.message(), Catch::Contains("as a plan"));
}
