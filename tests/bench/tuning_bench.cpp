/// What a tuning table costs: loading it, and queries with it beside the same queries without. Usage:
/// quarry_bench_tuning_bench [MEASUREMENTS, 100000 unless told]
#include <quarry/quarry.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lab/tune/problem_lines.hpp"
#include "registry/compile/sources.hpp"
#include "registry/tuning/index_file.hpp"
#include "registry/tuning/table_file.hpp"
#include "support/tuned_problems.hpp"

namespace {

using namespace quarry;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kernels_of_a_problem = 4;

GemmArguments problem(std::size_t i) {
  const auto m = static_cast<std::int64_t>(1 + i % 250);
  const auto n = static_cast<std::int64_t>(256 + 8 * (i / 250));
  return {.a = TensorView::row_major(nullptr, DType::bf16, {m, 1024}),
          .b = TensorView::column_major(nullptr, DType::bf16, {1024, n}),
          .out = TensorView::row_major(nullptr, DType::bf16, {m, n})};
}

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Other programs only ever add to it.
double fastest(const std::vector<double>& samples) { return *std::ranges::min_element(samples); }

/// Nanoseconds of find_best over problems in turn. @param rounds times that each is asked about
double query_ns(const std::vector<GemmArguments>& problems, std::size_t rounds, const FindOptions& options) {
  volatile std::size_t found = 0;
  const double seconds = seconds_of([&] {
    for (std::size_t round = 0; round < rounds; ++round) {
      for (const GemmArguments& each : problems) found = found + (find_best(each, {}, options) ? 1 : 0);
    }
  });
  return seconds / static_cast<double>(rounds * problems.size()) * 1e9;
}

detail::TuningTable made_table(std::size_t problems, const FindOptions& options) {
  detail::TuningTable table;
  const CandidateList candidates = get_kernels(problem(17), {}, options);
  for (std::size_t i = 0; i < problems; ++i) {
    for (std::size_t j = 0; j < kernels_of_a_problem; ++j) {
      table.add(test::measured(problem(i), candidates[(i * 7 + j) % 40], 5 + static_cast<double>(j)));
    }
  }
  return table;
}

/// A problem of each operation whose kernels are tuned, and some with an expression.
constexpr const char* lines[] = {
    "conv2d fprop 32x28x28x128 128x3x3 --padding 1 --a bf16:row",
    "grouped_gemm 8x4096x4096 --a bf16:row --b bf16:col --tokens 4096",
    "gemm_list 16*512x512x512 --a bf16:row",
    "elementwise 4096x4096 --epilogue 'out = relu(x)' --with x=bf16:row,out=bf16:row",
    "gemm 512x4096x4096 --a bf16:row --b bf16:col --epilogue 'out = relu(sum + x)' --with x=f32:per_column",
    "gemm 512x4096x4096 --a bf16:row --b bf16:col --epilogue 'z = gelu(sum * scale + bias) * gate; "
    "out = z; most = row_max(abs(z))' --with scale=f32:scalar,bias=f32:per_column,gate=bf16:row"};

/// The fastest nanoseconds of find_best without a table, and with a table that has a measurement of the
/// problem.
void time_operation(const char* line, const std::string& path, const FindOptions& options) {
  const Result<lab::Problem> read = lab::parse_command_text(line);
  if (!read) return;
  const lab::HeldArguments held = arguments_of(*read);
  const Arguments arguments = held;
  clear_tuning();
  const CandidateList found = get_kernels(arguments, {}, options);
  if (found.empty()) return;
  const std::vector<detail::Measurement> measurements = {
      test::measured(arguments, found.begin()[found.size() - 1], 5)};
  std::filesystem::remove(path);
  if (!detail::append_to_table(path, measurements)) return;
  const auto query = [&] {
    constexpr int rounds = 2000;
    return seconds_of([&] {
             for (int i = 0; i < rounds; ++i) (void)find_best(arguments, {}, options);
           }) /
           rounds * 1e9;
  };
  std::vector<double> times[2];
  for (int round = 0; round < 10; ++round) {
    clear_tuning();
    times[0].push_back(query());
    (void)load_tuning(path);
    times[1].push_back(query());
  }
  std::printf("%-13s %7.0f ns without a table, %7.0f ns with it\n", to_string(arguments.operation()).data(),
              fastest(times[0]), fastest(times[1]));
}

}  // namespace

int main(int argc, char** argv) {
  const auto measurements = static_cast<std::size_t>(argc > 1 ? std::max(4, std::atoi(argv[1])) : 100'000);
  const std::size_t count = measurements / kernels_of_a_problem;
  FindOptions options;
  options.device = &device_models().back();  // not a copy, which takes longer to tell from others
  clear_tuning();

  const std::string folder = std::filesystem::temp_directory_path() / "quarry_tuning_bench";
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/table.jsonl";
  std::filesystem::remove(path);
  detail::TuningTable joined;
  const Result<std::size_t> written =
      detail::join_into_table(path, made_table(count, options), detail::sources_digest(), joined);
  if (!written) {
    std::fprintf(stderr, "%s\n", written.status().message().c_str());
    return 1;
  }
  std::printf("%zu measurements of %zu problems: table %.1f MB, index %.1f MB\n", joined.size(), count,
              static_cast<double>(std::filesystem::file_size(path)) * 1e-6,
              static_cast<double>(std::filesystem::file_size(detail::index_path(path))) * 1e-6);

  // More than the memory of answers holds: each is asked about for the first time. Problems with and without
  // a measurement take turns with the same problems before the table is there.
  std::vector<GemmArguments> many;
  for (std::size_t i = 0; i < 300; ++i) many.push_back(problem(i * 7919 % count));
  const std::vector<GemmArguments> few(many.begin(), many.begin() + 16);
  std::vector<double> first[2], again[2], loads, text_loads;
  for (int round = 0; round < 100; ++round) {
    clear_tuning();
    first[0].push_back(query_ns(many, 1, options));
    again[0].push_back(query_ns(few, 1'000, options));
    bool from_index = false;
    loads.push_back(seconds_of([&] {
      const Result<TuningSummary> loaded = load_tuning(path);
      from_index = loaded && loaded->from_index;
    }));
    if (!from_index) std::printf("the index was not used\n");
    first[1].push_back(query_ns(many, 1, options));
    again[1].push_back(query_ns(few, 1'000, options));
  }
  text_loads.push_back(seconds_of([&] { (void)detail::read_table(path); }));
  std::printf("loading the index: %.2f ms (bound 20); reading the text: %.0f ms\n", fastest(loads) * 1e3,
              fastest(text_loads) * 1e3);
  std::printf("find_best, first time: %.0f ns without a table, %.0f ns with it: %+.0f (bound +1000)\n",
              fastest(first[0]), fastest(first[1]), fastest(first[1]) - fastest(first[0]));
  std::printf("find_best, asked again: %.0f ns without a table, %.0f ns with it (bound 300)\n",
              fastest(again[0]), fastest(again[1]));
  for (const char* line : lines) time_operation(line, folder + "/operation.jsonl", options);
  std::filesystem::remove_all(folder);
  return 0;
}
