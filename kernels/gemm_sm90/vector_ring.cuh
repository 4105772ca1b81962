/// Vectors that wait in shared memory, a set for each tile under way: some threads load the next tile's while
/// others multiply, and these read it when they have their sums.
#pragma once

#include "arch/sm90.hpp"

namespace quarry::gemm_sm90 {

/// Where the sets lie in shared memory, and their barriers; who arrives at these: the threads that load a
/// set, and those that read it.
struct RingPlace {
  int at;
  int bytes;  ///< of a set
  int barriers;
  int sets;
  int writers;
  int readers;
};

/// One side's walk around the ring, a tile each.
template <RingPlace place>
class VectorRing {
 public:
  QUARRY_DEVICE explicit VectorRing(arch::SharedAddress memory) : memory_(memory) {}

  /// Makes the barriers; by one thread.
  QUARRY_DEVICE static void init(arch::SharedAddress memory) {
    QUARRY_UNROLL
    for (int set = 0; set < place.sets; ++set) {
      arch::mbarrier_init(full(memory, set), place.writers);
      arch::mbarrier_init(empty(memory, set), place.readers);
    }
  }

  /// Element `i` of the present set.
  QUARRY_DEVICE arch::SharedAddress at(int i) const {
    return memory_ + (place.at + set() * place.bytes + 4 * i);
  }

  /// For the side that loads: waits until the present one may be written, and says that it has been.
  QUARRY_DEVICE void acquire() const { arch::mbarrier_wait(empty(memory_, set()), parity() ^ 1); }
  QUARRY_DEVICE void commit() const { arch::mbarrier_arrive(full(memory_, set())); }

  /// For the side that reads: waits until it is there, and says that it has been read.
  QUARRY_DEVICE void wait() const { arch::mbarrier_wait(full(memory_, set()), parity()); }
  QUARRY_DEVICE void release() const { arch::mbarrier_arrive(empty(memory_, set())); }

  QUARRY_DEVICE void advance() { ++tile_; }

 private:
  static constexpr unsigned sets = place.sets;

  QUARRY_DEVICE int set() const { return static_cast<int>(tile_ % sets); }
  QUARRY_DEVICE int parity() const { return static_cast<int>(tile_ / sets % 2); }

  QUARRY_DEVICE static arch::SharedAddress full(arch::SharedAddress memory, int set) {
    return memory + (place.barriers + 8 * set);
  }
  QUARRY_DEVICE static arch::SharedAddress empty(arch::SharedAddress memory, int set) {
    return memory + (place.barriers + 8 * (place.sets + set));
  }

  arch::SharedAddress memory_;
  unsigned tile_ = 0;
};

}  // namespace quarry::gemm_sm90
