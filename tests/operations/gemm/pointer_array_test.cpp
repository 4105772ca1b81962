/// Batches through arrays of pointers, as arguments: what is accepted, who takes them, what is refused.
#include "quarry/pointer_array.hpp"
#include "support/gemm_checks.hpp"

#include <string>
#include <utility>
#include <vector>

#include "operations/gemm/normalise.hpp"
#include "registry/device/memory.hpp"
#include "support/array_problems.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using namespace quarry::test;

TEST_CASE("an array of pointers is a view of rank 3", "[array]") {
  const void* const pointers[batch] = {};
  const TensorView rows = PointerArrayView::row_major(pointers, DType::f32, batch, {5, 7}, 9);
  CHECK(rows.is_pointer_array);
  CHECK(rows.data == pointers);
  CHECK(rows.rank == 3);
  CHECK(std::vector(rows.extents.begin(), rows.extents.begin() + 3) == std::vector<std::int64_t>{3, 5, 7});
  CHECK(rows.strides[1] == 9);
  CHECK(rows.strides[2] == 1);
  CHECK(rows.assumed_alignment == 4);
  const TensorView columns =
      PointerArrayView::column_major(pointers, DType::f32, batch, {5, 7}).aligned(32).on(on_device);
  CHECK(columns.strides[1] == 1);
  CHECK(columns.strides[2] == 5);
  CHECK(columns.assumed_alignment == 32);
  CHECK(columns.memory == on_device);
  CHECK_FALSE(TensorView::row_major(nullptr, DType::f32, {3, 5, 7}).is_pointer_array);
}

TEST_CASE("every matrix operand may be an array, fake or not, beside others that are not", "[array]") {
  GemmArguments args = all_arrays();
  const GemmProblem problem = accepted(args);
  CHECK(problem.has_arrays);
  CHECK(problem.batch == batch);
  for (const MatrixParams* matrix : {&problem.a.matrix, &problem.b.matrix, &problem.c.matrix,
                                     &problem.out.matrix, &problem.epilogue.residual, &problem.epilogue.aux})
    CHECK(is_pointer_array(*matrix));
  CHECK(problem.a.alignment[static_cast<int>(Layout::row)] == 8);
  CHECK(array_operand(problem) == Operand::a);
  CHECK(array_operand(exchanged(problem)) == Operand::a);

  args.a = TensorView::row_major(nullptr, DType::f16, {m, k});
  args.c = TensorView::row_major(nullptr, DType::f16, {batch, m, n});
  CHECK_FALSE(is_pointer_array(accepted(args).a.matrix));
  CHECK(array_operand(accepted(args)) == Operand::b);
  CHECK(array_operand(exchanged(accepted(args))) == Operand::b);
  args.b = TensorView::row_major(nullptr, DType::f16, {k, n});
  CHECK(array_operand(accepted(args)) == Operand::out);
  CHECK_FALSE(accepted(test::plain_problem(m, n, k)).has_arrays);
}

TEST_CASE("alignment is what an array promises, and what kernels go by", "[array]") {
  GemmArguments args = all_arrays();
  const auto alignment_of_a = [&] { return accepted(args).a.alignment[static_cast<int>(Layout::row)]; };
  alignas(64) static const void* const array[batch] = {};
  args.a.data = array;  // however well the array itself lies
  CHECK(alignment_of_a() == 8);
  args.a.assumed_alignment = 4;
  CHECK(alignment_of_a() == 2);
  args.a.assumed_alignment = 2;
  CHECK(alignment_of_a() == 1);
  const auto wide = Filter::parse("family == gemm_sm80 and a.alignment == 8");
  REQUIRE(wide);
  const auto none = get_kernels(args, *wide);
  CHECK(none.empty());
  args.a.assumed_alignment = 16;
  const CandidateList found = get_kernels(args, *wide);
  REQUIRE_FALSE(found.empty());
  args.a.assumed_alignment = 2;
  const Status status = found.front().supports(args);
  CHECK(status.reason() == Reason::pointer_alignment);
  CHECK(
      status.message() ==
      "Operand `a` is misaligned: expected a pointer that is a multiple of 8 elements, got a multiple of 1");
}

TEST_CASE("promises that cannot be kept are refused", "[array]") {
  GemmArguments args = all_arrays();
  for (auto& [name, view] : views_of(args)) {
    const std::string operand = "Operand `" + std::string(to_string(name)) + "`";
    view->assumed_alignment = 24;
    check_refused(args,
                  operand + " promises an alignment of 24 bytes of its pointers, which is no power of two");
    view->assumed_alignment = 0;
    check_refused(args, operand + " promises an alignment of 0 bytes");
    view->assumed_alignment = 1;
    check_refused(args,
                  operand + " promises an alignment of 1 bytes of its pointers, less than the 2 of f16");
    view->assumed_alignment = 2;
  }
  accepted(args);
}

TEST_CASE("an array must be where pointers can be, as long as the batch, and of rank 3", "[array]") {
  alignas(16) static const unsigned char memory[64] = {};
  GemmArguments args = all_arrays();
  for (auto& [name, view] : views_of(args)) {
    const std::string operand = "Operand `" + std::string(to_string(name)) + "`";
    view->data = memory + 4;
    check_refused(args, operand + " is misaligned: its array of pointers is not at a multiple of 8 bytes");
    view->data = nullptr;
    view->extents[0] = batch + 1;
    if (name != Operand::out) check_refused(args, operand + " does not fit: expected a batch of 3, got 4");
    view->extents[0] = batch;
    TensorView flat = TensorView::row_major(nullptr, DType::f16, {view->extents[1], view->extents[2]});
    flat.is_pointer_array = true;
    std::swap(*view, flat);
    if (name != Operand::out) CHECK(refused(args).reason() == Reason::rank);
    std::swap(*view, flat);
  }
  args = test::plain_problem(m, n, k);
  args.a = fake(m, k);
  CHECK(refused(args).reason() == Reason::rank);
  args = all_arrays();
  args.a = fake(m, k, -1);
  CHECK(refused(args).reason() == Reason::negative_extent);
  args = all_arrays();
  args.a.dtype = DType::none;
  check_refused(args, "`a` has no data type");
}

TEST_CASE("a bias and a scale are no arrays", "[array]") {
  GemmArguments args = all_arrays();
  args.epilogue.bias = fake(1, n);
  check_refused(args, "Operand `bias` is an array of pointers: it is one vector for the whole batch");
  args.epilogue.bias = TensorView::vector(nullptr, DType::f16, n);
  args.epilogue.bias->is_pointer_array = true;
  check_refused(args, "Operand `bias` is an array of pointers");
  args.epilogue.bias.reset();
  args.epilogue.scale = PointerArrayView::row_major(nullptr, DType::f32, batch, {1, n});
  check_refused(args, "Operand `scale` is an array of pointers: it is one vector for the whole batch");
}

TEST_CASE("kernels of tensor maps do not permit arrays, the others do", "[array]") {
  GemmArguments strided{.a = TensorView::row_major(nullptr, DType::f16, {batch, 512, 512}),
                        .b = TensorView::column_major(nullptr, DType::f16, {batch, 512, 512}),
                        .out = TensorView::row_major(nullptr, DType::f16, {batch, 512, 512})};
  const DeviceModel device = test::device_named("h200");
  const auto best_for = [&](const GemmArguments& args) {
    const CandidateList found = get_kernels(args, {}, {.limit = 1, .device = &device});
    REQUIRE_FALSE(found.empty());
    return found.front();
  };
  const Kernel hopper = best_for(strided);
  CHECK(hopper.metadata().family == "gemm_sm90");
  CHECK(hopper.metadata().modes.batched);
  CHECK_FALSE(hopper.metadata().modes.array);
  for (const Operand name : {Operand::a, Operand::b, Operand::out}) {
    GemmArguments args = strided;
    TensorView& array = name == Operand::a ? args.a : name == Operand::b ? args.b : args.out;
    array.is_pointer_array = true;
    const Status status = hopper.supports(args);
    CHECK(status.code() == StatusCode::unsupported);
    CHECK(status.reason() == Reason::mode_array);
    CHECK(status.operand() == name);
    CHECK(status.message() ==
          "Mode `array` is unsupported: expected matrices by a pointer and a stride, got "
          "an array of pointers as `" +
              std::string(to_string(name)) + "`");
    const Kernel other = best_for(args);  // and what was asked before does not answer it
    CHECK(other.metadata().modes.array);
    CHECK(best_for(strided) == hopper);
  }
  strided.epilogue.aux = fake(512, 512);
  CHECK(hopper.supports(strided).operand() == Operand::aux);
}

TEST_CASE("for every types and layouts some kernel takes arrays that promise nothing", "[array]") {
  for (const Kernel& kernel : get_kernels()) {
    const OperandsMetadata& o = kernel.metadata().operands;
    const auto array = [](const OperandMetadata& operand, std::int64_t rows, std::int64_t columns) {
      return operand.layout == Layout::row
                 ? PointerArrayView::row_major(nullptr, operand.dtype, batch, {rows, columns})
                 : PointerArrayView::column_major(nullptr, operand.dtype, batch, {rows, columns});
    };
    if (kernel.metadata().family != "gemm_sm80") continue;
    const GemmArguments args{.a = array(o.a, 5, 7),
                             .b = array(o.b, 7, 9),
                             .out = array(o.out, 5, 9),
                             .accumulator = o.accumulator,
                             .math = kernel.metadata().design.math};
    const CandidateList found = get_kernels(args, {}, {.limit = 1});
    INFO(kernel.name() << ": " << found.status().message());
    REQUIRE_FALSE(found.empty());
  }
}

TEST_CASE("an array that was left in host memory is named", "[array]") {
  GemmArguments args = all_arrays();
  const Kernel kernel = best(args);
  for (auto& [name, view] : views_of(args)) view->memory = on_device;
  const auto check = [&](Reason reason, Operand operand) {
    for (const Status& status : {refused(args), test::place_of(args).status(), kernel.run(args)}) {
      CHECK(status.code() == StatusCode::invalid_arguments);
      CHECK(status.reason() == reason);
      CHECK(status.operand() == operand);
    }
  };
  for (auto& [name, view] : views_of(args)) {
    view->memory = in_host;
    check(Reason::array_place, name);
    CHECK(refused(args).message() == "Operand `" + std::string(to_string(name)) +
                                         "` lies elsewhere: expected its array of pointers in device memory, "
                                         "as the other operands, got host memory");
    view->memory = {MemoryKind::managed, 0};  // which a device can read
    accepted(args);
    view->memory = on_device;
  }
  args.a = TensorView::row_major(nullptr, DType::f16, {m, k}).on(in_host);  // no array
  check(Reason::mixed_devices, Operand::a);
  args.a.memory = {MemoryKind::device, 1};
  check(Reason::mixed_devices, Operand::a);
  for (auto& [name, view] : views_of(args)) view->memory = in_host;
  args.out = TensorView::row_major(nullptr, DType::f16, {batch, m, n}).on(in_host);
  args.b.memory = on_device;
  check(Reason::mixed_devices, Operand::b);
}
