/// What an exported kernel is, as data, and the texts that tell it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "basic/words.hpp"
#include "gemm/profile.hpp"
#include "operations/common/export_recipe.hpp"

namespace quarry::detail {

/// Everything that somebody else must know to launch a kernel.
struct ExportedKernel {
  /// Of the files and of the header's function. `metadata` has the kernel's name.
  std::string name;
  int target = 0;
  KernelMetadata metadata;
  /// In the orientation of the device code: tile, alignment and layouts are exchanged where `exchanged` is
  /// set.
  GemmTraits traits = {};
  bool exchanged = false;
  ExportedFunction kernel;
  /// The reduction of a parallel split-K; no entry where the kernel has no such mode.
  ExportedFunction reduction;
  /// Compiled into the kernel and the reduction; null: they have none.
  const Expression* expression = nullptr;
  /// Before a reduction with an expression: the kernel without it. No entry where there is no such reduction.
  ExportedFunction plain;
};

/// All of it but the machine code, of which nothing is known then.
ExportedKernel describe_export(const ExportRequest& request);

/// NAME.h: a header for C11 and C++11 that needs only the C library.
std::string export_header(const ExportedKernel& kernel);

/// The header's first comment.
std::string header_introduction(const ExportedKernel& kernel);

/// The header's part on the tensors of the kernel's expression: NAME_tensor_x = 0, ...
/// @pre the kernel has one
std::string tensor_enumeration(const ExportedKernel& kernel);

/// NAME.json: the same for programs.
std::string export_json(const ExportedKernel& kernel);

/// The modes that exported kernels may have: all except the one of clusters.
inline constexpr std::span exported_mode_words = std::span(mode_words).first(3);

/// Dynamic shared memory that a function may have without being told.
inline constexpr int default_shared_bytes = 48 * 1024;

}  // namespace quarry::detail
