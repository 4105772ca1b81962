#include "tools/command/common/kernel_columns.hpp"

#include <algorithm>
#include <type_traits>

#include "lab/verify/ledger.hpp"
#include "quarry/code.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {
namespace {

/// What a table of kernels shows when nobody chooses; the name says the rest.
constexpr std::string_view shown_columns[] = {"name", "cc", "threads", "shared_memory", "precompiled"};

/// @param path of a field
Column column(std::string_view name, std::string_view path = {}) {
  const bool in_table =
      std::find(std::begin(shown_columns), std::end(shown_columns), name) != std::end(shown_columns);
  return {.name = std::string(name), .path = std::string(path), .in_table = in_table};
}

/// The ledger, read when it is first needed. One that cannot be read is empty, with a warning.
const lab::Ledger& ledger() {
  static const lab::Ledger known = [] {
    Result<lab::Ledger> read = lab::known_ledger();
    if (read) return *std::move(read);
    message("warning: " + read.status().message() + "; the column `verified` is empty");
    return lab::Ledger();
  }();
  return known;
}

Cell verified_cell(const Kernel& kernel) {
  std::string where = ledger().where_verified(kernel.name(), lab::sources_of(kernel.name()));
  if (where.empty() && entry_name(kernel) != kernel.name())
    where = ledger().where_code_verified(entry_name(kernel), lab::sources_of(entry_name(kernel)));
  return where.empty() ? Cell() : Cell(where);
}

}  // namespace

Cell field_cell(const MetadataField& field, const KernelMetadata& metadata) {
  const auto to_cell = [](const auto& value) -> Cell {
    if constexpr (std::is_same_v<decltype(value), const std::string_view&>) {
      return std::string(value);
    } else {
      return value;
    }
  };
  return std::visit(to_cell, field_value(field, metadata));
}

std::vector<Column> kernel_columns() {
  std::vector<Column> columns;
  for (const MetadataField& field : metadata_fields()) columns.push_back(column(field.name, field.path));
  columns.push_back(column("precompiled"));
  columns.push_back(column("entry"));
  columns.push_back(column("verified"));
  return columns;
}

Cell kernel_cell(const Kernel& kernel, std::size_t column) {
  const auto fields = metadata_fields();
  if (column < fields.size()) return field_cell(fields[column], kernel.metadata());
  if (column == fields.size()) return precompiled_at_all(kernel);
  if (column == fields.size() + 1) return std::string(entry_name(kernel));
  return verified_cell(kernel);
}

bool precompiled_at_all(const Kernel& kernel) {
  return std::ranges::any_of(precompiled_targets(), [&](int cc) { return kernel.precompiled(cc); });
}

}  // namespace quarry::command
