/// Bursts of launches on the device.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/bench/operands.hpp"
#include "lab/bench/protocol.hpp"
#include "lab/device/lap_timer.hpp"

namespace quarry::lab {

/// Something that solves the problem.
struct Contestant {
  std::string name;
  /// Puts one run on a stream.
  std::function<Status(const PlanOperands& operands, CUstream_st* stream)> launch;
  /// Roughly how long a run takes.
  double expected_seconds = 0;
  /// How far off its result may be.
  Tolerance tolerance = {};
};

/// Contestants, timed on the used device over operands that must outlive it. Each launch takes the next set
/// of operands.
class DeviceBursts : public Bursts {
 public:
  DeviceBursts(const BenchOperands& operands, std::chrono::milliseconds gap)
      : operands_(operands), gap_(gap) {}

  /// The contestant takes part under the next number, from 0 on. Not while a burst is under way.
  void add(Contestant contestant) { contestants_.push_back(std::move(contestant)); }

  /// Makes room for laps. To be called first; may be called again when no burst is under way.
  Status make_laps(std::size_t laps);

  const std::vector<Contestant>& contestants() const { return contestants_; }

  Status start(std::size_t lap, std::size_t contestant, int launches, bool held) override;
  Result<double> seconds(std::size_t lap) override;
  void rest() override;

 private:
  const BenchOperands& operands_;
  std::vector<Contestant> contestants_;
  std::chrono::milliseconds gap_;
  std::optional<LapTimer> timer_;
  /// Launches of each lap.
  std::vector<int> launches_;
  std::size_t next_set_ = 0;
};

}  // namespace quarry::lab
