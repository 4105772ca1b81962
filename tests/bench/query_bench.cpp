/// What finding kernels costs on the CPU, beside two yardsticks that run in the same process: a linear scan
/// of the table and std::unordered_map on the same keys. Usage: quarry_bench_query_bench [SECONDS a
/// measurement, 0.2 unless told]
#include <quarry/quarry.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "operations/common/row.hpp"
#include "operations/gemm/normalise.hpp"
#include "registry/query/operation_info.hpp"
#include "support/gemm_rules.hpp"

namespace {

using namespace quarry;
using Clock = std::chrono::steady_clock;

double seconds_a_measurement = 0.2;

/// Some work, which gives a number so that none of it can be left out.
using Work = std::function<std::size_t()>;

volatile std::size_t all_results = 0;

double seconds_of(const Work& work, int times) {
  const auto start = Clock::now();
  std::size_t results = 0;
  for (int i = 0; i < times; ++i) results += work();
  all_results = results;
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Nanoseconds of one call: the fastest of fifteen batches, because other programs only ever add to it.
double nanoseconds(const Work& work) {
  int times = 1;
  while (seconds_of(work, times) < seconds_a_measurement / 15) times *= 2;
  double fastest = seconds_of(work, times);
  for (int i = 1; i < 15; ++i) fastest = std::min(fastest, seconds_of(work, times));
  return fastest / times * 1e9;
}

/// Prints one line. @param items what the work is divided by; bound 0: none
void report(const std::string& what, double ns, std::size_t items = 1, double bound = 0) {
  const double each = ns / static_cast<double>(std::max<std::size_t>(items, 1));
  std::printf("%-58s %10.1f %8zu %10.2f", what.c_str(), ns, items, each);
  if (bound > 0) std::printf("   <= %.0f: %s", bound, each <= bound ? "yes" : "NO");
  std::printf("\n");
}

GemmArguments problem(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::f16) {
  return {.a = TensorView::row_major(nullptr, type, {m, k}),
          .b = TensorView::column_major(nullptr, type, {k, n}),
          .out = TensorView::row_major(nullptr, type, {m, n})};
}

/// Kernels of the problem's types and layouts: what a query looks at.
std::size_t kernels_of_key(const GemmArguments& args) {
  GemmProblem problem;
  return test::normalise(args, problem) ? detail::rows_of<detail::gemm::Rules>(problem).rows() : 0;
}

void bench_queries() {
  for (const auto& [m, n, k] :
       {std::array{4096, 4096, 4096}, std::array{256, 256, 8192}, std::array{1000, 777, 333}}) {
    const GemmArguments args = problem(m, n, k);
    const std::string shape = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    report("get_kernels(" + shape + ")", nanoseconds([&] { return get_kernels(args).size(); }),
           kernels_of_key(args), 50);
  }
}

/// Of one problem, asked again and again, the processor knows beforehand what comparisons will say. Of many
/// it does not.
void bench_queries_in_turn() {
  std::vector<GemmArguments> many;
  for (int i = 0; i < 64; ++i)
    many.push_back(problem(64 * (1 + i * 23 % 64), 64 * (1 + i * 37 % 64), 64 * (1 + i * 53 % 128)));
  report("get_kernels, 64 problems in turn", nanoseconds([&] {
           std::size_t found = 0;
           for (const GemmArguments& args : many) found += get_kernels(args).size();
           return found;
         }),
         many.size() * kernels_of_key(many.front()), 50);
}

void bench_repeated() {
  const FindOptions best = {.limit = 1};
  const GemmArguments args = problem(4096, 4096, 4096);
  report("the best one, asked again", nanoseconds([&] { return get_kernels(args, {}, best).size(); }), 1,
         500);
  std::vector<GemmArguments> many;
  for (int i = 1; i <= 16; ++i) many.push_back(problem(i * 64, 4096, 4096));
  std::size_t next = 0;
  report("find_best, asked again", nanoseconds([&] { return find_best(args) ? 1U : 0U; }), 1, 300);
  report("the best one, 16 problems in turn",
         nanoseconds([&] { return get_kernels(many[next++ % many.size()], {}, best).size(); }), 1, 500);
  report("the best one, never asked before",
         nanoseconds([&] { return test::find_afresh(args, {}, best).size(); }));
}

void bench_supports() {
  const GemmArguments args = problem(4096, 4096, 4096);
  const Kernel kernel = get_kernels(args).front();
  const GemmArguments other_type = problem(4096, 4096, 4096, DType::bf16);
  GemmArguments misaligned = args;
  misaligned.a = TensorView::row_major(nullptr, DType::f16, {4096, 4096}, 4097);
  report("supports: yes", nanoseconds([&] { return kernel.supports(args) ? 1U : 0U; }), 1, 200);
  report("supports: no, type", nanoseconds([&] { return kernel.supports(other_type) ? 1U : 0U; }), 1, 200);
  report("supports: no, alignment", nanoseconds([&] { return kernel.supports(misaligned) ? 1U : 0U; }), 1,
         200);
}

void bench_predicates() {
  const std::size_t rows = detail::rows().size();
  report("a predicate over the table, in C++", nanoseconds([] {
           return get_kernels([](const KernelMetadata& k) { return k.design.tile.m == 128 && k.cc == 80; })
               .size();
         }),
         rows, 25);
  for (const char* text :
       {"tile.m == 128", "cc == 80 and a.dtype in (f16, bf16) and tile.m * tile.n >= 128 * 128",
        "name ~ 'rcr_128x128'", "true"}) {
    const Result<Filter> filter = Filter::parse(text);
    if (!filter) continue;
    report(std::string("a predicate over the table: ") + text,
           nanoseconds([&] { return get_kernels(*filter).size(); }), rows, 25);
  }
}

void bench_names() {
  const std::vector<Kernel> kernels = get_kernels();
  std::unordered_map<std::string_view, std::uint32_t> map;
  for (std::uint32_t i = 0; i < kernels.size(); ++i) map[kernels[i].name()] = i;
  std::size_t next = 0;
  const auto name = [&] { return kernels[next++ * 7919 % kernels.size()].name(); };
  report("find_kernel", nanoseconds([&] { return find_kernel(name())->name().size(); }));
  report("  yardstick: std::unordered_map on names", nanoseconds([&] { return map.find(name())->second; }));
}

/// Finding the rows of a functional key.
void bench_keys() {
  std::vector<std::uint64_t> keys;
  std::unordered_map<std::uint64_t, detail::KeyRange> map;
  for (const detail::KeyRange& range : detail::key_ranges()) {
    keys.push_back(range.key);
    map[range.key] = range;
  }
  std::size_t next = 0;
  const auto key = [&] { return keys[next++ * 7919 % keys.size()]; };
  report("rows of a functional key",
         nanoseconds([&] { return detail::find_key(detail::key_ranges(), key())->begin; }));
  report("  yardstick: std::unordered_map on keys",
         nanoseconds([&] { return map.find(key())->second.begin; }));
  const auto scan = [&] {
    const std::uint64_t wanted = key();
    std::size_t found = 0;
    for (const detail::Row& row : detail::rows()) {
      const OperandsMetadata& o = row.metadata.operands;
      const Types types = {o.a.dtype, o.b.dtype, o.accumulator, o.out.dtype};
      found += detail::functional_key(row.metadata.operation, row.metadata.design.math, types,
                                      {o.a.layout, o.b.layout, o.out.layout},
                                      o.scales != ScaleSupport::none) == wanted;
    }
    return found;
  };
  report("  yardstick: linear scan of the table", nanoseconds(scan), detail::rows().size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) seconds_a_measurement = std::max(0.001, std::atof(argv[1]));
  if (detail::rows().empty()) {
    std::fprintf(stderr, "the registry holds no kernel\n");
    return 1;
  }
  std::printf("%-58s %10s %8s %10s\n", "", "ns", "items", "ns an item");
  bench_queries();
  bench_queries_in_turn();
  bench_repeated();
  bench_supports();
  bench_predicates();
  bench_names();
  bench_keys();
  return 0;
}
