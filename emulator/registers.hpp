/// The registers of a block, which warpgroups give and take (PTX ISA, setmaxnreg).
#pragma once

#include <string>
#include <vector>

namespace quarry::emulator {

class Registers {
 public:
  /// Of a block of so many threads, which share all registers of a multiprocessor evenly, in eights.
  void begin(unsigned threads);

  /// What is wrong with a warpgroup's wish to have so many registers a thread from now on, "" where nothing
  /// is.
  std::string fault_of_giving(unsigned warpgroup, unsigned registers) const;
  std::string fault_of_taking(unsigned warpgroup, unsigned registers) const;

  /// @pre no fault
  void give(unsigned warpgroup, unsigned registers);
  /// False where there are not enough to spare yet.
  bool take(unsigned warpgroup, unsigned registers);

  /// How many a thread of a warpgroup has.
  unsigned of(unsigned warpgroup) const { return of_[warpgroup]; }
  /// How many are to spare.
  unsigned spare() const { return spare_; }

 private:
  unsigned spare_ = 0;
  std::vector<unsigned> of_;  ///< a thread of each warpgroup
};

}  // namespace quarry::emulator
