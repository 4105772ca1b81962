#include "lab/bench/bursts.hpp"

#include <thread>

#include "lab/trials/trial.hpp"

namespace quarry::lab {
namespace {

Status named(const Contestant& contestant, const Status& status) {
  return Status(status.code(), contestant.name + ": " + status.message());
}

}  // namespace

Status DeviceBursts::make_laps(std::size_t laps) {
  Result<LapTimer> timer = LapTimer::make(used_device, laps);
  if (!timer) return timer.status();
  timer_ = *std::move(timer);
  launches_.assign(laps, 1);
  return {};
}

Status DeviceBursts::start(std::size_t lap, std::size_t contestant, int launches, bool held) {
  const Contestant& each = contestants_[contestant];
  launches_[lap] = launches;
  Status status;
  if (held) status = timer_->hold();
  if (status) status = timer_->begin(lap);
  for (int i = 0; i < launches && status; ++i) {
    status = each.launch(operands_.operands(next_set_), timer_->stream());
    next_set_ = (next_set_ + 1) % operands_.sets();
  }
  if (status) status = timer_->end(lap);
  timer_->release();
  return status ? status : named(each, status);
}

Result<double> DeviceBursts::seconds(std::size_t lap) {
  const Result<double> seconds = timer_->seconds(lap);
  if (!seconds) return seconds.status();
  return *seconds / launches_[lap];
}

void DeviceBursts::rest() { std::this_thread::sleep_for(gap_); }

}  // namespace quarry::lab
