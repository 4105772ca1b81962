#include "tools/command/bench/flags.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "lab/bench/cublaslt.hpp"
#include "lab/bench/cudnn.hpp"
#include "lab/bench/setup.hpp"
#include "lab/operation.hpp"
#include "lab/problems/seed.hpp"
#include "lab/text.hpp"
#include "tools/command/bench/report.hpp"
#include "tools/command/common/selection.hpp"

namespace quarry::command {
namespace {

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
  options.yardstick.block_scales = flags.cublaslt_blocks;
  if (!flags.kernel.empty()) {
    const Result<Kernel> kernel = read_kernel(flags.kernel);
    if (!kernel) return kernel.status();
    options.kernel = *kernel;
  }
  return options;
}

/// Refuses a file that cannot be written, before minutes are spent on what it would hold. Makes none.
Status check_writable(const char* flag, const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) return {};
  const auto bad = [&](const std::string& why) {
    return Status(StatusCode::invalid_arguments, std::string(flag) + ": " + why);
  };
  std::error_code error;
  const fs::path parent = fs::path(path).parent_path();
  const fs::path folder = parent.empty() ? fs::path(".") : parent;
  if (!fs::is_directory(folder, error)) return bad("there is no folder " + lab::quoted(folder.string()));
  const fs::file_status status = fs::status(path, error);
  const bool is_there = fs::exists(status);
  if (is_there && !fs::is_regular_file(status)) return bad(lab::quoted(path) + " is no file");
  if (access(is_there ? path.c_str() : folder.c_str(), W_OK) != 0)
    return bad("cannot write " + lab::quoted(path) + ": " + std::strerror(errno));
  return {};
}

/// Whether two paths lead to one file, which may not exist yet. An empty path leads to none.
bool is_same_file(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  std::error_code error;
  const auto of_one = std::filesystem::weakly_canonical(one, error);
  return !error && of_one == std::filesystem::weakly_canonical(other, error);
}

Status check_files(const BenchFlags& flags) {
  const std::pair<const char*, const std::string*> files[] = {
      {"--svg", &flags.svg}, {"--dump-times", &flags.dump_times}, {"--resume", &flags.resume}};
  for (std::size_t i = 1; i < std::size(files); ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      if (!is_same_file(*files[other].second, *files[i].second)) continue;
      return {StatusCode::invalid_arguments, std::string(files[other].first) + " and " + files[i].first +
                                                 " are the same file: " + lab::quoted(*files[i].second)};
    }
  }
  if (Status s = check_writable("--svg", flags.svg); !s) return s;
  if (Status s = check_writable("--dump-times", flags.dump_times); !s) return s;
  return check_writable("--resume", flags.resume);
}

/// Sets which library the problems are measured by, and where it is.
Status read_library(const BenchFlags& flags, BenchRequest& request) {
  request.kind = lab::lab_of(request.problems.front().operation()).library;
  if (flags.cublaslt_blocks) {
    const auto bad = [](const std::string& why) {
      return Status(StatusCode::invalid_arguments, "--cublaslt-blocks: " + why);
    };
    if (request.kind != &lab::CublasLt::kind)
      return bad(std::string("these problems are measured by ") + request.kind->name);
    if (flags.cublaslt == "none") return bad("--cublaslt none leaves the library out");
  }
  for (const auto& [kind, text] :
       {std::pair(&lab::CublasLt::kind, &flags.cublaslt), std::pair(&lab::Cudnn::kind, &flags.cudnn)}) {
    if (kind == request.kind) {
      request.library = *text;
    } else if (!text->empty() && *text != "none") {
      return Status(
          StatusCode::invalid_arguments,
          std::string("--") + kind->word + ": these problems are measured by " + request.kind->name);
    }
  }
  return {};
}

}  // namespace

Result<BenchRequest> read_bench_request(const BenchFlags& flags) {
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
  if (Status s = read_library(flags, request); !s) return s;
  if (Status s = check_listing(flags.listing, bench_columns(*request.kind, true)); !s) return s;
  if (Status s = check_files(flags); !s) return s;
  if (!flags.resume.empty()) {
    Result<lab::BenchRecord> record = lab::BenchRecord::read(flags.resume);
    if (!record) return record.status();
    request.record = *std::move(record);
    if (Status s = request.record.check(lab::asked_setup(request.options, flags.where)); !s) return s;
  }
  return request;
}

void add_bench_flags(CLI::App& command, BenchFlags& flags) {
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
  command.add_flag("--cublaslt-blocks", flags.cublaslt_blocks,
                   "Give it scales of blocks, too (12.9 and later, Hopper); otherwise one factor");
  command
      .add_option("--cudnn", flags.cudnn,
                  "cuDNN's library, for convolutions; otherwise searched; none: without it")
      ->type_name("FILE");
  command.add_option("--svg", flags.svg, "Write a chart of the ratios to that library")->type_name("FILE");
  command
      .add_option("--dump-times", flags.dump_times,
                  "Write predicted and measured times of all timed kernels, JSON lines")
      ->type_name("FILE");
  command
      .add_option("--resume", flags.resume,
                  "Add each result to this file, and do not measure the problems that it has")
      ->type_name("FILE");
  add_listing_flags(command, flags.listing);
}

}  // namespace quarry::command
