#include "emulator/registers.hpp"

#include <algorithm>

#include "emulator/actor.hpp"

namespace quarry::emulator {
namespace {

constexpr unsigned all_registers = 65536;
/// Counts are multiples of 8 from 24 to 256 (PTX ISA, setmaxnreg).
constexpr unsigned unit = 8;
constexpr unsigned fewest = 24;
constexpr unsigned most = 256;

std::string fault_of_count(unsigned registers) {
  if (registers >= fewest && registers <= most && registers % unit == 0) return "";
  return "asks for " + std::to_string(registers) + " registers: a multiple of 8 from 24 to 256 is needed";
}

}  // namespace

void Registers::begin(unsigned threads) {
  spare_ = 0;
  of_.assign((threads + warpgroup_threads - 1) / warpgroup_threads,
             std::min(most, all_registers / threads / unit * unit));
}

std::string Registers::fault_of_giving(unsigned warpgroup, unsigned registers) const {
  std::string fault = fault_of_count(registers);
  if (!fault.empty() || registers <= of_[warpgroup]) return fault;
  return "gives registers back to keep " + std::to_string(registers) + ", and has " +
         std::to_string(of_[warpgroup]);
}

std::string Registers::fault_of_taking(unsigned warpgroup, unsigned registers) const {
  std::string fault = fault_of_count(registers);
  if (!fault.empty() || registers >= of_[warpgroup]) return fault;
  return "takes registers to have " + std::to_string(registers) + ", and has " +
         std::to_string(of_[warpgroup]);
}

void Registers::give(unsigned warpgroup, unsigned registers) {
  spare_ += (of_[warpgroup] - registers) * warpgroup_threads;
  of_[warpgroup] = registers;
}

bool Registers::take(unsigned warpgroup, unsigned registers) {
  const unsigned needed = (registers - of_[warpgroup]) * warpgroup_threads;
  if (needed > spare_) return false;
  spare_ -= needed;
  of_[warpgroup] = registers;
  return true;
}

}  // namespace quarry::emulator
