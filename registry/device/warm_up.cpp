/// Making kernels ready ahead of requests.
#include "quarry/warm_up.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <optional>

#include "basic/text.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/common/row.hpp"
#include "quarry/artifact.hpp"
#include "quarry/cache.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/compile/disk_cache.hpp"
#include "registry/compile/store.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/device_model.hpp"
#include "registry/device/library.hpp"
#include "registry/device/needed_code.hpp"
#include "registry/operation.hpp"

namespace quarry {
namespace {

/// Machine code that is needed.
struct Piece {
  std::uint32_t entry;
  /// The most that a launch of it needs.
  unsigned shared_memory;
  std::size_t problem;
  std::string_view kernel;
};

/// The pieces of all problems, by entry.
using Pieces = std::map<std::uint32_t, Piece>;

/// Adds what the first choice for a problem needs. @param kernel empty until there is one
Status gather(Arguments problem, std::size_t number, const Filter& filter, const FindOptions& find,
              Pieces& pieces, std::string& kernel) {
  const Result<Candidate> best = find_best(problem, filter, find);
  if (!best) return best.status();
  kernel = best->name();
  const Result<std::vector<detail::NeededCode>> needed = detail::needed_code(*best, problem, find.device);
  if (!needed) return needed.status();
  for (const detail::NeededCode& each : *needed) {
    const Piece first = {each.entry, 0, number, detail::row_of(*best).metadata.name};
    Piece& piece = pieces.try_emplace(each.entry, first).first->second;
    piece.shared_memory = std::max(piece.shared_memory, each.shared_memory);
  }
  return {};
}

/// Whether other processes find what was compiled for them.
Status check_kept(const Artifact& artifact) {
  const CacheInfo cache = cache_info();
  if (cache.limit == 0) return {StatusCode::file_error, "It was compiled, and not kept: the cache is off"};
  if (!cache.usable)
    return {StatusCode::file_error, "It was compiled, and not kept: " + cache.usable.message()};
  if (detail::load_cached(artifact.data().key) != nullptr) return {};
  return {StatusCode::file_error, "It was compiled, and not kept: the cache in " +
                                      detail::quoted(cache.folder) +
                                      " could not be written, or is too small"};
}

/// Makes a piece ready. @param origin where its code came from. @param device -1: it is not loaded
Status make_ready(const Piece& piece, int cc, int device, ArtifactOrigin& origin) {
  const Result<Artifact> artifact = detail::find_artifact(piece.entry, {.target = cc});
  if (!artifact) return artifact.status();
  origin = artifact->origin();
  if (device < 0) return origin == ArtifactOrigin::compiled ? check_kept(*artifact) : Status();
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  return detail::load_function(piece.entry, device, piece.shared_memory, std::nullopt, true).status();
}

/// Counts what became of the pieces. Safe from any thread.
class Counter {
 public:
  Counter(WarmUpReport& report, const WarmUpProgress& progress, std::size_t total)
      : report_(report), progress_(progress), total_(total) {}

  void count(const Piece& piece, const Status& status, ArtifactOrigin origin) {
    const std::lock_guard lock(mutex_);
    if (!status) {
      report_.failures.push_back({piece.problem, std::string(piece.kernel), status});
    } else if (origin == ArtifactOrigin::compiled) {
      ++report_.compiled;
    } else {
      ++(origin == ArtifactOrigin::cached ? report_.cached : report_.precompiled);
    }
    if (progress_) progress_(++done_, total_);
  }

 private:
  std::mutex mutex_;
  WarmUpReport& report_;
  const WarmUpProgress& progress_;
  std::size_t total_;
  std::size_t done_ = 0;
};

WarmUpReport all_failed(std::size_t problems, const Status& why) {
  WarmUpReport report;
  for (std::size_t i = 0; i < problems; ++i) report.failures.push_back({.problem = i, .status = why});
  return report;
}

WarmUpReport out_of_memory(std::size_t problems) {
  return all_failed(problems, Status(StatusCode::device_error, "Out of memory for a warm-up"));
}

}  // namespace

WarmUpReport warm_up(std::span<const Arguments> problems, const WarmUpOptions& options, const Filter& filter,
                     const FindOptions& find) try {
  const std::vector<FindOptions> same(problems.size(), find);
  return warm_up_each(problems, same, options, filter);
} catch (const std::bad_alloc&) {
  return out_of_memory(problems.size());
}

WarmUpReport warm_up_each(std::span<const Arguments> problems, std::span<const FindOptions> find,
                          const WarmUpOptions& options, const Filter& filter) try {
  if (find.size() != problems.size())
    return all_failed(problems.size(),
                      {StatusCode::invalid_arguments, "A warm-up takes options for each problem: expected " +
                                                          std::to_string(problems.size()) + ", got " +
                                                          std::to_string(find.size())});
  const DeviceModel* device = find.empty() ? nullptr : find.front().device;
  if (options.device >= 0) {
    device = detail::cached_device_model(options.device);
    if (device == nullptr) return all_failed(problems.size(), device_model(options.device).status());
  } else if (device == nullptr) {
    device = &default_device_model();
  }
  WarmUpReport report;
  Pieces by_entry;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    WarmUpFailure failure = {.problem = i};
    FindOptions asked = find[i];
    asked.device = device;
    failure.status = gather(problems[i], i, filter, asked, by_entry, failure.kernel);
    if (!failure.status) report.failures.push_back(std::move(failure));
  }
  std::vector<Piece> pieces;
  for (const auto& [entry, piece] : by_entry) pieces.push_back(piece);
  Counter counter(report, options.progress, pieces.size());
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  host::parallel_for(std::ssize(pieces), threads, [&](int, std::int64_t i) {
    const Piece& piece = pieces[static_cast<std::size_t>(i)];
    ArtifactOrigin origin = ArtifactOrigin::precompiled;
    const Status status = make_ready(piece, device->cc, std::max(options.device, -1), origin);
    counter.count(piece, status, origin);
  });
  std::ranges::stable_sort(report.failures, {}, &WarmUpFailure::problem);
  return report;
} catch (const std::bad_alloc&) {
  return out_of_memory(problems.size());
}

}  // namespace quarry
