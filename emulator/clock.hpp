/// What each thread knows to have happened: happens-before by vector clocks (Mattern 1988; with epochs as in
/// FastTrack, Flanagan and Freund 2009).
///
/// A thread counts its own steps; a step ends where others may wait for it (a barrier, a release). What it
/// knows of the other threads of its block is a vector of their steps, shared by all threads that left the
/// same barrier; what it knows of other blocks is a vector for each block that it heard of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace quarry::emulator {

using Step = std::uint32_t;

/// The step that each thread of one block is known to have ended, by thread. Behind the threads come others
/// whose steps count: that the kernels before this one have ended, and the phases of the block's mbarriers,
/// by which bulk copies are known to have ended. Of what a view is too short for, nothing is known. Shared,
/// never changed.
using View = std::shared_ptr<const std::vector<Step>>;

/// What is known of other blocks, by block.
using ForeignViews = std::map<unsigned, View>;

/// A thread's knowledge.
struct Clock {
  Step own = 1;
  View view;                                    ///< of its own block
  std::shared_ptr<const ForeignViews> foreign;  ///< null: nothing
};

/// What a thread hands on when it releases: its knowledge, its own steps included.
struct Snapshot {
  unsigned block = 0;
  View view;  ///< null: nothing was released
  std::shared_ptr<const ForeignViews> foreign;
};

/// Whether `clock`, of thread `thread` of a block, knows step `step` of thread `other` of its own block.
inline bool knows(const Clock& clock, unsigned thread, unsigned other, Step step) {
  if (thread == other) return step <= clock.own;
  return other < clock.view->size() && step <= (*clock.view)[other];
}

/// The same of a thread of another block.
bool knows_of_block(const Clock& clock, unsigned block, unsigned other, Step step);

/// The knowledge of thread `thread` of block `block`; its own step ends with that.
Snapshot release(Clock& clock, unsigned block, unsigned thread);

/// What is handed on by both: an operation that reads a released value and replaces it hands on what was
/// released there beside its own.
Snapshot later(const Snapshot& a, const Snapshot& b);

/// Adds what was released to the knowledge of a thread of block `block`.
void acquire(Clock& clock, unsigned block, const Snapshot& snapshot);

/// The view with step `step` of `other` known beside.
View with_known_step(const View& view, unsigned other, Step step);

/// The later of two views of the same block; either may be null.
View later(const View& a, const View& b);

/// The union of what is known of other blocks; either may be null.
std::shared_ptr<const ForeignViews> later(const std::shared_ptr<const ForeignViews>& a,
                                          const std::shared_ptr<const ForeignViews>& b);

}  // namespace quarry::emulator
