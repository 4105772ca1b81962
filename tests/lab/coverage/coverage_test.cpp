// There is always a kernel: which ones take any size, stride and alignment, by their metadata and in fact.
#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <vector>

#include "lab/coverage/coverage_rows.hpp"
#include "operations/gemm/normalise.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using detail::Row;
using lab::LayoutKey;
using lab::TypeKey;
using test::between;
using test::coin;
using test::Random;

/// What kernels could stumble over in how a matrix is stored.
enum class Quirk : int {
  none,
  odd_padding,     ///< a leading dimension that is a multiple of nothing
  odd_pointer,     ///< a pointer that is aligned to one element
  repeated_lines,  ///< leading dimension 0
  shared_lines,    ///< lines that overlap
  spread,          ///< elements of a line lie apart
  repeated,        ///< elements of a line are all the same one
  odd_batch,       ///< a batch stride that is a multiple of nothing
  same_batch,      ///< one matrix for the whole batch, of rank 3
};
constexpr Quirk quirks[] = {Quirk::none,           Quirk::odd_padding,  Quirk::odd_pointer,
                            Quirk::repeated_lines, Quirk::shared_lines, Quirk::spread,
                            Quirk::repeated,       Quirk::odd_batch,    Quirk::same_batch};

/// Whether no two elements share memory, as an output asks.
bool keeps_apart(Quirk quirk) {
  return quirk != Quirk::repeated_lines && quirk != Quirk::shared_lines && quirk != Quirk::repeated &&
         quirk != Quirk::same_batch;
}

/// What an interleaved matrix can have of these; its extents are the next multiples of 32.
TensorView interleaved(DType type, Layout layout, Quirk quirk, int batch, int rows, int columns) {
  const bool by_rows = layout == Layout::row_interleaved32;
  const std::int64_t ld =
      32LL * std::max(by_rows ? columns : rows, 1) + (quirk == Quirk::odd_padding ? 7 : 0);
  TensorView view = by_rows ? TensorView::row_interleaved32(nullptr, type, {batch, rows, columns}, ld)
                            : TensorView::column_interleaved32(nullptr, type, {batch, rows, columns}, ld);
  if (quirk == Quirk::odd_batch) view.strides[0] += 1;
  if (quirk == Quirk::same_batch) view.strides[0] = 0;
  if (batch == 0) {
    view.rank = 2;
    view.extents = {rows, columns};
    view.strides = {view.strides[1], view.strides[2]};
  }
  if (quirk == Quirk::odd_pointer) view.assumed_alignment = static_cast<std::uint16_t>(bytes_of(type));
  return view;
}

TensorView matrix(DType type, Layout layout, Quirk quirk, int batch, int rows, int columns) {
  if (is_interleaved(layout)) return interleaved(type, layout, quirk, batch, rows, columns);
  const std::int64_t line = std::max(layout == Layout::row ? columns : rows, 1);
  const std::int64_t lines = std::max(layout == Layout::row ? rows : columns, 1);
  const auto aligned = [](std::int64_t elements) { return (elements + 15) / 16 * 16; };
  std::int64_t along = 1;
  std::int64_t across = aligned(line);
  switch (quirk) {
    case Quirk::odd_padding: across = line + 1 - line % 2 + 6; break;
    case Quirk::repeated_lines: across = 0; break;
    case Quirk::shared_lines: across = std::max<std::int64_t>(line / 3, 1); break;
    case Quirk::spread: along = 3, across = aligned(3 * line); break;
    case Quirk::repeated: along = 0, across = 16; break;
    default: break;
  }
  std::int64_t next = aligned(line * along + (lines - 1) * across);
  if (quirk == Quirk::odd_batch) next += 1;
  if (quirk == Quirk::same_batch) next = 0;
  const bool row = layout == Layout::row;
  const std::array<std::int64_t, 3> extents = {batch, rows, columns};
  const std::array<std::int64_t, 3> strides = {next, row ? across : along, row ? along : across};
  const std::size_t first = batch == 0 ? 1 : 0;
  TensorView view = TensorView::strided(nullptr, type, std::span(extents).subspan(first),
                                        std::span(strides).subspan(first));
  view.overlapping = quirk == Quirk::shared_lines;
  view.assumed_alignment = static_cast<std::uint16_t>(
      quirk == Quirk::odd_pointer ? unit_bytes(type) : std::max(16, bytes_of(type)));
  return view;
}

struct Stored {
  Quirk a = Quirk::none, b = Quirk::none, c = Quirk::none, out = Quirk::none;
  int batch = 0, m = 64, n = 64, k = 64;
};

GemmArguments problem_of(const TypeKey& types, const LayoutKey& layouts, const Stored& stored) {
  Stored s = stored;
  if (is_interleaved(layouts.a) || is_interleaved(layouts.out)) s.m = test::whole(s.m);
  if (is_interleaved(layouts.b) || is_interleaved(layouts.out)) s.n = test::whole(s.n);
  if (is_interleaved(layouts.a) || is_interleaved(layouts.b)) s.k = test::whole(s.k);
  const Layout like_out = is_interleaved(layouts.out) ? layouts.out : transposed(layouts.out);
  GemmArguments args{.a = matrix(types.a, layouts.a, s.a, s.batch, s.m, s.k),
                     .b = matrix(types.b, layouts.b, s.b, s.batch, s.k, s.n),
                     .c = matrix(types.out, like_out, s.c, s.batch, s.m, s.n),
                     .out = matrix(types.out, layouts.out, s.out, s.batch, s.m, s.n),
                     .accumulator = types.accumulator,
                     .math = types.math};
  args.epilogue.beta = 1;
  args.epilogue.activation = Activation::relu;
  args.epilogue.bias = TensorView::vector(nullptr, types.out, s.n);
  args.epilogue.bias->assumed_alignment = static_cast<std::uint16_t>(bytes_of(types.out));
  return args;
}

/// Every extent that tiles and boxes could stumble over, beside every quirk of each operand, and both mixed.
std::vector<Stored> adversarial() {
  std::vector<Stored> all;
  constexpr int extents[] = {0, 1, 2, 7, 8, 13, 33, 127, 257, 2047, 100'003};
  for (const int extent : extents) {
    all.push_back({.m = extent});
    all.push_back({.n = extent});
    all.push_back({.k = extent});
  }
  for (const Quirk quirk : quirks) {
    for (const int batch : {0, 3}) {
      all.push_back({.a = quirk, .batch = batch});
      all.push_back({.b = quirk, .batch = batch});
      all.push_back({.c = quirk, .batch = batch});
      if (keeps_apart(quirk)) all.push_back({.out = quirk, .batch = batch});
    }
  }
  Random random(9);
  for (int i = 0; i < 60; ++i) {
    Stored s{.a = test::one_of(random, quirks),
             .b = test::one_of(random, quirks),
             .c = test::one_of(random, quirks),
             .out = test::one_of(random, quirks),
             .batch = coin(random) ? 0 : between(random, 1, 4),
             .m = test::one_of(random, extents),
             .n = test::one_of(random, extents),
             .k = test::one_of(random, extents)};
    if (!keeps_apart(s.out)) s.out = Quirk::spread;
    all.push_back(s);
  }
  return all;
}

/// The adversarial problems of these types and layouts; not those whose strides read as another layout.
std::vector<GemmArguments> problems_of(const Row& row) {
  std::vector<GemmArguments> problems;
  for (const Stored& stored : adversarial()) {
    GemmArguments args = problem_of(lab::type_key(row.metadata), lab::layout_key(row.metadata), stored);
    GemmProblem problem;
    const Status valid = test::normalise(args, problem);
    INFO(valid.message());
    if (!valid && bits_of(args.b.dtype) < 8) continue;  // lines of half bytes begin at whole bytes
    REQUIRE(valid);
    if (detail::gemm::Rules::check_signature(row, problem)) problems.push_back(args);
  }
  return problems;
}

bool takes_all(const Row& row, std::span<const GemmArguments> problems) {
  return std::ranges::all_of(
      problems, [&](const GemmArguments& args) { return static_cast<bool>(Kernel(row).supports(args)); });
}

}  // namespace

TEST_CASE("metadata says which kernels take any problem, and they do", "[coverage]") {
  int yes = 0;
  int no = 0;
  for (const detail::KeyRange& range : detail::key_ranges()) {
    const auto rows = detail::rows().subspan(range.begin, range.end - range.begin);
    if (rows.front().metadata.operation != Operation::gemm) continue;
    const std::vector<GemmArguments> problems = problems_of(rows.front());
    REQUIRE(5 * problems.size() > 4 * adversarial().size());
    for (const Row& row : rows) {
      CAPTURE(row.metadata.name);
      const bool has_groups = row.metadata.operands.scales == ScaleSupport::group_scales;
      // Kernels of groups take weights without scales, too.
      const bool any =
          lab::takes_any_problem(row.metadata) || (has_groups && lab::takes_any_scaled_problem(row.metadata));
      // Kernels that reorder operands run on one generation, without arrays, and refuse what needs no copy.
      const bool reorders = row.metadata.design.reorders;
      REQUIRE_FALSE((any && reorders));
      if (!reorders) REQUIRE(takes_all(row, problems) == any);
      ++(any ? yes : no);
    }
  }
  CHECK(yes > 0);
  CHECK(no > 0);
}

TEST_CASE("every signature has a kernel that takes every size, stride and alignment", "[coverage]") {
  std::set<std::pair<TypeKey, LayoutKey>> there;
  for (const Row& row : detail::rows()) {
    if (lab::takes_any_problem(row.metadata))
      there.insert({lab::type_key(row.metadata), lab::layout_key(row.metadata)});
  }
  for (const detail::KeyRange& range : detail::key_ranges()) {
    const Row& row = detail::rows()[range.begin];
    if (row.metadata.operation != Operation::gemm) continue;
    TypeKey types = lab::type_key(row.metadata);
    const bool own = there.contains({types, lab::layout_key(row.metadata)});
    types.math = Math::exact;  // such kernels qualify whatever the math
    CAPTURE(row.metadata.name);
    REQUIRE((own || there.contains({types, lab::layout_key(row.metadata)})));
    // And a query finds one, on any device that the registry knows.
    for (const DeviceModel& device : device_models()) {
      FindOptions options{.limit = 1, .device = &device};
      for (const GemmArguments& args : problems_of(row)) {
        const CandidateList found = get_kernels(args, {}, options);
        CAPTURE(device.name, found.status().message());
        REQUIRE(found.size() == 1);
      }
    }
  }
}
