/// What the user asks of quarry bench.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/bench/record.hpp"
#include "lab/bench/shape.hpp"
#include "tools/command/common/problem_flags.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {

/// As text.
struct BenchFlags {
  ProblemFlags problem;
  ListingFlags listing;
  std::string where;
  std::string kernel;
  std::string top = "16";
  bool all = false;
  std::string vary = "4";
  std::string repeats = "11";
  std::string gap_ms = "10";
  std::string seed;
  bool no_overlap = false;
  std::string cublaslt;
  bool cublaslt_blocks = false;
  std::string cudnn;
  std::string svg;
  std::string dump_times;
  std::string resume;
};

/// As values.
struct BenchRequest {
  std::vector<lab::Problem> problems;
  Filter filter;
  lab::BenchOptions options;
  std::uint64_t seed = 0;
  /// The library that their operation is measured by, and its path: empty where it is searched, "none" where
  /// it takes no part.
  const lab::YardstickKind* kind = nullptr;
  std::string library;
  /// What is measured already.
  lab::BenchRecord record;
};

void add_bench_flags(CLI::App& command, BenchFlags& flags);

/// Reads and checks all flags; touches no file that is to be written, and no device.
Result<BenchRequest> read_bench_request(const BenchFlags& flags);

}  // namespace quarry::command
