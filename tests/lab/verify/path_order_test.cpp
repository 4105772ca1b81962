/// Problems by path: each that a kernel has comes once, is taken by the kernel, and is what its name says.
#include "lab/verify/path_order.hpp"
#include "gemm/params.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "common/config_parts.hpp"
#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/lab/problem.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab;
using Gemm = lab::gemm::Problem;

namespace {

/// Some kernels of each family, drawn.
std::vector<Kernel> some_kernels(std::size_t of_family, std::mt19937_64& random) {
  std::vector<Kernel> all = get_kernels();
  std::shuffle(all.begin(), all.end(), random);
  std::map<std::string_view, std::size_t> counts;
  std::erase_if(all, [&](const Kernel& kernel) { return counts[kernel.metadata().family]++ >= of_family; });
  return all;
}

/// The numbers of the paths that a kernel has.
std::set<std::int64_t> paths_of(const KernelMetadata& kernel) {
  const std::vector<Path>& paths = lab_of(kernel.operation).paths;
  std::set<std::int64_t> numbers;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].is_of(kernel)) numbers.insert(static_cast<std::int64_t>(i));
  }
  return numbers;
}

/// Whether a view starts, and goes on, at multiples of 16 bytes and of four elements.
bool is_aligned(const OperandSpec& spec) {
  const int elements = std::max(16 / bytes_of(spec.dtype), 4);
  return spec.alignment % elements == 0 && spec.ld % elements == 0;
}

bool has_plain_epilogue(const EpilogueSpec& e) {
  return e.alpha != 0 && e.beta == 0 && e.activation == Activation::identity && !e.bias && !e.scale &&
         !e.residual && !e.residual_in_place && !e.aux && e.clamp == Clamp{};
}

/// What must hold of a GEMM's problem of a path.
bool is_of_path(std::string_view path, const Gemm& p) {
  const EpilogueSpec& e = p.epilogue;
  const bool reads_c = e.beta != 0;
  if (path == "plain") return has_plain_epilogue(e) && is_aligned(p.out) && p.controls.mode == Mode::gemm;
  if (path == "queue") return reads_c && p.controls.mode == Mode::gemm;
  if (path == "bias_row") return e.bias == BiasAxis::row && is_aligned(p.out);
  if (path == "bias_column") return e.bias == BiasAxis::column && is_aligned(p.out);
  if (path == "activation") return e.activation != Activation::identity && is_aligned(p.out);
  if (path == "c") return reads_c && is_aligned(p.out) && (e.in_place || is_aligned(*e.c));
  if (path == "residual") return e.residual_in_place || is_aligned(e.residual.value());
  if (path == "aux") return is_aligned(e.aux.value());
  if (path == "clamp") return e.clamp != Clamp{} && !reads_c && is_aligned(p.out);
  if (path == "everything")
    return reads_c && e.bias && e.activation != Activation::identity && e.residual && e.aux &&
           e.clamp != Clamp{};
  if (path == "unaligned_out") return p.out.alignment % 2 == 1 && p.out.ld % 2 == 1;
  if (path == "unaligned_c") return reads_c && is_aligned(p.out) && e.c.value().alignment == 1;
  if (path == "words") {
    const int word = 4 / bytes_of(p.out.dtype);
    return reads_c && p.out.alignment == word && p.out.ld % (2 * word) == word;
  }
  if (path == "batch") return p.batch > 1 && reads_c && !e.c.value().shared;
  if (path == "shared_c") return p.batch > 1 && reads_c && e.c.value().shared;
  if (path == "alpha_0") return e.alpha == 0 && reads_c;
  if (path == "array") return p.batch > 1 && (p.a.array || p.b.array || p.out.array);
  using enum ScaleGranularity;
  const auto has_scales = [&](ScaleGranularity a, ScaleGranularity b) {
    return p.a_scale == a && p.b_scale == b && p.k > 2 * scale_block;
  };
  if (path == "scales_tensor") return has_scales(tensor, tensor);
  if (path == "scales_vector") return has_scales(row, column);
  if (path == "scales_1x128_128x128") return has_scales(block_1x128, block_128x128);
  if (path == "scales_1x32") return has_scales(row, block_1x32);
  if (path == "scales_1x64") return has_scales(row, block_1x64);
  if (path == "scales_a") return p.a_scale == row && !p.b_scale && p.k > 2 * scale_block;
  if (path == "unscaled") return !p.a_scale && !p.b_scale && p.k > 2 * scale_block;
  if (path == "scales_1x64_1x32") return has_scales(block_1x64, block_1x32);
  if (path == "scales_1x128_1x128") return has_scales(block_1x128, block_1x128);
  const auto has_zeros = [&](ScaleGranularity b) {
    return p.b_zero && !p.a_scale && p.b_scale == b && p.k > 2 * scale_block;
  };
  if (path == "zeros_tensor") return has_zeros(tensor);
  if (path == "zeros_column") return has_zeros(column);
  if (path == "zeros_1x32") return has_zeros(block_1x32);
  if (path == "zeros_1x64") return has_zeros(block_1x64);
  if (path == "zeros_128x128") return has_zeros(block_128x128);
  if (path == "zeros_1x128") return has_zeros(block_1x128);
  const bool has_eights = path == "eights" || path == "eights_reductions";
  if (path == "reductions" || path == "groups" || path == "gated" || path == "gated_reductions" ||
      has_eights) {
    if (!p.expression) return false;
    const detail::ReductionCounts counts = detail::reduction_counts(*p.expression);
    const bool has_all_lines = counts.rows > 0 && counts.columns > 0 && counts.all > 0;
    const bool reduces = path == "groups"                      ? counts.groups > 0
                         : path == "gated" || path == "eights" ? !counts.has_lines()
                                                               : has_all_lines;
    const expression::Pairs pairs = has_eights                  ? expression::Pairs::eights
                                    : path.starts_with("gated") ? expression::Pairs::halves
                                                                : expression::Pairs::none;
    return reduces && p.expression->pairs() == pairs;
  }
  if (path == "precise")
    return p.accumulation == Accumulation::precise && !p.a_scale && !p.b_scale && p.k > 2 * scale_block;
  const bool has_expression = p.expression && has_plain_epilogue(e) && e.alpha == 1;
  if (path == "expression") return has_expression;
  if (path == "gathered") return has_expression && detail::gathers(*p.expression);
  if (path == "expression_parallel") return has_expression && p.controls.mode == Mode::split_k_parallel;
  return to_string(p.controls.mode.value()) == path && has_plain_epilogue(e);
}

}  // namespace

TEST_CASE("a kernel's first problems are its paths, each once, then mixed ones", "[lab]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const Kernel& kernel : some_kernels(20, random)) {
    const KernelMetadata& metadata = kernel.metadata();
    const auto all_paths = static_cast<std::int64_t>(lab_of(metadata.operation).paths.size());
    const std::set<std::int64_t> own = paths_of(metadata);
    INFO(kernel.name());
    REQUIRE(own.size() >= 4);
    const std::vector<std::int64_t> usual = problem_numbers(metadata, {}, random());
    REQUIRE(usual.size() == own.size() + mixed_problems);
    CHECK(std::set(usual.begin(), usual.begin() + std::ssize(own)) == own);
    for (std::int64_t i = 0; i < mixed_problems; ++i) CHECK(usual[own.size() + i] == all_paths + i);
    const std::uint64_t other = random();
    CHECK(problem_numbers(metadata, {.count = 2}, other) == problem_numbers(metadata, {.count = 2}, other));
    const std::vector<std::int64_t> few = problem_numbers(metadata, {.count = 2}, other);
    CHECK(few.size() == 2);
    CHECK(own.contains(few[0]));
    CHECK(few[0] != few[1]);
    const ProblemChoice plain = {.path = "plain"};
    CHECK(problem_numbers(metadata, plain, other) == std::vector<std::int64_t>{0});
    CHECK(problem_numbers(metadata, {.path = "nothing"}, other).empty());
    CHECK(problem_numbers(metadata, {.count = 50}, other).back() == all_paths + 49 - std::ssize(own));
  }
}

TEST_CASE("few problems of many kernels meet every path", "[lab]") {
  std::mt19937_64 random(3);
  std::set<std::int64_t> met;
  std::set<std::int64_t> had;
  for (const Kernel& kernel : some_kernels(4000, random)) {
    if (kernel.metadata().operation != Operation::gemm) continue;
    const std::vector<std::int64_t> numbers = problem_numbers(kernel.metadata(), {.count = 2}, random());
    met.insert(numbers.begin(), numbers.end());
    had.merge(paths_of(kernel.metadata()));
  }
  CHECK(met == had);
}

TEST_CASE("a problem of a path is what the path's name says", "[lab]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const Kernel& kernel : some_kernels(40, random)) {
    const KernelMetadata& metadata = kernel.metadata();
    const OperationLab& lab = lab_of(metadata.operation);
    if (metadata.operation != Operation::gemm) continue;
    for (const std::int64_t number : paths_of(metadata)) {
      const std::uint64_t own = random();
      Problem verified = lab.stored(lab.random(metadata, own, number), metadata, own);
      verified = with(lab.controls_for(metadata, verified), verified);
      for (const Problem& problem : {verified, lab.emulated(metadata, own, number)}) {
        const std::string_view path = lab.paths[static_cast<std::size_t>(number)].name;
        INFO(path << ", " << kernel.name() << ": " << command_text(problem));
        const Gemm& p = problem.as<Gemm>();
        CHECK(is_of_path(path, p));
        const Extent3& tile = metadata.design.tile;
        CHECK((p.m > tile.m && p.n > tile.n));  // a whole tile, and one that is cut
        CHECK((p.controls.split_k_slices.value_or(2) >= 2 && p.k > 0));
      }
    }
  }
}

TEST_CASE("what a path adds shows beside sums of byte weights", "[lab]") {
  std::mt19937_64 random(1);
  const Filter weights =
      *Filter::parse("operation == gemm and a.dtype in (f16, bf16) and b.dtype in (s8, u8)");
  const std::vector<Kernel> kernels = get_kernels(weights);
  REQUIRE(!kernels.empty());
  for (std::size_t i = 0; i < kernels.size(); i += 20) {
    const Problem problem = lab_of(Operation::gemm).emulated(kernels[i].metadata(), random(), 0);
    INFO(kernels[i].name() << ": " << command_text(problem));
    CHECK(std::abs(problem.as<Gemm>().epilogue.alpha) <= 0.02);
  }
}

TEST_CASE("paths are counted by the kernels that have them and those that met them", "[lab]") {
  std::mt19937_64 random(1);
  PathCounts counts;
  std::int64_t kernels = 0;
  for (const Kernel& kernel : some_kernels(3, random)) {
    if (kernel.metadata().operation != Operation::reorder) continue;
    const std::vector<std::int64_t> numbers = {0};
    counts.add(kernel.metadata(), kernels++ == 0 ? numbers : std::vector<std::int64_t>());
  }
  REQUIRE(kernels == 3);
  REQUIRE(counts.all().size() >= 4);
  CHECK(to_string(counts.all()[0]) == "plain 1 of 3");
  CHECK(counts.all()[1].met == 0);
  CHECK(to_string(PathCount{"c", 7, 7}) == "c 7");
  CHECK(check_path("plain"));
  CHECK(check_path(""));
  CHECK_THAT(check_path("plian").message(), Catch::Contains("plain") && Catch::Contains("`plian`"));
}
