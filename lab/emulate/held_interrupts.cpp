#include "lab/emulate/held_interrupts.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

namespace quarry::lab::emulate {
namespace {

constexpr std::array held_signals = {SIGINT, SIGTERM};

/// What all holders share.
struct Holding {
  std::mutex mutex;
  int holders = 0;
  /// What the signals did before.
  std::array<struct sigaction, held_signals.size()> before;
  /// The signal that has come, or 0.
  std::atomic<int> come = 0;
};
Holding holding;

void hold(int number) {
  holding.come = number;
  std::signal(number, SIG_DFL);
}

}  // namespace

HeldInterrupts::HeldInterrupts() {
  const std::lock_guard lock(holding.mutex);
  if (holding.holders++ > 0) return;
  struct sigaction action = {};
  action.sa_handler = hold;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < held_signals.size(); ++i) {
    sigaction(held_signals[i], nullptr, &holding.before[i]);
    if (holding.before[i].sa_handler != SIG_IGN) sigaction(held_signals[i], &action, nullptr);
  }
}

HeldInterrupts::~HeldInterrupts() {
  const std::lock_guard lock(holding.mutex);
  if (--holding.holders > 0) return;
  for (std::size_t i = 0; i < held_signals.size(); ++i)
    sigaction(held_signals[i], &holding.before[i], nullptr);
  if (const int number = holding.come.exchange(0); number != 0) std::raise(number);
}

bool HeldInterrupts::has_come() const { return holding.come != 0; }

}  // namespace quarry::lab::emulate
