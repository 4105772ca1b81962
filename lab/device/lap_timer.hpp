/// Times of device work between CUDA events, on a stream of its own. For the command: runs time nothing. No
/// CUDA header is needed to include this.
#pragma once

#include <cstddef>
#include <memory>

#include "quarry/status.hpp"

struct CUstream_st;

namespace quarry::lab {

/// A stream and pairs of events, the laps. Movable; not safe from several threads.
class LapTimer {
 public:
  /// A timer on a device; laps are numbered from 0. Fails with no_device and device_error.
  static Result<LapTimer> make(int device, std::size_t laps);

  /// The stream that the timed work goes to. Waits for work on the legacy stream, as that one does for it.
  CUstream_st* stream() const;
  std::size_t laps() const;

  /// Mark where a lap begins and ends on the stream. @pre `lap` is below laps()
  Status begin(std::size_t lap) const;
  Status end(std::size_t lap) const;

  /// Seconds of a lap; waits until it has ended. @pre both its ends were marked
  Result<double> seconds(std::size_t lap) const;

  /// Keeps the stream from going on until `release`, so that launches gather on it: what follows then runs as
  /// fast as the device can, however slow the host launches. The stream goes on by itself after 20 ms, so
  /// that a launch that waits for the device cannot wait for ever. @pre what an earlier hold kept back has
  /// ended
  Status hold() const;
  void release() const;

 private:
  struct State;
  struct Destroy {
    void operator()(State* state) const;
  };

  std::unique_ptr<State, Destroy> state_;
};

}  // namespace quarry::lab
