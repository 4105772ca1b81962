#include "lab/problems/kernel_problem.hpp"

#include "lab/operation.hpp"

namespace quarry::lab {

Result<Problem> problem_for(const Kernel& kernel, const std::string& shape, SettingTexts settings) {
  const Operation operation = kernel.metadata().operation;
  lab_of(operation).add_settings(kernel.metadata(), settings);
  return parse_problem(operation, shape, settings);
}

}  // namespace quarry::lab
