/// Grouped GEMMs with expressions that reduce rows, columns or all elements: by heart, in every kernel that
/// takes them, against sums of random groups, in launches, and what is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "grouped_gemm/params.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/experts.hpp"
#include "support/expressions.hpp"
#include "support/prepared_launch.hpp"

using namespace quarry;

namespace {

using test::check_nothing_found;
using test::Experts;
using test::Floats;
using test::launch_of;
using test::parsed;
using test::rows_of;
using test::run_all;
using test::vector_of;

constexpr float lowest = -std::numeric_limits<float>::infinity();

/// What reductions of rows, columns and all leave.
struct Lines {
  Floats rows;
  Floats columns;
  Floats sum = {-7};
  Floats most = {-7};

  Lines(std::int64_t row_count, std::int64_t column_count)
      : rows(static_cast<std::size_t>(row_count), -7), columns(static_cast<std::size_t>(column_count), -7) {}

  /// Asks for them. @param row_extents, column_extents of the outputs
  void ask(GroupedGemmArguments& args, std::initializer_list<std::int64_t> row_extents,
           std::initializer_list<std::int64_t> column_extents) const {
    args.expression =
        parsed("out = sum; r = row_sum(sum); c = column_max(sum); s = sum(sum); m = max(sum)", "");
    args.tensors = {{"r", rows_of(rows, row_extents)},
                    {"c", rows_of(columns, column_extents)},
                    {"s", vector_of(sum)},
                    {"m", vector_of(most)}};
  }
  void forget() {
    for (Floats* values : {&rows, &columns, &sum, &most}) std::ranges::fill(*values, -7);
  }
};

/// Random groups of small whole numbers, whose sums are exact in whatever order.
struct RandomGroups {
  GroupForm form;
  std::int64_t groups, room, n, m, k;
  Floats a, b, out;
  std::vector<std::int32_t> counts;

  explicit RandomGroups(lab::Dice& dice)
      : form(static_cast<GroupForm>(dice.between(0, 2))),
        groups(dice.between(1, 40)),
        room(dice.between(0, 300)),
        n(dice.between(1, 150)),
        m(form == GroupForm::ragged_k ? dice.between(1, 150) : room),
        k(form == GroupForm::ragged_k ? room : dice.between(1, 5)) {
    const std::int64_t entries = form == GroupForm::contiguous ? 1 : groups;
    fill(a, form == GroupForm::ragged_k ? m * k : entries * room * k, dice);
    fill(b, form == GroupForm::ragged_k ? k * n : groups * k * n, dice);
    out.assign(static_cast<std::size_t>(entries * m * n), -7);
    std::int64_t left = room;
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t most = form == GroupForm::masked ? room : std::min(left, 2 * room / groups + 1);
      counts.push_back(static_cast<std::int32_t>(dice.one_in(4) ? 0 : dice.between(0, most)));
      left -= counts.back();
    }
  }

  static void fill(Floats& values, std::int64_t count, lab::Dice& dice) {
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(dice.between(-4, 4)));
  }
  std::int64_t entries() const { return form == GroupForm::contiguous ? 1 : groups; }

  GroupedGemmArguments arguments() const {
    GroupedGemmArguments args = {.a = rows_of(a, {groups, room, k}),
                                 .b = rows_of(b, {groups, k, n}),
                                 .out = rows_of(out, {groups, m, n}),
                                 .sizes = TensorView::vector(counts.data(), DType::s32, groups)};
    if (form == GroupForm::contiguous) {
      args.a = rows_of(a, {room, k});
      args.out = rows_of(out, {m, n});
    } else if (form == GroupForm::ragged_k) {
      args.a = rows_of(a, {m, k});
      args.b = rows_of(b, {k, n});
    }
    args.sizes_are = SizesAre::counts;
    return args;
  }

  /// The sum of a place in the group that begins at a row, or at a position of K.
  float sum(std::int64_t group, std::int64_t begin, std::int64_t row, std::int64_t column) const {
    const bool is_ragged = form == GroupForm::ragged_k;
    const std::int64_t depth = is_ragged ? counts[static_cast<std::size_t>(group)] : k;
    float total = 0;
    for (std::int64_t i = 0; i < depth; ++i) {
      const std::int64_t at_a = is_ragged
                                    ? row * k + begin + i
                                    : ((form == GroupForm::masked ? group * room : begin) + row) * k + i;
      const std::int64_t at_b = (is_ragged ? begin + i : group * k + i) * n + column;
      total += a[static_cast<std::size_t>(at_a)] * b[static_cast<std::size_t>(at_b)];
    }
    return total;
  }

  /// What the reductions leave.
  Lines expected() const {
    Lines lines(entries() * m, groups * n);
    lines.sum = {0};
    lines.most = {lowest};
    std::ranges::fill(lines.columns, lowest);
    std::int64_t begin = 0;
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t count = counts[static_cast<std::size_t>(g)];
      const std::int64_t first = form == GroupForm::contiguous ? begin : g * m;
      for (std::int64_t row = 0; row < (form == GroupForm::ragged_k ? m : count); ++row) {
        float& of_row = lines.rows[static_cast<std::size_t>(first + row)];
        of_row = 0;
        for (std::int64_t column = 0; column < n; ++column) {
          const float value = sum(g, begin, row, column);
          float& of_column = lines.columns[static_cast<std::size_t>(g * n + column)];
          of_row += value;
          of_column = std::max(of_column, value);
          lines.sum[0] += value;
          lines.most[0] = std::max(lines.most[0], value);
        }
      }
      begin += count;
    }
    return lines;
  }
};

/// 600 contiguous rows without memory, in three groups.
GroupedGemmArguments fake_bf16(std::string_view text, std::string_view declared,
                               std::vector<ExpressionTensor> tensors) {
  GroupedGemmArguments args = {.a = TensorView::row_major(nullptr, DType::bf16, {600, 256}),
                               .b = TensorView::row_major(nullptr, DType::bf16, {3, 256, 512}),
                               .out = TensorView::row_major(nullptr, DType::bf16, {600, 512}),
                               .sizes = TensorView::vector(nullptr, DType::s32, 3)};
  args.expression = parsed(text, declared);
  args.tensors = std::move(tensors);
  return args;
}

TensorView fake_rows(std::initializer_list<std::int64_t> extents) {
  return TensorView::row_major(nullptr, DType::f32, extents);
}

}  // namespace

TEST_CASE("grouped_gemm: rows, columns of each group and all elements together are reduced",
          "[grouped_gemm][expression]") {
  Experts e;
  Lines lines(5, 6);
  GroupedGemmArguments args = e.arguments();
  lines.ask(args, {5}, {3, 2});
  for (const bool zero_outside : {false, true}) {
    args.zero_outside = zero_outside;
    CHECK(run_all(args, [&] {
            const float outside = zero_outside ? 0 : -1;
            CHECK(e.out == Floats{1, 2, 2, 4, 15, 18, 20, 24, outside, outside});
            CHECK(lines.rows == Floats{3, 6, 33, 44, -7});  // the last token has no expert
            CHECK(lines.columns == Floats{2, 4, lowest, lowest, 20, 24});
            CHECK(lines.sum == Floats{86});
            CHECK(lines.most == Floats{24});
            lines.forget();
            e.out.assign(10, -1);
          }) > 0);
  }
}

TEST_CASE("grouped_gemm: what is made of a group's columns reads the vectors of the group",
          "[grouped_gemm][expression]") {
  Experts e;
  GroupedGemmArguments args = e.arguments();
  const Floats bias = {100, 200, 300, 400, 500, 600};
  const Floats weight = {1, 10, 100, 1000, 10000};
  Floats columns(6, -7), rows(5, -7);
  args.expression = parsed("out = sum; c = column_sum(sum) * 2 + bias; r = row_max(sum) * weight",
                           "bias=f32:per_column,weight=f32:per_row");
  args.tensors = {{"bias", rows_of(bias, {3, 2})},
                  {"weight", vector_of(weight)},
                  {"c", rows_of(columns, {3, 2})},
                  {"r", vector_of(rows)}};
  CHECK(run_all(args, [&] {
          CHECK(columns == Floats{106, 212, 300, 400, 570, 684});
          CHECK(rows == Floats{2, 40, 1800, 24000, -7});
          columns.assign(6, -7);
          rows.assign(5, -7);
        }) > 0);
}

TEST_CASE("grouped_gemm: reductions of gated pairs have the output's columns", "[grouped_gemm][expression]") {
  Experts e;
  e.out.assign(5, -1);
  GroupedGemmArguments args = e.arguments();
  args.out = rows_of(e.out, {5, 1});
  Floats columns(3, -7), rows(5, -7);
  args.expression = parsed("z = gate(sum) * up(sum); out = z; c = column_sum(z); r = row_sum(z)", "");
  args.tensors = {{"c", rows_of(columns, {3, 1})}, {"r", vector_of(rows)}};
  CHECK(run_all(args, [&] {
          CHECK(columns == Floats{10, 0, 270 + 480});
          CHECK(rows == Floats{2, 8, 270, 480, -7});
          columns.assign(3, -7);
          rows.assign(5, -7);
        }) > 0);
}

TEST_CASE("grouped_gemm: reductions of random groups of every form are exact", "[grouped_gemm][expression]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  for (int i = 0; i < 60; ++i) {
    RandomGroups random(dice);
    const std::int64_t groups = random.groups, m = random.m, n = random.n;
    Lines lines(random.entries() * m, groups * n);
    GroupedGemmArguments args = random.arguments();
    if (random.form == GroupForm::contiguous) {
      lines.ask(args, {m}, {groups, n});
    } else {
      lines.ask(args, {groups, m}, {groups, n});
    }
    INFO("problem " << i << ", form " << static_cast<int>(random.form));
    const Lines expected = random.expected();
    const CandidateList found = get_kernels(args);
    INFO(found.status().message());
    REQUIRE_FALSE(found.empty());
    const Candidate& kernel = found[static_cast<std::size_t>(dice.between(0, std::ssize(found) - 1))];
    INFO(kernel.name());
    std::vector<std::byte> workspace(kernel.workspace() + 256);
    const auto address = (reinterpret_cast<std::uintptr_t>(workspace.data()) + 255) / 256 * 256;
    REQUIRE(kernel.run(args, {.workspace = {reinterpret_cast<void*>(address), kernel.workspace()}}));
    CHECK(lines.rows == expected.rows);
    CHECK(lines.columns == expected.columns);
    CHECK(lines.sum == expected.sum);
    CHECK(lines.most == expected.most);
  }
}

TEST_CASE("grouped_gemm: reductions of nothing are 0 and the lowest value", "[grouped_gemm][expression]") {
  Experts e;
  SECTION("no rows") {
    Lines lines(0, 6);
    GroupedGemmArguments args = e.arguments();
    e.ends = {0, 0, 0};
    args.a.extents[0] = args.out.extents[0] = 0;
    lines.ask(args, {0}, {3, 2});
    CHECK(run_all(args, [&] {
            CHECK(lines.columns == Floats(6, lowest));
            CHECK(lines.sum == Floats{0});
            CHECK(lines.most == Floats{lowest});
            lines.forget();
          }) > 0);
  }
  SECTION("no columns") {
    Lines lines(5, 0);
    GroupedGemmArguments args = e.arguments();
    args.b.extents[2] = args.out.extents[1] = 0;
    lines.ask(args, {5}, {3, 0});
    CHECK(run_all(args, [&] {
            CHECK(lines.rows == Floats{0, 0, 0, 0, -7});
            CHECK(lines.sum == Floats{0});
            CHECK(lines.most == Floats{lowest});
            lines.forget();
          }) > 0);
  }
  SECTION("no groups") {
    Lines lines(5, 0);
    GroupedGemmArguments args = e.arguments();
    args.b.extents[0] = args.sizes.extents[0] = 0;
    lines.ask(args, {5}, {0, 2});
    for (const bool zero_outside : {false, true}) {
      args.zero_outside = zero_outside;
      CHECK(run_all(args, [&] {
              CHECK(e.out == Floats(10, zero_outside ? 0 : -1));
              CHECK(lines.rows == Floats(5, -7));
              CHECK(lines.sum == Floats{0});
              CHECK(lines.most == Floats{lowest});
              lines.forget();
            }) > 0);
    }
  }
}

TEST_CASE("grouped_gemm: a launch with reductions has a second step, and a workspace that no size changes",
          "[grouped_gemm][expression]") {
  const GroupedGemmArguments args =
      fake_bf16("out = sum; r = row_sum(sum); c = column_max(sum); m = max(sum)", "",
                {{"r", fake_rows({600})}, {"c", fake_rows({3, 512})}, {"m", fake_rows({1})}});
  const auto prepared = launch_of(
      test::required_kernel("grouped_gemm_sm80_bf16_bf16_f32_bf16_rrr_128x128x32_w2x2x1_s4_a8x8"), args);
  const Launch& launch = prepared->launch;
  REQUIRE(launch.steps.count == 2);
  CHECK(launch.steps[1].entry == launch.steps[0].entry);
  // A line of 600 rows and 3 x 512 columns for each thread, and a block for all.
  CHECK(launch.steps[1].grid == (600 + 3 * 512 + 127) / 128 + 1);
  // Rows: 4 tiles across. Columns and all: 4 warps of 4 whole tiles and one more for each group.
  const std::size_t slots = 600 * 4 + (4 + 3) * 4 * 512 + (4 + 3) * 4 * 4;
  CHECK(launch.workspace_bytes == (slots * 8 + 255) / 256 * 256);
  for (const Step& step : launch.steps) {
    const auto& params = *reinterpret_cast<const GroupedGemmParams*>(launch.image + step.at);
    CHECK(params.groups.groups == 3);
    CHECK(params.groups.room == 600);
  }
  const auto other = launch_of(
      test::required_kernel("grouped_gemm_sm90_bf16_bf16_f32_bf16_rrr_64x64x128_c1x1_s6_ping_pong_a8x8"),
      args);
  CHECK(other->launch.steps.count == 2);
  for (const Candidate& kernel : get_kernels(args)) {
    CHECK(kernel.workspace() > 0);
    CHECK(kernel.workspace() == *Kernel(kernel).workspace_size(args));
  }
}

TEST_CASE("grouped_gemm: the ranking counts what reductions add", "[grouped_gemm][expression]") {
  const Filter one =
      *Filter::parse("name == grouped_gemm_sm80_bf16_bf16_f32_bf16_rrr_128x128x32_w2x2x1_s4_a8x8");
  const auto seconds = [&](const GroupedGemmArguments& args) {
    const CandidateList found = get_kernels(args, one);
    REQUIRE(found.size() == 1);
    return found.front().predicted_seconds();
  };
  const double plain = seconds(fake_bf16("out = sum", "", {}));
  CHECK(seconds(fake_bf16("out = sum; c = column_sum(sum)", "", {{"c", fake_rows({3, 512})}})) >
        plain + 1e-6);
}

TEST_CASE("grouped_gemm: outputs that do not fit a reduction are refused by name",
          "[grouped_gemm][expression]") {
  const auto refused = [](std::string_view text, TensorView r, const std::string& words) {
    check_nothing_found(fake_bf16(text, "", {{"r", r}}), words);
  };
  const std::string_view row = "out = sum; r = row_sum(sum)";
  REQUIRE_FALSE(get_kernels(fake_bf16(row, "", {{"r", fake_rows({600})}})).empty());
  refused(row, fake_rows({599}), "Operand `r` does not fit `out` along rows: expected 600, got 599");
  refused(row, fake_rows({3, 600}), "Operand `r` does not fit `out` along the batch: expected 1, got 3");
  const std::string_view column = "out = sum; r = column_sum(sum)";
  REQUIRE_FALSE(get_kernels(fake_bf16(column, "", {{"r", fake_rows({3, 512})}})).empty());
  refused(column, fake_rows({512}), "Operand `r` does not fit `out` along the batch: expected 3, got 1");
  refused(column, fake_rows({2, 512}), "Operand `r` does not fit `out` along the batch: expected 3, got 2");
  refused(column, fake_rows({3, 511}), "Operand `r` does not fit `out` along columns: expected 512, got 511");
  const std::string_view all = "out = sum; r = max(sum)";
  REQUIRE_FALSE(get_kernels(fake_bf16(all, "", {{"r", fake_rows({1})}})).empty());
  refused(all, fake_rows({3}), "Operand `r`");
  check_nothing_found(fake_bf16(row, "", {}), "Operand `r` is missing");
}
