/// The kernels as a page to look through.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "quarry/kernel.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// GEMMs of one type and one K (1 or more), of which the page shows what find_best chooses for the default
/// device model, over M and N from 16 to 16,384. A is row-major, B column-major, the output row-major, of the
/// type of A; for operands of 8 bits of bf16, or s32 beside s8 and u8.
struct ExplorerMap {
  DType type = DType::bf16;
  std::int64_t k = 4096;
};

/// A time that was measured, as `quarry bench --dump-times` writes it. Both times are microseconds; one that
/// is not finite is shown as 0.
struct ExplorerTime {
  std::string problem;
  std::string kernel;
  double predicted_us = 0;
  double measured_us = 0;
};

/// What a page shows beside its kernels: maps of choices, and charts of times, problem by problem in the
/// order in which they are met.
struct ExplorerCharts {
  std::span<const ExplorerMap> maps = {};
  std::span<const ExplorerTime> times = {};
};

/// One HTML page of kernels, for any browser, that needs no network: a table with filters of the filter
/// language, sorting, a choice of columns, all that is known of a kernel, and charts.
std::string explorer_page(std::span<const Kernel> kernels, const ExplorerCharts& charts = {});

}  // namespace quarry
