/// What threads know to have happened, twice: by the emulator's clocks, and by sets that hold every event.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "emulator/clock.hpp"

namespace quarry::test {

/// Threads of some blocks that do things one after another, and hand on what they know.
class History {
 public:
  /// What a thread did: an access, which others may know of.
  struct Event {
    unsigned block;
    unsigned thread;
    emulator::Step step;
  };

  /// What a release handed on.
  struct Released {
    emulator::Snapshot snapshot;
    std::vector<bool> events;
  };

  History(unsigned blocks, unsigned threads) : threads_(threads), clocks_(blocks * threads) {
    const auto nothing = std::make_shared<const std::vector<emulator::Step>>(threads, 0);
    for (emulator::Clock& clock : clocks_) clock.view = nothing;
    known_.resize(clocks_.size());
  }

  std::size_t size() const { return clocks_.size(); }
  unsigned block_of(std::size_t who) const { return static_cast<unsigned>(who) / threads_; }
  unsigned thread_of(std::size_t who) const { return static_cast<unsigned>(who) % threads_; }
  const emulator::Clock& clock(std::size_t who) const { return clocks_[who]; }
  const std::vector<Event>& events() const { return events_; }

  /// A new event, by its number.
  std::size_t happen(std::size_t who) {
    events_.push_back({block_of(who), thread_of(who), clocks_[who].own});
    add(known_[who], events_.size() - 1);
    return events_.size() - 1;
  }

  Released release(std::size_t who) {
    return {emulator::release(clocks_[who], block_of(who), thread_of(who)), known_[who]};
  }

  void acquire(std::size_t who, const Released& released) {
    emulator::acquire(clocks_[who], block_of(who), released.snapshot);
    merge(known_[who], released.events);
  }

  /// All of `who` wait for each other.
  void meet(const std::vector<std::size_t>& who) {
    Released all;
    for (const std::size_t each : who) all = later(all, release(each));
    for (const std::size_t each : who) acquire(each, all);
  }

  static Released later(const Released& a, const Released& b) {
    Released both = {emulator::later(a.snapshot, b.snapshot), a.events};
    merge(both.events, b.events);
    return both;
  }

  /// Whether a thread knows of an event, as the sets say.
  bool ordered(std::size_t who, std::size_t event) const {
    return event < known_[who].size() && known_[who][event];
  }

  /// The same as the clocks say.
  bool ordered_by_clock(std::size_t who, std::size_t event) const {
    const Event& e = events_[event];
    if (e.block == block_of(who)) return emulator::knows(clocks_[who], thread_of(who), e.thread, e.step);
    return emulator::knows_of_block(clocks_[who], e.block, e.thread, e.step);
  }

 private:
  static void add(std::vector<bool>& set, std::size_t event) {
    if (set.size() <= event) set.resize(event + 1);
    set[event] = true;
  }
  static void merge(std::vector<bool>& into, const std::vector<bool>& from) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i]) add(into, i);
    }
  }

  unsigned threads_;
  std::vector<emulator::Clock> clocks_;
  std::vector<std::vector<bool>> known_;
  std::vector<Event> events_;
};

/// From 0 to n - 1.
inline std::size_t below(std::mt19937& random, std::size_t n) { return random() % n; }

/// Some of a block's threads, one at least.
inline std::vector<std::size_t> some_of_block(std::mt19937& random, const History& history,
                                              unsigned threads) {
  const std::size_t first = below(random, history.size() / threads) * threads;
  std::vector<std::size_t> some;
  while (some.empty()) {
    for (std::size_t t = 0; t < threads; ++t) {
      if (below(random, 2) == 0) some.push_back(first + t);
    }
  }
  return some;
}

}  // namespace quarry::test
