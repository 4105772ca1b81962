/// Batches through arrays of pointers, run on the host: what is computed, and what is refused where the
/// pointers can be read.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/gemm/normalise.hpp"
#include "registry/device/prepared.hpp"
#include "support/array_problems.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"
#include "support/gemm_rules.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using namespace quarry::test;
using RandomProblem = lab::OperandsOf<GemmArguments>;

namespace {

RandomProblem made(const GemmArguments& shape, const lab::OperandOptions& options = {}) {
  Result<RandomProblem> problem = RandomProblem::make(shape, options);
  INFO(problem.status().message());
  REQUIRE(problem);
  return *std::move(problem);
}

/// The array of an operand in host memory, to write to.
const void** pointers(const TensorView& view) {
  return static_cast<const void**>(const_cast<void*>(view.data));
}

/// Runs a kernel that needs no workspace, by itself and by a plan: both must say the same.
Status run(const GemmArguments& args) {
  GemmArguments plain = args;
  plain.controls.mode = Mode::gemm;
  const Kernel kernel = best(plain);
  Status status = kernel.run(plain);
  const Result<Plan> plan = kernel.prepare(plain);
  REQUIRE(plan);
  CHECK(plan->run(detail::operands_of(plain), nullptr).message() == status.message());
  return status;
}

bool is_right(const RandomProblem& problem, const lab::Reference& reference, const Kernel& kernel) {
  const lab::Comparison result =
      lab::compare(reference, problem.arguments, lab::tolerance(kernel.metadata(), k));
  return result.within();
}

}  // namespace

TEST_CASE("an array of one matrix, and of none", "[array]") {
  RandomProblem one = made({.a = fake(m, k, 1), .b = fake(k, n, 1), .out = fake(m, n, 1)});
  CHECK(run(one.arguments));
  CHECK(one.check_outputs().message() == "ok");
  GemmArguments none{.a = fake(m, k, 0), .b = fake(k, n, 0), .out = fake(m, n, 0)};
  for (TensorView* view : {&none.a, &none.b, &none.out}) view->memory = in_host;
  CHECK(run(none));
}

TEST_CASE("arrays do what strides do, bit for bit, in any mixture", "[array]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 30; ++i) {
    const detail::Row& row = test::any_row(random);
    if (!row.metadata.modes.array) continue;
    GemmArguments shape = test::random_shape(random, test::types_of(row), test::layouts_of(row),
                                             {.m = 60, .n = 60, .k = 200, .alignment_bytes = 16});
    if (shape.out.rank != 3) continue;
    shape.math = row.metadata.design.math;
    shape.controls.mode = Mode::gemm;
    const Kernel kernel(row);
    INFO(kernel.name());
    const lab::OperandOptions options = {.seed = random(),
                                         .in_place = std::vector(test::coin(random) ? 1 : 0, Operand::c)};
    RandomProblem strided = made(shape, options);
    test::choose_arrays(random, shape);
    RandomProblem arrays = made(shape, options);
    REQUIRE(kernel.run(strided.arguments).message() == "ok");
    REQUIRE(kernel.run(arrays.arguments).message() == "ok");
    REQUIRE(arrays.check_outputs().message() == "ok");
    const host::Matrix x(strided.arguments.out);
    const host::Matrix y(arrays.arguments.out);
    int different = 0;
    for (std::int64_t entry = 0; entry < x.batch; ++entry) {
      for (std::int64_t r = 0; r < x.rows; ++r) {
        for (std::int64_t c = 0; c < x.columns; ++c) {
          const double one = host::read_element(x.type, x.first(entry), x.index(r, c));
          const double other = host::read_element(y.type, y.first(entry), y.index(r, c));
          different += std::memcmp(&one, &other, sizeof one) != 0;
        }
      }
    }
    CHECK(different == 0);
  }
}

TEST_CASE("a plan takes a new array with each run", "[array]") {
  RandomProblem one = made(all_arrays());
  RandomProblem other = made(all_arrays(), {.seed = 5});
  const Kernel kernel = best(one.arguments);
  GemmArguments fake_arguments = one.arguments;
  for (auto& [name, view] : views_of(fake_arguments)) view->data = nullptr;
  const Result<Plan> plan = kernel.prepare(fake_arguments);  // whose views say that they are host memory
  REQUIRE(plan);
  std::vector<std::byte> memory(plan->workspace_size() + 256);
  const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % 256;
  const Workspace workspace = {memory.data() + (256 - past), plan->workspace_size()};
  for (RandomProblem* problem : {&one, &other}) {
    const Result<lab::Reference> reference = lab::compute_reference(problem->arguments);
    REQUIRE(reference);
    REQUIRE(plan->run(detail::operands_of(problem->arguments), nullptr, workspace).message() == "ok");
    CHECK(problem->check_outputs().message() == "ok");
    CHECK(is_right(*problem, *reference, kernel));
  }
  for (auto& [name, view] : views_of(one.arguments)) {
    GemmArguments args = one.arguments;
    for (auto& [same, missing] : views_of(args)) {
      if (same == name) missing->data = nullptr;
    }
    for (const Status& status : {plan->run(detail::operands_of(args), nullptr, workspace),
                                 kernel.run(args, {.workspace = workspace})}) {
      CHECK(status.reason() == Reason::null_data);
      CHECK(status.operand() == name);
    }
    for (auto& [same, moved] : views_of(args)) {
      if (same == name) moved->data = reinterpret_cast<const std::byte*>(view->data) + 4;
    }
    CHECK_THAT(plan->run(detail::operands_of(args), nullptr, workspace).message(),
               Catch::Contains("`" + std::string(to_string(name)) +
                               "` is misaligned: its array of pointers is not at a multiple of 8 bytes"));
  }
}

TEST_CASE("on the host null and misaligned pointers are refused by their place", "[array]") {
  RandomProblem problem = made(all_arrays());
  GemmArguments& args = problem.arguments;
  REQUIRE(run(args));
  for (auto& [name, view] : views_of(args)) {
    const void*& pointer = pointers(*view)[1];
    const void* const right = pointer;
    const std::string entry = "entry 1 of the array of pointers `" + std::string(to_string(name)) + "`";
    problem.reset_outputs();
    pointer = nullptr;
    CHECK(run(args).message() == "Null pointer: " + entry);
    pointer = static_cast<const std::byte*>(right) + 2;
    CHECK(run(args).message() ==
          "Misaligned pointer: " + entry + ": it is not a multiple of the 16 bytes that are promised");
    pointer = right;
    CHECK_FALSE(problem.check_outputs());  // nothing was written
  }
  REQUIRE(run(args));
}

TEST_CASE("what is not read may be null", "[array]") {
  GemmArguments shape = all_arrays();
  shape.epilogue.alpha = 0;
  shape.epilogue.beta = 0;
  RandomProblem problem = made(shape);
  GemmArguments& args = problem.arguments;
  std::fill_n(pointers(args.a), batch, nullptr);
  args.b.data = nullptr;
  args.c->data = nullptr;
  CHECK(run(args).message() == "ok");
  CHECK(problem.check_outputs().message() == "ok");
}

TEST_CASE("on the host outputs of arrays keep to themselves", "[array]") {
  RandomProblem problem = made(all_arrays());
  GemmArguments& args = problem.arguments;
  const void** const out = pointers(args.out);
  const void** const aux = pointers(*args.epilogue.aux);
  const auto check = [&](const void*& pointer, const void* wrong, const std::string& message) {
    const void* const right = pointer;
    pointer = wrong;
    CHECK(run(args).message() == message);
    pointer = right;
  };
  const std::string own = ": expected memory of its own, got memory of `out`";
  const std::string own_or_out =
      ": expected memory of its own, or exactly the memory of `out`, got a part of it";
  const std::string aux_own = ": expected memory of its own, got memory of `aux`";
  check(out[2], out[0],
        "Operand `out` overlaps itself: entries 0 and 2 of its array of pointers share memory");
  check(aux[0], aux[1],
        "Operand `aux` overlaps itself: entries 0 and 1 of its array of pointers share memory");
  check(aux[2], out[1], "Operand `out` overlaps `aux`" + aux_own);
  check(pointers(args.a)[0], out[2], "Operand `a` overlaps `out`" + own);
  check(pointers(args.b)[2], static_cast<const std::byte*>(out[0]) + 16, "Operand `b` overlaps `out`" + own);
  check(pointers(args.b)[1], aux[1], "Operand `b` overlaps `aux`" + aux_own);
  check(pointers(*args.c)[1], out[0], "Operand `c` overlaps `out`" + own_or_out);
  check(pointers(*args.epilogue.residual)[0], out[1], "Operand `residual` overlaps `out`" + own_or_out);
  alignas(64) static const void* memory[m * n] = {};  // an array, and room for an output over it
  std::copy_n(pointers(args.a), batch, memory);
  const void* const array = std::exchange(args.a.data, memory);
  check(out[1], memory, "The array of pointers `a` overlaps `out`");
  args.a.data = array;
  REQUIRE(run(args));
}

TEST_CASE("C and the residual may be the output, by the same array or another one", "[array]") {
  for (const bool same_array : {true, false}) {
    RandomProblem problem = made(all_arrays(), {.in_place = {Operand::c, Operand::residual}});
    GemmArguments& args = problem.arguments;
    const Result<lab::Reference> reference = lab::compute_reference(args);
    REQUIRE(reference);
    std::array<const void*, batch> other;
    std::copy_n(pointers(args.out), batch, other.begin());
    if (!same_array) args.c->data = args.epilogue.residual->data = other.data();
    GemmArguments plain = args;
    plain.controls.mode = Mode::gemm;
    const Kernel kernel = best(plain);
    CHECK(kernel.run(plain).message() == "ok");
    CHECK(is_right(problem, *reference, kernel));
    std::swap(other[0], other[1]);  // another entry's output
    if (!same_array) CHECK(kernel.run(plain).reason() == Reason::output_overlap);
    args.c->strides[1] = n + 8;
    args.c->data = args.out.data;
    GemmProblem normalised;
    CHECK(test::normalise(args, normalised).reason() == Reason::output_overlap);
  }
}

TEST_CASE("an output with strides goes with arrays of its own matrices", "[array]") {
  GemmArguments shape = all_arrays();
  shape.out = TensorView::row_major(nullptr, DType::f16, {batch, m, n});
  RandomProblem problem = made(shape);
  GemmArguments& args = problem.arguments;
  const host::Matrix out(args.out);
  for (std::int64_t entry = 0; entry < batch; ++entry) pointers(*args.c)[entry] = out.first(entry);
  CHECK(run(args).message() == "ok");
  std::swap(pointers(*args.c)[0], pointers(*args.c)[1]);
  CHECK(run(args).reason() == Reason::output_overlap);
}

TEST_CASE("what is read for many elements of an output of arrays is not the output itself", "[array]") {
  constexpr std::int64_t entries = 2, rows = 3, columns = 4;
  const std::vector<float> ones(16, 1);
  std::vector<float> out(entries * rows * columns, 7);
  const std::array<const void*, entries> matrices = {out.data(), out.data() + rows * columns};
  GemmArguments args = {
      .a = TensorView::row_major(ones.data(), DType::f32, {rows, 2}),
      .b = TensorView::row_major(ones.data(), DType::f32, {2, columns}),
      .out = PointerArrayView::row_major(matrices.data(), DType::f32, entries, {rows, columns})};
  args.expression = parsed("out = sum + v", "v=f32:row");
  constexpr std::array<std::int64_t, 3> strides = {rows * columns, columns, 1};
  const auto status_of = [&](std::array<std::int64_t, 3> extents) {
    args.tensors = {{"v", TensorView::strided(out.data(), DType::f32, extents, strides)}};
    return best(args).run(args);
  };
  CHECK(status_of({entries, 1, columns}).reason() == Reason::output_overlap);
  CHECK(status_of({entries, rows, 1}).reason() == Reason::output_overlap);
  CHECK(status_of({1, rows, columns}).reason() == Reason::output_overlap);  // of the first entry, with all
  CHECK(out == std::vector<float>(out.size(), 7));
  CHECK(status_of({entries, rows, columns}));
  CHECK(out == std::vector<float>(out.size(), 9));
}

TEST_CASE("outputs of an array may be thousands of columns of one matrix, in place", "[array]") {
  constexpr std::int64_t entries = 4000, rows = 3;
  const std::vector<float> ones(rows, 1);
  std::vector<float> out(entries * rows, 7);
  std::vector<const void*> matrices;
  for (std::int64_t i = 0; i < entries; ++i) matrices.push_back(out.data() + i);
  GemmArguments args = {
      .a = TensorView::row_major(ones.data(), DType::f32, {rows, 1}),
      .b = TensorView::row_major(ones.data(), DType::f32, {1, 1}),
      .c = PointerArrayView::row_major(matrices.data(), DType::f32, entries, {rows, 1}, entries),
      .out = PointerArrayView::row_major(matrices.data(), DType::f32, entries, {rows, 1}, entries)};
  args.epilogue.beta = 1;
  REQUIRE(best(args).run(args));
  CHECK(out == std::vector<float>(out.size(), 8));
  matrices[3000] = out.data() + 5 + entries;  // lower in the column of entry 5
  CHECK(best(args).run(args).message() ==
        "Operand `out` overlaps itself: entries 5 and 3000 of its array of pointers share memory");
}

TEST_CASE("guards lie around each matrix of an array", "[array]") {
  Result<lab::GuardedTensor> made_tensor = lab::GuardedTensor::make(fake(4, 8));
  REQUIRE(made_tensor);
  lab::GuardedTensor& tensor = *made_tensor;
  const host::Matrix matrix(tensor.view());
  CHECK_FALSE(tensor.check());
  std::vector<std::uintptr_t> starts;
  for (std::int64_t entry = 0; entry < batch; ++entry) {
    const auto start = reinterpret_cast<std::uintptr_t>(matrix.first(entry));
    CHECK(start % 32 == 16);  // as promised, no better
    starts.push_back(start);
    for (std::int64_t i = 0; i < 32; ++i)
      host::write_element(DType::f16, const_cast<void*>(matrix.first(entry)), i, 1.0);
  }
  CHECK(starts[0] - starts[1] != starts[1] - starts[2]);
  CHECK(tensor.check().message() == "ok");
  for (std::int64_t entry = 0; entry < batch; ++entry) {
    for (const std::int64_t beside : {-1, 32}) {
      auto* const at = static_cast<std::byte*>(const_cast<void*>(matrix.first(entry))) + beside * 2;
      const std::byte before = *at;
      *at = std::byte{1};
      CHECK_THAT(tensor.check().message(), Catch::Contains("Memory outside the output was written"));
      *at = before;
    }
  }
  const lab::GuardedTensor moved = std::move(tensor);
  CHECK(moved.check().message() == "ok");
}
