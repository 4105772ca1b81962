#include "emulator/cluster.hpp"

#include <algorithm>

#include "emulator/checks.hpp"
#include "emulator/device_sm90.hpp"

namespace quarry::emulator {
namespace {

const std::string no_fault;

}  // namespace

bool Cluster::begin(LaunchState& state, unsigned index) {
  const unsigned size = state.launch.cluster;
  const unsigned threads = state.launch.threads;
  while (blocks_.size() < size) {
    blocks_.push_back(std::make_unique<Block>(stacks_, first_stack_ + blocks_.size() * threads));
  }
  index_ = index;
  landings_.clear();
  dice_ = Dice(state.options.seed * 0x100000001b3U + index + 0x9e3779b9U);
  steps_to_laggards_ = 0;
  turn_ = arrived_ = 0;
  steps_.assign(size, std::vector<Step>(threads, 0));
  ended_ = steps_;
  views_.assign(size, nullptr);
  foreign_ = met_foreign_ = nullptr;
  for (unsigned rank = 0; rank < size; ++rank) {
    if (!blocks_[rank]->begin(state, index * size + rank, *this, rank)) return false;
  }
  return true;
}

void Cluster::step() {
  constexpr unsigned patience = 8;
  if (steps_to_laggards_-- == 0) choose_laggards();
  unsigned able = 0;
  for (const auto& block : blocks_) able += block->can_run_promptly() ? 1 : 0;
  if (!landings_.empty() && (able == 0 || dice_.below(patience) == 0)) return land_some();
  const bool only_laggards = able == 0;
  unsigned skip = able <= 1 ? 0 : dice_.below(able);
  for (const auto& block : blocks_) {
    const bool can_run = only_laggards ? block->can_run() : block->can_run_promptly();
    if (can_run && skip-- == 0) return block->step();
  }
}

void Cluster::choose_laggards() {
  constexpr unsigned longest = 13;  // as a power of two
  steps_to_laggards_ = 1U << dice_.below(longest);
  for (const auto& block : blocks_) block->lag({});
  Block& block = *blocks_[dice_.below(size())];
  const auto warp = static_cast<int>(dice_.below(static_cast<unsigned>(block.warp_count())));
  switch (dice_.below(6)) {
    case 0: return;
    case 1:
    case 2:  // what one lane does for its warp, it does early: most often it is the first one
      return block.lag({warp, ~(1U << (dice_.below(4) != 0 ? 0 : dice_.below(32)))});
    default: return block.lag({warp, ~0U});
  }
}

void Cluster::land_some() {
  const unsigned which = dice_.below(static_cast<unsigned>(landings_.size()));
  const Landing landing = landings_[which];
  landings_.erase(landings_.begin() + which);
  landing.barrier->may_land = false;
  std::string fault = land_loads(*landing.owner, *landing.barrier);
  if (!fault.empty()) landing.owner->stop(std::move(fault));
}

bool Cluster::can_run() const {
  return fault().empty() && (!landings_.empty() || std::ranges::any_of(blocks_, [](const auto& block) {
           return block->can_run();
         }));
}

bool Cluster::ended() const {
  return std::ranges::all_of(blocks_, [](const auto& block) { return block->ended(); });
}

const std::string& Cluster::fault() const {
  for (const auto& block : blocks_) {
    if (!block->fault().empty()) return block->fault();
  }
  return no_fault;
}

Counters Cluster::counters() const {
  Counters sum;
  for (const auto& block : blocks_) sum += block->counters();
  return sum;
}

std::string Cluster::waiting_text() const {
  std::string text;
  for (const auto& block : blocks_) text += block->waiting_text();
  return text;
}

void Cluster::wake_for(const void* counter) {
  for (const auto& block : blocks_) block->wake_for(counter);
}

bool Cluster::wake_lookers() {
  bool any = false;
  for (const auto& block : blocks_) any |= block->wake_lookers();
  return any;
}

void Cluster::arrive(Thread& thread, bool relaxed) {
  const unsigned rank = thread.block->rank();
  thread.at_cluster_barrier = true;
  thread.cluster_turn = turn_;
  ended_[rank][thread.index] = thread.clock.own++;
  if (relaxed) {
    views_[rank] = later(views_[rank], thread.inits);
  } else {
    steps_[rank][thread.index] = ended_[rank][thread.index];
    views_[rank] = later(views_[rank], thread.clock.view);
    foreign_ = later(foreign_, thread.clock.foreign);
  }
  if (++arrived_ == size() * thread.block->thread_count()) meet();
}

void Cluster::meet() {
  ForeignViews all;
  met_views_.clear();
  for (unsigned rank = 0; rank < size(); ++rank) {
    met_views_.push_back(later(views_[rank], std::make_shared<const std::vector<Step>>(steps_[rank])));
    all[blocks_[rank]->index()] = met_views_.back();
  }
  met_foreign_ = later(foreign_, std::make_shared<const ForeignViews>(std::move(all)));
  views_.assign(size(), nullptr);
  foreign_ = nullptr;
  arrived_ = 0;
  ++turn_;
  ++blocks_[0]->count().cluster_barriers;
  for (const auto& block : blocks_) {
    for (unsigned i = 0; i < block->thread_count(); ++i) {
      Thread& thread = block->thread(i);
      if (thread.waiting == Waiting::cluster_barrier) block->wake(thread);
      for (const auto& other : blocks_) other->forget_peer(thread, ended_[block->rank()][i]);
    }
  }
}

void Cluster::leave(Thread& thread) {
  thread.at_cluster_barrier = false;
  thread.clock.view = later(thread.clock.view, met_views_[thread.block->rank()]);
  thread.clock.foreign = later(thread.clock.foreign, met_foreign_);
}

unsigned cluster_rank() { return current->block->rank(); }
unsigned cluster_blocks() { return current->block->cluster().size(); }
unsigned cluster_index() { return current->block->cluster().index(); }
unsigned grid_clusters() {
  const Launch& launch = current->block->state().launch;
  return launch.grid / launch.cluster;
}

namespace {

void arrive(bool relaxed, const Site& site) {
  Thread& thread = *current;
  thread.block->meet(thread, Collective::cluster_arrive, site, [](Warp&) {});
  if (thread.at_cluster_barrier) {
    check(thread, "arrives at the cluster's barrier again, without having waited there", site);
  }
  thread.block->cluster().arrive(thread, relaxed);
}

}  // namespace

void cluster_arrive(const Site& site) { arrive(false, site); }
void cluster_arrive_relaxed(const Site& site) { arrive(true, site); }

void cluster_wait(const Site& site) {
  Thread& thread = *current;
  Cluster& cluster = thread.block->cluster();
  thread.block->meet(thread, Collective::cluster_wait, site, [](Warp&) {});
  if (!thread.at_cluster_barrier)
    check(thread, "waits at the cluster's barrier without having arrived there", site);
  if (!cluster.complete(thread)) thread.block->wait(thread, Waiting::cluster_barrier, site);
  cluster.leave(thread);
}

namespace {

/// What is wrong with a use of shared memory of the cluster's block `rank`; "" where nothing is.
std::string fault_of_peer(Cluster& cluster, int rank) {
  if (rank < 0 || static_cast<unsigned>(rank) >= cluster.size()) {
    return "uses shared memory of block " + std::to_string(rank) + " of a cluster of " +
           std::to_string(cluster.size());
  }
  if (cluster.block(static_cast<unsigned>(rank)).ended()) {
    return "uses shared memory of block " + std::to_string(rank) + " of the cluster, which has ended";
  }
  return "";
}

}  // namespace

Block& peer(int rank, AccessKind kind, const Site& site) {
  Thread& thread = *current;
  Cluster& cluster = thread.block->cluster();
  check(thread, fault_of_peer(cluster, rank), site);
  Block& block = cluster.block(static_cast<unsigned>(rank));
  block.note_peer(thread, kind, site);
  return block;
}

void peer_read(unsigned from, int rank, void* to, unsigned bytes, unsigned alignment, const Site& site) {
  Thread& thread = *current;
  Block& block = peer(rank, AccessKind::read, site);
  const Accessor by = {thread.block->index(), thread.index, &thread.clock,
                       &block == thread.block ? &thread.shared_accesses : &thread.peer_accesses[rank]};
  check(thread, block.shared().read(by, from, to, bytes, alignment, site), site);
  thread.block->count().peer_bytes += bytes;
}

}  // namespace quarry::emulator
