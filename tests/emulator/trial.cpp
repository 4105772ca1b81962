#include "trial.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <numeric>

#include "emulator/access.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {
namespace {

using emulator::CopyTiming;

constexpr CopyTiming timings[] = {CopyTiming::late, CopyTiming::early, CopyTiming::mixed};
constexpr const char* timing_names[] = {"late", "early", "mixed"};

struct alignas(256) Gap {
  std::byte bytes[256];
};

struct Arena {
  Gap before;
  alignas(256) int in[Operands::numbers];
  Gap between;
  alignas(256) int out[Operands::numbers];
  Gap behind;
  alignas(256) int counters[Operands::counter_count];
  Gap after;
};

struct Work {
  Operands operands;
  Kernel kernel;
};

const emulator::Entry entry = {[](const void* params) {
                                 const Work& work = *static_cast<const Work*>(params);
                                 work.kernel(work.operands);
                               },
                               1024};

std::mutex marks_mutex;
std::map<std::string, std::string> marks;

/// Runs with `seeds` seeds, new ones each time, and every timing of copies.
void with_all(Kernel kernel, const Setup& setup, int seeds, void (*look)(const Trial&, const void*),
              const void* with) {
  const std::uint64_t first = lab::fresh_seed();
  for (std::uint64_t seed = first; seed < first + static_cast<unsigned>(seeds); ++seed) {
    for (const CopyTiming timing : timings) {
      INFO("seed " << seed << ", copies " << timing_names[static_cast<int>(timing)]);
      look(run_once(kernel, setup, seed, timing), with);
    }
  }
}

}  // namespace

Trial run_once(Kernel kernel, const Setup& setup, std::uint64_t seed, CopyTiming copies) {
  const auto arena = std::make_unique<Arena>();
  for (int i = 0; i < Operands::numbers; ++i) arena->in[i] = input(i);
  emulator::GlobalMemory memory(setup.checks);
  memory.add(arena->in, sizeof arena->in, emulator::MemoryUse::input, "in");
  memory.add(arena->out, sizeof arena->out, emulator::MemoryUse::output, "out");
  memory.add(arena->counters, sizeof arena->counters, emulator::MemoryUse::updated, "counters");
  const Work work = {{arena->in, arena->out, arena->counters, setup.argument}, kernel};
  const emulator::Launch launch = {
      &entry,        &work,          setup.grid, setup.threads, setup.shared_memory, setup.blocks_wait,
      setup.cluster, setup.dependent};
  const emulator::Options options = {seed, copies, setup.checks, setup.host_threads};
  Trial trial = {emulator::run(launch, memory, options), {}};
  trial.out.assign(arena->out, arena->out + Operands::numbers);
  return trial;
}

void mark(const char* name, const emulator::Site& site) {
  const std::string here = emulator::text_of(site);
  const std::size_t colon = here.rfind(':');
  const std::lock_guard lock(marks_mutex);
  marks[name] = here.substr(0, colon + 1) + std::to_string(std::stoi(here.substr(colon + 1)) + 1);
}

std::string place(const std::string& name) {
  const std::lock_guard lock(marks_mutex);
  const auto found = marks.find(name);
  return found == marks.end() ? "no thread came to mark " + name : found->second;
}

TensorMap map_of(const int* data, std::array<unsigned, 3> extent, std::array<unsigned, 3> box,
                 TensorSwizzle swizzle) {
  const unsigned long long line = 4ULL * extent[0];
  TensorMapFields fields = {.data = data,
                            .dtype = DType::s32,
                            .swizzle = swizzle,
                            .extent = {extent[0], extent[1], extent[2], 0},
                            .stride = {line, line * extent[1], 0},
                            .box = {box[0], box[1], box[2]},
                            .walk = {}};
  return map_of(fields);
}

TensorMap map_of(const TensorMapFields& fields) {
  TensorMap map = {};
  std::memcpy(map.bytes, &fields, sizeof fields);
  return map;
}

void caught(Kernel kernel, const Setup& setup, const std::vector<std::string>& words) {
  {
    const std::lock_guard lock(marks_mutex);
    marks.clear();
  }
  const auto look = [](const Trial& trial, const void* with) {
    const std::string& fault = trial.outcome.fault;
    CHECK_THAT(fault, Catch::Contains("thread ") && Catch::Contains(" (warp ") &&
                          Catch::Contains(", lane ") && Catch::Contains(") of block "));
    for (const std::string& word : *static_cast<const std::vector<std::string>*>(with)) {
      CHECK_THAT(fault, Catch::Contains(word.starts_with('@') ? place(word.substr(1)) : word));
    }
  };
  with_all(kernel, setup, 4, look, &words);
}

void fine(Kernel kernel, const Setup& setup, const std::vector<int>& expected) {
  const auto look = [](const Trial& trial, const void* with) {
    CHECK(trial.outcome.fault == "");
    const auto& right = *static_cast<const std::vector<int>*>(with);
    CHECK(std::vector<int>(trial.out.begin(),
                           trial.out.begin() + static_cast<std::ptrdiff_t>(right.size())) == right);
  };
  with_all(kernel, setup, 10, look, &expected);
}

}  // namespace quarry::test
