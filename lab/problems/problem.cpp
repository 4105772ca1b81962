#include "lab/problems/problem.hpp"

#include "lab/operation.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/text.hpp"

namespace quarry::lab {
namespace {

const OperationLab& lab_of(const Problem& problem) { return lab::lab_of(problem.operation()); }

/// The sum of something over the operands.
template <class Of>
double sum(const Problem& problem, const Of& of) {
  double all = 0;
  const HeldArguments arguments = arguments_of(problem);
  detail::OperandList operands;
  arguments.list(operands);
  for (const detail::OperandRef& operand : operands) all += of(operand);
  return all;
}

}  // namespace

HeldArguments arguments_of(const Problem& problem) { return lab_of(problem).arguments(problem); }

OperandOptions operand_options(const Problem& problem, std::uint64_t seed) {
  const OperationLab& lab = lab_of(problem);
  return {.seed = seed,
          .values = Values::uniform,
          .in_place = lab.in_place(problem),
          .given = lab.given(problem)};
}

Controls controls_of(const Problem& problem) { return lab_of(problem).controls(problem); }

Problem with(const Controls& controls, const Problem& problem) {
  Problem other = lab_of(problem).with_controls(controls, problem);
  other.options = problem.options;
  return other;
}

bool has_controls(const Problem& problem) { return lab_of(problem).has_controls; }

std::string shape_text(const Problem& problem) { return lab_of(problem).shape_text(problem); }

std::string command_text(const Problem& problem) { return plain_text(problem) + words_of(problem.options); }

std::string plain_text(const Problem& problem) {
  return std::string(lab_of(problem).name) + " " + lab_of(problem).command_text(problem);
}

NamedSizes sizes_of(const Problem& problem) { return lab_of(problem).sizes(problem); }

double flops(const Problem& problem) { return lab_of(problem).flops(problem); }

double touched_bytes(const Problem& problem) {
  return sum(problem, [](const detail::OperandRef& operand) {
    return operand.is_unused ? 0 : element_bytes(*operand.view);
  });
}

double memory_bytes(const Problem& problem, int copies) {
  return sum(problem, [&](const detail::OperandRef& operand) {
    return memory_bytes(*operand.view) * (operand.is_output ? copies : 1);
  });
}

std::string speed_text(const Problem& problem, double seconds) {
  if (!(seconds > 0)) return "too short to be measured";
  if (lab_of(problem).moves_memory) return rounded(touched_bytes(problem) / seconds * 1e-9, 1) + " GB/s";
  return rounded(flops(problem) / seconds * 1e-12, 3) + " TFLOP/s";
}

Status check_not_empty(const Problem& problem) {
  const double work = lab_of(problem).moves_memory ? touched_bytes(problem) : flops(problem);
  if (work > 0) return {};
  return Status(StatusCode::parse_error, "shape " + shape_text(problem) + ": there is nothing to time");
}

}  // namespace quarry::lab
