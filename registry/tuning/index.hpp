/// A tuning table as queries use it: for each problem the measured kernels, best first.
///
/// The index is a function of the set of measurements: their order, and in which tables they were, does not
/// matter. A kernel that was measured several times with the same controls counts with its shortest medians.
/// Kernels are ordered by the worse of two ratios, each to the shortest time for the problem: with gaps, and
/// under load where it was measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "quarry/device_model.hpp"
#include "registry/tuning/table.hpp"

namespace quarry::detail {

/// The name under which tables hold measurements of a device: the driver's. Of a built-in model, the name of
/// the device that it is made for.
std::string_view tuning_device(const DeviceModel& model);

/// The digest of a device's name, with which an index tells devices apart.
Digest tuning_device_digest(std::string_view device);

/// A kernel that was measured for a problem.
struct TunedChoice {
  /// Of TuningIndex::kernels.
  std::uint32_t kernel = 0;
  std::int32_t slices = 0;  ///< 0: the kernel has no such control, as below
  std::uint8_t mode = 0;    ///< the enumerator and 1
  std::uint8_t raster = 0;  ///< the enumerator and 1
  std::uint8_t swizzle = 0;
  std::uint8_t unused[5] = {};
  double gaps_us = 0;
  double load_us = 0;  ///< 0: not measured
  std::uint64_t workspace = 0;

  Controls controls() const;
};

/// A problem, and where its choices are.
struct TunedPoint {
  /// Device and problem without M.
  Digest line;
  std::int64_t m = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// The problems of a line whose M is above `above`, up to `m`, and the point that stands for them.
struct TunedInterval {
  Digest line;
  std::int64_t m = 0;
  std::int64_t above = 0;
  std::uint32_t point = 0;
  std::uint32_t unused = 0;
};

/// A name that measurements mention, and how many do.
struct TunedName {
  std::string name;
  std::uint64_t measurements = 0;
};

/// How many measurements of a kernel were made on a device. Numbers of TuningIndex::devices and kernels.
struct TunedPair {
  std::uint32_t device = 0;
  std::uint32_t kernel = 0;
  std::uint64_t measurements = 0;
};

class TuningIndex {
 public:
  TuningIndex() = default;
  /// Of the measurements that were made with these sources; the others are counted.
  TuningIndex(const TuningTable& table, std::string_view sources);

  /// The index of both sets. Measurements that both hold are counted twice.
  static TuningIndex joined(const TuningIndex& one, const TuningIndex& other);

  /// What was measured for a problem, the best first: for exactly this M, otherwise for an interval that M is
  /// in. Empty where nothing was. Does not allocate.
  std::span<const TunedChoice> find(const Digest& device, const TuningKey& key) const;

  std::span<const TunedPoint> points() const { return points_; }
  std::span<const TunedChoice> choices() const { return choices_; }
  std::span<const TunedName> kernels() const { return kernels_; }
  std::span<const TunedName> devices() const { return devices_; }
  std::span<const TunedPair> pairs() const { return pairs_; }
  std::uint64_t other_sources() const { return other_sources_; }
  std::uint64_t damaged() const { return damaged_; }
  std::uint64_t future() const { return future_; }

 private:
  friend struct TuningIndexFormat;
  struct Parts;

  /// The index of what was gathered.
  explicit TuningIndex(Parts parts);
  void add_to(Parts& parts) const;
  /// Makes find() fast. To be called when points and intervals are there.
  void make_buckets();

  std::vector<TunedPoint> points_;        // by line and m
  std::vector<TunedInterval> intervals_;  // by line and m
  std::vector<TunedChoice> choices_;      // of each point, the best first
  std::vector<TunedName> kernels_;        // by name
  std::vector<TunedName> devices_;        // by name
  std::vector<TunedPair> pairs_;          // by device and kernel
  /// The first point, and interval, of the lines that begin with these bits.
  std::vector<std::uint32_t> point_buckets_;
  std::vector<std::uint32_t> interval_buckets_;
  std::uint64_t other_sources_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t future_ = 0;
};

static_assert(std::is_trivially_copyable_v<TunedChoice> && sizeof(TunedChoice) == 40);
static_assert(std::is_trivially_copyable_v<TunedPoint> && sizeof(TunedPoint) == 32);
static_assert(std::is_trivially_copyable_v<TunedPair> && sizeof(TunedPair) == 16);
static_assert(std::is_trivially_copyable_v<TunedInterval> && sizeof(TunedInterval) == 40);

}  // namespace quarry::detail
