/// Scales of operands in the lab: the text of problems, values, and whether refusals are true.
#include <algorithm>
#include <set>
#include <string>

#include "lab/operation.hpp"
#include "lab/problems/matrices.hpp"
#include "operations/common/host/element.hpp"
#include "operations/gemm/lab/refusal.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"

using namespace quarry;
using namespace quarry::lab;

namespace {

Result<Problem> parsed(std::string_view shape, SettingTexts settings) {
  settings.try_emplace("type", "f16");
  return parse_problem(Operation::gemm, shape, settings);
}

GemmArguments arguments(std::string_view shape, const SettingTexts& settings) {
  const Result<Problem> problem = parsed(shape, settings);
  INFO(problem.status().message());
  REQUIRE(problem);
  return arguments_of(*problem).as<GemmArguments>();
}

/// The values of an operand, by rows.
std::vector<double> values_of(const Operands& operands, Operand name) {
  const Matrices m(operands[name].view());
  std::vector<double> values;
  for (std::int64_t matrix = 0; matrix < m.count(); ++matrix) {
    for (std::int64_t row = 0; row < m.rows(); ++row) {
      for (std::int64_t column = 0; column < m.columns(); ++column)
        values.push_back(host::read_element(m.type(), m.first(matrix), m.index(row, column)));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("scales are settings, which make operands, and which a problem's text gives back", "[scales]") {
  for (const std::string a : {"", "tensor", "row", "1x128", "1x32", "1x64"}) {
    for (const std::string b : {"", "tensor", "column", "1x128", "128x128", "1x32", "1x64"}) {
      for (const std::string batch : {"", "3"}) {
        SettingTexts settings;
        if (!a.empty()) settings["a-scale"] = a;
        if (!b.empty()) settings["b-scale"] = b;
        if (!batch.empty()) settings["batch"] = batch;
        const GemmArguments args = arguments("300x200x500", settings);
        REQUIRE(args.a_scale.has_value() == !a.empty());
        REQUIRE(args.b_scale.has_value() == !b.empty());
        if (args.a_scale) CHECK(to_string(args.a_scale_granularity) == a);
        if (args.b_scale) CHECK(to_string(args.b_scale_granularity) == b);
        if (args.a_scale) CHECK(args.a_scale->rank == args.a.rank);
        GemmProblem checked;
        const Status valid = test::normalise(args, checked);
        INFO(valid.message());
        CHECK(valid);
        const std::string text = command_text(*parsed("300x200x500", settings));
        CHECK((text.find(" --a-scale " + a + " ") != text.npos) == !a.empty());
        CHECK((text.find(" --b-scale " + b + " ") != text.npos) == !b.empty());
      }
    }
  }
}

TEST_CASE("zero points are a setting, which makes an operand of the scales' extents", "[zero_points]") {
  const SettingTexts settings = {{"b", "u4:col"}, {"b-scale", "1x32"}, {"b-zero", "u8"}, {"batch", "2"}};
  const GemmArguments args = arguments("30x20x100", settings);
  REQUIRE(args.b_zero);
  CHECK(args.b_zero->dtype == DType::u8);
  CHECK(args.b_zero->extents == args.b_scale->extents);
  CHECK(command_text(*parsed("30x20x100", settings)).find(" --b-scale 1x32 --b-zero u8 ") !=
        std::string::npos);
  const Result<Problem> wrong = parsed("30x20x100", {{"b-scale", "1x32"}, {"b-zero", "s8"}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.status().message() == "--b-zero: zero points: expected u8, got `s8`");
}

TEST_CASE("random zero points are numbers of the weights", "[zero_points]") {
  for (const auto& [weights, most] : {std::pair("u4:col", 15.0), std::pair("u8:col", 255.0)}) {
    const GemmArguments args =
        arguments("8x300x256", {{"b", weights}, {"b-scale", "1x32"}, {"b-zero", "u8"}});
    const Result<Operands> operands = Operands::make(args, {.seed = 5});
    REQUIRE(operands);
    const std::vector<double> zeros = values_of(*operands, Operand::b_zero);
    CHECK(*std::ranges::min_element(zeros) == 0);
    CHECK(*std::ranges::max_element(zeros) == most);
  }
}

TEST_CASE("a zero point that all weights share is not 0", "[zero_points]") {
  const GemmArguments args =
      arguments("8x30x25", {{"b", "u4:col"}, {"b-scale", "tensor"}, {"b-zero", "u8"}, {"batch", "3"}});
  double least = 15;
  double most = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const Values values : {Values::uniform, Values::small_integers}) {
      const Result<Operands> operands = Operands::make(args, {.seed = seed, .values = values});
      REQUIRE(operands);
      const std::vector<double> zeros = values_of(*operands, Operand::b_zero);
      CHECK(zeros.size() == 3);
      least = std::min(least, std::ranges::min(zeros));
      most = std::max(most, std::ranges::max(zeros));
    }
  }
  CHECK(least == 1);
  CHECK(most == 15);
}

TEST_CASE("a refusal of zero points is true where there are some, or none", "[zero_points]") {
  const auto fault = [](const GemmArguments& args, ScaleSupport support, Reason reason) {
    KernelMetadata kernel;
    kernel.operands.scales = support;
    const Status refused = {StatusCode::unsupported, reason, Operand::b_zero};
    return lab::gemm::fault_of_refusal(refused, kernel, args, default_device_model());
  };
  SettingTexts settings = {{"b", "u4:col"}, {"b-scale", "1x32"}};
  const GemmArguments without = arguments("64x64x64", settings);
  settings["b-zero"] = "u8";
  GemmArguments with = arguments("64x64x64", settings);
  CHECK(fault(with, ScaleSupport::group_scales, Reason::no_operand).empty());
  CHECK_FALSE(fault(with, ScaleSupport::group_scales, Reason::missing).empty());
  CHECK_FALSE(fault(with, ScaleSupport::zero_points, Reason::no_operand).empty());
  CHECK_FALSE(fault(without, ScaleSupport::group_scales, Reason::no_operand).empty());
  CHECK(fault(without, ScaleSupport::zero_points, Reason::missing).empty());
  with.epilogue.alpha = 0.0;  // they are not read
  CHECK_FALSE(fault(with, ScaleSupport::group_scales, Reason::no_operand).empty());
}

TEST_CASE("scales of one block of K lie side by side", "[scales]") {
  const GemmArguments args = arguments("300x200x500", {{"a-scale", "1x128"}, {"b-scale", "1x128"}});
  CHECK(args.a_scale->extents[0] == 300);
  CHECK(args.a_scale->extents[1] == 4);
  CHECK(args.a_scale->strides[0] == 1);
  CHECK(args.b_scale->extents[0] == 4);
  CHECK(args.b_scale->extents[1] == 200);
  CHECK(args.b_scale->strides[1] == 1);
}

TEST_CASE("a granularity that an operand cannot have is refused with those that it can", "[scales]") {
  const auto why = [](const char* flag, const char* word) {
    return parsed("8x8x8", {{flag, word}}).status().message();
  };
  const std::string of_a = "--a-scale: scales: expected tensor, row, 1x128, 1x32 or 1x64, got ";
  const std::string of_b = "--b-scale: scales: expected tensor, column, 1x128, 128x128, 1x32 or 1x64, got ";
  CHECK(why("a-scale", "column") == of_a + "`column`");
  CHECK(why("a-scale", "128x128") == of_a + "`128x128`");
  CHECK(why("b-scale", "row") == of_b + "`row`");
  CHECK(why("b-scale", "") == of_b + "``");
  CHECK(why("b-scale", "1x16") == of_b + "`1x16`");
}

TEST_CASE("sizes beyond all limits with scales are refused", "[scales]") {
  for (const char* shape :
       {"1x1x9223372036854775807", "9223372036854775807x1x1", "1x9223372036854775807x1"}) {
    const GemmArguments args = arguments(shape, {{"a-scale", "1x128"}, {"b-scale", "128x128"}});
    const Status status = get_kernels(args).status();
    CHECK(status.code() == StatusCode::invalid_arguments);
  }
}

TEST_CASE("random scales are positive and not near 0", "[scales]") {
  const GemmArguments shape =
      arguments("60x300x500", {{"a-scale", "row"}, {"b-scale", "1x128"}, {"batch", "2"}});
  const Result<Operands> uniform = Operands::make(shape, {.seed = 7});
  const Result<Operands> integers = Operands::make(shape, {.seed = 7, .values = Values::small_integers});
  REQUIRE(uniform);
  REQUIRE(integers);
  const auto within = [](const std::vector<double>& values, double least, double most) {
    return std::ranges::all_of(values, [=](double value) { return value >= least && value <= most; });
  };
  for (const Operand scale : {Operand::a_scale, Operand::b_scale}) {
    const std::vector<double> values = values_of(*uniform, scale);
    CHECK(within(values, 0.5, 1.5));
    CHECK(std::set(values.begin(), values.end()).size() > values.size() * 9 / 10);
    const std::vector<double> whole = values_of(*integers, scale);
    CHECK(std::set(whole.begin(), whole.end()) == std::set<double>{1, 2});
  }
  CHECK(values_of(*uniform, Operand::a_scale).size() == 2 * 60);
  CHECK(values_of(*uniform, Operand::b_scale).size() == 2 * 4 * 300);
  CHECK_FALSE(within(values_of(*uniform, Operand::a), 0, 2));
  // They do not depend on how they are stored.
  GemmArguments other = shape;
  other.b_scale = TensorView::column_major(nullptr, DType::f32, {2, 4, 300}, 9);
  const Result<Operands> stored = Operands::make(other, {.seed = 7});
  REQUIRE(stored);
  CHECK(values_of(*stored, Operand::b_scale) == values_of(*uniform, Operand::b_scale));
}

TEST_CASE("a refusal of scales is true where there are some", "[scales]") {
  const auto fault = [](const GemmArguments& args, Operand operand) {
    const Status refused = {StatusCode::unsupported, Reason::no_operand, operand};
    const auto unscaled = Filter::parse("scales == none");
    const Kernel kernel = get_kernels(arguments("64x64x64", {}), *unscaled).front();
    return lab::gemm::fault_of_refusal(refused, kernel.metadata(), args, default_device_model());
  };
  GemmArguments args = arguments("64x64x64", {{"a-scale", "row"}});
  CHECK(fault(args, Operand::a_scale).empty());
  CHECK_FALSE(fault(args, Operand::b_scale).empty());
  CHECK_FALSE(fault(args, Operand::a).empty());
  CHECK_FALSE(fault(args, Operand::none).empty());
  args.epilogue.alpha = 0.0;  // they are not read
  CHECK_FALSE(fault(args, Operand::a_scale).empty());
  args = arguments("64x64x64", {{"b-scale", "128x128"}});
  CHECK(fault(args, Operand::b_scale).empty());
  CHECK_FALSE(fault(arguments("64x64x0", {{"b-scale", "128x128"}}), Operand::b_scale).empty());
  CHECK_FALSE(fault(arguments("64x64x64", {}), Operand::b_scale).empty());
}

TEST_CASE("a refusal of granularities, or of no scales, is true of kernels that take others", "[scales]") {
  const auto fault = [](const GemmArguments& args, ScaleSupport support, Operand operand, int got) {
    KernelMetadata kernel;
    kernel.operands.scales = support;
    const Status refused = {StatusCode::unsupported, Reason::granularity, operand, 0, got};
    return lab::gemm::fault_of_refusal(refused, kernel, args, default_device_model());
  };
  const auto blocks = static_cast<int>(ScaleGranularity::block_1x128);
  const GemmArguments blocked = arguments("64x64x64", {{"a-scale", "1x128"}, {"b-scale", "column"}});
  CHECK(fault(blocked, ScaleSupport::vector_scales, Operand::a_scale, blocks).empty());
  CHECK_FALSE(fault(blocked, ScaleSupport::vector_scales, Operand::b_scale, blocks).empty());
  CHECK_FALSE(fault(blocked, ScaleSupport::block_scales, Operand::a_scale, blocks).empty());
  const auto groups = static_cast<int>(ScaleGranularity::block_1x64);
  const GemmArguments grouped = arguments("64x64x64", {{"b-scale", "1x64"}});
  CHECK(fault(grouped, ScaleSupport::vector_scales, Operand::b_scale, groups).empty());
  CHECK(fault(grouped, ScaleSupport::block_scales, Operand::b_scale, groups).empty());
  CHECK_FALSE(fault(grouped, ScaleSupport::group_scales, Operand::b_scale, groups).empty());
  CHECK_FALSE(fault(blocked, ScaleSupport::none, Operand::a_scale, blocks).empty());
  const GemmArguments none = arguments("64x64x64", {});
  CHECK(fault(none, ScaleSupport::vector_scales, Operand::a_scale, -1).empty());
  CHECK(fault(none, ScaleSupport::block_scales, Operand::a_scale, -1).empty());
  CHECK_FALSE(fault(none, ScaleSupport::none, Operand::a_scale, -1).empty());
  CHECK_FALSE(fault(none, ScaleSupport::group_scales, Operand::a_scale, -1).empty());
  GemmArguments precise = arguments("64x64x64", {{"type", "e4m3"}, {"out", "bf16"}});
  precise.accumulation = Accumulation::precise;
  CHECK_FALSE(fault(precise, ScaleSupport::block_scales, Operand::a_scale, -1).empty());
  CHECK(fault(precise, ScaleSupport::vector_scales, Operand::a_scale, -1).empty());
  GemmArguments precise_groups =
      arguments("64x64x64", {{"type", "e4m3"}, {"out", "bf16"}, {"a-scale", "1x64"}});
  precise_groups.accumulation = Accumulation::precise;
  CHECK(fault(precise_groups, ScaleSupport::block_scales, Operand::a_scale, groups).empty());
  CHECK_FALSE(fault(arguments("64x64x0", {}), ScaleSupport::block_scales, Operand::a_scale, -1).empty());
}
