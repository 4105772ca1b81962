/// How kernels of an operation become files that other programs launch, for any shape.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "operations/common/expression/interned.hpp"
#include "operations/common/row.hpp"
#include "quarry/artifact.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// What is exported for any shape, and as what.
struct ExportRequest {
  const Row& row;
  /// Compiled in; null: the kernel has none.
  const InternedExpression* expression = nullptr;
  /// Of the files, and of what is the kernel's own in C.
  std::string name;
  /// Compute capability that the code is for.
  int target = 0;
};

/// One device function of an export.
struct ExportedFunction {
  /// Name within its code.
  std::string entry;
  /// File of the code, in the same folder.
  std::string file;
  std::size_t code_bytes = 0;
  CodeResources resources = {};
};

/// A text file of an export.
struct ExportedText {
  std::string file;
  std::string text;
};

/// What an operation's rules have as `recipe`, where its kernels can be exported for any shape.
struct ExportRecipe {
  /// Ok, or why this kernel cannot, or not with this expression.
  Status (*check)(const ExportRequest& request);
  /// The files that say how the kernel is launched.
  /// @param functions the kernel's own; then its first companion's where it has one; then, where the
  /// companion may compute the expression, the kernel's without it
  std::vector<ExportedText> (*texts)(const ExportRequest& request,
                                     std::span<const ExportedFunction> functions);
};

}  // namespace quarry::detail
