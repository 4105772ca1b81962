/// Works on their way from the warp that copies to those that multiply. Where it takes hundreds of cycles to
/// find the next tile, the matrix instructions would wait for it, and the registers that it needs would be
/// missing to the sums.
#pragma once

#include "gemm_sm90/handed_works.hpp"
#include "gemm_sm90/vector_ring.cuh"
#include "gemm_sm90/work_list.cuh"

namespace quarry::gemm_sm90 {

/// A work as words, the first of which is not negative.
struct WorkWords {
  using Four = arch::Vector<int, 4>;
  Four first;
  Four second;
};

static_assert(sizeof(WorkWords) == handed_work_bytes);

/// Threads that are told of works.
template <Config config>
constexpr int told_threads() {
  return warpgroup_threads * all_consumers(config);
}

/// The works that wait in shared memory, behind everything else.
template <Config config>
using WorkRing = VectorRing<RingPlace{.at = handed_works_offset(config),
                                      .bytes = handed_work_bytes,
                                      .barriers = handed_barriers_offset(config),
                                      .sets = handed_works,
                                      .writers = 1,
                                      .readers = told_threads<config>()}>;

/// As the list that the copying warp walks, for those that multiply.
template <Config config, class Params, class Words>
class HandedList {
 public:
  using Work = WorkOfParams<config, Params>;

  QUARRY_DEVICE HandedList(const Params& params, const ClusterPlace& /*place*/)
      : params_(params), ring_(arch::shared_memory()) {}

  QUARRY_DEVICE bool has_more() const {
    ring_.wait();
    return arch::shared_load<int>(ring_.at(0)) >= 0;
  }
  QUARRY_DEVICE void advance() {
    ring_.release();
    ring_.advance();
  }
  /// @pre has_more() was asked
  QUARRY_DEVICE Work current() const {
    return Words::unpack(params_, {arch::shared_load<WorkWords::Four>(ring_.at(0)),
                                   arch::shared_load<WorkWords::Four>(ring_.at(4))});
  }

 private:
  const Params& params_;
  WorkRing<config> ring_;
};

/// How those that multiply learn of works, in kernels where the copying warp tells them: before it copies for
/// a work, so that they never wait for it longer than for the copies.
/// @tparam Words packs a work into WorkWords, and unpacks it
template <Config config, class Params, class Words>
class HandsOver {
 public:
  using List = HandedList<config, Params, Words>;

  /// Makes the barriers; by one thread.
  QUARRY_DEVICE static void init(arch::SharedAddress memory) { WorkRing<config>::init(memory); }

  /// The rest is called by the thread that copies.
  QUARRY_DEVICE explicit HandsOver(arch::SharedAddress memory) : ring_(memory) {}

  template <class Work>
  QUARRY_DEVICE void put(const Work& work) {
    write(Words::pack(work));
  }
  /// No work follows.
  QUARRY_DEVICE void end() { write({{-1, 0, 0, 0}, {}}); }

 private:
  QUARRY_DEVICE void write(const WorkWords& words) {
    ring_.acquire();
    arch::shared_store(ring_.at(0), words.first);
    arch::shared_store(ring_.at(4), words.second);
    ring_.commit();
    ring_.advance();
  }

  WorkRing<config> ring_;
};

/// The same where each finds them by itself.
template <Config config, class Params>
struct HandingOf {
  using List = typename WorkListOf<config, Params>::Type;

  QUARRY_DEVICE static void init(arch::SharedAddress /*memory*/) {}
  QUARRY_DEVICE explicit HandingOf(arch::SharedAddress /*memory*/) {}
  template <class Work>
  QUARRY_DEVICE void put(const Work& /*work*/) {}
  QUARRY_DEVICE void end() {}
};

}  // namespace quarry::gemm_sm90
