/// How kernels of an operation become files that other programs launch, for any shape.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "operations/common/row.hpp"
#include "quarry/artifact.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// One device function of an export.
struct ExportedFunction {
  /// Name within its code.
  std::string entry;
  /// File of the code, in the same folder.
  std::string file;
  std::size_t code_bytes = 0;
  CodeResources resources;
};

/// A text file of an export.
struct ExportedText {
  std::string file;
  std::string text;
};

/// What an operation's rules have as `recipe`, where its kernels can be exported for any shape.
struct ExportRecipe {
  /// Ok, or why this kernel cannot.
  Status (*check)(const Row& row);
  /// The files that say how the kernel is launched.
  /// @param functions the kernel's own, then its first companion's where it has one
  std::vector<ExportedText> (*texts)(const Row& row, int target, std::span<const ExportedFunction> functions);
};

}  // namespace quarry::detail
