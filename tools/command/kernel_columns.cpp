#include "kernel_columns.hpp"

#include <algorithm>

#include "operations/common/row.hpp"
#include "registry/operation.hpp"

namespace quarry::command {
namespace {

/// What a table of kernels shows when nobody chooses; the name says the rest.
constexpr std::string_view table_columns[] = {"name", "cc", "threads", "shared_memory", "precompiled"};

Column column(std::string_view name) {
  const bool in_table =
      std::find(std::begin(table_columns), std::end(table_columns), name) != std::end(table_columns);
  return {.name = std::string(name), .in_table = in_table};
}

}  // namespace

Cell field_cell(const detail::Field& field, const KernelMetadata& metadata) {
  if (field.text != nullptr) return std::string(field.text(metadata));
  const std::optional<std::int64_t> number = field.number(metadata);
  if (!number) return {};
  switch (field.type) {
    case detail::FieldType::boolean: return *number != 0;
    case detail::FieldType::integer: return *number;
    default: return detail::value_text(field, metadata);
  }
}

std::vector<Column> kernel_columns() {
  std::vector<Column> columns;
  for (const detail::Field& field : detail::all_fields())
    columns.push_back(column(detail::shortest_path(field)));
  columns.push_back(column("precompiled"));
  columns.push_back(column("entry"));
  return columns;
}

Cell kernel_cell(const Kernel& kernel, std::size_t column) {
  const auto fields = detail::all_fields();
  if (column < fields.size()) return field_cell(fields[column], kernel.metadata());
  if (column == fields.size()) return precompiled_at_all(kernel);
  return std::string(detail::entry_of(detail::row_of(kernel).entry).name);
}

bool precompiled_at_all(const Kernel& kernel) {
  return std::ranges::any_of(detail::precompiled_targets(), [&](int cc) { return kernel.precompiled(cc); });
}

}  // namespace quarry::command
