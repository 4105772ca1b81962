// What a campaign draws of reorders, and how it judges refusals.
#include <set>

#include "lab/campaign/source.hpp"
#include "operations/reorder/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

constexpr int draws = 4000;

std::vector<Kernel> reorders() { return get_kernels(*Filter::parse("operation == reorder")); }

std::unique_ptr<lab::CampaignSource> source() { return lab::reorder::Lab::campaign(reorders(), 1e9); }

ReorderArguments plain() {
  return {.from = TensorView::row_major(nullptr, DType::s8, {2, 64, 32}),
          .to = TensorView::column_major(nullptr, DType::s8, {2, 64, 32})};
}

std::string fault(const Status& status, const Kernel& kernel, const ReorderArguments& args) {
  return source()->fault_of_refusal(status, kernel.metadata(), args, default_device_model());
}

}  // namespace

TEST_CASE("a campaign draws every type, layout and way to store a matrix of reorders", "[campaign]") {
  const auto drawing = source();
  std::set<std::string> types;
  std::set<std::pair<LayoutTag, LayoutTag>> tags;
  std::set<std::string> texts;
  int batched = 0, broadcast = 0, arrays = 0, mixed = 0, ragged = 0, invalid = 0;
  for (int i = 0; i < draws; ++i) {
    const lab::DrawnProblem drawn = drawing->draw(static_cast<std::uint64_t>(i));
    const auto& [from, to] = drawn.arguments.as<ReorderArguments>();
    INFO("seed " << i << ": " << drawn.text);
    CHECK(drawn.text == drawing->draw(static_cast<std::uint64_t>(i)).text);
    texts.insert(drawn.text);
    for (const std::string& each : drawing->types_for(drawn.arguments)) types.insert(each);
    tags.insert({from.tag, to.tag});
    batched += to.rank == 3;
    broadcast += from.strides[from.rank - 1U] == 0 || from.strides[from.rank - 2U] == 0;
    arrays += from.is_pointer_array || to.is_pointer_array;
    mixed += from.dtype != to.dtype;
    const bool tagged = from.tag != LayoutTag::strided || to.tag != LayoutTag::strided;
    ragged += tagged && to.extents[to.rank - 1U] % interleave != 0;
    const CandidateList found = get_kernels(drawn.arguments);
    if (!found.empty()) continue;
    CHECK(drawing->fault_of_empty_answer(found.status(), drawn.arguments) == "");
    REQUIRE(found.status().code() == StatusCode::invalid_arguments);
    ++invalid;
  }
  for (const Kernel& kernel : reorders()) CHECK(types.contains(drawing->types_of(kernel.metadata())));
  CHECK(tags.size() == 9);
  CHECK(texts.size() > draws - 10);
  CHECK(batched > draws / 5);
  for (const int seen : {broadcast, arrays, mixed, ragged}) CHECK(seen > draws / 200);
  CHECK(invalid > draws / 50);
  CHECK(invalid < draws / 3);
}

TEST_CASE("a refusal of a reorder is good where its cause is true", "[campaign]") {
  const Kernel kernel = *find_kernel("reorder_matrix_s8");
  REQUIRE(kernel.supports(plain()));
  const auto check = [&](const ReorderArguments& args) {
    const Status status = kernel.supports(args);
    INFO(status.message());
    REQUIRE_FALSE(status);
    CHECK(fault(status, kernel, args) == "");
    CHECK_FALSE(fault(status, kernel, plain()).empty());  // where it is not true
  };
  ReorderArguments args = plain();
  args.from.dtype = args.to.dtype = DType::f64;
  check(args);
  args = plain();
  args.from.dtype = DType::u8;
  check(args);
  for (TensorView ReorderArguments::*const operand : {&ReorderArguments::from, &ReorderArguments::to}) {
    args = plain();
    (args.*operand).is_pointer_array = true;
    check(args);
    (args.*operand).assumed_alignment = 24;
    check(args);
    args = plain();
    args.*operand = TensorView::row_interleaved32(nullptr, DType::f16, {2, 64, 32});
    check(args);
    args.*operand = TensorView::row_interleaved32(nullptr, DType::s8, {2, 64, 31});
    check(args);
  }
}

TEST_CASE("a refusal of a reorder without a cause, or with another one, is found out", "[campaign]") {
  const Kernel kernel = *find_kernel("reorder_matrix_s8");
  constexpr auto unsupported = StatusCode::unsupported;
  constexpr auto invalid = StatusCode::invalid_arguments;
  CHECK_FALSE(fault({unsupported, Reason::dtype, Operand::to, 1, 2}, kernel, plain()).empty());
  CHECK_FALSE(fault({unsupported, Reason::grid_limit, Operand::none, 1, 2}, kernel, plain()).empty());
  CHECK_FALSE(fault({StatusCode::device_error, "Operand `to` is odd"}, kernel, plain()).empty());
  CHECK_FALSE(fault({invalid, "Operand `to` is odd"}, kernel, plain()).empty());
  CHECK_FALSE(fault({invalid, "It is wrong"}, kernel, plain()).empty());
  const auto empty = [](StatusCode code, const char* text) {
    return source()->fault_of_empty_answer({code, text}, plain());
  };
  CHECK_FALSE(empty(StatusCode::no_kernel, "No kernel is registered for matrices of s8").empty());
  CHECK_FALSE(empty(unsupported, "None of the 1 kernels is left: ").empty());
  CHECK(
      empty(StatusCode::filtered_out, "None of the 1 kernels is left: 1: The filter leaves it out").empty());
}
