/// What a predicate over the whole table costs: nanoseconds a kernel for filters made from text, beside the
/// same predicate as a C++ lambda.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "quarry/filter.hpp"

namespace {

using quarry::DType;
using quarry::Filter;
using quarry::KernelMetadata;
using quarry::Layout;

/// Names of the rows' kernels, which the rows refer to.
std::vector<std::string> make_names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back("gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s" + std::to_string(i) + "_a8x8");
  }
  return names;
}

/// Rows as a table has them: types and layouts vary slowly, tiles and stages fast.
std::vector<KernelMetadata> make_rows(const std::vector<std::string>& names) {
  constexpr int tiles[] = {32, 64, 128, 256};
  std::vector<KernelMetadata> rows(names.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const int i = static_cast<int>(row);
    KernelMetadata& kernel = rows[row];
    kernel.name = names[row];
    kernel.family = i % 16 == 0 ? "gemm_simt" : "gemm_sm80";
    kernel.cc = 80;
    const DType types[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
    kernel.operands.a = {types[i / 400 % 4], i / 100 % 2 == 0 ? Layout::row : Layout::column, 1 << i % 4};
    kernel.operands.b = {types[i / 400 % 4], i / 200 % 2 == 0 ? Layout::row : Layout::column, 1 << i / 2 % 4};
    kernel.operands.out = {i % 3 == 0 ? DType::f32 : DType::f16, Layout::row, 1};
    kernel.operands.accumulator = DType::f32;
    kernel.design.tile = {tiles[i / 4 % 4], tiles[i / 16 % 4], 32};
    if (i % 16 != 0) kernel.design.warps = {2, 2, 1};
    if (i % 16 != 0) kernel.design.stages = 2 + i % 4;
    kernel.design.threads = 128;
    kernel.design.shared_memory = 1024 * (16 + i % 128);
    kernel.modes.split_k_serial = i % 2 == 0;
  }
  return rows;
}

/// The least nanoseconds a kernel of some rounds over all rows, and how many pass.
struct Cost {
  double nanoseconds = 1e9;
  std::size_t passed = 0;
};

template <class Predicate>
Cost measure(const Predicate& predicate, const std::vector<KernelMetadata>& rows) {
  using Clock = std::chrono::steady_clock;
  Cost cost;
  for (int round = 0; round < 200; ++round) {
    const auto start = Clock::now();
    const auto passed = std::count_if(rows.begin(), rows.end(), predicate);
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
    cost.nanoseconds = std::min(cost.nanoseconds, elapsed.count() / static_cast<double>(rows.size()));
    cost.passed = static_cast<std::size_t>(passed);
  }
  return cost;
}

struct Case {
  const char* text;
  bool (*yardstick)(const KernelMetadata&);
};

constexpr Case cases[] = {
    {"true", [](const KernelMetadata&) { return true; }},
    {"cc == 80", [](const KernelMetadata& k) { return k.cc == 80; }},
    {"stages == 3", [](const KernelMetadata& k) { return k.design.stages == 3; }},
    {"a.dtype in (f16, bf16)",
     [](const KernelMetadata& k) {
       return k.operands.a.dtype == DType::f16 || k.operands.a.dtype == DType::bf16;
     }},
    {"cc == 80 and a.dtype == bf16 and tile.m >= 128",
     [](const KernelMetadata& k) {
       return k.cc == 80 && k.operands.a.dtype == DType::bf16 && k.design.tile.m >= 128;
     }},
    {"tile.m * tile.n >= 128 * 128",
     [](const KernelMetadata& k) { return k.design.tile.m * k.design.tile.n >= 128 * 128; }},
    {"shared_memory <= 99 * 1024 or stages <= 3",
     [](const KernelMetadata& k) {
       return k.design.shared_memory <= 99 * 1024 || k.design.stages.value_or(9) <= 3;
     }},
    {"tile.m in (64, 128, 256) and not split_k_serial",
     [](const KernelMetadata& k) {
       const int m = k.design.tile.m;
       return (m == 64 || m == 128 || m == 256) && !k.modes.split_k_serial;
     }},
    {"tile.m / 1.5 > tile.n",
     [](const KernelMetadata& k) { return k.design.tile.m / 1.5 > k.design.tile.n; }},
    {"family == gemm_simt", [](const KernelMetadata& k) { return k.family == "gemm_simt"; }},
    {"name ~ '128x256'", [](const KernelMetadata& k) { return k.name.find("128x256") != k.name.npos; }},
    {"cc == 80 and a.layout == row and b.layout == column and a.alignment >= 4 and b.alignment >= 4 and "
     "tile.m >= 64 and tile.n >= 64 and stages >= 3 and shared_memory < 100000 and has(warps)",
     [](const KernelMetadata& k) {
       return k.cc == 80 && k.operands.a.layout == Layout::row && k.operands.b.layout == Layout::column &&
              k.operands.a.alignment >= 4 && k.operands.b.alignment >= 4 && k.design.tile.m >= 64 &&
              k.design.tile.n >= 64 && k.design.stages >= 3 && k.design.shared_memory < 100000 &&
              k.design.warps;
     }},
};

}  // namespace

int main() {
  const auto names = make_names(3000);
  const auto rows = make_rows(names);
  std::printf("%zu kernels\n%12s %12s %8s %8s  %s\n", rows.size(), "filter ns", "lambda ns", "ratio",
              "passed", "predicate");
  for (const Case& each : cases) {
    const auto filter = Filter::parse(each.text);
    if (!filter) {
      std::printf("%s\n", filter.status().message().c_str());
      return 1;
    }
    const Cost text = measure(*filter, rows);
    const Cost lambda = measure(Filter(each.yardstick), rows);
    std::printf("%12.2f %12.2f %8.1f %8zu  %s\n", text.nanoseconds, lambda.nanoseconds,
                text.nanoseconds / lambda.nanoseconds, text.passed, each.text);
    if (text.passed != lambda.passed) {
      std::printf("the two disagree: %zu and %zu\n", text.passed, lambda.passed);
      return 1;
    }
  }
  return 0;
}
