/// Kernels that the program made, beside the registered ones. Their rows stay where they are to the end of
/// the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "launch.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/row.hpp"
#include "quarry/status.hpp"
#include "registry/query/config_reader.hpp"

namespace quarry::detail {

/// The row of a config, which is always the same: the registered one, the one that was made before, or one
/// made now. Fails with unsupported, naming the constraint, for a config that its family cannot do. Safe from
/// any thread. May throw std::bad_alloc.
Result<const Row*> row_of(const FamilyConfig& config);

/// A row that was made, by name; null where there is none.
const Row* find_own_row(std::string_view name);

/// An entry behind the table's, by name.
std::optional<std::uint32_t> find_own_entry(std::string_view name);

/// The entry that is another entry, of any number, with an expression compiled in. no_entry where there are
/// too many. Only the first call for both allocates; may throw std::bad_alloc. Safe from any thread.
std::uint32_t entry_with(std::uint32_t entry, const InternedExpression& expression);

/// Whether runs of a kernel with the expression may leave it to the reduction of a parallel split-K.
bool may_be_reduced(const Row& row, const Expression& expression);

/// Whether artifact_in_memory has code of a kernel: of its entry, with an expression compiled in where there
/// is one; then of its plain entry and of the reduction, too, where runs may need these. Adds no entry.
bool has_machine_code(const Row& row, const KnownExpression& expression, int target);

/// The entry that a kernel step of a launch runs: the row's own or a companion, with the launch's expression
/// compiled in where has_expression. no_entry where the library does not have it, or there are too many. Only
/// the first call with an expression allocates.
std::uint32_t entry_of_step(const Row& row, const Launch& launch, const Step& step);

}  // namespace quarry::detail
