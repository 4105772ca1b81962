/// Blocks that run at the same time, on one thread of the host, and reach each other's shared memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/block.hpp"

namespace quarry::emulator {

/// The blocks of a cluster in flight; one block in a launch without clusters. Made once and used for many
/// clusters, one after another.
class Cluster {
 public:
  Cluster(StackPool& stacks, std::size_t first_stack) : stacks_(stacks), first_stack_(first_stack) {}
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Begins cluster `index` of a launch. False where there is no memory for its threads' stacks.
  bool begin(LaunchState& state, unsigned index);

  /// Lets some threads of a block run, or bytes of copies land. @pre can_run()
  void step();

  bool can_run() const;
  bool ended() const;
  /// What went wrong first, "" where nothing did.
  const std::string& fault() const;
  Counters counters() const;
  /// Who waits where for what, in a few lines.
  std::string waiting_text() const;
  /// As of each block.
  void wake_for(const void* counter);
  bool wake_lookers();

  unsigned index() const { return index_; }
  unsigned size() const { return static_cast<unsigned>(blocks_.size()); }
  Block& block(unsigned rank) { return *blocks_[rank]; }

  // For the functions that threads call.
  void arrive(Thread& thread, bool relaxed);
  /// Whether all have arrived since the thread did.
  bool complete(const Thread& thread) const { return thread.cluster_turn != turn_; }
  /// The thread knows what others did before they arrived. @pre complete(thread)
  void leave(Thread& thread);
  /// Bytes alone are missing at a barrier that somebody waits for.
  void may_land(Block& owner, Mbarrier& barrier) { landings_.push_back({&owner, &barrier}); }

 private:
  struct Landing {
    Block* owner;
    Mbarrier* barrier;
  };
  void land_some();
  void meet();
  /// Now and then one warp of the cluster lags behind, or all its lanes except one, for a random time: others
  /// get as far ahead as the barriers let them. Threads that all run as often as each other hardly ever do.
  void choose_laggards();

  StackPool& stacks_;
  std::size_t first_stack_;
  unsigned index_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Landing> landings_;
  Dice dice_;
  unsigned steps_to_laggards_ = 0;

  // The cluster's barrier.
  unsigned turn_ = 0;
  unsigned arrived_ = 0;
  std::vector<std::vector<Step>> steps_;  // of the threads that arrived and hand them on, by rank
  std::vector<std::vector<Step>> ended_;  // of all that arrived
  std::vector<View> views_;               // what they knew, and then what all know
  std::shared_ptr<const ForeignViews> foreign_;
  std::vector<View> met_views_;
  std::shared_ptr<const ForeignViews> met_foreign_;
};

}  // namespace quarry::emulator
