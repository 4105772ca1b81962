/// Tables of made-up measurements, loaded into the process of a test.
#pragma once

#include <vector>

#include "quarry/tuning.hpp"
#include "registry/tuning/table_file.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {

/// Adds a table of these measurements to the tables of the process.
inline TuningSummary load(const std::vector<detail::Measurement>& measurements) {
  const detail::TestFolder folder;
  REQUIRE(detail::append_to_table(folder / "table.jsonl", measurements));
  const Result<TuningSummary> loaded = load_tuning(folder / "table.jsonl");
  REQUIRE(loaded);
  return *loaded;
}

}  // namespace quarry::test
