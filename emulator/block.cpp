#include "emulator/block.hpp"

#include <algorithm>
#include <map>

namespace quarry::emulator {

thread_local Thread* current = nullptr;

bool Block::begin(LaunchState& state, unsigned index, Cluster& cluster, unsigned rank) {
  state_ = &state;
  index_ = index;
  cluster_ = &cluster;
  rank_ = rank;
  fault_.clear();
  counters_ = {};
  ended_threads_ = 0;
  at_block_barrier_ = 0;
  named_ = {};
  mbarriers_.clear();
  peers_.clear();
  // Each block draws its own order, so that it does not matter which host thread runs it, or when.
  dice_ = Dice(state.options.seed * 0x100000001b3U + index);
  shared_.reset(state.launch.shared_memory, state.options.checks);

  const unsigned count = state.launch.threads;
  if (threads_.size() != count) {
    threads_.clear();
    threads_.resize(count);
  }
  next_actor_ = earlier_kernels() + 1;
  const View nothing_known = std::make_shared<const std::vector<Step>>(places(count), 0);
  warpgroups_.resize((count + warpgroup_threads - 1) / warpgroup_threads);
  for (Warpgroup& each : warpgroups_) each.begin();
  registers_.begin(count);
  warps_.resize((count + 31) / 32);
  runnable_warps_ = warps_.size();
  laggards_ = {};
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    Warp& warp = warps_[w];
    const unsigned lanes = std::min(32U, count - static_cast<unsigned>(w) * 32);
    warp.all = warp.runnable = lanes == 32 ? ~0U : (1U << lanes) - 1;
    warp.arrived = warp.at_barrier = 0;
    warp.log.clear();
  }
  for (unsigned i = 0; i < count; ++i) {
    Thread& thread = threads_[i];
    thread.block = this;
    thread.index = i;
    thread.clock = {1, nothing_known, nullptr};
    thread.shared_accesses.clear();
    thread.global_accesses.clear();
    thread.copies.clear();
    thread.groups.clear();
    thread.in_no_group = 0;
    thread.stores = {};
    thread.mbarrier = nullptr;
    thread.waits = 0;
    thread.at_cluster_barrier = false;
    thread.inits = nullptr;
    thread.peer_accesses.clear();
    thread.waiting = Waiting::nothing;
    thread.counter = nullptr;
    thread.changes.clear();
    thread.accesses = 0;
    const Stack stack = stacks_.at(first_stack_ + i);
    if (stack.bottom == nullptr) return false;
    thread.fiber.start(stack, &run_thread, &thread);
  }
  return true;
}

void Block::run_thread(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  Block& block = *thread.block;
  const Launch& launch = block.state_->launch;
  launch.entry->run(launch.params);
  if (!thread.copies.empty()) {
    block.fail(thread, [&] {
      return thread_text(thread.index, block.index_) +
             " ended while an asynchronous copy was under way that it had started at " +
             text_of(thread.copies.front().site);
    });
  }
  if (!thread.stores.all_read()) {
    block.fail(thread, [&] {
      return thread_text(thread.index, block.index_) + " ended while a bulk store that it had started at " +
             text_of(thread.stores.unread().site) + " still read shared memory";
    });
  }
  block.end_in_warpgroup(thread);
  if (++block.ended_threads_ == block.threads_.size() && !block.fault_at_end().empty()) {
    block.fail(thread, [&] { return block.fault_at_end(); });
  }
  block.wait(thread, Waiting::ended, Site());
}

void Block::end_in_warpgroup(Thread& thread) {
  std::string fault = warpgroup_of(thread).end(thread);
  if (fault.empty()) return;
  fault = thread_text(thread.index, index_) + " " + fault;
  fail(thread, [&] { return std::move(fault); });
}

std::size_t Block::prompt_warps() const {
  std::size_t count = 0;
  for (std::size_t w = 0; w < warps_.size(); ++w) count += prompt_lanes(w) != 0 ? 1 : 0;
  return count;
}

std::size_t Block::next_warp() {
  const std::size_t prompt = prompt_warps();
  unsigned skip = dice_.below(static_cast<unsigned>(prompt > 0 ? prompt : runnable_warps_));
  std::size_t w = 0;
  for (;; ++w) {
    const unsigned lanes = prompt > 0 ? prompt_lanes(w) : warps_[w].runnable;
    if (lanes != 0 && skip-- == 0) return w;
  }
}

void Block::step() {
  // A random warp of those that can run; its lanes from a random one on.
  const std::size_t w = next_warp();
  Warp& warp = warps_[w];
  const bool only_prompt = prompt_lanes(w) != 0;
  const unsigned first = dice_.below(32);
  for (unsigned i = 0; i < 32 && fault_.empty(); ++i) {
    const unsigned lane = (first + i) % 32;
    if (((only_prompt ? prompt_lanes(w) : warp.runnable) >> lane & 1) == 0) continue;
    current = &threads_[w * 32 + lane];
    current->fiber.resume();
  }
  current = nullptr;
  if (ended()) flush_logs();
}

void Block::wait(Thread& thread, Waiting what, const Site& site) {
  Warp& warp = warp_of(thread);
  thread.waiting = what;
  thread.waits_at = site;
  thread.accesses = 0;
  warp.runnable &= ~(1U << thread.lane());
  if (warp.runnable == 0) --runnable_warps_;
  thread.fiber.suspend();
}

void Block::wake(Thread& thread) {
  if (thread.waiting == Waiting::nothing) return;
  Warp& warp = warp_of(thread);
  if (warp.runnable == 0) ++runnable_warps_;
  warp.runnable |= 1U << thread.lane();
  thread.waiting = Waiting::nothing;
}

void Block::wake_for(const void* counter) {
  for (Thread& thread : threads_) {
    if (thread.waiting == Waiting::counter && thread.counter == counter) wake(thread);
  }
}

bool Block::wake_lookers() {
  bool any = false;
  for (Thread& thread : threads_) {
    if (thread.waiting != Waiting::counter) continue;
    wake(thread);
    any = true;
  }
  return any;
}

void Block::flush_logs() {
  for (Warp& warp : warps_) warp.log.flush(counters_);
}

void Block::meet(Thread& thread, Collective collective, const Site& site, void (*complete)(Warp&)) {
  Warp& warp = warp_of(thread);
  thread.accesses = 0;
  if (warp.arrived == 0) {
    warp.collective = collective;
    warp.site = site;
    warp.first_lane = thread.lane();
  } else if (warp.collective != collective || key_of(warp.site) != key_of(site)) {
    fail(thread, [&] {
      return "divergence: " + thread_text(thread.index, index_) + " is at " + text_of(site) +
             ", which a whole warp must reach together, lane " + std::to_string(warp.first_lane) +
             " of its warp at " + text_of(warp.site);
    });
  }
  warp.arrived |= 1U << thread.lane();
  if (warp.arrived != warp.all) return wait(thread, Waiting::warp, site);
  if (collective == Collective::cluster_arrive) check_waited_together(thread, site);
  complete(warp);
  warp.arrived = 0;
  warp.log.flush(counters_);
  const unsigned first_thread = thread.index - thread.lane();
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (warp.all >> lane & 1) wake(threads_[first_thread + lane]);
    if (warp.all >> lane & 1) threads_[first_thread + lane].waits = 0;
  }
}

/// The cluster's barrier does not bring the lanes of a warp together that have come different ways, of which
/// one has waited and others have not.
void Block::check_waited_together(Thread& thread, const Site& site) {
  const unsigned first_thread = thread.index - thread.lane();
  for (unsigned i = first_thread; i < std::min<unsigned>(first_thread + 32, thread_count()); ++i) {
    if (threads_[i].waits == threads_[first_thread].waits) continue;
    fail(thread, [&] {
      return "divergence: " + thread_text(first_thread, index_) + " is at " + text_of(site) +
             ", which a whole warp must reach together, and has waited at mbarriers " +
             std::to_string(threads_[first_thread].waits) + " times since its warp met, lane " +
             std::to_string(i % 32) + " of it " + std::to_string(threads_[i].waits) + " times";
    });
  }
}

void Block::arrive_at_block_barrier(Thread& thread, const Site& site) {
  Warp& warp = warp_of(thread);
  if (warp.at_barrier > 0 && key_of(warp.barrier_site) != key_of(site)) {
    fail(thread, [&] {
      return "divergence: " + thread_text(thread.index, index_) + " arrives at the block's barrier at " +
             text_of(site) + ", other lanes of its warp at " + text_of(warp.barrier_site);
    });
  }
  warp.barrier_site = site;
  thread.accesses = 0;
  ++warp.at_barrier;
  if (++at_block_barrier_ < threads_.size()) return wait(thread, Waiting::block_barrier, site);
  complete_block_barrier();
}

void Block::complete_block_barrier() {
  at_block_barrier_ = 0;
  ++counters_.block_barriers;
  std::vector<Step> steps(threads_.size());
  View known;
  std::shared_ptr<const ForeignViews> foreign;
  for (Thread& thread : threads_) {
    steps[thread.index] = thread.clock.own++;
    known = later(known, thread.clock.view);
    foreign = later(foreign, thread.clock.foreign);
  }
  steps.insert(steps.end(), known->begin() + static_cast<std::ptrdiff_t>(threads_.size()), known->end());
  const View view = std::make_shared<const std::vector<Step>>(std::move(steps));
  for (Thread& thread : threads_) {
    thread.clock.view = view;
    thread.clock.foreign = foreign;
    thread.waits = 0;
    if (thread.waiting == Waiting::block_barrier) wake(thread);
  }
  for (Warp& warp : warps_) warp.at_barrier = 0;
  flush_logs();
}

std::string Block::fault_at_named_barrier(const Thread& thread, int id, unsigned expected,
                                          const Site& site) const {
  const auto who = [&] {
    return thread_text(thread.index, index_) + " arrives at named barrier " + std::to_string(id) + " at " +
           text_of(site);
  };
  if (id < 1 || id > 15) return who() + ": there are barriers 1 to 15, and 0 is the block's";
  if (expected == 0 || expected % 32 != 0 || expected > threads_.size()) {
    return who() + " with " + std::to_string(expected) + " threads: a multiple of 32, at most the block's " +
           std::to_string(threads_.size()) + ", is needed";
  }
  const NamedBarrier& barrier = named_[static_cast<std::size_t>(id)];
  if (barrier.arrived > 0 && barrier.expected != expected) {
    return who() + " with " + std::to_string(expected) + " threads, others with " +
           std::to_string(barrier.expected);
  }
  return "";
}

/// Whether the thread must wait for others.
bool Block::join_named_barrier(Thread& thread, NamedBarrier& barrier, unsigned expected, bool waits) {
  const Snapshot handed = release(thread.clock, index_, thread.index);
  barrier.expected = expected;
  barrier.known = later(barrier.known, handed.view);
  barrier.foreign = later(barrier.foreign, handed.foreign);
  if (waits) barrier.waiting.push_back(thread.index);
  if (++barrier.arrived < expected) return waits;
  ++counters_.named_barriers;
  const NamedBarrier full = std::move(barrier);
  barrier = {};
  for (const unsigned i : full.waiting) {
    acquire(threads_[i].clock, index_, {index_, full.known, full.foreign});
    wake(threads_[i]);
  }
  return false;
}

void Block::arrive_at_named_barrier(Thread& thread, int id, unsigned expected, bool waits, const Site& site) {
  if (!fault_at_named_barrier(thread, id, expected, site).empty()) {
    fail(thread, [&] { return fault_at_named_barrier(thread, id, expected, site); });
  }
  thread.barrier = id;
  if (join_named_barrier(thread, named_[static_cast<std::size_t>(id)], expected, waits)) {
    wait(thread, Waiting::named_barrier, site);
  }
}

void Block::meet_clocks(Warp& warp, unsigned first_thread) {
  View known;
  std::shared_ptr<const ForeignViews> foreign;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((warp.all >> lane & 1) == 0) continue;
    Thread& thread = threads_[first_thread + lane];
    const Snapshot handed = release(thread.clock, index_, thread.index);
    known = later(known, handed.view);
    foreign = later(foreign, handed.foreign);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((warp.all >> lane & 1) == 0) continue;
    acquire(threads_[first_thread + lane].clock, index_, {index_, known, foreign});
  }
}

std::string Block::waiting_text() const {
  const auto what = [this](const Thread& thread) -> std::string {
    switch (thread.waiting) {
      case Waiting::warp: return "waits for the other lanes of its warp at ";
      case Waiting::block_barrier: return "waits at the block's barrier at ";
      case Waiting::named_barrier: return "waits at named barrier " + std::to_string(thread.barrier) + " at ";
      case Waiting::cluster_barrier: return "waits at the cluster's barrier at ";
      case Waiting::mbarrier: return "waits at " + waiting_text_of(*thread.mbarrier, thread.parity) + ", at ";
      case Waiting::warpgroup:
        return "waits for matrix instructions that not all of its warpgroup has started, at ";
      case Waiting::registers:
        return "waits for registers, of which the block has " + std::to_string(registers_.spare()) +
               " to spare, at ";
      case Waiting::counter:
        return "looks again and again at a counter that holds " + std::to_string(thread.counter_value) +
               " at ";
      case Waiting::ended: return "has ended";
      default: return "can run";
    }
  };
  // Threads that do the same, as one line.
  std::map<std::string, std::pair<unsigned, unsigned>> lines;  // first thread, how many
  std::vector<std::string> order;
  for (const Thread& thread : threads_) {
    std::string line = what(thread);
    if (thread.waiting != Waiting::ended) line += text_of(thread.waits_at);
    const auto [found, is_new] = lines.try_emplace(line, thread.index, 0);
    if (is_new) order.push_back(line);
    ++found->second.second;
  }
  std::string text;
  for (const std::string& line : order) {
    const auto [first, threads] = lines[line];
    text += "\n  " + thread_text(first, index_) +
            (threads > 1 ? " (and " + std::to_string(threads - 1) + " more) " : " ") + line;
  }
  return text;
}

void Block::note_peer(const Thread& by, AccessKind kind, const Site& site) {
  if (by.block == this) return;
  peers_[{by.block->index(), by.index, kind}] = {site, by.block->index(), by.clock.own,
                                                 static_cast<std::uint16_t>(by.index), kind};
}

void Block::forget_peer(const Thread& by, Step step) {
  const auto found = peers_.find({by.block->index(), by.index, AccessKind::read});
  if (found != peers_.end() && found->second.step <= step) peers_.erase(found);
}

/// What is wrong with the block's end, after which its shared memory is gone: who uses it must be known to be
/// done.
std::string Block::fault_at_end() const {
  for (const auto& [address, barrier] : mbarriers_) {
    if (std::string fault = fault_at_block_end(barrier, *this); !fault.empty()) return fault;
  }
  for (const auto& [who, access] : peers_) {
    const bool known = std::ranges::any_of(threads_, [&](const Thread& thread) {
      return knows_of_block(thread.clock, access.block, access.thread, access.step);
    });
    if (known) continue;
    return "block " + std::to_string(index_) + " ends, though nothing orders that after " +
           thread_text(access.thread, access.block) + " uses its shared memory at " + text_of(access.site);
  }
  return "";
}

}  // namespace quarry::emulator
