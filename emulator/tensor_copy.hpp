/// Bulk tensor copies under way.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "emulator/access.hpp"
#include "emulator/device_sm90.hpp"

namespace quarry::emulator {

struct Thread;

/// Bytes of shared memory that a box takes.
unsigned box_bytes(const Tensor& tensor);

/// A load under way to one block.
struct BulkLoad {
  Tensor tensor;
  BoxPlace place;
  unsigned to;
  unsigned bytes;
  Thread* starter;
  Clock clock;      ///< the starter's, when it started
  AccessId access;  ///< in the block's shared memory
  bool landed;
};

/// Puts a load's bytes in place. @return what is wrong with that, "" where nothing is
std::string land(class Block& block, BulkLoad& load);

/// A store under way.
struct BulkStore {
  Tensor tensor;
  BoxPlace place;
  unsigned from;
  Site site;
  AccessId access;  ///< in the block's shared memory
  bool landed;
};

/// A thread's stores under way.
struct BulkStores {
  struct Group {
    std::deque<BulkStore> stores = {};
    bool read = false;  ///< no longer reads shared memory
  };
  std::deque<Group> groups = {};
  Group open = {};

  bool all_read() const { return open.stores.empty() && (groups.empty() || groups.back().read); }
  /// @pre !all_read()
  const BulkStore& unread() const;
};

}  // namespace quarry::emulator
