/// Making kernels ready before the first request needs them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "quarry/arguments.hpp"
#include "quarry/registry.hpp"

namespace quarry {

/// Reports the progress of warm_up. Several threads call it, one at a time. If it throws, no further kernel
/// is begun, and warm_up throws that exception.
using WarmUpProgress = std::function<void(std::size_t done, std::size_t total)>;

struct WarmUpOptions {
  /// The CUDA device on which kernels are loaded, and for which they are ranked. -1: nothing is loaded;
  /// missing code is compiled for FindOptions::device (null: default_device_model()), into the cache on disk,
  /// and code that the cache does not keep is a failure.
  int device = 0;
  /// Threads that load and compile; 0: one for each processor.
  int threads = 0;
  WarmUpProgress progress = {};
};

/// What could not be made ready.
struct WarmUpFailure {
  /// The first problem that needs it, by its place in the list.
  std::size_t problem = 0;
  /// Empty if no kernel takes the problem.
  std::string kernel = {};
  Status status = {};
};

/// What became of a list of problems. The counts are of entries: kernels that share machine code count once,
/// and a reduction that a kernel needs counts, too.
struct WarmUpReport {
  std::size_t precompiled = 0;  ///< in the library, a pack, or in memory already
  std::size_t cached = 0;       ///< from the cache on disk
  std::size_t compiled = 0;     ///< compiled now
  std::vector<WarmUpFailure> failures = {};

  std::size_t ready() const { return precompiled + cached + compiled; }
};

/// Finds the first choice for each problem, and loads or compiles all that these need, on all processors.
/// Then a run of such a problem by its first choice neither loads nor compiles. Null pointers are fine. A
/// failure stops nothing else. A call that is repeated after it was stopped goes on, by the cache on disk.
/// @param find as for find_best; its device counts if nothing is loaded
WarmUpReport warm_up(std::span<const Arguments> problems, const WarmUpOptions& options = {},
                     const Filter& filter = {}, const FindOptions& find = {});

/// The same for problems that are asked about with options of their own, such as batch_invariant.
/// @param find one for each problem; if nothing is loaded, the device of the first one counts for all. Of
/// another number of options every problem fails with invalid_arguments
WarmUpReport warm_up_each(std::span<const Arguments> problems, std::span<const FindOptions> find,
                          const WarmUpOptions& options = {}, const Filter& filter = {});

}  // namespace quarry
