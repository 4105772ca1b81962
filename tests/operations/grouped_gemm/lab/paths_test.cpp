/// Problems of paths of grouped GEMMs: what each name says, a group that is not small and one that is not
/// empty.
#include "operations/grouped_gemm/lab/paths.hpp"

#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/lab/expression.hpp"
#include "operations/grouped_gemm/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using Grouped = lab::grouped_gemm::Problem;

namespace {

/// Rows of each group.
std::vector<std::int64_t> counts_of(const Grouped& p) {
  std::vector<std::int64_t> counts;
  std::int64_t begin = 0;
  for (const std::int32_t size : p.sizes) {
    counts.push_back(size - begin);
    if (p.sizes_are == SizesAre::ends) begin = size;
  }
  return counts;
}

bool has_form(std::string_view path, GroupForm form) {
  constexpr std::string_view contiguous[] = {
      "contiguous",      "zero_outside", "wrong_sizes",        "expression", "gathered",
      "groups",          "gated",        "gated_zero_outside", "reductions", "wrong_sizes_reductions",
      "gated_reductions"};
  if (std::ranges::find(contiguous, path) != std::end(contiguous)) return form == GroupForm::contiguous;
  if (path.ends_with("masked")) return form == GroupForm::masked;
  if (path == "long_k") return form == GroupForm::masked;
  return !path.ends_with("ragged_k") || form == GroupForm::ragged_k;
}

/// What must hold of the scales of a path's problem.
bool has_scales(std::string_view path, const Grouped& p) {
  using enum ScaleGranularity;
  const auto are = [&](ScaleGranularity a, ScaleGranularity b) { return p.a_scale == a && p.b_scale == b; };
  if (!path.starts_with("scales")) return true;
  if (p.k <= 2 * scale_block) return false;
  if (path == "scales_vector") return are(row, column);
  return path == "scales_1x128_128x128" ? are(block_1x128, block_128x128) : are(block_1x128, block_1x128);
}

bool has_expression(std::string_view path, const Grouped& p) {
  const bool is_gated = path.starts_with("gated");
  const bool gathers = path.starts_with("gathered");
  const bool has_lines = path.find("reductions") != path.npos;
  if (!is_gated && !gathers && !has_lines && path != "groups" && !path.starts_with("expression"))
    return !p.expression;
  if (!p.expression || gathers != detail::gathers(*p.expression)) return false;
  const lab::gemm::WideParts parts = lab::gemm::wide_parts(*p.expression);
  return parts.lines == has_lines && parts.pairs == is_gated && parts.groups == (path == "groups");
}

void check(std::string_view path, const Grouped& p, const KernelMetadata& kernel) {
  const bool is_wrong = path.starts_with("wrong_sizes");
  CHECK(has_form(path, p.form));
  CHECK(has_scales(path, p));
  CHECK(has_expression(path, p));
  CHECK(p.zero_outside == (path.find("zero_outside") != path.npos));
  CHECK(p.clamp_host_sizes == is_wrong);
  CHECK(std::ranges::any_of(p.sizes, [&](std::int32_t size) { return size > p.room; }) == is_wrong);
  CHECK(std::ranges::any_of(p.sizes, [](std::int32_t size) { return size < 0; }) == is_wrong);
  if (!is_wrong) {
    const std::vector<std::int64_t> counts = counts_of(p);
    CHECK(std::ranges::max(counts) >= lab::grouped_gemm::least_rows);
    CHECK(std::ranges::count_if(counts, [](std::int64_t count) { return count > 0; }) > 1);
  }
  CHECK(p.n >= 65);
  if (path == "long_k") CHECK(p.k > 2 * kernel.design.stages.value_or(1) * kernel.design.tile.k);
  if (path != "plain") return;
  CHECK(p.out.layout == Layout::row);
  CHECK(p.n * bytes_of(p.out.dtype) % 16 == 0);
}

}  // namespace

TEST_CASE("grouped GEMM: a problem of a path is what the path's name says", "[grouped_gemm]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const lab::OperationLab& lab = lab::lab_of(Operation::grouped_gemm);
  REQUIRE(std::ssize(lab.paths) == lab::grouped_gemm::path_count());
  for (const Kernel& kernel : get_kernels(*Filter::parse("operation == grouped_gemm"))) {
    for (std::int64_t number = 0; number < std::ssize(lab.paths); ++number) {
      const lab::Path& path = lab.paths[static_cast<std::size_t>(number)];
      if (!path.is_of(kernel.metadata())) continue;
      const lab::Problem drawn = lab.emulated(kernel.metadata(), random(), number);
      INFO(path.name << ", " << kernel.name() << ": " << command_text(drawn));
      check(path.name, drawn.as<Grouped>(), kernel.metadata());
    }
  }
}
