/// A block of threads that run as fibers: who can go on, who waits for what.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/access.hpp"
#include "emulator/actor.hpp"
#include "emulator/counters.hpp"
#include "emulator/fiber.hpp"
#include "emulator/global_memory.hpp"
#include "emulator/launch.hpp"
#include "emulator/mbarrier.hpp"
#include "emulator/shared_memory.hpp"
#include "emulator/tensor_copy.hpp"
#include "emulator/warp_log.hpp"
#include "emulator/warpgroup_state.hpp"

namespace quarry::emulator {

class Block;
class Cluster;

/// Random numbers for orders (xorshift64*): the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed = 0) : state_((seed * 0x9e3779b97f4a7c15U + 0x2545f4914f6cdd1dU) | 1) {}
  /// From 0 to n - 1. @pre n > 0
  unsigned below(unsigned n) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<unsigned>((state_ * 0x2545f4914f6cdd1dU) >> 33) % n;
  }

 private:
  std::uint64_t state_;
};

/// What a thread waits for.
enum class Waiting : std::uint8_t {
  nothing,
  warp,
  block_barrier,
  named_barrier,
  cluster_barrier,
  mbarrier,
  warpgroup,
  registers,
  counter,
  ended,
};

/// The functions that all lanes of a warp call together.
enum class Collective : std::uint8_t {
  none,
  warp_index,
  shuffle,
  first_lane,
  load_matrix,
  load_matrix_transposed,
  multiply_f16_f32,
  multiply_f16_f16,
  multiply_bf16_f32,
  multiply_tf32_f32,
  multiply_f64,
  multiply_f64_k8,
  multiply_f64_k16,
  multiply_f16_f32_k8,
  multiply_f16_f16_k8,
  multiply_bf16_f32_k8,
  multiply_s8_s8,
  multiply_s8_u8,
  multiply_u8_s8,
  multiply_u8_u8,
  warp_barrier,
  store_4,
  store_4_transposed,
  store_2,
  store_2_transposed,
  cluster_arrive,
  cluster_wait,
};

/// An asynchronous copy under way.
struct Copy {
  unsigned to;
  const void* from;
  unsigned bytes;
  unsigned valid;
  Site site;
  bool landed;
};

/// A thread of the kernel.
struct Thread {
  Block* block = nullptr;
  unsigned index = 0;
  Fiber fiber;
  Clock clock;
  RecentAccesses shared_accesses;
  RecentAccesses global_accesses;

  /// Copies under way, oldest first: groups of so many, then those in no group yet.
  std::deque<Copy> copies;
  std::deque<unsigned> groups;
  unsigned in_no_group = 0;

  /// Bulk stores under way, oldest first: groups, then those in no group yet.
  BulkStores stores;
  std::set<const void*> acquired_maps;  ///< tensor maps that a kernel may have written

  Waiting waiting = Waiting::nothing;
  Site waits_at;
  int barrier = 0;                     ///< which named barrier
  const Mbarrier* mbarrier = nullptr;  ///< which mbarrier, and the end of which phase
  unsigned parity = 0;
  unsigned waits = 0;               ///< at mbarriers since its warp last met
  bool at_cluster_barrier = false;  ///< arrived there, and has not waited yet
  unsigned cluster_turn = 0;        ///< which time that was
  View inits;                       ///< which mbarriers it has made, and mbarrier_init_fence followed
  std::map<int, RecentAccesses> peer_accesses;  ///< to shared memory of other blocks, by rank
  const void* counter = nullptr;  ///< which counter, and what it held when last looked at, how often
  int counter_value = 0;
  int looks = 0;
  std::map<const void*, AccessId> changes;  ///< the last change of each counter that it met
  unsigned accesses = 0;                    ///< since it last let others run

  unsigned lane() const { return index % 32; }
};

/// A warp: which lanes can run, and the collective function that some have come to.
struct Warp {
  unsigned all = 0;  ///< a bit for each lane there is
  unsigned runnable = 0;
  unsigned arrived = 0;
  Collective collective = Collective::none;
  Site site;
  unsigned first_lane = 0;  ///< who arrived first
  std::array<std::array<std::uint32_t, 32>, 32> in;
  std::array<std::array<std::uint32_t, 8>, 32> out;
  WarpLog log;
  Site barrier_site;  ///< where lanes arrived at the block's barrier, and how many
  unsigned at_barrier = 0;
};

/// A barrier that some threads of the block meet at.
struct NamedBarrier {
  unsigned expected = 0;
  std::vector<unsigned> waiting;
  unsigned arrived = 0;
  View known;
  std::shared_ptr<const ForeignViews> foreign;
};

/// What the blocks of a launch share.
struct LaunchState {
  const Launch& launch;
  GlobalMemory& memory;
  const Options& options;
  /// Clusters in flight that may wait for each other.
  std::vector<Cluster*> in_flight = {};
  /// What threads did that others may see, counted.
  std::uint64_t progress = 0;
};

/// Who lags behind: lanes of a warp; at first none.
struct Laggards {
  int warp = 0;
  unsigned lanes = 0;
};

/// A block in flight. Made once and used for many blocks, one after another.
class Block {
 public:
  explicit Block(StackPool& stacks, std::size_t first_stack) : stacks_(stacks), first_stack_(first_stack) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Begins block `index` of a launch, the `rank`-th of its cluster. False where there is no memory for its
  /// threads' stacks.
  bool begin(LaunchState& state, unsigned index, Cluster& cluster, unsigned rank);

  /// Lets some threads run until they wait, those that lag behind only if no other one can run.
  /// @pre can_run()
  void step();
  /// From now on these lag behind: they run when nothing else can.
  void lag(Laggards laggards) { laggards_ = laggards; }

  bool can_run() const { return runnable_warps_ > 0 && fault_.empty(); }
  /// The same without the lanes that lag behind.
  bool can_run_promptly() const { return runnable_warps_ > 0 && prompt_warps() > 0 && fault_.empty(); }
  std::size_t warp_count() const { return warps_.size(); }
  bool ended() const { return ended_threads_ == threads_.size(); }
  const std::string& fault() const { return fault_; }
  const Counters& counters() const { return counters_; }
  unsigned index() const { return index_; }
  unsigned rank() const { return rank_; }
  Cluster& cluster() { return *cluster_; }

  /// Who waits where for what, in a few lines.
  std::string waiting_text() const;

  /// Lets threads that look at this counter look again: it has changed.
  void wake_for(const void* counter);

  /// Lets all threads look again that wait for a counter to change; false where there are none.
  bool wake_lookers();

  // For the functions that threads call (device.cpp).
  LaunchState& state() { return *state_; }
  SharedMemory& shared() { return shared_; }
  Counters& count() { return counters_; }
  Dice& dice() { return dice_; }
  Warp& warp_of(const Thread& thread) { return warps_[thread.index / 32]; }
  /// Lanes of a warp that can run and do not lag behind.
  unsigned prompt_lanes(std::size_t warp) const {
    const bool lags = laggards_.warp == static_cast<int>(warp);
    return warps_[warp].runnable & (lags ? ~laggards_.lanes : ~0U);
  }
  std::size_t prompt_warps() const;
  std::size_t next_warp();
  /// Ends the block: `text()` is what went wrong. Does not return to the thread, so that nothing which owns
  /// memory may live where this is called: the text is made within.
  template <class Text>
  [[noreturn]] void fail(Thread& thread, const Text& text) {
    fault_ = text();
    for (;;) thread.fiber.suspend();
  }
  /// Ends the block while none of its threads runs.
  void stop(std::string fault) { fault_ = std::move(fault); }
  /// Suspends a thread until another one wakes it, or for good: as for `fail`, nothing on its stack may own
  /// memory.
  void wait(Thread& thread, Waiting what, const Site& site);
  void wake(Thread& thread);
  /// Waits for all lanes of the thread's warp to come to this place; the last one calls `complete`.
  void meet(Thread& thread, Collective collective, const Site& site, void (*complete)(Warp&));
  void arrive_at_block_barrier(Thread& thread, const Site& site);
  void arrive_at_named_barrier(Thread& thread, int id, unsigned expected, bool waits, const Site& site);
  void meet_clocks(Warp& warp, unsigned first_thread);
  unsigned thread_count() const { return static_cast<unsigned>(threads_.size()); }
  Thread& thread(unsigned i) { return threads_[i]; }
  /// The block's mbarriers, by address.
  Warpgroup& warpgroup_of(const Thread& thread) { return warpgroups_[thread.index / warpgroup_threads]; }
  Registers& registers() { return registers_; }
  std::map<unsigned, Mbarrier>& mbarriers() { return mbarriers_; }
  /// Place in the block's views of another one whose steps count.
  unsigned new_actor() { return next_actor_++; }
  /// Place in views of the end of earlier kernels.
  unsigned earlier_kernels() const { return places(static_cast<unsigned>(threads_.size())); }
  /// A thread of another block uses this block's shared memory, which must be there until then.
  /// @param kind `read` where the thread goes on with what it read, and so when that is over
  void note_peer(const Thread& by, AccessKind kind, const Site& site);
  /// Forgets reads of that thread up to this step: they are over, and this block cannot end before.
  void forget_peer(const Thread& by, Step step);

 private:
  static void run_thread(void* thread);
  void end_in_warpgroup(Thread& thread);
  void check_waited_together(Thread& thread, const Site& site);
  void complete_block_barrier();
  std::string fault_at_named_barrier(const Thread& thread, int id, unsigned expected, const Site& site) const;
  bool join_named_barrier(Thread& thread, NamedBarrier& barrier, unsigned expected, bool waits);
  void flush_logs();
  std::string fault_at_end() const;

  StackPool& stacks_;
  std::size_t first_stack_;
  LaunchState* state_ = nullptr;
  unsigned index_ = 0;
  Cluster* cluster_ = nullptr;
  unsigned rank_ = 0;
  std::deque<Thread> threads_;
  std::vector<Warp> warps_;
  std::size_t runnable_warps_ = 0;
  Laggards laggards_;
  std::size_t ended_threads_ = 0;
  unsigned at_block_barrier_ = 0;
  std::array<NamedBarrier, 16> named_;
  SharedMemory shared_;
  std::deque<Warpgroup> warpgroups_;
  Registers registers_;
  std::map<unsigned, Mbarrier> mbarriers_;
  unsigned next_actor_ = 0;
  /// The last use of the block's shared memory by threads of other blocks, by block, thread and kind.
  std::map<std::tuple<unsigned, unsigned, AccessKind>, Access> peers_;
  Counters counters_;
  Dice dice_;
  std::string fault_;
};

/// The thread that runs now.
extern thread_local Thread* current;

/// shared_read of device.hpp, counted as this instruction.
void shared_read_by(MemoryInstruction instruction, unsigned from, void* to, unsigned bytes,
                    unsigned alignment, const Site& site);
/// shared_write of device.hpp, likewise.
void shared_write_by(MemoryInstruction instruction, unsigned to, const void* from, unsigned bytes,
                     unsigned alignment, const Site& site);

}  // namespace quarry::emulator
