/// Changing tables on disk. Several processes may change one table: they take turns by a lock on the file,
/// and none takes away what another one added. Where a change fails, the table stays as it was.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "quarry/status.hpp"
#include "registry/tuning/table.hpp"

namespace quarry::detail {

/// Appends measurements to the table of a file, which is made where it is missing: all of them or none. No
/// measurement: it only makes the file, or checks that it may be written. Fails with file_error, for a full
/// disk too.
Status append_to_table(const std::string& path, std::span<const Measurement> measurements);

/// Makes a file the union of its table and another one, and writes the index beside it. The new table takes
/// the place of the old one at the end, whole. Fails with file_error, and with parse_error where the file
/// holds something else than a table.
/// @param joined on success what the file holds
/// @return damaged lines of the file and of the other table, which the union does not have
Result<std::size_t> join_into_table(const std::string& path, const TuningTable& table,
                                    std::string_view sources, TuningTable& joined);

}  // namespace quarry::detail
