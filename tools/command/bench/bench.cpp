/// quarry bench: how fast kernels are, beside each other and beside cuBLASLt.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "lab/bench/shape.hpp"
#include "lab/bench/yardstick.hpp"
#include "lab/problems/seed.hpp"
#include "lab/progress.hpp"
#include "lab/text.hpp"
#include "lab/trials/trial.hpp"
#include "quarry/system.hpp"
#include "tools/command/bench/report.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/problem_flags.hpp"
#include "tools/command/common/selection.hpp"

namespace quarry::command {
namespace {

struct BenchFlags {
  ProblemFlags problem;
  ListingFlags listing;
  std::string where;
  std::string kernel;
  std::string top = "16";
  bool all = false;
  std::string vary = "4";
  std::string repeats = "11";
  std::string gap_ms = "10";
  std::string seed;
  bool no_overlap = false;
  std::string cublaslt;
  std::string svg;
  std::string dump_times;
};

/// What the flags ask for.
struct BenchRequest {
  std::vector<lab::Problem> problems;
  Filter filter;
  lab::BenchOptions options;
  std::uint64_t seed = 0;
};

Result<lab::BenchOptions> read_options(const BenchFlags& flags) {
  lab::BenchOptions options;
  const Result<std::int64_t> top = lab::parse_integer("--top", flags.top, 1, 1'000'000);
  if (!top) return top.status();
  options.top = flags.all ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(*top);
  const Result<std::int64_t> vary = lab::parse_integer("--vary", flags.vary, 0, 1'000'000);
  if (!vary) return vary.status();
  options.vary = static_cast<std::size_t>(*vary);
  const Result<std::int64_t> repeats = lab::parse_integer("--repeats", flags.repeats, 3, 1000);
  if (!repeats) return repeats.status();
  options.repeats = static_cast<int>(*repeats);
  const Result<std::int64_t> gap = lab::parse_integer("--gap-ms", flags.gap_ms, 0, 10'000);
  if (!gap) return gap.status();
  options.gap = std::chrono::milliseconds(*gap);
  options.overlap = !flags.no_overlap;
  if (!flags.kernel.empty()) {
    const Result<Kernel> kernel = read_kernel(flags.kernel);
    if (!kernel) return kernel.status();
    options.kernel = *kernel;
  }
  return options;
}

/// Refuses a file that cannot be written, before minutes are spent on what it shall hold.
Status check_writable(const char* flag, const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) return {};
  const auto bad = [&](const std::string& why) {
    return Status(StatusCode::invalid_arguments, std::string(flag) + ": " + why);
  };
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error))
    return bad("there is no folder " + lab::quoted(folder.string()));
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return bad(lab::quoted(path) + " is no file");
  return {};
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (file) return {};
  return Status(StatusCode::file_error, "cannot write " + lab::quoted(path) + ": " + std::strerror(errno));
}

Result<BenchRequest> read_request(const BenchFlags& flags) {
  BenchRequest request;
  const Result<Filter> filter = read_filter(flags.where);
  if (!filter) return filter.status();
  request.filter = *filter;
  const Result<lab::BenchOptions> options = read_options(flags);
  if (!options) return options.status();
  request.options = *options;
  const Result<std::uint64_t> seed = lab::read_seed(flags.seed);
  if (!seed) return seed.status();
  request.seed = *seed;
  Result<std::vector<lab::Problem>> problems = read_problems(flags.problem);
  if (!problems) return problems.status();
  request.problems = *std::move(problems);
  for (const lab::Problem& problem : request.problems) {
    if (Status s = check_not_empty(problem); !s) return s;
  }
  if (Status s = check_listing(flags.listing, bench_columns(true)); !s) return s;
  if (Status s = check_writable("--svg", flags.svg); !s) return s;
  if (Status s = check_writable("--dump-times", flags.dump_times); !s) return s;
  return request;
}

/// The library where there is one; absent, with a message, where it is not found or not wanted. Fails where
/// the one that was named cannot be used.
Result<std::optional<lab::CublasLt>> open_library(const BenchFlags& flags) {
  if (flags.cublaslt == "none") return std::optional<lab::CublasLt>();
  Result<lab::CublasLt> opened = lab::CublasLt::open(flags.cublaslt);
  if (opened) return std::optional<lab::CublasLt>(*std::move(opened));
  if (!flags.cublaslt.empty())
    return Status(opened.status().code(), "--cublaslt: " + opened.status().message());
  message(opened.status().message() + "; its columns are left out");
  return std::optional<lab::CublasLt>();
}

/// All problems. Failures of single ones are said, and raise `exit`.
std::vector<lab::BenchResult> bench_all(const BenchRequest& request, const lab::BenchSetting& base,
                                        int& exit) {
  std::vector<lab::BenchResult> results;
  lab::Progress progress("bench", request.problems.size());
  lab::BenchSetting setting = base;
  setting.say = [&](const std::string& text) {
    progress.clear();
    message(text);
  };
  for (std::size_t i = 0; i < request.problems.size(); ++i) {
    const lab::Problem& problem = request.problems[i];
    const std::uint64_t seed =
        request.problems.size() == 1 ? request.seed : lab::derived_seed(request.seed, i);
    Result<lab::BenchResult> result = lab::bench_shape(problem, seed, setting);
    progress.advance(1);
    if (!result) {
      progress.clear();
      exit = std::max(exit, report(Status(result.status().code(),
                                          shape_text(problem) + ": " + result.status().message())));
      continue;
    }
    if (!result->wrong.empty()) exit = std::max<int>(exit, failed);
    results.push_back(*std::move(result));
  }
  return results;
}

Status print_results(const std::vector<lab::BenchResult>& results, const lab::BenchSetting& setting,
                     const ListingFlags& flags) {
  const BenchMeans means = bench_means(results);
  const bool with_cublaslt = setting.library != nullptr;
  Listing listing{
      .noun = "results",
      .columns = bench_columns(with_cublaslt),
      .rows = results.size(),
      .cell = [&](std::size_t row, std::size_t column) { return bench_cell(results[row], column); },
      .name_column = bench_name_column};
  if (flags.format == Format::json) {
    listing.head = {{"device", std::string(setting.device.name)},
                    {"cublaslt_version", with_cublaslt ? nlohmann::ordered_json(setting.library->version())
                                                       : nlohmann::ordered_json()},
                    {"repeats", setting.options.repeats},
                    {"gap_ms", setting.options.gap.count()},
                    {"overlap", setting.options.overlap},
                    {"geometric_means", means_json(means)},
                    {"finalists", finalists_json(results)}};
  }
  if (Status s = print(listing, flags); !s) return s;
  if (flags.format == Format::table) {
    write_output("\n" + means_text(means));
  } else if (flags.format != Format::json) {
    std::string text = means_text(means);
    if (!text.empty()) text.pop_back();
    message(text);
  }
  return {};
}

Status write_files(const std::vector<lab::BenchResult>& results, const lab::BenchSetting& setting,
                   const BenchFlags& flags) {
  if (!flags.dump_times.empty()) {
    std::string text;
    for (const lab::BenchResult& result : results) text += times_text(result);
    if (Status s = write_file(flags.dump_times, text); !s) return s;
  }
  if (flags.svg.empty()) return {};
  if (!bench_means(results).worse)
    return Status(StatusCode::device_error, "--svg: no problem has a ratio to cuBLASLt to draw");
  return write_file(flags.svg, bench_svg(results, setting.device.name));
}

int bench(const BenchFlags& flags) {
  const Result<BenchRequest> request = read_request(flags);
  if (!request) return report(request.status());
  if (!flags.cublaslt.empty() && flags.cublaslt != "none") {
    // What was named on the command line is checked like the rest of it, with a device or without.
    if (Result<lab::CublasLt> named = lab::CublasLt::open(flags.cublaslt); !named)
      return report(Status(named.status().code(), "--cublaslt: " + named.status().message()));
  }
  if (Status there = cuda_status(lab::used_device); !there)
    return report(Status(there.code(), "nothing can be timed here: " + there.message()));
  const Result<DeviceModel> device = device_model(lab::used_device);
  if (!device) return report(device.status());

  Result<std::optional<lab::CublasLt>> library = open_library(flags);
  if (!library) return report(library.status());
  if (*library) {
    if (Status started = (*library)->start(); !started) return report(started);
  }
  const Result<lab::DeviceBuffer> workspace =
      lab::DeviceBuffer::allocate(lab::bench_workspace, lab::used_device);
  if (!workspace) return report(workspace.status());
  lab::BenchOptions options = request->options;
  if (!compiler_status()) {
    message("there is no compiler: only precompiled kernels are timed");
    options.availability = Availability::precompiled;
  }
  const lab::BenchSetting setting{.filter = request->filter,
                                  .options = options,
                                  .device = *device,
                                  .library = *library ? &**library : nullptr,
                                  .workspace = *workspace,
                                  .say = {}};
  int exit = done;
  const std::vector<lab::BenchResult> results = bench_all(*request, setting, exit);
  if (results.empty()) return exit;
  if (Status s = print_results(results, setting, flags.listing); !s) return report(s);
  if (Status s = write_files(results, setting, flags); !s) return report(s);
  return exit;
}

constexpr const char* notes =
    "Times are medians of bursts between CUDA events, all contestants interleaved in random order, on random "
    "data that\n"
    "rotates through four times the L2. Problems of 100 us and more are timed twice: with idle gaps and back "
    "to back; the\n"
    "ratio that counts is the worse. A ratio is one of speeds: above 1, the kernel is faster than the best "
    "of "
    "the 32\n"
    "algorithms that cuBLASLt offers. See docs/bench.md.";

void add_flags(CLI::App& command, BenchFlags& flags) {
  add_problem_flags(command, flags.problem);
  add_where_flag(command, flags.where);
  command.add_option("--kernel", flags.kernel, "Time this kernel alone: a name or a config as JSON")
      ->type_name("NAME|JSON");
  command.add_option("--top", flags.top, "Time so many kernels, the predicted best ones (16)")
      ->type_name("N");
  command.add_flag("--all", flags.all, "Time every kernel that matches");
  command
      .add_option("--vary", flags.vary,
                  "Time the fastest N kernels with other orders of tiles and slices of K, too (4)")
      ->type_name("N");
  command.add_option("--repeats", flags.repeats, "Bursts of each finalist (11)")->type_name("N");
  command.add_option("--gap-ms", flags.gap_ms, "Idle time before each burst with gaps (10)")->type_name("MS");
  command.add_option("--seed", flags.seed, "Seed of operands and order; otherwise a fresh one")
      ->type_name("N");
  command.add_flag("--no-overlap", flags.no_overlap,
                   "Launch kernels so that none starts while the one before it ends");
  command
      .add_option("--cublaslt", flags.cublaslt, "cuBLASLt's library, otherwise searched; none: without it")
      ->type_name("FILE");
  command.add_option("--svg", flags.svg, "Write a chart of the ratios to cuBLASLt")->type_name("FILE");
  command
      .add_option("--dump-times", flags.dump_times,
                  "Write predicted and measured times of all timed kernels, JSON lines")
      ->type_name("FILE");
  add_listing_flags(command, flags.listing);
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = add_command(app, "bench",
                                  {.help = "Time the best kernels on the device, beside cuBLASLt",
                                   .usage = "OPERATION SHAPE [TYPE] [FLAGS]",
                                   .notes = notes});
  add_flags(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return bench(*flags); }; });
}

}  // namespace quarry::command
