// What ranking makes of hints: rows in all, and rows of the largest group.
#include <cmath>
#include <map>
#include <string>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

const DeviceModel& h200() {
  static const DeviceModel model = *find_device_model("h200");
  return model;
}

GroupedGemmArguments contiguous(std::int64_t groups, std::int64_t rows) {
  return {.a = TensorView::row_major(nullptr, DType::bf16, {rows, 4096}),
          .b = TensorView::row_major(nullptr, DType::bf16, {groups, 4096, 2048}),
          .out = TensorView::row_major(nullptr, DType::bf16, {rows, 2048}),
          .sizes = TensorView::vector(nullptr, DType::s32, groups)};
}

GroupedGemmArguments masked(std::int64_t groups, std::int64_t capacity) {
  return {.a = TensorView::row_major(nullptr, DType::bf16, {groups, capacity, 4096}),
          .b = TensorView::row_major(nullptr, DType::bf16, {groups, 4096, 2048}),
          .out = TensorView::row_major(nullptr, DType::bf16, {groups, capacity, 2048}),
          .sizes = TensorView::vector(nullptr, DType::s32, groups),
          .sizes_are = SizesAre::counts};
}

GroupedGemmArguments ragged(std::int64_t groups, std::int64_t positions) {
  return {.a = TensorView::row_major(nullptr, DType::bf16, {1024, positions}),
          .b = TensorView::row_major(nullptr, DType::bf16, {positions, 1024}),
          .out = TensorView::row_major(nullptr, DType::bf16, {groups, 1024, 1024}),
          .sizes = TensorView::vector(nullptr, DType::s32, groups)};
}

GroupedGemmArguments with(GroupedGemmArguments args, std::optional<std::int64_t> total,
                          std::optional<std::int64_t> largest) {
  args.expected_total = total;
  args.expected_largest = largest;
  return args;
}

Candidate best(const GroupedGemmArguments& args) {
  const Result<Candidate> found = find_best(args, {}, {.device = &h200()});
  INFO(found.status().message());
  REQUIRE(found);
  return *found;
}

/// The time of one kernel, which does not change what is compared.
double seconds(const Kernel& kernel, const GroupedGemmArguments& args) {
  const Result<Candidate> candidate = candidate_of(kernel, args, {.device = &h200()});
  INFO(candidate.status().message());
  REQUIRE(candidate);
  return candidate->predicted_seconds();
}

}  // namespace

TEST_CASE("an even share as the largest group, or less, says that all groups are alike", "[grouped_gemm]") {
  const auto same = [](const GroupedGemmArguments& one, const GroupedGemmArguments& other) {
    const CandidateList first = get_kernels(one, {}, {.device = &h200()});
    const CandidateList second = get_kernels(other, {}, {.device = &h200()});
    REQUIRE(first.size() > 1);
    REQUIRE(second.size() == first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      CHECK(second[i] == first[i]);
      CHECK(second[i].predicted_seconds() == first[i].predicted_seconds());
    }
  };
  for (const GroupedGemmArguments& args : {contiguous(8, 4096), masked(8, 512), ragged(8, 8192)}) {
    for (const std::int64_t total : {800, 4096}) {
      same(with(args, total, std::nullopt), with(args, total, 0));
      same(with(args, total, 7), with(args, total, total / 8));
    }
  }
  // The same where groups fill their room, and of ragged K; and whatever there is room for.
  same(with(masked(8, 100), 800, std::nullopt), with(masked(8, 100), 800, 100));
  same(with(ragged(8, 8192), 4096, std::nullopt), with(ragged(8, 8192), 4096, 512));
  for (const Kernel& kernel : get_kernels(contiguous(8, 4096), {}, {.device = &h200()}))
    CHECK(seconds(kernel, with(contiguous(8, 4096), 4096, 512)) ==
          seconds(kernel, with(contiguous(8, 9000), 4096, 512)));
}

TEST_CASE("one group that has all rows is predicted as that group alone", "[grouped_gemm]") {
  const GroupedGemmArguments many = contiguous(64, 4096);
  const GroupedGemmArguments one = contiguous(1, 4096);
  for (const Kernel& kernel : get_kernels(one, {}, {.device = &h200()})) {
    INFO(kernel.name());
    const double alone = seconds(kernel, one);
    CHECK(seconds(kernel, with(many, 4096, 4096)) == Approx(alone).epsilon(1e-9));
    CHECK(seconds(kernel, with(many, 4096, std::nullopt)) >
          alone);  // each reads its own B, in half-empty tiles
  }
}

TEST_CASE("tiles fit the largest group where few groups have rows", "[grouped_gemm]") {
  const GroupedGemmArguments args = contiguous(128, 2048);
  const int of_even = best(with(args, 2048, std::nullopt)).metadata().design.tile.m;
  const int of_one = best(with(args, 2048, 2048)).metadata().design.tile.m;
  const int of_three_quarters = best(with(args, 2048, 1536)).metadata().design.tile.m;
  CHECK(of_even <= 64);  // 16 rows of each
  CHECK(of_one >= 128);
  CHECK(of_three_quarters <= of_one);
}

TEST_CASE("groups for which no row is left cost nothing, others a tile at least", "[grouped_gemm]") {
  const GroupedGemmArguments args = contiguous(64, 2048);
  for (const Kernel& kernel : get_kernels(args, {}, {.device = &h200()})) {
    INFO(kernel.name());
    const double even = seconds(kernel, with(args, 2048, std::nullopt));
    const double few = seconds(kernel, with(args, 2048, 2040));  // 8 others have a row
    CHECK(few < even);
    CHECK(few > seconds(kernel, with(args, 2048, 2048)));
    CHECK(seconds(kernel, with(args, 2048, 1024)) > few);  // all others have some
  }
}

TEST_CASE("the largest group of K bounds the time", "[grouped_gemm]") {
  const GroupedGemmArguments args = ragged(16, 16384);
  for (const Kernel& kernel : get_kernels(args, {}, {.device = &h200()})) {
    INFO(kernel.name());
    const double even = seconds(kernel, with(args, 16384, std::nullopt));
    const double alone = seconds(kernel, with(ragged(1, 16384), 16384, std::nullopt));
    CHECK(seconds(kernel, with(args, 16384, 16384)) == Approx(std::max(even, alone)).epsilon(1e-9));
    CHECK(seconds(kernel, with(args, 16384, 2048)) >= even);
  }
}

TEST_CASE("without rows in all, no group is expected to have more than the largest", "[grouped_gemm]") {
  const Kernel kernel = best(contiguous(8, 65536));
  CHECK(seconds(kernel, with(contiguous(8, 65536), std::nullopt, 64)) ==
        seconds(kernel, with(contiguous(8, 65536), 512, 64)));
  const Kernel of_masked = best(masked(8, 512));
  CHECK(seconds(of_masked, with(masked(8, 512), std::nullopt, 1 << 20)) ==
        seconds(of_masked, masked(8, 512)));
}

TEST_CASE("more tiles than 31 bits count take longer than fewer") {
  const FindOptions options = {.device = &h200()};
  const auto times = [&](const Arguments& args) {
    std::map<std::string_view, double> times;
    for (const Candidate& each : get_kernels(args, {}, options))
      times[each.name()] = each.predicted_seconds();
    return times;
  };
  const auto longer = [&](const Arguments& few, const Arguments& many) {
    const auto less = times(few);
    const auto more = times(many);
    REQUIRE_FALSE(more.empty());
    for (const auto& [name, seconds] : more) {
      INFO(name << ": " << seconds);
      REQUIRE(std::isfinite(seconds));
      if (const auto same = less.find(name); same != less.end()) CHECK(seconds > same->second);
    }
  };
  const auto list = [](std::int64_t problems) {
    constexpr DType type = DType::bf16;
    return GemmListArguments{
        .a = PointerArrayView::row_major(nullptr, type, problems, {512, 64}).aligned(16),
        .b = PointerArrayView::column_major(nullptr, type, problems, {64, 4096}).aligned(16),
        .out = PointerArrayView::row_major(nullptr, type, problems, {512, 4096}).aligned(16),
        .sizes = TensorView::row_major(nullptr, DType::s32, {problems, 3})};
  };
  longer(list(1 << 20), list((1 << 30) - 1));
  longer(list(1 << 28), list((1 << 30) - 1));
  longer(masked(1 << 12, 4096), masked(1 << 20, 4096));
}
