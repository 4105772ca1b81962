/// SharedMemory and its sets of readers against a model that forgets nothing.
#include "emulator/shared_memory.hpp"

#include <array>
#include <cstring>
#include <random>

#include "history.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using emulator::AccessId;
using emulator::SharedMemory;
using emulator::Site;
using test::below;
using test::History;

namespace {

constexpr unsigned bytes = 24;
constexpr unsigned threads = 5;

/// Shared memory of one block, and what its bytes ought to be.
class Model {
 public:
  Model() { memory_.reset(bytes, {}); }

  History& history() { return history_; }

  void read(std::size_t who, unsigned offset, unsigned width) {
    const std::string expected = fault_of_read(who, offset, width);
    std::array<std::byte, 16> to = {};
    const std::string fault =
        memory_.read(accessor(who), SharedMemory::base + offset, to.data(), width, width, Site::current());
    compare(fault, expected);
    if (over_) return;
    CHECK(std::memcmp(to.data(), &values_[offset], width) == 0);
    const std::size_t event = history_.happen(who);
    for (unsigned i = offset; i < offset + width; ++i) cells_[i].readers.push_back(event);
  }

  void write(std::size_t who, unsigned offset, unsigned width, std::byte value) {
    const std::string expected = fault_of_write(who, offset, width);
    std::array<std::byte, 16> from;
    from.fill(value);
    const std::string fault =
        memory_.write(accessor(who), SharedMemory::base + offset, from.data(), width, width, Site::current());
    compare(fault, expected);
    if (over_) return;
    const std::size_t event = history_.happen(who);
    for (unsigned i = offset; i < offset + width; ++i) cells_[i] = {State::written, event, {}};
    std::memcpy(&values_[offset], from.data(), width);
  }

  void begin_copy(std::size_t who, unsigned offset, unsigned width) {
    const std::string expected = fault_of_write(who, offset, width);
    compare(memory_.begin_copy(accessor(who), SharedMemory::base + offset, width, Site::current()), expected);
    if (over_) return;
    const std::size_t event = history_.happen(who);
    for (unsigned i = offset; i < offset + width; ++i) cells_[i] = {State::flying, event, {}};
    flying_[who].push_back({offset, width});
  }

  /// Waits for all copies of a thread, whose bytes become `value`.
  void end_copies(std::size_t who, std::byte value) {
    std::array<std::byte, 16> from;
    from.fill(value);
    for (const auto& [offset, width] : flying_[who]) {
      memory_.land(SharedMemory::base + offset, from.data(), width);
      memory_.end_copy(accessor(who), SharedMemory::base + offset, width, Site::current());
      const std::size_t event = history_.happen(who);
      for (unsigned i = offset; i < offset + width; ++i) cells_[i] = {State::written, event, {}};
      std::memcpy(&values_[offset], from.data(), width);
    }
    flying_[who].clear();
  }

  /// A fault was found, after which memory promises nothing.
  bool over() const { return over_; }
  bool raced() const { return raced_; }

  std::string fault_of_read(std::size_t who, unsigned offset, unsigned width) const {
    for (unsigned i = offset; i < offset + width; ++i) {
      const std::string byte = "byte " + std::to_string(i) + " of shared memory";
      if (cells_[i].state == State::unwritten) return "reads " + byte + ", which was never written";
      if (!written_before(who, cells_[i])) return "race: " + byte;
    }
    return "";
  }
  std::string fault_of_write(std::size_t who, unsigned offset, unsigned width) const {
    for (unsigned i = offset; i < offset + width; ++i) {
      const std::string fault = "race: byte " + std::to_string(i) + " of shared memory";
      if (!written_before(who, cells_[i])) return fault;
      for (const std::size_t reader : cells_[i].readers) {
        if (!history_.ordered(who, reader)) return fault;
      }
    }
    return "";
  }

 private:
  enum class State { unwritten, flying, written };
  struct Cell {
    State state = State::unwritten;
    std::size_t writer = 0;
    std::vector<std::size_t> readers;
  };
  struct Range {
    unsigned offset;
    unsigned width;
  };

  emulator::Accessor accessor(std::size_t who) {
    return {0, static_cast<unsigned>(who), &history_.clock(who), &recent_[who]};
  }
  bool written_before(std::size_t who, const Cell& cell) const {
    return cell.state == State::unwritten ||
           (cell.state == State::written && history_.ordered(who, cell.writer));
  }
  void compare(const std::string& fault, const std::string& expected) {
    INFO("found \"" << fault << "\"");
    INFO("expected \"" << expected << "\"");
    REQUIRE(fault.substr(0, expected.size()) == expected);
    REQUIRE(fault.empty() == expected.empty());
    over_ = !fault.empty();
    raced_ = fault.starts_with("race");
  }

  History history_{1, threads};
  SharedMemory memory_;
  std::array<Cell, bytes> cells_;
  std::array<std::byte, bytes> values_ = {};
  std::array<emulator::RecentAccesses, threads> recent_;
  std::array<std::vector<Range>, threads> flying_;
  bool over_ = false;
  bool raced_ = false;
};

/// One random thing that a thread does: what is a fault, seldom.
void act(Model& model, std::mt19937& random) {
  const std::size_t who = below(random, threads);
  const unsigned width = 1U << below(random, 4);
  const auto offset = static_cast<unsigned>(below(random, bytes / width)) * width;
  const auto value = static_cast<std::byte>(below(random, 256));
  const bool careful = below(random, 20) != 0;
  switch (below(random, 12)) {
    case 0:
      if (!careful || model.fault_of_write(who, offset, width).empty())
        model.write(who, offset, width, value);
      break;
    case 1:
      if (!careful || model.fault_of_write(who, offset, width).empty()) model.begin_copy(who, offset, width);
      break;
    case 2: model.end_copies(who, value); break;
    case 3:
    case 4: model.history().meet(test::some_of_block(random, model.history(), threads)); break;
    case 5: model.history().acquire(who, model.history().release(below(random, threads))); break;
    default:
      if (!careful || model.fault_of_read(who, offset, width).empty()) model.read(who, offset, width);
      break;
  }
}

/// All bytes written, and known to all.
void prepare(Model& model) {
  for (unsigned i = 0; i < bytes; i += 8) model.write(i / 8, i, 8, std::byte{1});
  model.history().meet({0, 1, 2, 3, 4});
}

}  // namespace

TEST_CASE("Shared memory finds what a model finds", "[shared]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int races = 0;
  int long_ones = 0;
  for (int round = 0; round < 500; ++round) {
    INFO("round " << round);
    Model model;
    if (round % 4 != 0) prepare(model);
    int actions = 0;
    while (!model.over() && actions < 300) act(model, random), ++actions;
    races += model.raced() ? 1 : 0;
    long_ones += actions > 20 ? 1 : 0;
  }
  // Enough of both: what is found, and what must be passed on the way there.
  CHECK(races > 100);
  CHECK(long_ones > 300);
}

TEST_CASE("Sets of readers answer as lists of all readers would", "[shared]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    History history(1, threads);
    emulator::AccessLog log;
    emulator::ReaderSets sets;
    std::array<emulator::RecentAccesses, threads> recent;
    const auto accessor = [&](std::size_t who) {
      return emulator::Accessor{0, static_cast<unsigned>(who), &history.clock(who), &recent[who]};
    };
    // Some bytes, each with its set and its list.
    std::array<emulator::ReaderSets::Id, 6> ids = {};
    std::array<std::vector<std::size_t>, 6> lists;
    for (int step = 0; step < 200; ++step) {
      const std::size_t who = below(random, threads);
      if (below(random, 4) == 0) history.meet(test::some_of_block(random, history, threads));
      const std::size_t event = history.happen(who);
      const AccessId access =
          recent[who].number(log, {Site::current(), 0, history.events()[event].step,
                                   static_cast<std::uint16_t>(who), emulator::AccessKind::read});
      const std::size_t first = below(random, ids.size());
      for (std::size_t i = first; i < std::min(first + 3, ids.size()); ++i) {
        ids[i] = sets.with(ids[i], access, log, accessor(who));
        lists[i].push_back(event);
      }
      const std::size_t byte = below(random, ids.size());
      for (std::size_t each = 0; each < threads; ++each) {
        bool all_ordered = true;
        for (const std::size_t reader : lists[byte])
          all_ordered = all_ordered && history.ordered(each, reader);
        REQUIRE((sets.unordered(ids[byte], log, accessor(each)) == 0) == all_ordered);
      }
      if (below(random, 10) == 0) ids[byte] = emulator::ReaderSets::none, lists[byte].clear();
    }
  }
}

TEST_CASE("Shared memory is poisoned at first", "[shared]") {
  SharedMemory memory;
  History history(1, 1);
  emulator::RecentAccesses recent;
  const emulator::Accessor by = {0, 0, &history.clock(0), &recent};
  for (int round = 0; round < 2; ++round) {
    memory.reset(16, {.races = true, .unwritten = false});
    unsigned value = 0;
    CHECK(memory.read(by, SharedMemory::base + 4, &value, 4, 4, Site::current()) == "");
    CHECK(value == 0xffffffff);
    value = 7;
    CHECK(memory.write(by, SharedMemory::base + 4, &value, 4, 4, Site::current()) == "");
  }
}
