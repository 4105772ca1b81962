#include "emulator/warpgroup.hpp"

#include "emulator/block.hpp"
#include "emulator/checks.hpp"

namespace quarry::emulator {
namespace {

Warpgroup& own() { return current->block->warpgroup_of(*current); }

/// As check, for texts that say who is at fault, too.
void check_all(std::string fault, const Site& site) {
  Thread& thread = *current;
  if (!fault.starts_with("divergence:")) return check(thread, std::move(fault), site);
  thread.block->fail(thread, [&] { return std::move(fault); });
}

}  // namespace

void warpgroup_multiply(const ProductShape& shape, SumWord* sums, std::uint64_t a, std::uint64_t b,
                        bool accumulate, const Site& site) {
  const WarpgroupCall call = {WarpgroupFunction::multiply, 0, shape, a, b, accumulate};
  check_all(own().multiply(*current, call, sums, nullptr, site), site);
}

void warpgroup_multiply(const ProductShape& shape, SumWord* sums, const std::uint32_t* a, std::uint64_t b,
                        bool accumulate, const Site& site) {
  const WarpgroupCall call = {WarpgroupFunction::multiply, 0, shape, 0, b, accumulate};
  check_all(own().multiply(*current, call, sums, a, site), site);
}

void warpgroup_fence(const Site& site) { check_all(own().fence(*current, site), site); }

void warpgroup_commit(const Site& site) { check_all(own().commit(*current, site), site); }

void warpgroup_wait(unsigned pending, const Site& site) {
  Thread& thread = *current;
  thread.accesses = 0;
  check_all(own().begin_wait(thread, pending, site), site);
  while (!own().has_started(thread, pending)) thread.block->wait(thread, Waiting::warpgroup, site);
  check_all(own().end_wait(thread, pending), site);
}

void warpgroup_hold(SumWord* sums, unsigned words, const Site& site) {
  check(*current, own().hold(*current, sums, words), site);
}

void give_registers(unsigned registers, const Site& site) {
  check_all(own().give_registers(*current, registers, site), site);
}

void take_registers(unsigned registers, const Site& site) {
  Thread& thread = *current;
  check_all(own().begin_taking(thread, registers, site), site);
  while (!own().has_taken(thread)) thread.block->wait(thread, Waiting::registers, site);
}

}  // namespace quarry::emulator
