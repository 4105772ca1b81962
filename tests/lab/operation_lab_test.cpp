/// What holds of every operation's row in the lab's table, by loops over the table.
#include "lab/operation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "lab/expression/bounded.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/kernel_problem.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/trials/trial.hpp"
#include "lab/verify/path_order.hpp"
#include "operations/common/host/element.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/kernel_problems.hpp"

using namespace quarry;
using namespace quarry::lab;
using quarry::test::problem_for;
using quarry::test::some_kernels;

namespace {

/// A problem's shape and what stands behind it: "4096x4096x4096", "f16".
std::pair<std::string, std::string> shape_and_rest(const OperationLab& lab, const std::string& text) {
  std::size_t blank = text.find(' ');
  for (std::size_t i = 1; i < lab.words.shape_words; ++i) blank = text.find(' ', blank + 1);
  return {text.substr(0, blank), blank == text.npos ? "" : text.substr(blank + 1)};
}

std::string example_shape(const OperationLab& lab) {
  return shape_and_rest(lab, std::string(lab.words.problem)).first;
}

/// The same beside a kernel's name, which says the direction of a convolution.
std::string kernel_shape(const OperationLab& lab) {
  const std::string shape = example_shape(lab);
  return shape.substr(shape.find_first_of("0123456789"));
}

/// A problem's words after the operation, as the command reads them.
Result<Problem> parsed(Operation operation, const std::string& text) {
  const auto [shape, rest] = shape_and_rest(lab_of(operation), text);
  std::istringstream words(rest);
  SettingTexts settings;
  for (std::string flag, value; words >> flag >> std::quoted(value, '\'');) settings[flag.substr(2)] = value;
  return parse_problem(operation, shape, settings);
}

/// Whether a list, "gemm, conv2d", has this word.
bool names(const std::string& list, std::string_view word) {
  return (", " + list + ",").find(", " + std::string(word) + ",") != std::string::npos;
}

}  // namespace

TEST_CASE("every operation has a row in its place, with words that work", "[lab]") {
  std::set<std::string_view> names;
  for (const OperationLab& lab : operation_labs()) {
    INFO(lab.name);
    CHECK(&lab == &lab_of(lab.operation));
    CHECK(lab.name == to_string(lab.operation));
    CHECK(names.insert(lab.name).second);
    CHECK_FALSE(lab.words.notes.empty());
    std::set<std::string_view> settings;
    for (const Setting& setting : lab.settings()) {
      INFO(setting.name);
      CHECK(settings.insert(setting.name).second);
      CHECK_FALSE(setting.help.empty());
    }
    const auto [shape, type] = shape_and_rest(lab, std::string(lab.words.problem));
    const Result<Problem> problem = parse_problem(lab.operation, shape, {{"type", type}});
    INFO(problem.status().message());
    REQUIRE(problem);
    CHECK(check_not_empty(*problem));
    CHECK(touched_bytes(*problem) > 0);
    CHECK(memory_bytes(*problem, 2) > memory_bytes(*problem));
    CHECK_FALSE(get_kernels(arguments_of(*problem)).empty());
  }
}

TEST_CASE("a setting of another operation is refused by its name", "[lab]") {
  std::map<std::string_view, std::string> shapes;
  for (const OperationLab& lab : operation_labs()) shapes[lab.name] = example_shape(lab);
  int refused = 0;
  for (const SharedSetting& shared : all_settings()) {
    for (const OperationLab& lab : operation_labs()) {
      const std::string name(shared.setting.name);
      const auto has = [&](const Setting& each) { return each.name == name; };
      if (std::ranges::any_of(lab.settings(), has)) continue;
      const Status status = parse_problem(lab.operation, shapes[lab.name], {{name, "1"}}).status();
      CHECK(status.message().starts_with("--" + name + " does not go with " + std::string(lab.name)));
      CHECK_FALSE(names(shared.operations, lab.name));
      ++refused;
    }
  }
  CHECK(refused > 0);
  CHECK_FALSE(parse_problem(Operation{}, "", {}));
}

TEST_CASE("random problems fit their kernels, and their text gives them back", "[lab]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const OperationLab& lab : operation_labs()) {
    for (const Kernel& kernel : some_kernels(lab.operation, 40, random)) {
      const auto numbers = problem_numbers(kernel.metadata(), {}, random());
      for (const std::int64_t number : numbers) {
        const std::uint64_t own = random();
        for (const bool emulated : {false, true}) {
          const Problem problem =
              emulated ? lab.emulated(kernel.metadata(), own, number) : problem_for(kernel, own, number);
          const std::string text = command_text(problem);
          INFO(kernel.name() << ": " << text);
          const Status supported = kernel.supports(arguments_of(problem));
          INFO(supported.message());
          REQUIRE(supported);
          REQUIRE(text.starts_with(std::string(lab.name) + " "));
          const Result<Problem> again = parsed(lab.operation, text.substr(lab.name.size() + 1));
          INFO(again.status().message());
          REQUIRE(again);
          CHECK(command_text(*again) == text);
          CHECK(shape_text(*again) == shape_text(problem));
          CHECK(operand_options(*again, 1).in_place == operand_options(problem, 1).in_place);
          CHECK(touched_bytes(*again) == touched_bytes(problem));
        }
      }
    }
  }
}

TEST_CASE("a problem that names a kernel is in its types and layouts", "[lab]") {
  std::mt19937_64 random(1);
  for (const OperationLab& lab : operation_labs()) {
    for (const Kernel& kernel : some_kernels(lab.operation, 20, random)) {
      const Result<Problem> problem = lab::problem_for(kernel, kernel_shape(lab), SettingTexts{});
      INFO(kernel.name() << ": " << problem.status().message());
      REQUIRE(problem);
      const Status status = kernel.supports(arguments_of(*problem));
      // All but one thing, such as a K that is too long for it.
      const bool fits = status.reason() != Reason::dtype && status.reason() != Reason::layout;
      INFO(status.message());
      CHECK(fits);
    }
  }
}

TEST_CASE("operands are made, run and judged in the same way for every operation", "[lab]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const OperationLab& lab : operation_labs()) {
    for (const Kernel& kernel : some_kernels(lab.operation, 6, random)) {
      const auto paths = static_cast<std::int64_t>(lab.paths.size());
      const Problem problem = problem_for(kernel, random(), paths + 1);  // of small sizes
      INFO(kernel.name() << ": " << command_text(problem));
      Result<TrialProblem> trial = TrialProblem::make(problem, random(), Place::host);
      REQUIRE(trial);
      detail::OperandList operands;
      trial->host.arguments().list(operands);
      for (const detail::OperandRef& operand : operands) CHECK(operand.view->data != nullptr);
      const Result<Reference> reference = compute_reference(trial->host.arguments(), {.threads = 1});
      REQUIRE(reference);
      CHECK(run_trial(kernel, controls_of(problem), *trial, *reference).right());
      // A result that is far off is refused.
      const GuardedTensor& out = trial->host.tensors().front().tensor;
      const Matrices m(out.view());
      if (m.is_empty()) continue;
      const double before = host::read_element(m.type(), m.first(0), 0);
      const Expected& expected = reference->outputs.front();
      const double wrong = std::isnan(expected.values[0]) ? 1  // poison that has to stay
                           : is_floating(m.type())        ? NAN
                           : before > 0                   ? lowest_of(m.type())
                                                          : info_of(m.type()).largest;
      const bool is_bounded = !expected.radii.empty();
      if (is_bounded && could_be_stored({expected.values[0], expected.radii[0]}, m.type(), wrong)) continue;
      host::write_element(m.type(), const_cast<void*>(m.first(0)), 0, wrong);
      CHECK_FALSE(compare(*reference, trial->host.arguments(), kernel.metadata()).within());
      trial->host.reset_outputs();
      const bool writes =
          std::ranges::any_of(expected.values, [](double value) { return !std::isnan(value); });
      if (is_floating(m.type()) && trial->host.options().in_place.empty() && writes) {
        const bool is_written = bool(trial->host.check_outputs());
        CHECK_FALSE((is_written && compare(*reference, trial->host.arguments(), kernel.metadata()).within()));
      }
    }
  }
}

TEST_CASE("a tensor of rank 4 has values by its place, and guards between all of its lines", "[lab]") {
  const std::array<std::int64_t, 4> extents = {2, 3, 4, 5};
  const std::array<std::int64_t, 4> padded = {120, 36, 8, 1};
  const TensorView packed = TensorView::row_major(nullptr, DType::f32, {2, 3, 4, 5});
  const TensorView spread = TensorView::strided(nullptr, DType::f32, extents, padded);
  Result<GuardedTensor> one = GuardedTensor::make(packed);
  Result<GuardedTensor> other = GuardedTensor::make(spread);
  REQUIRE(one);
  REQUIRE(other);
  CHECK_FALSE(other->check());  // nothing is written yet
  fill_random(one->view(), 1, {.seed = 3});
  fill_random(other->view(), 1, {.seed = 3});
  const auto* const by_rows = static_cast<const float*>(one->data());
  auto* const by_strides = static_cast<float*>(other->data());
  std::set<float> values;
  std::set<std::int64_t> elements;
  for (std::int64_t i = 0; i < 2 * 3 * 4 * 5; ++i) {
    const std::int64_t at = i / 60 * 120 + i / 20 % 3 * 36 + i / 5 % 4 * 8 + i % 5;
    CHECK(by_rows[i] == by_strides[at]);
    values.insert(by_rows[i]);
    elements.insert(at);
  }
  CHECK(values.size() > 100);
  CHECK(other->check());
  for (std::int64_t at = -1; at <= *elements.rbegin() + 1; ++at) {
    if (elements.contains(at)) continue;
    const float before = by_strides[at];
    by_strides[at] = 1;
    CHECK_FALSE(other->check());
    std::memcpy(&by_strides[at], &before, sizeof before);
  }
  CHECK(other->check());
  CHECK(Matrices(spread).count() == 6);
  CHECK(memory_bytes(spread) == 4 * static_cast<double>(*elements.rbegin() + 1));
  CHECK(element_bytes(spread) == 4 * 120);
}
