#include "tools/command/bench/rows.hpp"

#include "tools/command/common/output.hpp"

namespace quarry::command {

BenchRows::BenchRows(const ListingFlags& flags, const lab::YardstickKind& kind, bool with_library,
                     std::vector<std::string> widest)
    : flags_(flags),
      kind_(kind),
      listing_(
          {.noun = "results",
           .columns = bench_columns(kind, with_library),
           .cell = [this](std::size_t row, std::size_t column) { return bench_cell(results_[row], column); },
           .name_column = bench_name_column},
          flags, std::move(widest)) {}

Status BenchRows::open_times(const std::string& path) { return path.empty() ? Status() : times_.open(path); }

Status BenchRows::add(const lab::BenchResult& result) {
  results_.push_back(result);
  listing_.add();
  return times_.is_open() ? times_.add(times_text(result)) : Status();
}

Status BenchRows::end(nlohmann::ordered_json head) {
  const BenchMeans means = bench_means(results_);
  head["geometric_means"] = means_json(means, kind_);
  head["finalists"] = finalists_json(results_, kind_);
  if (Status s = listing_.end(head); !s) return s;
  if (flags_.format == Format::table) {
    write_output("\n" + means_text(means, kind_));
  } else if (flags_.format != Format::json) {
    std::string text = means_text(means, kind_);
    if (!text.empty()) text.pop_back();
    message(text);
  }
  return {};
}

std::vector<std::string> bench_widest(const std::vector<lab::Problem>& problems,
                                      const std::string& longest_kernel, const lab::YardstickKind& kind) {
  std::string problem;
  for (const lab::Problem& each : problems) {
    if (std::string text = shape_text(each); text.size() > problem.size()) problem = std::move(text);
  }
  std::vector<std::string> widest;
  for (const Column& column : bench_columns(kind, true)) {
    const std::string& name = column.name;
    widest.push_back(name == "problem"             ? problem
                     : name == "kernel"            ? longest_kernel
                     : name == "controls"          ? "split_k_parallel 16, swizzle 8"
                     : name.ends_with("_epilogue") ? "bias, gelu_tanh"
                     : column.decimals == 2        ? "12345.67"
                                                   : "1234.5");
  }
  return widest;
}

}  // namespace quarry::command
