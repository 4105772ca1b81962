/// Compiles registered kernels with a run-time compiler and says which do not compile: a random sample of
/// those that are not precompiled, or all.
#include <time.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/common/row.hpp"
#include "registry/compile/compiler.hpp"
#include "registry/compile/sources.hpp"

using namespace quarry;

namespace {

constexpr const char* usage =
    R"(quarry_compile_check [--count N | --percent N | --all] [--seed N] [--target N] [--threads N] [--backend nvrtc|nvcc]
  Compiles a sample of the kernels that are not precompiled, 5 percent unless told; with --all every entry that the
  registry has. The seed is printed. Exit code: 0 all compiled, 1 some did not, 2 wrong usage, 4 no compiler.
)";

struct Settings {
  int count = 0;  ///< 0: by percent
  int percent = 5;
  bool all = false;
  int seed = static_cast<int>(lab::fresh_seed() >> 1);
  int target = 90;
  int threads = 0;
  CompilerBackend backend = CompilerBackend::automatic;
};

bool parse(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--all") {
      settings.all = true;
      continue;
    }
    if (++i == argc) return false;
    const std::string_view word = argv[i];
    if (flag == "--backend") {
      const Result<CompilerBackend> backend = parse_compiler_backend(word);
      if (!backend) return false;
      settings.backend = *backend;
      continue;
    }
    int* const number = flag == "--count"     ? &settings.count
                        : flag == "--percent" ? &settings.percent
                        : flag == "--seed"    ? &settings.seed
                        : flag == "--target"  ? &settings.target
                        : flag == "--threads" ? &settings.threads
                                              : nullptr;
    if (number == nullptr) return false;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
    if (error != std::errc() || end != word.data() + word.size() || *number < 0) return false;
  }
  return true;
}

/// Whether an entry can be compiled for a target.
bool is_for(std::string_view name, int target) {
  const Result<detail::EntrySource> source = detail::entry_source(name);
  return !source || source->only_cc == 0 || source->only_cc == target;
}

/// Names of the entries to compile, in random order.
std::vector<std::string_view> choose(const Settings& settings) {
  std::vector<std::string_view> names;
  for (const detail::Entry& entry : detail::entries()) {
    if ((settings.all || entry.unit < 0) && is_for(entry.name, settings.target)) names.push_back(entry.name);
  }
  std::mt19937 random(static_cast<unsigned>(settings.seed));
  std::ranges::shuffle(names, random);
  if (settings.all) return names;
  const std::size_t share = (names.size() * static_cast<std::size_t>(settings.percent) + 99) / 100;
  names.resize(std::min(names.size(), settings.count > 0 ? static_cast<std::size_t>(settings.count) : share));
  return names;
}

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// What came of one entry.
struct Outcome {
  std::string_view name;
  Status status;
  double seconds = 0;  ///< of the thread that compiled it, on a processor
  CodeResources resources;
};

Outcome compile_one(std::string_view name, const detail::Compiler& compiler, int target) {
  Outcome outcome = {name, {}, 0, {}};
  const double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  const Result<detail::EntrySource> source = detail::entry_source(name);
  outcome.status = source.status();
  if (source) {
    const Result<detail::CompiledCode> code =
        compiler.compile({source->text, std::string(name), target, source->only_cc});
    outcome.status = code.status();
    if (code) outcome.resources = code->resources;
    if (code && code->resources.registers == 0) {
      outcome.status = {StatusCode::compile_error, "the compiler's log names no registers: " + code->log};
    }
  }
  outcome.seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin;
  return outcome;
}

/// The sums, and the time that a kernel took. Answers how many failed.
int print_summary(std::vector<Outcome> outcomes, double wall, double processor) {
  const auto count = static_cast<double>(outcomes.size());
  const auto failures =
      std::ranges::count_if(outcomes, [](const Outcome& outcome) { return !outcome.status; });
  std::ranges::sort(outcomes, {}, &Outcome::seconds);
  std::size_t bytes = 0;
  int spilling = 0;
  for (const Outcome& outcome : outcomes) {
    bytes += outcome.resources.code_bytes;
    spilling += outcome.resources.spill_bytes > 0 ? 1 : 0;
  }
  std::printf("%zu kernels, %td failed; %d spill; %.0f bytes of code a kernel\n", outcomes.size(), failures,
              spilling, static_cast<double>(bytes) / count);
  std::printf(
      "%.1f s, %.1f s of processors, %.3f s a kernel; within the compiling thread %.3f s at the "
      "median, %.3f s at most (%s)\n",
      wall, processor, processor / count, outcomes[outcomes.size() / 2].seconds, outcomes.back().seconds,
      std::string(outcomes.back().name).c_str());
  return static_cast<int>(failures);
}

int check(const Settings& settings) {
  const Result<const detail::Compiler*> compiler = detail::find_compiler(settings.backend);
  if (!compiler) {
    std::printf("skipped, as there is no compiler: %s\n", compiler.status().message().c_str());
    return 4;
  }
  const std::vector<std::string_view> names = choose(settings);
  std::printf("%zu of %zu entries for sm_%d, seed %d, by %s\n", names.size(), detail::entries().size(),
              settings.target, settings.seed, std::string((*compiler)->identity()).c_str());
  if (names.empty()) return 0;
  const int threads = settings.threads > 0 ? settings.threads : host::default_threads();
  std::mutex mutex;
  std::vector<Outcome> outcomes;
  const auto begin = std::chrono::steady_clock::now();
  const double begin_processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  host::parallel_for(std::ssize(names), threads, [&](int, std::int64_t i) {
    Outcome outcome = compile_one(names[static_cast<std::size_t>(i)], **compiler, settings.target);
    const std::lock_guard lock(mutex);
    if (!outcome.status) {
      std::printf("%s: %s\n", std::string(outcome.name).c_str(), outcome.status.message().c_str());
    }
    outcomes.push_back(std::move(outcome));
    if (outcomes.size() % 100 == 0) std::printf("%zu of %zu\n", outcomes.size(), names.size());
    std::fflush(stdout);
  });
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  if (std::ranges::all_of(outcomes,
                          [](const Outcome& o) { return o.status.code() == StatusCode::no_compiler; })) {
    std::printf("skipped, as the compiler cannot be used\n");
    return 4;
  }
  const double processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begin_processor;
  return print_summary(std::move(outcomes), wall.count(), processor) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!parse(argc, argv, settings)) {
    std::fputs(usage, stderr);
    return 2;
  }
  return check(settings);
}
