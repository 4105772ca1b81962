/// The probes on a GPU: compared with the emulator, where it is built, and with the recorded results.
///
///   quarry_arch_gpu [--record FILE] [--verbose]
///
/// Without a GPU it ends with status 4: skipped.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/kernels/arch/device_side.hpp"
#include "tests/kernels/arch/results.hpp"
#ifdef QUARRY_ARCH_EMULATOR
#include "lab/problems/fresh_seed.hpp"
#include "tests/kernels/arch/emulated_side.hpp"
#endif

using namespace quarry;
using namespace quarry::test;

namespace {

constexpr int status_skipped = 4;
constexpr int status_usage = 2;

struct Arguments {
  std::string record;  ///< where to write results; "": compare with those that are kept
  bool verbose = false;
};

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--verbose") == 0) {
      arguments.verbose = true;
    } else if (std::strcmp(argv[i], "--record") == 0 && i + 1 < argc) {
      arguments.record = argv[++i];
    } else {
      return false;
    }
  }
  return true;
}

/// Says what is wrong with a probe; counts it.
void say(int& wrong, const Probe& probe, const std::string& against, const std::string& fault) {
  ++wrong;
  std::printf("%s, %s: %s\n", probe.name().c_str(), against.c_str(), fault.c_str());
}

/// The GPU's result, the same in two runs that differ in what memory held before.
SideResult run_twice(const DeviceSide& device, const Probe& probe, const Words& inputs) {
  SideResult first = device.run(probe, inputs, 0);
  if (!first.fault.empty()) return first;
  SideResult second = device.run(probe, inputs, ~0U);
  if (!second.fault.empty()) return second;
  const std::string text = difference({}, first.words, second.words).text;
  if (!text.empty()) return {"two runs differ: " + text, {}};
  return first;
}

#ifdef QUARRY_ARCH_EMULATOR
/// Compares the emulator with the GPU.
void compare_with_emulator(int& wrong, const Probe& probe, const Words& inputs, const Words& device,
                           const Arguments& arguments, std::uint64_t seed) {
  const std::string against = "emulator against GPU, seed " + std::to_string(seed);
  const SideResult emulated = run_emulated(probe, inputs, 0);
  if (!emulated.fault.empty()) return say(wrong, probe, against, emulated.fault);
  const Difference found = difference(probe.comparison, device, emulated.words);
  if (found.wrong > 0) {
    std::string text = found.text;
    if (probe.items > 0) {
      // What an item was made from: as many words for each.
      const std::size_t each = inputs.size() * 2 / probe.items;  // half words
      text += "; its inputs:";
      for (std::size_t i = found.first * each; i < (found.first + 1) * each; ++i) {
        char half[8];
        std::snprintf(half, sizeof half, " %04x", inputs[i / 2] >> (i % 2 * 16) & 0xffffU);
        text += half;
      }
    }
    return say(wrong, probe, against, text);
  }
  if (arguments.verbose) {
    std::printf("%s: %zu elements, %llu of %u units apart\n", probe.name().c_str(), found.elements,
                static_cast<unsigned long long>(found.worst), probe.comparison.ulps);
  }
}
#else
void compare_with_emulator(int&, const Probe&, const Words&, const Words&, const Arguments&, std::uint64_t) {}
#endif

/// The recorded results; where they cannot be read, says so.
Table recorded(int& wrong) {
  std::ostringstream text;
  text << std::ifstream(QUARRY_SOURCE_DIR "/tests/kernels/arch/recorded.txt").rdbuf();
  std::string fault;
  Table table = table_of(text.str(), fault);
  if (!fault.empty()) {
    ++wrong;
    std::printf("recorded.txt: %s\n", fault.c_str());
  }
  return table;
}

/// Runs a probe on the inputs of a seed.
SideResult run_and_compare(int& wrong, const DeviceSide& device, const Probe& probe, const Words& inputs,
                           const Arguments& arguments, std::uint64_t seed) {
  SideResult result = run_twice(device, probe, inputs);
  if (!result.fault.empty()) {
    say(wrong, probe, "GPU", result.fault);
  } else {
    compare_with_emulator(wrong, probe, inputs, result.words, arguments, seed);
  }
  return result;
}

int run(const DeviceSide& device, const Arguments& arguments) {
  int wrong = 0;
  const bool records = !arguments.record.empty();
  const Table kept = records ? Table() : recorded(wrong);
  Table table = {"Results of the probes on " + device.description() +
                     "; written by quarry_arch_gpu --record tests/kernels/arch/recorded.txt",
                 {}};
  const std::uint64_t fresh_seed = lab::fresh_seed();
  for (const Probe& probe : probes()) {
    if (!device.can_run(probe)) continue;
    const Words inputs = inputs_of(probe, recorded_seed);
    const SideResult result = run_and_compare(wrong, device, probe, inputs, arguments, recorded_seed);
    if (!result.fault.empty()) continue;
    table.results.emplace(probe.name(), record(probe, inputs, result.words));
    const std::string fault = records ? "" : check(probe, inputs, result.words, kept);
    if (!fault.empty()) say(wrong, probe, "GPU against recorded.txt", fault);
    run_and_compare(wrong, device, probe, inputs_of(probe, fresh_seed), arguments, fresh_seed);
  }
  if (records) {
    std::ofstream file(arguments.record);
    file << to_text(table);
    file.close();
    if (!file) {
      ++wrong;
      std::printf("%s: cannot be written\n", arguments.record.c_str());
    }
  }
  std::printf("%zu probes on %s: %d wrong\n", probes().size(), device.description().c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: quarry_arch_gpu [--record FILE] [--verbose]\n");
    return status_usage;
  }
  int devices = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0) {
    std::printf("no device: skipped (%s)\n", cudaGetErrorString(error));
    return status_skipped;
  }
  const DeviceSide device;
  if (!device.fault().empty()) {
    std::printf("the probes cannot be loaded: %s\n", device.fault().c_str());
    return 1;
  }
  return run(device, arguments);
}
