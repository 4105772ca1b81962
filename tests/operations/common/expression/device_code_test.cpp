/// The device code of expressions, compiled for the CPU over the emulated seam, against the float64
/// reference.
#include "operations/common/expression/device_code.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lab/expression/random.hpp"
#include "lab/expression/reference.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/common/expression/device_arithmetic.hpp"
#include "operations/common/expression/rough.hpp"
#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

using detail::CodeMember;
using detail::ExpressionCode;
using detail::ValueType;

std::string cast_to(ValueType type) {
  return type == ValueType::f64   ? "static_cast<double>"
         : type == ValueType::s32 ? "static_cast<int>"
                                  : "static_cast<float>";
}

/// A function that computes an expression of a single element, whose reductions are what they reduce.
std::string caller(const ExpressionCode& code) {
  std::string text =
      "extern \"C\" void call_" + code.name + "(const double* x, double* y) {\n  using E = " + code.name +
      ";\n  E::Inputs in = {};\n  E::Groups groups = {};\n  E::Lines lines = {};\n  E::Outputs out = {};\n";
  for (std::size_t i = 0; i < code.inputs.size(); ++i) {
    const CodeMember& member = code.inputs[i];
    text += "  in." + member.name + " = " + cast_to(member.type) + "(x[" + std::to_string(i) + "]);\n";
  }
  text += "  E::group_operands(in, groups);\n  E::elements(in, groups, lines, out);\n";
  text +=
      "  E::finish_row(in, lines, out);\n  E::finish_column(in, lines, out);\n  E::finish_all(in, lines, "
      "out);\n";
  for (std::size_t i = 0; i < code.outputs.size(); ++i) {
    text += "  y[" + std::to_string(i) + "] = out." + code.outputs[i].name + ";\n";
  }
  return text + "}\n";
}

/// A shared library of some codes, made by the compiler of the tests.
class Compiled {
 public:
  explicit Compiled(const std::vector<ExpressionCode>& codes) {
    char name[] = "/tmp/quarry_expression_XXXXXX";
    folder_ = mkdtemp(name);
    std::ofstream source(folder_ / "code.cpp");
    source << "#include \"common/expression.cuh\"\nnamespace quarry {\n";
    for (const ExpressionCode& code : codes) source << code.text << caller(code);
    source << "}\n";
    source.close();
    const std::string root = QUARRY_SOURCE_DIR;
    const std::string command = std::string(QUARRY_CXX_COMPILER) +
                                " -std=c++20 -O1 -w -fPIC -shared -DQUARRY_EMULATED -I" + root +
                                "/kernels -I" + root + "/include -I" + root + " -o " + library() + " " +
                                (folder_ / "code.cpp").string() + " >" + (folder_ / "log").string() + " 2>&1";
    const bool compiled = std::system(command.c_str()) == 0;
    std::ifstream log(folder_ / "log");
    INFO(std::string(std::istreambuf_iterator<char>(log), {}));
    REQUIRE(compiled);
    handle_ = dlopen(library().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) INFO(dlerror());
    REQUIRE(handle_ != nullptr);
  }
  Compiled(const Compiled&) = delete;
  ~Compiled() {
    if (handle_ != nullptr) dlclose(handle_);
    std::filesystem::remove_all(folder_);
  }

  using Call = void (*)(const double* x, double* y);
  Call call(const ExpressionCode& code) const {
    void* const address = dlsym(handle_, ("call_" + code.name).c_str());
    REQUIRE(address != nullptr);
    return reinterpret_cast<Call>(address);
  }

 private:
  std::string library() const { return (folder_ / "code.so").string(); }

  std::filesystem::path folder_;
  void* handle_ = nullptr;
};

/// A value that `type` has.
double random_value(lab::Dice& dice, DType type) {
  const double value = is_integer(type)  ? static_cast<double>(dice.between(-20, 20))
                       : dice.one_in(30) ? dice.one_of({0.0, 1e30, -1e30, HUGE_VAL, -HUGE_VAL, std::nan("")})
                                         : (dice.fraction() - 0.5) * dice.one_of({1.0, 8.0, 60.0});
  return host::DeviceArithmetic().rounded(type, value);
}

/// Draws values for an expression's inputs and compares what its code gives. Returns how many outputs of
/// which something is known were compared. @param rough its rough nodes; empty: none
std::int64_t check(const Expression& e, const ExpressionCode& code, const std::vector<bool>& rough,
                   Compiled::Call call, lab::Dice& dice) {
  double sums[2] = {random_value(dice, e.sum_type()), random_value(dice, e.sum_type())};
  std::vector<double> x;
  std::vector<host::HostOperand> inputs;
  for (const CodeMember& member : code.inputs) {
    if (member.name == "sum" || member.name == "gate_sum") x.push_back(sums[0]);
    if (member.name == "up_sum") x.push_back(sums[1]);
  }
  for (const expression::Tensor& tensor : e.inputs()) {
    x.push_back(random_value(dice, tensor.dtype));
    inputs.push_back({.type = tensor.dtype, .value = x.back()});
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int index = detail::index_of(e.graph(), i);
    if (index < 0) continue;
    inputs[i].rows = 15;
    const double row = inputs[static_cast<std::size_t>(index)].value;
    // What kernels load of a row that there is not.
    if (row < 0 || row >= 15) x[x.size() - inputs.size() + i] = 0;
  }
  const auto expected = lab::expression_reference(
      e, {1, 1, 1, 1}, inputs,
      [](const void* context, const host::ElementPlace&) {
        const auto* both = static_cast<const double*>(context);
        return host::PartSums{both, both + 1};
      },
      sums, rough);
  std::vector<double> y(code.outputs.size());
  call(x.data(), y.data());
  std::int64_t known = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const lab::Bounded& value = expected[i].values[0];
    const DType type = detail::element_of(code.outputs[i].type);
    INFO("output " << i << ": " << y[i] << " instead of " << value.value << " +- " << value.radius);
    REQUIRE(lab::could_be_stored(value, type, y[i]));
    known += value.is_known() ? 1 : 0;
  }
  return known;
}

/// @param out by whose type activations are rough; none: they are exact
void check_all(const std::vector<Expression>& expressions, lab::Dice& dice, int rounds,
               DType out = DType::none) {
  std::vector<ExpressionCode> codes;
  std::vector<std::vector<bool>> rough;
  for (const Expression& e : expressions) {
    rough.push_back(out == DType::none ? std::vector<bool>() : detail::rough_nodes(e.graph(), out));
    const auto code =
        detail::device_code(e.graph(), "Expression" + std::to_string(codes.size()), rough.back());
    INFO(code.status().message());
    REQUIRE(code);
    codes.push_back(*code);
  }
  const Compiled compiled(codes);
  std::int64_t known = 0;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    INFO(expressions[i].text() << "\nwith " << expressions[i].declarations().text() << "\n" << codes[i].text);
    for (int round = 0; round < rounds; ++round)
      known += check(expressions[i], codes[i], rough[i], compiled.call(codes[i]), dice);
  }
  CHECK(known > static_cast<std::int64_t>(expressions.size()) * rounds / 2);
}

TEST_CASE("The device code of every function is what the interpreter computes", "[expression]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  std::vector<Expression> all;
  for (const detail::Function& f : detail::functions()) {
    for (const DType type : {DType::f32, DType::f64, DType::s32}) {
      if (type == DType::s32 && f.in_s32 == nullptr) continue;
      const expression::Value x = expression::sum(type);
      const expression::Value y = expression::scalar("y", type);
      const expression::Value z = expression::scalar("z", type);
      const expression::Value is_less = x < y;
      const bool one = f.operands == 1;
      const expression::Value value =
          f.domain == detail::Domain::logic
              ? select(one ? expression::call(f.name, {is_less}) : expression::call(f.name, {is_less, y < z}),
                       x, z)
          : f.domain == detail::Domain::comparison ? select(expression::call(f.name, {x, y}), x, z)
          : f.domain == detail::Domain::selection  ? expression::call(f.name, {is_less, y, z})
          : one                                    ? expression::call(f.name, {x})
          : f.operands == 2                        ? expression::call(f.name, {x, y})
                                                   : expression::call(f.name, {x, y, z});
      const Result<Expression> e = Expression::make({{"out", value}});
      INFO(f.name << " " << e.status().message());
      REQUIRE(e);
      all.push_back(*e);
    }
  }
  check_all(all, dice, 200);
}

TEST_CASE("Rough device code is what the reference says of it", "[expression]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  std::vector<Expression> all;
  for (const char* name : {"tanh", "sigmoid", "silu", "hardswish", "gelu", "gelu_tanh"}) {
    for (const std::string& text : {"out = " + std::string(name) + "(sum)",
                                    "out = " + std::string(name) + "(sum * 0.1 + y) * -y + sum"}) {
      const auto e = Expression::parse(text, {{{"y", DType::f32, expression::Shape::scalar}}});
      all.push_back(e ? *e : *Expression::parse(text));
      CHECK(std::ranges::count(detail::rough_nodes(all.back().graph(), DType::f16), true) == 1);
    }
  }
  check_all(all, dice, 300, DType::f16);
}

TEST_CASE("The device code of random expressions is what the interpreter computes", "[expression]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  std::vector<Expression> all;
  while (all.size() < 60) {
    const DType sum = dice.one_of({DType::f32, DType::f32, DType::s32, DType::f64});
    Expression e = lab::random_expression(dice, {.sum = sum});
    if (detail::device_code(e.graph(), "x")) all.push_back(std::move(e));
  }
  check_all(all, dice, 50, dice.one_of({DType::none, DType::bf16}));
}

TEST_CASE("Device code is named, exact, and refuses types that kernels lack", "[expression]") {
  const auto e = Expression::parse("out = gelu(sum * 0.1 + bias); amax = max(abs(out))",
                                   {{{"bias", DType::bf16, expression::Shape::per_column}}});
  REQUIRE(e);
  const auto code = detail::device_code(e->graph(), "Epilogue");
  REQUIRE(code);
  CHECK(code->text.find("struct Epilogue {") == 0);
  CHECK(code->text.find("(0x1.99999ap-4F)") != std::string::npos);
  CHECK(code->text.find("elementary::gelu(") != std::string::npos);
  std::vector<bool> all(e->graph().nodes.size(), true);
  CHECK(detail::device_code(e->graph(), "Epilogue", all)->text.find("elementary::roughly::gelu(") !=
        std::string::npos);
  REQUIRE(code->lines.size() == 1);
  CHECK(code->text.find("lines." + code->lines[0].name + " = ") != std::string::npos);
  CHECK(code->inputs.size() == 2);
  const auto narrow = Expression::parse("out = f32(s4(sum))");
  REQUIRE(narrow);
  const Status refused = detail::device_code(narrow->graph(), "Narrow").status();
  CHECK(refused.code() == StatusCode::unsupported);
  CHECK(refused.message() == "kernels cannot round a value to s4; only outputs of it");
}

}  // namespace
}  // namespace quarry
