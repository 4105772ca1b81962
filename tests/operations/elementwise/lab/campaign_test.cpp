// What a campaign draws of elementwise problems, and how it judges refusals.
#include "operations/elementwise/lab/campaign.hpp"

#include <memory>
#include <set>

#include "lab/campaign/source.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/elementwise/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using lab::elementwise::fault_of_refusal;

namespace {

std::unique_ptr<lab::CampaignSource> source(double cost = 0x1p30) {
  return lab::elementwise::Lab::campaign(get_kernels(*Filter::parse("operation == elementwise")), cost);
}

const ElementwiseArguments& of(const lab::DrawnProblem& drawn) {
  return *Arguments(drawn.arguments).as<ElementwiseArguments>();
}

/// What is seen of a tensor.
void see(const ExpressionTensor& tensor, std::set<std::string>& seen) {
  const TensorView& view = tensor.view;
  if (view.dtype == DType::none) return void(seen.insert("a value"));
  seen.insert("rank " + std::to_string(view.rank));
  seen.insert(std::string(to_string(view.dtype)));
  seen.insert(view.assumed_alignment >= 16 ? "aligned" : "misaligned");
  for (std::size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] == 0) seen.insert("nothing");
    if (view.extents[i] > 1 && view.strides[i] == 0) seen.insert("repeated");
    if (view.extents[i] == 1) seen.insert("an extent of 1");
    if (i + 1 == view.rank && view.extents[i] > 1 && view.strides[i] > 1) seen.insert("neighbours apart");
  }
}

/// out = x + s of 4 x 6 elements.
ElementwiseArguments small() {
  const auto declared = expression::Declarations::parse("x=f32:row,s=f32:scalar,out=f32:row", DType::none);
  return {.expression = *Expression::parse("out = x + s", *declared),
          .tensors = {{"x", TensorView::row_major(nullptr, DType::f32, {4, 6})},
                      {"s", {}, 2},
                      {"out", TensorView::row_major(nullptr, DType::f32, {4, 6})}}};
}

const KernelMetadata& kernel(const char* name) { return find_kernel(name)->metadata(); }

bool is_true(const Status& status, const ElementwiseArguments& args, const char* name = "elementwise_v4_u1") {
  return fault_of_refusal(status, kernel(name), args).empty();
}

Status refused(Reason reason, Operand operand) { return {StatusCode::unsupported, reason, operand, 0, 0}; }

}  // namespace

TEST_CASE("elementwise campaigns draw every type, shape and way to store a tensor", "[elementwise]") {
  const auto problems = source();
  std::set<std::string> seen;
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const lab::DrawnProblem drawn = problems->draw(seed);
    const ElementwiseArguments& args = of(drawn);
    for (const ExpressionTensor& tensor : args.tensors) see(tensor, seen);
    const detail::ReductionCounts counts = detail::reduction_counts(args.expression);
    if (counts.rows > 0) seen.insert("rows");
    if (counts.columns > 0) seen.insert("columns");
    if (counts.groups > 0) seen.insert("groups");
    if (counts.all > 0) seen.insert("all");
    if (!drawn.in_place.empty()) seen.insert("in place");
    seen.insert(find_best(args) ? "taken" : "refused");
    texts.insert(drawn.text);
    const lab::elementwise::Extents e = lab::elementwise::extents_of(args);
    CHECK(e[0] * e[1] * e[2] * e[3] <= 4 * 50000);  // a spoilt extent is one longer
  }
  for (const char* what : {"rank 1",
                           "rank 2",
                           "rank 3",
                           "rank 4",
                           "f16",
                           "bf16",
                           "f32",
                           "f64",
                           "e4m3",
                           "e5m2",
                           "s8",
                           "u8",
                           "s32",
                           "s4",
                           "a value",
                           "nothing",
                           "repeated",
                           "an extent of 1",
                           "neighbours apart",
                           "aligned",
                           "misaligned",
                           "rows",
                           "columns",
                           "groups",
                           "all",
                           "in place",
                           "taken",
                           "refused"}) {
    INFO(what);
    CHECK(seen.contains(what));
  }
  CHECK(texts.size() > 2900);
}

TEST_CASE("an elementwise problem of a campaign is the same for its seed", "[elementwise]") {
  for (const std::uint64_t seed : {1, 2, 77}) CHECK(source()->draw(seed).text == source()->draw(seed).text);
}

TEST_CASE("a campaign finds refusals out that are not true of an elementwise problem", "[elementwise]") {
  const ElementwiseArguments good = small();
  for (const char* message :
       {"Operand `x` is missing", "Operand `x` is given twice", "Operand `y` is not in the expression",
        "Operand `x` is declared f32, but is of f16", "Operand `x` does not fit `out` along rows",
        "Elementwise problems have at most 8 tensors, got 9",
        "a value of e4m3; such a scalar is given as a tensor", "Operand `out` overlaps itself",
        "a message of no rule"}) {
    INFO(message);
    CHECK_FALSE(is_true({StatusCode::invalid_arguments, message}, good));
  }
  for (const Reason reason : {Reason::layout, Reason::pointer_alignment, Reason::leading_alignment})
    CHECK_FALSE(is_true(refused(reason, tensor_operand(0)), good, "elementwise_v2_u1"));
  CHECK_FALSE(is_true({StatusCode::unsupported, "Values are not rounded to s4 by kernels"}, good));
  CHECK_FALSE(is_true({StatusCode::no_kernel, "none"}, good));
}

TEST_CASE("true refusals of elementwise problems are believed", "[elementwise]") {
  const auto check = [](auto change, const char* name = "elementwise_v4_u1") {
    ElementwiseArguments args = small();
    change(args);
    const Status status = find_kernel(name)->supports(args);
    INFO(status.message());
    REQUIRE_FALSE(status);
    CHECK(is_true(status, args, name));
    CHECK_FALSE(is_true(status, small(), name));
  };
  check([](auto& args) { args.tensors.pop_back(); });
  check([](auto& args) { args.tensors.push_back(args.tensors[0]); });
  check([](auto& args) { args.tensors[0].name = "y"; });
  check([](auto& args) { args.tensors[0].view.dtype = DType::f16; });
  check([](auto& args) { args.tensors[0].view.extents[0] = 5; });
  check([](auto& args) { args.tensors[2].view.strides[0] = 0; });
  check([](auto& args) { args.tensors[0].view.assumed_alignment = 4; });
  check([](auto& args) { args.tensors[0].view.strides = {7, 1}; }, "elementwise_v2_u1");
  check([](auto& args) { args.tensors[0].view.strides = {1, 4}; }, "elementwise_v2_u1");
}

TEST_CASE("kernels keep to what a campaign believes, and the query offers them", "[elementwise]") {
  const auto problems = source();
  const std::vector<Kernel> kernels = get_kernels(*Filter::parse("operation == elementwise"));
  int refusals = 0;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    const lab::DrawnProblem drawn = problems->draw(seed);
    for (const Kernel& each : kernels) {
      const Status status = each.supports(of(drawn));
      if (status) continue;
      ++refusals;
      const std::string fault = fault_of_refusal(status, each.metadata(), of(drawn));
      INFO("seed " << seed << ", " << drawn.text << ": " << fault);
      CHECK(fault.empty());
    }
  }
  CHECK(refusals > 1000);
}
