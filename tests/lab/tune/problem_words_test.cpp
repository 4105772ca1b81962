// What a library writes of a problem, as a line of a log, is read as a problem of the same key: for every
// operation whose kernels are tuned.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "lab/campaign/source.hpp"
#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/tune/problem_lines.hpp"
#include "lab/verify/path_order.hpp"
#include "quarry/quarry.hpp"
#include "quarry/registry.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/kernel_problems.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;

const detail::OperationInfo& info_of(const OperationLab& lab) { return detail::info_of(lab.operation); }

/// The line of the arguments; empty if flags cannot say them.
std::string line_of(const OperationLab& lab, const HeldArguments& held) {
  const Arguments arguments = held;
  const std::string words = info_of(lab).command_text(arguments.data());
  return words.empty() ? words : std::string(lab.name) + " " + words;
}

void check_same_key(const OperationLab& lab, const std::string& line, const HeldArguments& held) {
  INFO(line);
  const Result<Problem> read = parse_command_text(line);
  INFO(read.status().message());
  REQUIRE(read);
  const HeldArguments again = arguments_of(*read);
  const Arguments arguments = held;
  const Arguments read_arguments = again;
  const auto key = info_of(lab).tuning_key(arguments.data());
  INFO(key.status().message());
  REQUIRE(key);
  const auto read_key = info_of(lab).tuning_key(read_arguments.data());
  INFO(read_key.status().message());
  REQUIRE(read_key);
  CHECK(*read_key == *key);
  // And that problem's own line is the same. (No fake tensor is the output's memory.)
  if (line.find(" --in-place ") == line.npos) CHECK(line_of(lab, again) == line);
}

}  // namespace

TEST_CASE("elementwise problems without elements have one key, wherever their tensors lie", "[lab]") {
  const OperationLab& lab = lab_of(Operation::elementwise);
  const auto key_of = [&](std::uint16_t alignment, std::int64_t stride) {
    const std::int64_t extents[] = {0, 3};
    const std::int64_t strides[] = {stride, 1};
    TensorView x = TensorView::strided(nullptr, DType::f32, extents, strides);
    x.assumed_alignment = alignment;
    const HeldArguments held = ElementwiseArguments{
        .expression = *Expression::parse(
            "out = x", *expression::Declarations::parse("x=f32:row,out=f32:row", DType::none)),
        .tensors = {{"x", x}, {"out", TensorView::row_major(nullptr, DType::f32, {0, 3})}}};
    const Arguments arguments = held;
    const auto key = info_of(lab).tuning_key(arguments.data());
    REQUIRE(key);
    return *key;
  };
  CHECK(key_of(4, 3) == key_of(16, 3));
  CHECK(key_of(4, 3) == key_of(4, 8));
}

TEST_CASE("hints about groups are said as what they come to", "[lab]") {
  using Hint = std::optional<std::int64_t>;
  const OperationLab& lab = lab_of(Operation::grouped_gemm);
  for (const char* const form : {"contiguous", "masked", "ragged_k"}) {
    const Result<Problem> problem = parse_command_text(
        std::string("grouped_gemm 3x16x32 --a bf16:row --b bf16:row --out bf16:row --sizes-are "
                    "counts --tokens 20 --room 24 --form ") +
        form);
    INFO(problem.status().message());
    REQUIRE(problem);
    HeldArguments held = arguments_of(*problem);
    auto& arguments = held.as<GroupedGemmArguments>();
    for (const Hint total : {Hint(), Hint(0), Hint(1), Hint(20), Hint(1000)}) {
      for (const Hint largest : {Hint(), Hint(0), Hint(1), Hint(7), Hint(20), Hint(30)}) {
        if (total && largest.value_or(0) > *total) continue;  // refused
        arguments.expected_total = total;
        arguments.expected_largest = largest;
        const std::string line = line_of(lab, held);
        REQUIRE(!line.empty());
        check_same_key(lab, line, held);
      }
    }
  }
}

TEST_CASE("problems without groups are said", "[lab]") {
  const OperationLab& lab = lab_of(Operation::grouped_gemm);
  for (const char* const form : {"contiguous", "masked", "ragged_k"}) {
    const bool is_ragged = std::string(form) == "ragged_k";
    for (const char* const more :
         {"", " --c bf16:row:ld=40", " --c out --residual bf16:row --aux bf16:row --bias column",
          " --epilogue 'out = sum * x + w + t[i]' --with "
          "x=f32:row,w=f32:per_column,t=f16:gathered,i=s32:per_row"}) {
      std::string text =
          std::string("grouped_gemm 0x16x32 --a bf16:row --b bf16:row --out bf16:row --room 24 --form ") +
          form + more;
      if (text.find("per_column") != text.npos) text += " --of-each w,t";
      const Result<Problem> problem = parse_command_text(text);
      INFO(text << ": " << problem.status().message());
      REQUIRE(problem);
      HeldArguments held = arguments_of(*problem);
      auto& arguments = held.as<GroupedGemmArguments>();
      CHECK(arguments.sizes.extents[0] == 0);
      CHECK((is_ragged ? arguments.out : arguments.b).rank == 3);
      CHECK((is_ragged ? arguments.out : arguments.b).extents[0] == 0);
      arguments.expected_total = 7;  // nobody has these
      const std::string line = line_of(lab, held);
      REQUIRE(line.find("grouped_gemm 0x16x32 ") == 0);
      check_same_key(lab, line, held);
    }
  }
}

TEST_CASE("what no flag says has no line, and what one says otherwise has its key", "[lab]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static std::byte memory[1 << 16];
  const auto check = [](const std::string& text, const auto& change) {
    const Result<Problem> problem = parse_command_text(text);
    INFO(text << problem.status().message());
    REQUIRE(problem);
    HeldArguments held = arguments_of(*problem);
    change(held);
    const OperationLab& lab = lab_of(held.operation());
    const Arguments arguments = held;
    REQUIRE(info_of(lab).tuning_key(arguments.data()));
    const std::string line = line_of(lab, held);
    if (!line.empty()) check_same_key(lab, line, held);
    return !line.empty();
  };
  const std::string gemm = "gemm 64x64x64 --a f16:row --b f16:row --out f16:row";
  for (const double bound : {infinity, -infinity}) {
    CHECK(!check(gemm, [&](HeldArguments& held) {
      held.as<GemmArguments>().epilogue.clamp = {.low = bound, .high = bound};
    }));
  }
  // Operands that are not read may share the output's address.
  CHECK(check(gemm + " --alpha 0", [&](HeldArguments& held) {
    auto& args = held.as<GemmArguments>();
    args.a.data = args.b.data = args.out.data = memory;
  }));
  const std::string arrays =
      "gemm 64x64x64 --a f16:row:array --b f16:row:array --out f16:row:array --batch 2 --c out";
  CHECK(check(arrays, [&](HeldArguments& held) {
    auto& args = held.as<GemmArguments>();
    args.c->assumed_alignment = 16;
    args.out.assumed_alignment = 4;
    args.c->data = args.out.data = memory;
  }));
  const std::string conv = "conv2d fprop 2x8x8x16 16x3x3 --a f16:row --b f16:row --out f16:row";
  CHECK(check(conv + " --bias column",
              [](HeldArguments& held) { held.as<Conv2dArguments>().epilogue.bias_axis = BiasAxis::row; }));
  CHECK(!check("conv2d fprop 2x8x8x0 16x3x3 --a f16:row --b f16:row --out f16:row", [](HeldArguments& held) {
    held.as<Conv2dArguments>().a.strides = {1000, 100, 7, 1};
  }));
  CHECK(check("elementwise 8x1 --epilogue 'y = relu(x); out = y' --with x=f16:col,y=f16:row,out=f16:row",
              [](HeldArguments& held) {
                auto& args = held.as<ElementwiseArguments>();
                for (ExpressionTensor& each : args.tensors) {
                  if (each.name != "y") each.view.data = memory;
                }
              }));
  check("reorder 2x4x8x1 --from f16:row --to f16:row", [](HeldArguments& held) {
    held.as<ReorderArguments>().from.strides = {32, 8, 1, 32};
  });
  check("reorder 2x4x8x0 --from f16:row --to f16:row", [](HeldArguments& held) {
    held.as<ReorderArguments>().from.strides = {320, 80, 10, 1};
  });
  const std::string groups =
      "grouped_gemm 2x16x32 --a f16:row --b f16:row --out f16:row --sizes-are ends --tokens 20";
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1} << 21}) {
    CHECK(check(groups, [&](HeldArguments& held) {
            auto& args = held.as<GroupedGemmArguments>();
            args.b.extents[0] = args.sizes.extents[0] = count;
          }) == (count == 0));
  }
  CHECK(!check(gemm + " --batch 2", [](HeldArguments& held) {
    auto& args = held.as<GemmArguments>();
    for (TensorView* view : {&args.a, &args.b, &args.out}) view->extents[0] = 0;
  }));
  // A list of many different sizes beside a long expression.
  std::string list, text = "sum";
  for (int i = 0; i < 5700; ++i) list += (i > 0 ? "," : "") + std::to_string(1000 + i) + "x64x64";
  const std::string words =
      "gemm_list " + list + " --a f16:row:stride=512000 --b f16:row:stride=4096 --out f16:row:stride=512000";
  CHECK(check(words, [](HeldArguments&) {}));
  for (int i = 0; i < 450; ++i) text += " + " + std::to_string(1000000 + i);
  CHECK(!check(words, [&](HeldArguments& held) {
    const auto declared = expression::Declarations::parse("out=f16", DType::f32);
    REQUIRE(declared);
    Result<Expression> parsed = Expression::parse("out = " + text, *declared);
    INFO(parsed.status().message());
    REQUIRE(parsed);
    held.as<GemmListArguments>().expression = *parsed;
  }));
}

TEST_CASE("the line of a random problem is read as a problem of its key", "[lab]") {
  const std::uint64_t seed = fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const OperationLab& lab : operation_labs()) {
    if (info_of(lab).tuning_key == nullptr) continue;
    int said = 0;
    for (const Kernel& kernel : test::some_kernels(lab.operation, 40, random)) {
      for (const std::int64_t number : problem_numbers(kernel.metadata(), {}, random())) {
        const Problem problem = test::problem_for(kernel, random(), number);
        const HeldArguments held = arguments_of(problem);
        INFO(command_text(problem));
        const std::string line = line_of(lab, held);
        if (line.empty()) continue;
        ++said;
        check_same_key(lab, line, held);
      }
    }
    INFO(lab.name);
    CHECK(said > 50);
  }
}

TEST_CASE("the line of whatever a user could ask for is read as a problem of its key", "[lab]") {
  const std::uint64_t seed = fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const OperationLab& lab : operation_labs()) {
    if (info_of(lab).tuning_key == nullptr || lab.campaign == nullptr) continue;
    const std::vector<Kernel> kernels = test::some_kernels(lab.operation, 100, random);
    const auto source = lab.campaign(kernels, 1e9);
    int said = 0;
    for (int i = 0; i < 1500; ++i) {
      const DrawnProblem drawn = source->draw(random());
      const Arguments arguments = drawn.arguments;
      if (!info_of(lab).tuning_key(arguments.data())) continue;
      INFO(drawn.text);
      const std::string line = line_of(lab, drawn.arguments);
      if (line.empty()) continue;
      ++said;
      check_same_key(lab, line, drawn.arguments);
    }
    INFO(lab.name);
    CHECK(said > 30);
  }
}

TEST_CASE("what changes the choice of a kernel changes the key", "[lab]") {
  const std::pair<const char*, std::vector<const char*>> groups[] = {
      {"gemm 64x64x64 --a f16:row --b f16:row",
       {"", " --epilogue 'out = relu(sum)'", " --epilogue 'out = silu(sum)'",
        " --epilogue 'out = relu(sum + x)' --with x=f16:per_column",
        " --epilogue 'out = relu(sum + x)' --with x=f32:per_column",
        " --epilogue 'out = relu(sum + x)' --with x=f32:per_row", " --epilogue 'out = relu(sum); y = sum'",
        " --epilogue 'out = relu(sum); y = sum' --with y=f16:row"}},
      {"conv2d 2x8x8x64 64x3x3 --direction fprop --a f16",
       {"", " --padding 1", " --stride 2", " --dilation 2", " --groups 2", " --kind convolution",
        " --a f16:align=1", " --a f16:ld=68", " --bias column", " --scale column", " --scale tensor",
        " --residual f16", " --aux f16", " --activation relu", " --accumulator f32 --out f32"}},
      {"conv2d 2x8x8x64 64x3x3 --direction dgrad --a f16", {"", " --padding 1"}},
      {"conv2d 2x8x8x64 64x3x3 --direction wgrad --a f16", {"", " --padding 1"}},
      {"grouped_gemm 8x512x512 --a f16 --room 1024",
       {"", " --tokens 512", " --tokens 256", " --b f16:col", " --form masked", " --outside zero",
        " --sizes-are counts", " --activation silu", " --out f32", " --epilogue 'out = relu(sum)'",
        " --epilogue 'out = silu(sum)'"}},
      {"gemm_list 64x64x64,128x32x512 --a f16",
       {"", " --bounds 256x256x512", " --leading packed", " --leading packed --leading-alignment 8",
        " --leading packed --leading-alignment 1", " --schedule host", " --b f16:col", " --activation relu"}},
      {"gemm_list 128x32x512,64x64x64 --a f16", {""}},
      {"gemm_list 2*64x64x64 --a f16", {"", " --bounds 128x64x64"}},
      {"elementwise 64x64",
       {" --with x=f16:row,out=f16:row", " --with x=bf16:row,out=f32:row",
        " --with x=f16:row,out=f16:row --align 1", " --with x=f16:row,out=f16:row --lines 8",
        " --with x=f16:col,out=f16:row", " --epilogue 'out = relu(x)' --with x=f16:row,out=f16:row",
        " --epilogue 'out = silu(x)' --with x=f16:row,out=f16:row"}},
      {"elementwise 64x128", {" --with x=f16:row,out=f16:row"}},
      {"grouped_gemm 8x512x512 --a f16 --form ragged_k --room 1024", {"", " --tokens 512"}},
  };
  std::map<detail::TuningKey, std::string> seen;
  for (const auto& [problem, variants] : groups) {
    for (const char* variant : variants) {
      const std::string line = std::string(problem) + variant;
      const Result<Problem> read = parse_command_text(line);
      INFO(line << ": " << read.status().message());
      REQUIRE(read);
      const HeldArguments held = arguments_of(*read);
      const Arguments arguments = held;
      const auto key = detail::info_of(read->operation()).tuning_key(arguments.data());
      INFO(key.status().message());
      REQUIRE(key);
      const auto [at, is_new] = seen.try_emplace(*key, line);
      INFO(at->second);
      CHECK(is_new);
    }
  }
}
