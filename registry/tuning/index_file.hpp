/// An index in a file beside its table, FILE.index: what a process reads in place of the table. It is used
/// only where it belongs to the table as it is now and to this library; otherwise the table is read.
///
///   offset  bytes
///        0      8  magic, "QUARRYT2"      8   8  bytes of all
///       16      8  checksum of all that follows
///       24     16  digest of the sources that measured
///       40     24  the table's stamp: bytes, and a digest of its first and last 64 KB
///       64     24  lines of other sources, damaged ones, and ones of later versions
///       88     48  counts: points, intervals, choices, kernels, devices, pairs
///      136      .  points, intervals, choices, kernels, devices, pairs (TunedPoint, ...; of a name
///                  8 bytes of measurements, 4 of length, then text)
///
/// Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/status.hpp"
#include "registry/tuning/index.hpp"

namespace quarry::detail {

/// What tells one state of a table's file from another without reading all of it.
struct TableStamp {
  std::uint64_t bytes = 0;
  Digest sample;

  friend constexpr bool operator==(const TableStamp&, const TableStamp&) = default;
};

/// Of a file with this text.
TableStamp stamp_of(std::string_view text);

std::string index_path(const std::string& table_path);

std::vector<std::byte> to_bytes(const TuningIndex& index, const TableStamp& table, std::string_view sources);

/// Reads an index, all of whose numbers are checked. Fails with invalid_artifact where it is damaged, and
/// where it belongs to another table or other sources.
Result<TuningIndex> index_from_bytes(std::span<const std::byte> bytes, const TableStamp& table,
                                     std::string_view sources);

/// An index and where it came from.
struct LoadedIndex {
  TuningIndex index;
  bool from_index_file = false;
};

/// The index of the table in a file: that in the file beside it, where it fits and is not older than the
/// table, otherwise made of the table. Fails as read_table does.
Result<LoadedIndex> load_index(const std::string& table_path, std::string_view sources);

/// Writes the index of a table beside it, whole or not at all. Fails with file_error.
/// @param table what the file held, and @param stamp of it then: what was added since makes the index unfit
Status write_index(const std::string& table_path, const TuningTable& table, const TableStamp& stamp,
                   std::string_view sources);

}  // namespace quarry::detail
