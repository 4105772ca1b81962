/// One measurement of a tuning table: how long a kernel takes for a problem on a device. A line of JSON:
///
///   {"quarry_tuning":1,"id":"<32 digits>","device":"NVIDIA H200","sources":"<digest>","operation":"gemm",
///    "problem":"gemm 64x4096x4096 --a bf16:row ...","key":"<32 digits>","m":64,"above":63,
///    "kernel":"gemm_sm90_...","mode":"gemm","split_k":1,"swizzle":8,"raster":"along_n","workspace":0,
///    "gaps_us":[9.8,9.9,10.1],"load_us":[10.2,10.3,10.3],"at":1764000000}
///
/// `id` is the digest of everything behind it, so that a line that was changed or cut is noticed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "quarry/controls.hpp"
#include "registry/tuning/digest.hpp"

namespace quarry::detail {

/// Version of the lines. Lines of a later one are skipped.
inline constexpr int tuning_version = 1;

/// A problem's text is at most this long.
inline constexpr std::size_t most_problem_bytes = 1500;

/// What lines begin with, up to the version.
inline constexpr std::string_view line_begin = "{\"quarry_tuning\":";

/// A problem as a table knows it: all that the best kernel depends on except M, and M.
struct TuningKey {
  Digest digest;
  /// 0 for an operation whose problems have no such extent.
  std::int64_t m = 0;

  friend constexpr auto operator<=>(const TuningKey&, const TuningKey&) = default;
};

/// Microseconds of a run: the lower quartile, the median and the upper quartile.
using TuningTimes = std::array<double, 3>;
inline constexpr std::size_t median = 1;

struct Measurement {
  /// The driver's name.
  std::string device;
  /// sources_digest() of the library that measured.
  std::string sources;
  /// Of the operation, by its name.
  std::string operation;
  /// In the words of the command line, with alignments and epilogue. For people and for `quarry tune`; the
  /// library goes by the key.
  std::string problem;
  TuningKey key;
  /// The measurement stands for the problems of this key whose M is above this, up to key.m. M - 1: for the
  /// problem alone.
  std::int64_t above = -1;
  std::string kernel;
  /// Chosen for the problem, in the caller's orientation. A limit of multiprocessors is part of the key.
  Controls controls;
  /// Bytes that the kernel needs.
  std::uint64_t workspace = 0;
  /// With the device idle before each burst; and of large problems one burst after another.
  TuningTimes gaps_us = {};
  std::optional<TuningTimes> load_us;
  /// When it was measured, in seconds since 1970; 0: unknown.
  std::int64_t at = 0;

  /// Whether it stands for more than one M.
  bool is_interval() const { return above < key.m - 1; }

  friend bool operator==(const Measurement& one, const Measurement& other);
};

/// A measurement with the digest of its line.
struct IdentifiedMeasurement {
  Digest id;
  Measurement measurement;
};

/// The line, without a newline. @pre is_writable(measurement)
std::string to_line(const Measurement& measurement);
Digest id_of(const Measurement& measurement);

/// Whether the measurement is one that a line can hold: texts of printable ASCII without quotes and
/// backslashes, numbers within their bounds.
bool is_writable(const Measurement& measurement);

/// What became of a line.
enum class LineVerdict : std::uint8_t {
  read,
  future,   ///< of a later version
  damaged,  ///< no line of a table, changed, or cut short
};

/// Reads a line. Never fails in another way than by its verdict, and reads no more than 4 KB. Of a line of a
/// later version only the version is read.
LineVerdict read_line(std::string_view line, IdentifiedMeasurement& read);

}  // namespace quarry::detail
