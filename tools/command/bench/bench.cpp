/// quarry bench: how fast kernels are, beside each other and beside cuBLASLt or cuDNN.
#include <algorithm>

#include "lab/bench/setup.hpp"
#include "lab/bench/shape.hpp"
#include "lab/bench/suite.hpp"
#include "lab/bench/yardstick.hpp"
#include "lab/output_file.hpp"
#include "lab/progress.hpp"
#include "lab/text.hpp"
#include "lab/trials/trial.hpp"
#include "quarry/system.hpp"
#include "tools/command/bench/flags.hpp"
#include "tools/command/bench/rows.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {
namespace {

using OpenLibrary = std::unique_ptr<lab::YardstickLibrary>;

/// The library where there is one; null, with a message, where it is not found or not wanted. Fails where the
/// one that was named cannot be used.
Result<OpenLibrary> open_library(const BenchRequest& request) {
  if (request.library == "none") return OpenLibrary();
  Result<OpenLibrary> opened = request.kind->open(request.library);
  if (opened) return opened;
  const std::string& why = opened.status().message();
  if (!request.library.empty())
    return Status(opened.status().code(), std::string("--") + request.kind->word + ": " + why);
  message(why + "; its columns are left out");
  return OpenLibrary();
}

/// How problems are measured, and what the heading says of it.
struct Instrument {
  const lab::YardstickKind* kind = nullptr;
  std::string device;
  /// Of the library; empty without it.
  std::string library_version;
  std::function<Result<lab::BenchResult>(const lab::Problem&, std::uint64_t)> measure;
};

/// The longest name of the kernels that may be the best of a problem.
std::string longest_name(const BenchRequest& request, const std::vector<lab::BenchResult>& known) {
  std::string longest;
  const auto consider = [&longest](std::string_view name) {
    if (name.size() > longest.size()) longest = name;
  };
  for (const lab::BenchResult& result : known) consider(result.kernels[result.best].name);
  if (known.size() == request.problems.size()) return longest;
  if (request.options.kernel) consider(request.options.kernel->name());
  for (const lab::Problem& problem : request.problems) {
    const FindOptions options = {.limit = request.options.top};
    for (const Candidate& candidate : get_kernels(arguments_of(problem), request.filter, options))
      consider(candidate.name());
  }
  return longest;
}

nlohmann::ordered_json head_of(const Instrument& instrument, const lab::BenchOptions& options) {
  nlohmann::ordered_json version;
  if (!instrument.library_version.empty())
    version = std::strtoull(instrument.library_version.c_str(), nullptr, 10);
  return {{"device", instrument.device},
          {instrument.kind->word + std::string("_version"), version},
          {"repeats", options.repeats},
          {"gap_ms", options.gap.count()},
          {"overlap", options.overlap}};
}

/// Measures what the record does not have, and shows everything.
/// @param progress the bar, which makes way for rows and messages
int run_all(BenchRequest& request, const BenchFlags& flags, const Instrument& instrument,
            lab::Progress& progress) {
  std::vector<lab::BenchResult> known;
  for (std::optional<lab::BenchResult>& each : request.record.results_of(request.problems))
    if (each) known.push_back(*std::move(each));
  BenchRows rows(flags.listing, *instrument.kind, !instrument.library_version.empty(),
                 bench_widest(request.problems, longest_name(request, known), *instrument.kind));
  if (Status s = rows.open_times(flags.dump_times); !s) return report(s);
  int exit = done;
  const lab::BenchSuite suite{
      .problems = request.problems,
      .seed = request.seed,
      .measure = instrument.measure,
      .ended =
          [&](const lab::BenchResult& result) {
            progress.clear();
            if (!result.wrong.empty()) exit = std::max<int>(exit, failed);
            Status added = rows.add(result);
            progress.advance(1);
            return added;
          },
      .failed =
          [&](const lab::Problem& problem, const Status& why) {
            progress.clear();
            exit = std::max(exit, report(Status(why.code(), shape_text(problem) + ": " + why.message())));
            progress.advance(1);
          }};
  const Status ran = run_suite(suite, request.record);
  progress.clear();
  if (!ran) return report(ran);
  if (rows.results().empty()) return exit;
  if (Status s = rows.end(head_of(instrument, request.options)); !s) return report(s);
  if (flags.svg.empty()) return exit;
  if (!bench_means(rows.results()).worse)
    return report(Status(StatusCode::device_error, std::string("--svg: no problem has a ratio to ") +
                                                       instrument.kind->name + " to draw"));
  const std::string chart = bench_svg(rows.results(), instrument.device, *instrument.kind);
  if (Status s = lab::write_file(flags.svg, chart); !s) return report(s);
  return exit;
}

/// Shows what the record has, which is everything: no device is needed.
int show_recorded(BenchRequest& request, const BenchFlags& flags) {
  lab::Progress progress("bench", request.problems.size());
  return run_all(request, flags,
                 {.kind = request.kind,
                  .device = request.record.part(lab::device_part),
                  .library_version = request.record.part(request.kind->word),
                  .measure = {}},
                 progress);
}

int measure_all(BenchRequest& request, const BenchFlags& flags) {
  if (Status there = cuda_status(lab::used_device); !there)
    return report(Status(there.code(), "nothing can be timed here: " + there.message()));
  const Result<DeviceModel> device = device_model(lab::used_device);
  if (!device) return report(device.status());

  Result<OpenLibrary> library = open_library(request);
  if (!library) return report(library.status());
  if (*library) {
    if (Status started = (*library)->start(); !started) return report(started);
  }
  const Result<lab::DeviceBuffer> workspace =
      lab::DeviceBuffer::allocate(lab::bench_workspace, lab::used_device);
  if (!workspace) return report(workspace.status());
  if (!compiler_status()) {
    message("there is no compiler: only precompiled kernels are timed");
    request.options.availability = Availability::precompiled;
  }
  lab::Progress progress("bench", request.problems.size());
  const lab::BenchSetting setting{.filter = request.filter,
                                  .options = request.options,
                                  .device = *device,
                                  .kind = *request.kind,
                                  .library = library->get(),
                                  .workspace = *workspace,
                                  .say = [&progress](const std::string& text) {
                                    progress.clear();
                                    message(text);
                                  }};
  lab::BenchSetup setup = lab::asked_setup(request.options, flags.where);
  const lab::BenchSetup machine = lab::machine_setup(setting);
  setup.insert(setup.end(), machine.begin(), machine.end());
  if (Status opened = request.record.open(setup); !opened) return report(opened);
  return run_all(
      request, flags,
      {.kind = request.kind,
       .device = std::string(device->name),
       .library_version = setting.library != nullptr ? std::to_string(setting.library->version()) : "",
       .measure = [&setting](const lab::Problem& problem,
                             std::uint64_t seed) { return lab::bench_shape(problem, seed, setting); }},
      progress);
}

int bench(const BenchFlags& flags) {
  Result<BenchRequest> request = read_bench_request(flags);
  if (!request) return report(request.status());
  if (!request->library.empty()) {
    // What was named on the command line is checked like the rest of it, with a device or without.
    if (const Result<OpenLibrary> named = open_library(*request); !named) return report(named.status());
  }
  const auto known = request->record.results_of(request->problems);
  const bool all = std::ranges::all_of(known, [](const auto& result) { return result.has_value(); });
  return all ? show_recorded(*request, flags) : measure_all(*request, flags);
}

constexpr const char* notes =
    "Times are medians of bursts between CUDA events, all contestants interleaved in random order, on random "
    "data that\n"
    "rotates through four times the L2. Problems of 100 us and more are timed twice: with idle gaps and back "
    "to back; the\n"
    "ratio that counts is the worse. A ratio is one of speeds: above 1, the kernel is faster than the best "
    "of "
    "the 32\n"
    "algorithms that cuBLASLt offers (convolutions: the engines that cuDNN offers). See docs/bench.md.";

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = add_command(app, "bench",
                                  {.help = "Time the best kernels on the device, beside cuBLASLt or cuDNN",
                                   .usage = "OPERATION SHAPE [TYPE] [FLAGS]",
                                   .notes = notes});
  add_bench_flags(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return bench(*flags); }; });
}

}  // namespace quarry::command
