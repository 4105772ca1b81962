// What a campaign draws of reductions, and how it judges refusals.
#include <set>

#include "lab/campaign/source.hpp"
#include "operations/reduce_split_k/lab/campaign.hpp"
#include "operations/reduce_split_k/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

constexpr int draws = 4000;

std::vector<Kernel> reductions() {
  const auto filter = Filter::parse("operation == reduce_split_k");
  REQUIRE(filter);
  return {get_kernels(*filter)};
}

/// 3 slices of f32 to f16.
ReduceSplitKArguments plain() {
  return {.partials = TensorView::row_major(nullptr, DType::f32, {3, 40, 24}),
          .out = TensorView::row_major(nullptr, DType::f16, {40, 24})};
}

std::string fault(const Status& status, const Kernel& kernel, const ReduceSplitKArguments& args) {
  return lab::reduce_split_k::fault_of_refusal(status, kernel.metadata(), args, default_device_model());
}

}  // namespace

TEST_CASE("a campaign draws every type, layout, epilogue and number of slices of reductions", "[campaign]") {
  const auto source = lab::reduce_split_k::Lab::campaign(reductions(), 1e9);
  std::set<std::string> types;
  std::set<LayoutTag> tags;
  std::set<std::int64_t> slices;
  std::set<Activation> activations;
  std::set<std::string> texts;
  int batched = 0, unpacked = 0, invalid = 0, scaled = 0, aux = 0, in_place = 0, by_pointer = 0, always = 0;
  for (int i = 0; i < draws; ++i) {
    const lab::DrawnProblem drawn = source->draw(static_cast<std::uint64_t>(i));
    const auto& args = drawn.arguments.as<ReduceSplitKArguments>();
    INFO("seed " << i << ": " << drawn.text);
    CHECK(drawn.text == source->draw(static_cast<std::uint64_t>(i)).text);
    texts.insert(drawn.text);
    for (const std::string& each : source->types_for(args)) types.insert(each);
    tags.insert(args.out.tag);
    slices.insert(args.partials.extents[0]);
    activations.insert(args.epilogue.activation);
    batched += args.out.rank == 3;
    unpacked += !lab::reduce_split_k::is_packed(args.partials);
    scaled += args.epilogue.scale.has_value();
    aux += args.epilogue.aux.has_value();
    in_place += !drawn.in_place.empty();
    by_pointer += drawn.scalars_in_memory != DType::none;
    const CandidateList found = get_kernels(args);
    if (!found.empty()) continue;
    REQUIRE(source->fault_of_empty_answer(found.status(), args).empty());
    const bool is_invalid = found.status().code() == StatusCode::invalid_arguments;
    invalid += is_invalid;
    if (!is_invalid) REQUIRE_FALSE(source->is_always_taken(args));
    always += source->is_always_taken(args);
  }
  for (const Kernel& kernel : reductions()) CHECK(types.contains(source->types_of(kernel.metadata())));
  CHECK(types.size() > 12);  // and such as there are no kernels of
  CHECK(tags.size() == 3);
  CHECK(slices.size() == 25);  // 0 among them
  CHECK(activations.size() == 9);
  CHECK(texts.size() > draws - 10);
  for (const int seen : {batched, scaled, aux, in_place}) CHECK(seen > draws / 20);
  CHECK(unpacked > draws / 20);
  CHECK(by_pointer > draws / 20);
  CHECK(invalid > draws / 100);
  CHECK(invalid < draws / 6);
}

TEST_CASE("a refusal of a reduction is good where its cause is true", "[campaign]") {
  const Kernel kernel = *find_kernel("reduce_split_k_f32_f16");
  REQUIRE(kernel.supports(plain()));
  const auto check = [&](const ReduceSplitKArguments& args) {
    const Status status = kernel.supports(args);
    INFO(status.message());
    REQUIRE_FALSE(status);
    CHECK(fault(status, kernel, args).empty());
    CHECK_FALSE(fault(status, kernel, plain()).empty());  // where it is not true
  };
  ReduceSplitKArguments args = plain();
  args.partials.dtype = DType::f64;
  check(args);
  args = plain();
  args.out.dtype = DType::bf16;
  check(args);
  args = plain();
  args.partials.strides[1] = 25;
  check(args);
  args = plain();
  args.partials.extents[0] = 0;
  check(args);
  args = plain();
  args.partials.is_pointer_array = true;
  check(args);
  args = plain();
  args.epilogue.clamp = {.low = 2, .high = 1};
  check(args);
}

TEST_CASE("a C that is never read is not looked at, an array of pointers neither", "[reduce]") {
  const Kernel kernel = *find_kernel("reduce_split_k_f32_f16");
  ReduceSplitKArguments args{.partials = TensorView::row_major(nullptr, DType::f32, {3, 2, 40, 24}),
                             .c = PointerArrayView::row_major(nullptr, DType::f16, 2, {40, 24}),
                             .out = TensorView::row_major(nullptr, DType::f16, {2, 40, 24})};
  CHECK(kernel.supports(args));
  args.epilogue.beta = 1;
  CHECK_THAT(kernel.supports(args).message(),
             Catch::Contains("`c` is an array of pointers, which a reduction does not take"));
}

TEST_CASE("a refusal of a reduction without a cause, or with another one, is found out", "[campaign]") {
  const Kernel kernel = *find_kernel("reduce_split_k_f32_f16");
  const auto refused = [](Reason reason, Operand operand) {
    return Status(StatusCode::unsupported, reason, operand, 1, 2);
  };
  CHECK_FALSE(fault(refused(Reason::dtype, Operand::partials), kernel, plain()).empty());
  CHECK_FALSE(fault(refused(Reason::dtype, Operand::out), kernel, plain()).empty());
  CHECK_FALSE(fault(refused(Reason::layout, Operand::out), kernel, plain()).empty());
  CHECK_FALSE(fault(refused(Reason::mode, Operand::none), kernel, plain()).empty());
  CHECK_FALSE(fault(Status(StatusCode::unsupported, "no"), kernel, plain()).empty());
  CHECK_FALSE(fault(Status(StatusCode::device_error, "Operand `out` is odd"), kernel, plain()).empty());
  CHECK_FALSE(fault(Status(StatusCode::invalid_arguments, "Operand `alpha` is 2"), kernel, plain()).empty());
  const auto empty = [](StatusCode code, const char* text) {
    return lab::reduce_split_k::fault_of_empty_answer(Status(code, text), plain());
  };
  CHECK(empty(StatusCode::no_kernel, "No kernel is registered for partials f32, out f16 row").empty());
  CHECK_FALSE(empty(StatusCode::no_kernel, "No kernel is registered for partials f64, out f16").empty());
  CHECK_FALSE(empty(StatusCode::unsupported, "None of the 3 kernels is left: ").empty());
  CHECK_FALSE(empty(StatusCode::not_found, "No kernel").empty());
}
