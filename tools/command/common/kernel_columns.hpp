/// What a listing can say of a kernel: every metadata field, by its shortest path, and what the table knows
/// beyond them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "quarry/fields.hpp"
#include "quarry/kernel.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {

/// A metadata field of a kernel.
Cell field_cell(const MetadataField& field, const KernelMetadata& metadata);

/// One column for each metadata field, `name` first, then `precompiled`, `entry`, and `verified`: on which
/// devices the ledger says so.
std::vector<Column> kernel_columns();

/// Column `column` of kernel_columns().
Cell kernel_cell(const Kernel& kernel, std::size_t column);

/// Columns that are of an answer to a problem, not of a kernel: what `quarry find` says beside the kernel's.
inline constexpr std::string_view answer_columns[] = {
    "measured_us", "predicted_us", "predicted_tflops", "workspace", "mode", "split_k", "swizzle", "raster"};

/// Whether the library holds machine code of the kernel for any target.
bool precompiled_at_all(const Kernel& kernel);

}  // namespace quarry::command
