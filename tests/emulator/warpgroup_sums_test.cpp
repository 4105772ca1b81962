/// The sums of a warpgroup's matrix instructions: who may touch them when.
#include "support/catch_compat.hpp"
#include "trial.hpp"
#include "warpgroup_kernel.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::finish;
using test::is_thread;
using test::mark;
using test::multiply;
using test::n;
using test::one_group;
using test::Operands;
using test::prepare;
using test::Sums;

namespace {

/// Writes to `out` whether the thread's sums are the sums of the first `steps` instructions.
void show(const Operands& o, const Sums& sums, int steps) {
  const int me = arch::thread_index();
  bool right = true;
  for (int i = 0; i < n / 2; ++i) {
    const int sum = test::product(test::row_of(me, i), test::column_of(me, i), 0, 16 * steps);
    right = right && sums.v[i] == static_cast<float>(sum);
  }
  arch::global_store(o.out + me, right ? 1 : 0);
}

const std::vector<int> all_right(128, 1);

/// Two groups are under way at a time; some sums are touched between, behind a fence.
void right_order(const Operands& o) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  multiply(sums, 0, 0);
  arch::warpgroup_commit();
  multiply(sums, 1, 1);
  arch::warpgroup_commit();
  arch::warpgroup_wait<1>();
  arch::warpgroup_wait<0>();
  multiply(sums, 2, 1);  // nobody has touched them
  finish();
  arch::warpgroup_hold(sums);
  for (float& sum : sums.v) sum += 0.5F;
  for (float& sum : sums.v) sum -= 0.5F;
  arch::warpgroup_fence();
  multiply(sums, 3, 1);
  finish();
  arch::warpgroup_hold(sums);
  show(o, sums, 4);
  for (float& sum : sums.v) sum = 0;
  arch::warpgroup_hold(sums);
  arch::warpgroup_fence();
  for (int step = 0; step < 4; ++step) multiply(sums, step, 1);
  finish();
  arch::warpgroup_hold(sums);
  show(o, sums, 4);
}

void two_sums(const Operands& o) {
  prepare();
  Sums sums[2];
  arch::warpgroup_fence();
  for (Sums& each : sums) multiply(each, 0, 0);
  arch::warpgroup_commit();
  for (Sums& each : sums) multiply(each, 1, 1);
  arch::warpgroup_commit();
  arch::warpgroup_wait<0>();
  for (Sums& each : sums) arch::warpgroup_hold(each);
  show(o, sums[0], 2);
  show(o, sums[1], 2);
}

void used_too_early(const Operands& o) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  multiply(sums, 0, 0);
  arch::warpgroup_commit();
  const int me = arch::thread_index();
  arch::global_store(o.out + me, sums.v[2] == sums.v[2] ? 1 : 0);
  arch::warpgroup_wait<0>();
}

/// The compiler may read what is read behind a wait before it.
void used_without_a_hold(const Operands& o) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  multiply(sums, 0, 0);
  arch::warpgroup_commit();
  arch::warpgroup_hold(sums);
  arch::warpgroup_wait<0>();
  const int me = arch::thread_index();
  arch::global_store(o.out + me, sums.v[2] == sums.v[2] ? 1 : 0);
}

void touched_before_the_hold(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  mark("start");
  multiply(sums, 0, 0);
  finish();
  if (is_thread(40)) sums.v[1] = 2;
  arch::warpgroup_hold(sums);
}

template <bool holds>
void set_without_a_hold(const Operands&) {
  prepare();
  Sums sums = {};
  if (holds) arch::warpgroup_hold(sums);
  if (is_thread(2)) sums.v[3] = 1;
  arch::warpgroup_fence();
  mark("here");
  multiply(sums, 0, 1);
  finish();
}

void changed_without_a_hold(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  multiply(sums, 0, 0);
  finish();
  arch::warpgroup_hold(sums);
  for (float& sum : sums.v) sum += 1;
  arch::warpgroup_fence();
  mark("here");
  multiply(sums, 1, 1);
  finish();
}

void held_behind_the_fence(const Operands&) {
  prepare();
  Sums sums = {};
  arch::warpgroup_fence();
  arch::warpgroup_hold(sums);
  mark("here");
  multiply(sums, 0, 1);
  finish();
}

void touched_before_the_next(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  mark("start");
  multiply(sums, 0, 0);
  if (is_thread(17)) sums.v[3] = 1;
  arch::warpgroup_fence();
  multiply(sums, 1, 1);
  finish();
}

void touched_before_the_wait(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  mark("start");
  multiply(sums, 0, 0);
  arch::warpgroup_commit();
  if (is_thread(127)) sums.v[0] = 0;
  arch::warpgroup_wait<0>();
}

void touched_after_half_a_wait(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  multiply(sums, 0, 0);
  arch::warpgroup_commit();
  mark("second");
  multiply(sums, 1, 1);
  arch::warpgroup_commit();
  arch::warpgroup_wait<1>();
  for (float& sum : sums.v) sum *= 2;
  arch::warpgroup_wait<0>();
}

void no_fence_at_first(const Operands&) {
  prepare();
  Sums sums = {};
  mark("here");
  multiply(sums, 0, 1);
  finish();
}

void no_fence_after_zeroing(const Operands&) {
  prepare();
  Sums sums = {};
  for (int tile = 0; tile < 2; ++tile) {
    if (tile == 0) arch::warpgroup_fence();
    for (float& sum : sums.v) sum = 0;
    arch::warpgroup_hold(sums);
    mark("here");
    multiply(sums, 0, 1);
    finish();
    arch::warpgroup_hold(sums);
  }
}

void no_fence_before_starting_anew(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  for (int tile = 0; tile < 2; ++tile) {
    mark("here");
    multiply(sums, 0, 0);
    finish();
  }
}

void never_set(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  mark("here");
  multiply(sums, 0, 1);
  finish();
}

void not_waited_for(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  mark("here");
  multiply(sums, 0, 0);
  arch::warpgroup_commit();
}

void not_committed(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  multiply(sums, 0, 0);
  arch::warpgroup_commit();
  mark("here");
  multiply(sums, 1, 1);
  arch::warpgroup_wait<0>();
}

void last_group_not_waited_for(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  for (int step = 0; step < 4; ++step) {
    mark("here");
    multiply(sums, step, step > 0);
    arch::warpgroup_commit();
    arch::warpgroup_wait<1>();
  }
}

}  // namespace

TEST_CASE("sums are added up across groups, waits and touches") {
  fine(right_order, one_group, all_right);
  fine(two_sums, one_group, all_right);
}

TEST_CASE("sums are poison until they were waited for") {
  fine(used_too_early, one_group, std::vector<int>(128, 0));
}

TEST_CASE("touching sums while an instruction is under way is caught") {
  const std::vector<std::string> words = {"has touched sums while a matrix instruction was under way",
                                          "@start"};
  caught(touched_before_the_next, one_group, words);
  caught(touched_before_the_wait, one_group, words);
  caught(touched_after_half_a_wait, one_group, {"has touched sums while", "@second"});
}

TEST_CASE("a missing warpgroup_fence is caught") {
  caught(no_fence_at_first, one_group, {"before any warpgroup_fence", "@here"});
  caught(no_fence_after_zeroing, one_group, {"without a warpgroup_fence", "@here"});
  caught(no_fence_before_starting_anew, one_group, {"without a warpgroup_fence", "@here"});
}

TEST_CASE("sums are poison until they were held") {
  fine(used_without_a_hold, one_group, std::vector<int>(128, 0));
  caught(touched_before_the_hold, one_group, {"before it called warpgroup_hold", "@start"});
}

TEST_CASE("sums that are set without a warpgroup_hold before the fence are caught") {
  caught(set_without_a_hold<false>, one_group, {"without a warpgroup_hold", "@here"});
  caught(set_without_a_hold<true>, one_group, {"without a warpgroup_hold", "@here"});
  caught(changed_without_a_hold, one_group, {"without a warpgroup_hold", "@here"});
  caught(held_behind_the_fence, one_group,
         {"without a warpgroup_fence behind their warpgroup_hold", "@here"});
}

TEST_CASE("sums that were never set are caught") {
  caught(never_set, one_group, {"adds to sums that were never set", "@here"});
}

TEST_CASE("an end with instructions under way is caught") {
  const std::vector<std::string> words = {"ended while a matrix instruction was under way", "@here"};
  caught(not_waited_for, one_group, words);
  caught(not_committed, one_group, words);
  caught(last_group_not_waited_for, one_group, words);
}
