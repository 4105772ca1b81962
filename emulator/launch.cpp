#include "emulator/launch.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>

#include "emulator/cluster.hpp"
#include "emulator/hardware_fault.hpp"

namespace quarry::emulator {
namespace {

constexpr unsigned most_threads = 1024;
constexpr unsigned most_blocks = 0x7fffffff;
constexpr unsigned most_cluster = 8;
/// Clusters whose blocks wait for each other run so many at a time, at most: enough to meet, few enough that
/// some start when others have ended. (A cluster is one block in a launch without.)
constexpr std::size_t most_in_flight = 3;

/// The order in which clusters start.
std::vector<unsigned> shuffled(unsigned clusters, std::uint64_t seed) {
  std::vector<unsigned> order(clusters);
  std::iota(order.begin(), order.end(), 0U);
  Dice dice(seed);
  for (unsigned i = clusters; i > 1; --i) std::swap(order[i - 1], order[dice.below(i)]);
  return order;
}

std::string out_of_memory() { return "there is no memory for the stacks of a block's threads"; }

std::string deadlock(const std::vector<const Cluster*>& clusters, std::size_t not_started) {
  std::string text = "deadlock: no thread can go on";
  for (const Cluster* cluster : clusters) text += cluster->waiting_text();
  if (not_started > 0) {
    text += "\n  " + std::to_string(not_started) + " blocks have not started: they do when others end";
  }
  return text;
}

/// Runs a cluster that waits for no other.
std::string run_alone(Cluster& cluster, LaunchState& state, unsigned index) {
  if (!cluster.begin(state, index)) return out_of_memory();
  while (!cluster.ended()) {
    if (!cluster.fault().empty()) return cluster.fault();
    if (!cluster.can_run()) return deadlock({&cluster}, 0);
    cluster.step();
  }
  return cluster.fault();
}

/// Clusters on all threads of the host, each taking the next one in order.
Outcome run_independent(LaunchState& state, const std::vector<unsigned>& order, int host_threads) {
  Outcome outcome;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> faulty = order.size();  // clusters before that one are run all the same
  const auto work = [&] {
    const HardwareFaults caught;
    StackPool stacks;
    Cluster cluster(stacks, 0);
    Counters counters;
    for (std::size_t i = next++; i < faulty; i = next++) {
      std::string fault = run_alone(cluster, state, order[i]);
      counters += cluster.counters();
      if (fault.empty()) continue;
      const std::lock_guard lock(mutex);
      if (i < faulty) outcome.fault = std::move(fault), faulty = i;
    }
    const std::lock_guard lock(mutex);
    outcome.counters += counters;
  };
  const auto most = static_cast<unsigned>(std::min<std::size_t>(order.size(), 256));
  const unsigned wanted =
      host_threads > 0 ? static_cast<unsigned>(host_threads) : std::thread::hardware_concurrency();
  std::vector<std::jthread> helpers;
  for (unsigned i = 1; i < std::min(wanted, most); ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  return outcome;
}

/// Whether those who wait for a counter to change may still go on though nobody changes it: the loop around
/// a look may do more than look.
class SecondLook {
 public:
  /// Lets them look again; false where they have, many times, and nothing came of it.
  bool give(const LaunchState& state) {
    if (state.progress != progress_) {
      progress_ = state.progress;
      given_ = 0;
    }
    if (++given_ > most) return false;
    bool any = false;
    for (Cluster* cluster : state.in_flight) any |= cluster->wake_lookers();
    return any;
  }

 private:
  static constexpr int most = 100;
  std::uint64_t progress_ = 0;
  int given_ = 0;
};

/// A few clusters at a time on one thread of the host, taking turns.
Outcome run_waiting(LaunchState& state, const std::vector<unsigned>& order) {
  Outcome outcome;
  const HardwareFaults caught;
  StackPool stacks;
  std::vector<std::unique_ptr<Cluster>> clusters;
  Dice dice(state.options.seed + 1);
  SecondLook second_look;
  std::size_t next = 0;
  const std::size_t most = std::min<std::size_t>(most_in_flight, order.size());
  for (std::size_t i = 0; i < most; ++i) {
    clusters.push_back(
        std::make_unique<Cluster>(stacks, i * state.launch.threads * std::size_t{state.launch.cluster}));
    if (!clusters.back()->begin(state, order[next++])) return {out_of_memory(), {}};
    state.in_flight.push_back(clusters.back().get());
  }
  std::vector<Cluster*>& in_flight = state.in_flight;
  while (!in_flight.empty()) {
    std::vector<Cluster*> able;
    for (Cluster* cluster : in_flight) {
      if (cluster->can_run()) able.push_back(cluster);
    }
    if (able.empty() && second_look.give(state)) continue;
    if (able.empty()) {
      outcome.fault = deadlock({in_flight.begin(), in_flight.end()}, order.size() - next);
      break;
    }
    Cluster* const cluster = able[dice.below(static_cast<unsigned>(able.size()))];
    cluster->step();
    if (!cluster->fault().empty()) {
      outcome.fault = cluster->fault();
      break;
    }
    if (!cluster->ended()) continue;
    outcome.counters += cluster->counters();
    if (next == order.size()) {
      std::erase(in_flight, cluster);
    } else if (!cluster->begin(state, order[next++])) {
      outcome.fault = out_of_memory();
      break;
    }
  }
  return outcome;
}

}  // namespace

Outcome run(const Launch& launch, GlobalMemory& memory, const Options& options) {
  memory.begin_launch(launch.blocks_wait);
  LaunchState state = {launch, memory, options};
  const std::vector<unsigned> order = shuffled(launch.grid / launch.cluster, options.seed);
  return launch.blocks_wait ? run_waiting(state, order) : run_independent(state, order, options.host_threads);
}

std::string fault_of(const Launch& launch, unsigned shared_memory_limit) {
  const auto compiled_for = static_cast<unsigned>(launch.entry->max_threads);
  const bool fits = launch.grid >= 1 && launch.grid <= most_blocks && launch.threads >= 1 &&
                    launch.threads <= std::min(most_threads, compiled_for) &&
                    launch.shared_memory <= shared_memory_limit && launch.cluster >= 1 &&
                    launch.cluster <= most_cluster && launch.grid % launch.cluster == 0;
  return fits ? "" : "invalid argument (cudaErrorInvalidValue)";
}

}  // namespace quarry::emulator
