/// A warpgroup: what its threads call together, the matrix instructions under way, and their sums.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "emulator/actor.hpp"
#include "emulator/clock.hpp"
#include "emulator/registers.hpp"
#include "emulator/shared_memory.hpp"
#include "emulator/site.hpp"
#include "emulator/warpgroup.hpp"
#include "emulator/warpgroup_product.hpp"

namespace quarry::emulator {

struct Thread;

/// The functions that all threads of a warpgroup call in the same order.
enum class WarpgroupFunction : std::uint8_t {
  fence,
  multiply,
  commit,
  wait,
  give_registers,
  take_registers,
};

/// What a call of such a function is given, which must be the same for all threads.
struct WarpgroupCall {
  WarpgroupFunction function;
  /// Groups, or registers.
  unsigned number = 0;
  ProductShape shape = {};
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  bool accumulate = false;
  friend bool operator==(const WarpgroupCall&, const WarpgroupCall&) = default;
};

/// Each function that returns a text returns what is wrong, "" where nothing is.
///
/// No thread waits for the others where it calls a function, but in `wait`, and for registers: that all call
/// the same is seen when they get there. A matrix instruction starts when all have come to it, and is done
/// when its group is waited for, or at once, as the launch's timing of copies says. Until the wait its sums
/// are poison in the threads, and the memory of its operands counts as being read. The threads get them back
/// where they hold them, as a compiler may read them earlier than the source does until then.
class Warpgroup {
 public:
  void begin();

  std::string fence(Thread& thread, const Site& site);
  /// @param words the thread's sums @param a its part of an A in registers; else null
  std::string multiply(Thread& thread, const WarpgroupCall& call, SumWord* words, const std::uint32_t* a,
                       const Site& site);
  std::string commit(Thread& thread, const Site& site);
  std::string begin_wait(Thread& thread, unsigned pending, const Site& site);
  /// Whether all threads have started what a thread that may leave so many groups waits for.
  bool has_started(const Thread& thread, unsigned pending) const;
  /// Ends the wait: the sums may be held. @pre has_started
  std::string end_wait(Thread& thread, unsigned pending);
  /// The sums are the thread's again, and as they are from here on.
  std::string hold(Thread& thread, SumWord* words, unsigned count);
  std::string give_registers(Thread& thread, unsigned registers, const Site& site);
  std::string begin_taking(Thread& thread, unsigned registers, const Site& site);
  bool has_taken(const Thread& thread) const;
  /// The thread ends.
  std::string end(const Thread& thread);

 private:
  /// A call that threads have come to.
  struct Joined {
    WarpgroupCall call;
    Site site;
    unsigned first_thread = 0;
    unsigned threads = 0;
    unsigned warps = 0;  ///< a bit for each whose operands were checked
    std::size_t sums = 0;
    std::vector<unsigned> addresses;  ///< of the chunks of A, if it is in shared memory, then of B
    std::vector<std::uint32_t> a;     ///< an A in registers, thread after thread
    SharedMemory::Chunks chunks = {};
  };
  /// A thread's part of sums.
  struct Part {
    SumWord* words = nullptr;
    bool under_way = false;
    unsigned group = 0;        ///< the last one with an instruction for these sums
    unsigned long fences = 0;  ///< that the thread had made when it had waited for them
    Site site;                 ///< of the last instruction
    bool awaits_hold = false;  ///< waited for, but still poison
  };
  /// Variables that instructions have summed in.
  struct Sums {
    ProductShape shape;
    std::array<Part, warpgroup_threads> parts;
    std::unique_ptr<ProductSums> values = std::make_unique<ProductSums>();
  };
  /// Sums as a thread held them last.
  struct Held {
    const SumWord* words = nullptr;
    std::vector<std::uint32_t> values;
    unsigned long fences = 0;  ///< that it had made before
  };
  struct Member {
    std::uint64_t calls = 0;
    unsigned groups = 0;
    unsigned long fences = 0;
    unsigned takes = 0;
    std::vector<Held> held;
  };

  Member& member(const Thread& thread);
  const Member& member(const Thread& thread) const;
  std::string join(Thread& thread, const WarpgroupCall& call, const Site& site, Joined*& joined);
  std::string begin_multiply(Thread& thread, Joined& joined, SumWord* words, const Site& site);
  std::string check_operands(Thread& thread, Joined& joined, const Site& site);
  std::size_t find_sums(unsigned thread, const ProductShape& shape, const SumWord* words);
  std::string hand_in(Thread& thread, const Joined& joined, SumWord* words);
  std::string fault_of_sums(const Part& part, const Sums& sums, const Thread& thread, const Joined& joined,
                            const SumWord* words) const;
  std::string fault_of_touched(const Part& part, const Sums& sums, const Thread& thread, const SumWord* words,
                               unsigned count) const;
  std::string fault_of_registers(const Thread& thread, const Joined& joined) const;
  void run_first(const Thread& thread);
  void run_groups(const Thread& thread, unsigned groups);
  void run_all_started(const Thread& thread);
  void learn(Thread& thread, unsigned groups);
  void wake(Thread& thread);
  void serve_takers(Thread& thread);

  std::array<Member, warpgroup_threads> members_;
  unsigned ended_ = 0;
  std::deque<Joined> joined_;  ///< not done yet, oldest first
  std::uint64_t done_ = 0;     ///< calls before those
  unsigned groups_started_ = 0;
  unsigned groups_done_ = 0;
  unsigned takes_ = 0;  ///< that were granted
  unsigned wants_ = 0;  ///< registers that all threads wait for; 0: none
  std::vector<Sums> sums_;
  ProductOperands operands_;
  /// The last views that learnt of a group, before and after: most threads have the same.
  View before_;
  View after_;
  unsigned learnt_ = 0;
};

}  // namespace quarry::emulator
