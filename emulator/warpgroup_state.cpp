#include "emulator/warpgroup_state.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/block.hpp"
#include "emulator/checks.hpp"
#include "emulator/patterns.hpp"

namespace quarry::emulator {
namespace {

unsigned place_in_group(const Thread& thread) { return thread.index % warpgroup_threads; }
unsigned group_of(const Thread& thread) { return thread.index / warpgroup_threads; }

bool all_equal(const SumWord* words, unsigned count, std::uint32_t to) {
  std::uint32_t different = 0;
  for (unsigned i = 0; i < count; ++i) different |= words[i] ^ to;
  return different == 0;
}

bool any_equal(const SumWord* words, unsigned count, std::uint32_t to) {
  bool any = false;
  for (unsigned i = 0; i < count; ++i) any |= words[i] == to;
  return any;
}

/// What sums of this shape hold while an instruction is under way.
std::uint32_t poison_of(const ProductShape& shape) {
  return shape.sum == ProductSum::f16 ? under_way_f16 : under_way_f32;
}

/// Chunks of A in shared memory.
unsigned chunks_of_a(const ProductShape& shape) { return shape.a_in_registers ? 0 : chunks_of(product_m); }

/// Words of a thread's part of sums, at most.
constexpr unsigned most_words = most_product_n / 2;

}  // namespace

void Warpgroup::begin() {
  members_ = {};
  ended_ = 0;
  joined_.clear();
  done_ = 0;
  groups_started_ = groups_done_ = 0;
  takes_ = wants_ = 0;
  sums_.clear();
  before_ = after_ = nullptr;
  learnt_ = 0;
}

Warpgroup::Member& Warpgroup::member(const Thread& thread) { return members_[place_in_group(thread)]; }
const Warpgroup::Member& Warpgroup::member(const Thread& thread) const {
  return members_[place_in_group(thread)];
}

/// The thread has come to a call, the first of its warpgroup or after others.
std::string Warpgroup::join(Thread& thread, const WarpgroupCall& call, const Site& site, Joined*& joined) {
  const Block& block = *thread.block;
  const unsigned begin = group_of(thread) * warpgroup_threads;
  if (block.thread_count() < begin + warpgroup_threads) {
    return "is in a warpgroup of " + std::to_string(block.thread_count() - begin) +
           " threads, and calls what takes all 128 of one";
  }
  const std::uint64_t number = member(thread).calls++ - done_;
  if (number == joined_.size()) {
    if (ended_ > 0) return "calls what its whole warpgroup must reach together, of which threads have ended";
    joined = &joined_.emplace_back();
    joined->call = call;
    joined->site = site;
    joined->first_thread = thread.index;
  } else {
    joined = &joined_[number];
    if (key_of(joined->site) != key_of(site) || !(joined->call == call)) {
      const bool same_place = key_of(joined->site) == key_of(site);
      return "divergence: " + thread_text(thread.index, block.index()) + " is at " + text_of(site) +
             ", which a whole warpgroup must reach together, " +
             thread_text(joined->first_thread, block.index()) +
             (same_place ? " of it with other arguments" : " of it at " + text_of(joined->site));
    }
  }
  ++joined->threads;
  return "";
}

std::string Warpgroup::fence(Thread& thread, const Site& site) {
  Joined* joined;
  ++member(thread).fences;
  return join(thread, {.function = WarpgroupFunction::fence}, site, joined);
}

std::string Warpgroup::multiply(Thread& thread, const WarpgroupCall& call, SumWord* words,
                                const std::uint32_t* a, const Site& site) {
  Joined* joined;
  std::string fault = join(thread, call, site, joined);
  if (!fault.empty()) return fault;
  if (joined->threads == 1) fault = begin_multiply(thread, *joined, words, site);
  if (fault.empty()) fault = check_operands(thread, *joined, site);
  if (a != nullptr) {
    joined->a.resize(warpgroup_threads * fragment_words);
    std::copy_n(a, fragment_words, joined->a.begin() + place_in_group(thread) * fragment_words);
  }
  if (fault.empty()) fault = hand_in(thread, *joined, words);
  if (!fault.empty() || joined->threads < warpgroup_threads) return fault;
  ++thread.block->count().warpgroup_multiplies;
  if (lands_early(thread)) run_all_started(thread);
  return "";
}

std::string Warpgroup::begin_multiply(Thread& thread, Joined& joined, SumWord* words, const Site& site) {
  const WarpgroupCall& call = joined.call;
  const unsigned of_a = chunks_of_a(call.shape);
  const unsigned of_b = chunks_of(call.shape.n);
  joined.addresses.resize(of_a + of_b);
  const std::span<unsigned> all = joined.addresses;
  std::string fault;
  if (of_a > 0) fault = find_chunks(call.a, product_m, call.shape.a_along_m, all.first(of_a));
  if (fault.empty()) fault = find_chunks(call.b, call.shape.n, call.shape.b_along_n, all.last(of_b));
  if (!fault.empty()) return fault;
  joined.chunks.addresses = all;
  joined.sums = find_sums(place_in_group(thread), call.shape, words);
  Block& block = *thread.block;
  const AccessId reading = block.shared().add_bulk(
      {site, block.index(), member(thread).groups + 1,
       static_cast<std::uint16_t>(matrix_place(block.thread_count(), group_of(thread))),
       AccessKind::matrix_read, static_cast<std::uint16_t>(thread.index), block.index()});
  joined.warps = 1U << place_in_group(thread) / 32;
  return block.shared().begin_read(on_shared(thread), reading, joined.chunks, site);
}

/// One thread of each warp must have what the operands hold behind it.
std::string Warpgroup::check_operands(Thread& thread, Joined& joined, const Site& site) {
  const unsigned warp = 1U << place_in_group(thread) / 32;
  if ((joined.warps & warp) != 0) return "";
  joined.warps |= warp;
  return thread.block->shared().join_read(on_shared(thread), joined.chunks, site);
}

/// The sums that the thread holds at `words`; new ones where they are not known.
std::size_t Warpgroup::find_sums(unsigned thread, const ProductShape& shape, const SumWord* words) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const ProductShape& known = sums_[i].shape;
    const bool same = known.n == shape.n && known.words() == shape.words();
    if (same && sums_[i].parts[thread].words == words) return i;
  }
  sums_.emplace_back().shape = shape;
  return sums_.size() - 1;
}

std::string Warpgroup::fault_of_sums(const Part& part, const Sums& sums, const Thread& thread,
                                     const Joined& joined, const SumWord* words) const {
  const unsigned count = joined.call.shape.words();
  if (part.words != nullptr && part.words != words) {
    return "multiplies into other sums than " + thread_text(joined.first_thread, thread.block->index()) +
           " of its warpgroup";
  }
  if (part.under_way) {
    if (all_equal(words, count, poison_of(joined.call.shape))) return "";
    return "has touched sums while a matrix instruction was under way that it had started at " +
           text_of(part.site);
  }
  const unsigned long fences = member(thread).fences;
  if (fences == 0) return "starts a matrix instruction before any warpgroup_fence";
  if (part.words == nullptr && any_equal(words, count, poison_of(joined.call.shape))) {
    return "multiplies into sums of which a matrix instruction of another shape is under way";
  }
  if (joined.call.accumulate && any_equal(words, count, never_set)) {
    return "adds to sums that were never set";
  }
  if (joined.call.accumulate) return fault_of_touched(part, sums, thread, words, count);
  if (part.words == nullptr || fences > part.fences) return "";
  return "multiplies into sums that it has touched since it waited for them, without a warpgroup_fence";
}

/// Of sums that an instruction adds to: they are as instructions have left them, or were set, held, and then
/// fenced.
std::string Warpgroup::fault_of_touched(const Part& part, const Sums& sums, const Thread& thread,
                                        const SumWord* words, unsigned count) const {
  if (part.awaits_hold && all_equal(words, count, poison_of(sums.shape))) return "";
  const std::size_t bytes = count * sizeof *words;
  if (part.words != nullptr && !part.awaits_hold) {
    SumWord known[most_words];
    get_words(*sums.values, sums.shape, place_in_group(thread), known);
    if (std::memcmp(known, words, bytes) == 0) return "";
  }
  const Member& me = member(thread);
  if (part.words != nullptr && me.fences <= part.fences) {
    return "multiplies into sums that it has touched since it waited for them, without a warpgroup_fence";
  }
  const auto held = std::ranges::find(me.held, words, &Held::words);
  const bool as_held = held != me.held.end() && held->values.size() == count &&
                       std::memcmp(held->values.data(), words, bytes) == 0;
  if (!as_held) return "multiplies into sums that it has set without a warpgroup_hold behind that";
  if (me.fences > held->fences) return "";
  return "multiplies into sums that it has set without a warpgroup_fence behind their warpgroup_hold";
}

/// Sums under way lie in registers, all at once.
std::string Warpgroup::fault_of_registers(const Thread& thread, const Joined& joined) const {
  unsigned needed = 0;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const bool counts = i == joined.sums || sums_[i].parts[place_in_group(thread)].under_way;
    if (counts) needed += sums_[i].shape.words();
  }
  const unsigned registers = thread.block->registers().of(group_of(thread));
  if (needed <= registers) return "";
  return "needs " + std::to_string(needed) + " registers for sums alone, and has " +
         std::to_string(registers);
}

/// The sums are the instruction's from here on.
std::string Warpgroup::hand_in(Thread& thread, const Joined& joined, SumWord* words) {
  Sums& sums = sums_[joined.sums];
  Part& part = sums.parts[place_in_group(thread)];
  std::string fault = fault_of_sums(part, sums, thread, joined, words);
  if (!fault.empty()) return fault;
  fault = fault_of_registers(thread, joined);
  if (!fault.empty()) return fault;
  if (!part.under_way) {
    const bool are_given = joined.call.accumulate && !part.awaits_hold;
    if (are_given) set_words(*sums.values, sums.shape, place_in_group(thread), words);
    for (unsigned i = 0; i < joined.call.shape.words(); ++i) words[i] = poison_of(joined.call.shape);
  }
  part = {words, true, member(thread).groups + 1, part.fences, joined.site};
  return "";
}

std::string Warpgroup::commit(Thread& thread, const Site& site) {
  Joined* joined;
  std::string fault = join(thread, {.function = WarpgroupFunction::commit}, site, joined);
  if (!fault.empty()) return fault;
  ++member(thread).groups;
  if (joined->threads < warpgroup_threads) return "";
  ++groups_started_;
  ++thread.block->count().warpgroup_groups;
  wake(thread);
  return "";
}

std::string Warpgroup::begin_wait(Thread& thread, unsigned pending, const Site& site) {
  Joined* joined;
  return join(thread, {.function = WarpgroupFunction::wait, .number = pending}, site, joined);
}

bool Warpgroup::has_started(const Thread& thread, unsigned pending) const {
  return member(thread).groups <= groups_started_ + pending;
}

std::string Warpgroup::end_wait(Thread& thread, unsigned pending) {
  const unsigned groups = std::max(member(thread).groups, pending) - pending;
  run_groups(thread, groups);
  for (Sums& sums : sums_) {
    Part& part = sums.parts[place_in_group(thread)];
    if (!part.under_way || part.group > groups) continue;
    if (!all_equal(part.words, sums.shape.words(), poison_of(sums.shape))) {
      return "has touched sums while a matrix instruction was under way that it had started at " +
             text_of(part.site);
    }
    part.under_way = false;
    part.awaits_hold = true;
    part.fences = member(thread).fences;
  }
  learn(thread, groups);
  return "";
}

std::string Warpgroup::hold(Thread& thread, SumWord* words, unsigned count) {
  for (Sums& sums : sums_) {
    Part& part = sums.parts[place_in_group(thread)];
    if (part.words != words) continue;
    if (part.under_way) return "";
    if (!part.awaits_hold) continue;
    if (!all_equal(words, sums.shape.words(), poison_of(sums.shape))) {
      return "has touched sums of the matrix instruction at " + text_of(part.site) +
             " before it called warpgroup_hold";
    }
    get_words(*sums.values, sums.shape, place_in_group(thread), words);
    part.awaits_hold = false;
  }
  Member& me = member(thread);
  auto held = std::ranges::find(me.held, words, &Held::words);
  if (held == me.held.end()) held = me.held.insert(held, {.words = words, .values = {}});
  held->values.assign(words, words + count);
  held->fences = me.fences;
  return "";
}

/// Does the oldest call, which all threads have come to.
void Warpgroup::run_first(const Thread& thread) {
  const Joined& first = joined_.front();
  if (first.call.function == WarpgroupFunction::commit) ++groups_done_;
  if (first.call.function == WarpgroupFunction::multiply) {
    const SharedMemory& memory = thread.block->shared();
    const std::span<const unsigned> all = first.addresses;
    const unsigned of_a = chunks_of_a(first.call.shape);
    if (of_a > 0) {
      read_a(operands_, first.call.shape, all.first(of_a), memory);
    } else {
      read_a(operands_, first.call.shape, first.a);
    }
    read_b(operands_, first.call.shape, all.subspan(of_a), memory);
    emulator::multiply(operands_, first.call.shape, first.call.accumulate, *sums_[first.sums].values);
  }
  joined_.pop_front();
  ++done_;
}

void Warpgroup::run_groups(const Thread& thread, unsigned groups) {
  while (groups_done_ < groups) run_first(thread);
}

void Warpgroup::run_all_started(const Thread& thread) {
  while (!joined_.empty() && joined_.front().threads == warpgroup_threads) run_first(thread);
}

/// The thread knows that so many groups are over.
void Warpgroup::learn(Thread& thread, unsigned groups) {
  View& view = thread.clock.view;
  const unsigned place = matrix_place(thread.block->thread_count(), group_of(thread));
  if (place < view->size() && (*view)[place] >= groups) return;
  if (view != before_ || groups != learnt_) {
    before_ = view;
    after_ = with_known_step(view, place, groups);
    learnt_ = groups;
  }
  view = after_;
}

/// Lets threads look again that wait for others of the warpgroup, or for registers.
void Warpgroup::wake(Thread& thread) {
  Block& block = *thread.block;
  const unsigned begin = group_of(thread) * warpgroup_threads;
  for (unsigned i = begin; i < begin + warpgroup_threads; ++i) {
    const Waiting waiting = block.thread(i).waiting;
    if (waiting == Waiting::warpgroup || waiting == Waiting::registers) block.wake(block.thread(i));
  }
}

std::string Warpgroup::give_registers(Thread& thread, unsigned registers, const Site& site) {
  Joined* joined;
  std::string fault =
      join(thread, {.function = WarpgroupFunction::give_registers, .number = registers}, site, joined);
  Registers& all = thread.block->registers();
  if (fault.empty()) fault = all.fault_of_giving(group_of(thread), registers);
  if (!fault.empty() || joined->threads < warpgroup_threads) return fault;
  all.give(group_of(thread), registers);
  serve_takers(thread);
  return "";
}

/// Lets warpgroups have the registers that they wait for, where there are enough.
void Warpgroup::serve_takers(Thread& thread) {
  Block& block = *thread.block;
  for (unsigned first = 0; first < block.thread_count(); first += warpgroup_threads) {
    Warpgroup& other = block.warpgroup_of(block.thread(first));
    if (other.wants_ == 0 || !block.registers().take(first / warpgroup_threads, other.wants_)) continue;
    other.wants_ = 0;
    ++other.takes_;
    other.wake(block.thread(first));
  }
}

std::string Warpgroup::begin_taking(Thread& thread, unsigned registers, const Site& site) {
  Joined* joined;
  std::string fault =
      join(thread, {.function = WarpgroupFunction::take_registers, .number = registers}, site, joined);
  if (fault.empty()) fault = thread.block->registers().fault_of_taking(group_of(thread), registers);
  if (!fault.empty()) return fault;
  ++member(thread).takes;
  if (joined->threads < warpgroup_threads) return "";
  wants_ = registers;
  serve_takers(thread);
  return "";
}

bool Warpgroup::has_taken(const Thread& thread) const { return member(thread).takes <= takes_; }

std::string Warpgroup::end(const Thread& thread) {
  ++ended_;
  for (const Sums& sums : sums_) {
    const Part& part = sums.parts[place_in_group(thread)];
    if (!part.under_way) continue;
    return "ended while a matrix instruction was under way that it had started at " + text_of(part.site);
  }
  if (member(thread).calls == done_ + joined_.size()) return "";
  return "ended, while " + thread_text(joined_.back().first_thread, thread.block->index()) +
         " of its warpgroup came to " + text_of(joined_.back().site) + ", which all of it must reach";
}

}  // namespace quarry::emulator
