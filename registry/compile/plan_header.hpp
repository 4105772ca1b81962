/// NAME.plan.h of an exported plan: a launch as C.
#pragma once

#include <string>
#include <vector>

#include "launch.hpp"

namespace quarry::detail {

/// One device function of an exported plan.
struct PlanFunction {
  std::string entry;  ///< name within its code
  std::string file;   ///< file of the code, in the same folder
};

/// Everything that the header tells.
struct ExportedPlan {
  /// What names in the header begin with; a C identifier.
  std::string name;
  std::string kernel;
  /// What is computed, in words: lines of a comment, each with an end.
  std::string problem;
  int target = 0;
  /// By Step::entry.
  std::vector<PlanFunction> functions;
};

/// A header for C11 and C++11 that fills the parameters of the launch from pointers and lists its steps. It
/// needs only the C library and, where the launch has tensor maps, <cuda.h>.
std::string plan_header(const ExportedPlan& plan, const Launch& launch);

/// The operands that a run of the exported plan is given, in the order of the header's struct: only those on
/// which something in the launch depends.
std::vector<Operand> plan_operands(const Launch& launch);

}  // namespace quarry::detail
