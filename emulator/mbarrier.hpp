/// Barriers in shared memory with phases, at which threads and bulk copies arrive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/access.hpp"
#include "emulator/clock.hpp"
#include "emulator/tensor_copy.hpp"

namespace quarry::emulator {

class Block;

struct Mbarrier {
  unsigned address = 0;
  unsigned arrivals = 0;  ///< that a phase takes
  Access made;
  bool fenced = false;  ///< mbarrier_init_fence of its maker followed
  unsigned init = 0;    ///< place in views: its step 1 is that fence
  unsigned actor =
      0;  ///< place in views: its steps are phases, that is, ends of the copies that counted there

  Step ended = 0;        ///< phases that have ended
  unsigned missing = 0;  ///< arrivals that the current phase lacks
  std::int64_t bytes =
      0;  ///< expected in the current phase and not landed; less than 0 where they came first
  std::vector<BulkLoad> loads;  ///< of the current phase, landed or not
  Snapshot arriving;            ///< what arrivals of the current phase hand on
  Snapshot handed;              ///< what the phases that have ended hand on
  unsigned waiting = 0;         ///< threads
  bool may_land = false;        ///< the cluster knows that bytes alone are missing and somebody waits
  Step last_loads = 0;          ///< number of the last phase that ended with loads, counted from 1
  Access last_load;
};

/// "the mbarrier at byte 512 of shared memory for its phase 3 (parity 1) to end, which lacks 1 of 2 arrivals
/// and 4096 bytes of copies"
std::string waiting_text_of(const Mbarrier& barrier, unsigned parity);

/// Lands what counts at the barrier and has not landed. @return what is wrong, "" where nothing is
std::string land_loads(Block& owner, Mbarrier& barrier);

/// Adds a load that was started. @return what is wrong, "" where nothing is
std::string add_load(Block& owner, Mbarrier& barrier, const BulkLoad& load, bool early);

/// The barrier at this address of a block's shared memory; null where there is none that the thread may use.
/// @param fault where not null, gets why there is none
Mbarrier* find_mbarrier(const Thread& by, Block& owner, unsigned address, std::string* fault);

/// What is wrong with a block's end at which its barrier is as it is; "" where nothing is.
std::string fault_at_block_end(const Mbarrier& barrier, const Block& owner);

}  // namespace quarry::emulator
