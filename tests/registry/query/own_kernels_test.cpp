/// Kernels that a program makes: what they are, that they are made once, and that they compute.
#include <algorithm>
#include <barrier>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/library.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "registry/query/operation_info.hpp"
#include "registry/query/own_entries.hpp"
#include "support/catch_compat.hpp"
#include "support/config_values.hpp"
#include "support/gemm_rules.hpp"
#include "support/random_config.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using detail::Row;
using test::any_space;
using test::random_config;

namespace {

bool is_registered(const Row& row) {
  const auto rows = detail::rows();
  return &row >= rows.data() && &row < rows.data() + rows.size();
}

Kernel made(std::string_view text) {
  const Result<Kernel> kernel = make_kernel(text);
  INFO(text << ": " << kernel.status().message());
  REQUIRE(kernel);
  return *kernel;
}

/// What must not change however many kernels are made.
struct Table {
  std::vector<const Row*> rows;
  std::vector<std::string> names;
  std::vector<std::uint32_t> entries;
  std::size_t entry_count = detail::entries().size();

  Table() {
    for (const Row& row : detail::rows()) {
      rows.push_back(&row);
      names.emplace_back(row.metadata.name);
      entries.push_back(row.entry);
    }
  }
  friend bool operator==(const Table&, const Table&) = default;
};

/// A problem that a kernel takes, with operands.
lab::OperandsOf<GemmArguments> problem_for(test::Random& random, const Kernel& kernel) {
  const OperandsMetadata& o = kernel.metadata().operands;
  const int alignment =
      std::max({o.a.alignment * bytes_of(o.a.dtype), o.b.alignment * bytes_of(o.b.dtype), 1});
  const bool has_small_sums = kernel.metadata().epilogue.fast_clamp;  // whose K is up to 256
  GemmArguments shape = test::random_shape(
      random, test::types_of(detail::row_of(kernel)), test::layouts_of(detail::row_of(kernel)),
      {.m = 90, .n = 90, .k = has_small_sums ? 256 : 300, .alignment_bytes = alignment});
  shape.math = kernel.metadata().design.math;
  shape.controls = test::permitted(test::random_controls(random), kernel.metadata());
  const std::int64_t k = shape.a.extents[shape.a.rank - 1U];
  const int tile_k = kernel.metadata().design.tile.k;
  const std::int64_t most = std::max<std::int64_t>((k + tile_k - 1) / tile_k, 1);
  const bool nothing = shape.epilogue.alpha.value == 0;  // then K is 0
  if (shape.controls.split_k_slices)
    shape.controls.split_k_slices =
        nothing ? 1 : static_cast<int>(std::min<std::int64_t>(*shape.controls.split_k_slices, most));
  test::give_scales(kernel.metadata(), shape);
  Result<lab::OperandsOf<GemmArguments>> problem =
      lab::OperandsOf<GemmArguments>::make(shape, {.seed = random()});
  REQUIRE(problem);
  return *std::move(problem);
}

}  // namespace

TEST_CASE("a name makes the kernel of that name, and so does its config as JSON", "[own]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  const Table before;
  for (int i = 0; i < 300; ++i) {
    const ConfigSpace& space = any_space(random);
    const SettingValues values = random_config(random, space);
    const std::string name = config_name(space, values);
    const std::string json = test::json_of(random, space, values);
    INFO(json);
    const Kernel kernel = test::coin(random) ? made(name) : made(json);
    CHECK(kernel.name() == name);
    CHECK(&detail::row_of(made(kernel.name())) == &detail::row_of(kernel));
    CHECK(&detail::row_of(made(json)) == &detail::row_of(kernel));
    const Result<Kernel> found = find_kernel(name);
    REQUIRE(found);
    CHECK(*found == kernel);

    const Row& row = detail::row_of(kernel);
    const KernelMetadata& metadata = kernel.metadata();
    CHECK(metadata.family == space.family);
    CHECK(test::types_of(row) == test::types_of(values));
    CHECK(test::layouts_of(row) == test::layouts_of(values));
    CHECK(metadata.design.tile == Extent3{values[5][0], values[5][1], values[5][2]});
    CHECK(metadata.design.threads <= 1024);
    CHECK(metadata.design.threads % 32 == 0);
    CHECK(metadata.design.shared_memory <= 227 * 1024);
    const SettingValues entry = space.entry(values);
    CHECK(detail::entry_of(row.entry).name == config_name(space, entry));
    const bool reorders = metadata.design.reorders;
    if (!reorders) CHECK(row.exchanged == (entry != values));
    CHECK(detail::find_entry(config_name(space, entry)) == row.entry);
    const bool copies_outputs = reorders && metadata.operation == Operation::conv2d;
    CHECK((row.companions[0] != detail::no_entry) == (metadata.modes.split_k_parallel || copies_outputs));
    CHECK((row.companions[1] != detail::no_entry) == reorders);
    if (!is_registered(row) && !detail::is_in_table(row.entry)) {
      CHECK(!kernel.precompiled(80));
      CHECK(!kernel.precompiled(90));
      CHECK(!detail::has_machine_code(row.entry, 90));
      CHECK(detail::resources(row.entry, 90).registers == 0);
    }
  }
  CHECK(Table() == before);
  CHECK(get_kernels().size() == before.rows.size());
}

TEST_CASE("a registered config gives the registered kernel", "[own]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (const Row& row : detail::rows()) REQUIRE(&detail::row_of(made(row.metadata.name)) == &row);
  for (int i = 0; i < 200; ++i) {
    const Row& row = test::any_row(random);
    for (const detail::FamilySides& family : detail::families()) {
      if (family.space->family != row.metadata.family) continue;
      const Result<SettingValues> values = parse_config_name(*family.space, row.metadata.name);
      REQUIRE(values);
      CHECK(&detail::row_of(made(test::json_of(random, *family.space, *values))) == &row);
    }
  }
}

TEST_CASE("kernels that are each other's transposition share an entry", "[own]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 200; ++i) {
    const ConfigSpace& space = any_space(random);
    SettingValues values = random_config(random, space);
    values[4][2] = static_cast<int>(Layout::column);
    if (!kernel_fault(space, values).empty()) continue;
    const SettingValues transposed = space.entry(values);
    if (transposed == values) continue;                      // the output's layout is an axis of the family
    if (!kernel_fault(space, transposed).empty()) continue;  // its weights are A, and have zero points
    const bool first = test::coin(random);
    const Kernel one = made(config_name(space, first ? values : transposed));
    const Kernel other = made(config_name(space, first ? transposed : values));
    INFO(one.name() << " and " << other.name());
    CHECK(one.name() != other.name());
    CHECK(detail::row_of(one).entry == detail::row_of(other).entry);
    const bool copies = one.metadata().design.reorders || other.metadata().design.reorders;
    if (!copies) CHECK(detail::row_of(one).exchanged != detail::row_of(other).exchanged);
    if (!is_registered(detail::row_of(one)) && !is_registered(detail::row_of(other)))
      CHECK(detail::row_of(one).entry_config == detail::row_of(other).entry_config);
  }
}

TEST_CASE("what is made stays where it is", "[own]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  struct Seen {
    const Row* row;
    const detail::Entry* entry;
    std::string name;
    std::string entry_name;
  };
  std::vector<Seen> seen;
  std::map<std::uint32_t, std::string> numbers;
  for (int i = 0; i < 2000; ++i) {  // more than some chunks of entries
    const ConfigSpace& space = any_space(random);
    const Kernel kernel = made(config_name(space, random_config(random, space)));
    const detail::Entry& entry = detail::entry_of(detail::row_of(kernel).entry);
    seen.push_back({&detail::row_of(kernel), &entry, std::string(kernel.name()), std::string(entry.name)});
    const auto [known, added] = numbers.try_emplace(detail::row_of(kernel).entry, entry.name);
    if (!added) REQUIRE(known->second == entry.name);
  }
  for (const Seen& each : seen) {
    REQUIRE(&detail::row_of(made(each.name)) == each.row);
    REQUIRE(each.row->metadata.name == each.name);
    REQUIRE(&detail::entry_of(each.row->entry) == each.entry);
    REQUIRE(each.entry->name == each.entry_name);
  }
}

TEST_CASE("own kernels compute what the float64 reference says", "[own]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 150; ++i) {
    const ConfigSpace& space = any_space(random);
    const Kernel kernel = made(config_name(space, random_config(random, space)));
    lab::OperandsOf<GemmArguments> problem = problem_for(random, kernel);
    const GemmArguments& args = problem.arguments;
    INFO("case " << i << ": " << kernel.name() << " on " << args.out.extents[args.out.rank - 2U] << "x"
                 << args.out.extents[args.out.rank - 1U] << "x" << args.a.extents[args.a.rank - 1U]);
    const Status supports = kernel.supports(args);
    INFO(supports.message());
    REQUIRE(supports);
    const Result<std::size_t> bytes = kernel.workspace_size(args);
    REQUIRE(bytes);
    std::vector<std::byte> memory(*bytes + 256);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const Workspace workspace = {memory.data() + (256 - address % 256), *bytes};
    const Result<lab::Reference> reference = lab::compute_reference(args);
    REQUIRE(reference);
    if (test::coin(random)) {
      const Status ran = kernel.run(args, {.workspace = workspace});
      INFO(ran.message());
      REQUIRE(ran);
    } else {
      const Result<Plan> plan = kernel.prepare(args);
      INFO(plan.status().message());
      REQUIRE(plan);
      CHECK(plan->workspace_size() == *bytes);
      REQUIRE(plan->run(detail::operands_of(args), nullptr, workspace));
    }
    CHECK(problem.check_outputs());
    const auto k = args.a.extents[args.a.rank - 1U];
    const lab::Comparison result = lab::compare(*reference, args, lab::tolerance(kernel.metadata(), k));
    INFO("error " << result.error << ", bound " << result.bound);
    CHECK(result.within());
  }
}

TEST_CASE("a kernel takes zero points of B alone, and its device code those of either operand", "[own]") {
  const Result<Kernel> of_a = make_kernel("gemm_simt_u8_f16_f32_f32_rcr_32x32x16_t2x2_zero_points");
  REQUIRE(!of_a);
  CHECK(
      of_a.status().message() ==
      "There can be no kernel `gemm_simt_u8_f16_f32_f32_rcr_32x32x16_t2x2_zero_points`: zero points are B's, "
      "which must be u4 or u8");
  const Kernel of_b = made("gemm_simt_f16_u8_f32_f32_rcc_32x32x16_t2x2_zero_points");
  CHECK(detail::entry_of(detail::row_of(of_b).entry).name ==
        "gemm_simt_u8_f16_f32_f32_rcr_32x32x16_t2x2_zero_points");
}

TEST_CASE("own kernels refuse what they do not take", "[own]") {
  const Kernel kernel = made("gemm_sm80_f16_f16_f32_f16_rcr_96x64x48_w2x2x1_s3_a8x8");
  REQUIRE(!is_registered(detail::row_of(kernel)));
  CHECK(kernel.supports(test::plain_problem(64, 64, 64)));
  CHECK(kernel.supports(test::plain_problem(64, 64, 64, DType::bf16)).operand() == Operand::a);
  CHECK(kernel.supports(test::plain_problem(64, 64, 65)).reason() == Reason::leading_alignment);
  GemmArguments sliced = test::plain_problem(64, 64, 96);
  sliced.controls = {Mode::split_k_parallel, 3, 1};
  CHECK(kernel.supports(sliced).reason() == Reason::split_k_slices);
  sliced.controls.split_k_slices = 2;
  const Result<std::size_t> bytes = kernel.workspace_size(sliced);
  REQUIRE(bytes);
  CHECK(*bytes == 2 * 64 * 64 * sizeof(float));

  // Too large for the shared memory of an A100.
  const Kernel large = made("gemm_sm80_f16_f16_f32_f16_rcr_256x128x64_w4x2x1_s4_a8x8");
  CHECK(large.metadata().design.shared_memory == 196608);
  const GemmArguments args = test::plain_problem(512, 512, 512);
  const DeviceModel a100 = test::device_named("a100");
  const Result<Candidate> on_a100 = candidate_of(large, args, {.device = &a100});
  REQUIRE(!on_a100);
  CHECK(on_a100.status().reason() == Reason::shared_memory);
  const DeviceModel h200 = test::device_named("h200");
  CHECK(candidate_of(large, args, {.device = &h200}));
}

TEST_CASE("one kernel is offered with the controls that a query would choose", "[own]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  int offered = 0;
  for (int i = 0; i < 300; ++i) {
    const Row& row = test::any_row(random);
    const GemmArguments args = test::problem_for(random, row);
    const Result<Candidate> one = candidate_of(Kernel(row), args);
    FindOptions options;
    options.limit = 1;
    const CandidateList found = get_kernels(
        args, [&](const KernelMetadata& kernel) { return kernel.name == row.metadata.name; }, options);
    INFO(row.metadata.name);
    REQUIRE(static_cast<bool>(one) == !found.empty());
    if (!one) {
      CHECK(one.status().message() == Kernel(row).supports(args).message());
      continue;
    }
    ++offered;
    CHECK(one->controls().mode == found.front().controls().mode);
    CHECK(one->controls().split_k_slices == found.front().controls().split_k_slices);
    CHECK(one->controls().swizzle == found.front().controls().swizzle);
    CHECK(one->predicted_seconds() == found.front().predicted_seconds());
    CHECK(one->workspace() == found.front().workspace());
    if (one->workspace() == 0) continue;
    // Less is enough for some, with other controls.
    const Result<Candidate> less = candidate_of(Kernel(row), args, {.max_workspace = one->workspace() - 1});
    if (less) CHECK(less->workspace() < one->workspace());
    if (!less) CHECK(less.status().code() == StatusCode::filtered_out);
  }
  CHECK(offered > 50);
}

TEST_CASE("threads that make the same and different kernels get each kernel once", "[own][threads]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  constexpr int threads = 16;
  constexpr int shared = 40;
  constexpr int alone = 20;
  std::vector<std::string> texts;  // the first ones are everybody's
  for (int i = 0; i < shared + threads * alone; ++i) {
    const ConfigSpace& space = any_space(random);
    const SettingValues values = random_config(random, space);
    texts.push_back(test::coin(random) ? config_name(space, values) : test::json_of(random, space, values));
  }
  struct Made {
    std::size_t text;
    const Row* row;
    std::string entry;
  };
  std::vector<std::vector<Made>> made_by(threads);
  std::barrier start(threads);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < shared; ++i) order.push_back(i);
      for (std::size_t i = 0; i < alone; ++i)
        order.push_back(shared + static_cast<std::size_t>(t) * alone + i);
      test::Random own_random(seed + static_cast<unsigned>(t));
      std::shuffle(order.begin(), order.end(), own_random);
      start.arrive_and_wait();
      for (const std::size_t i : order) {
        const Result<Kernel> kernel = make_kernel(texts[i]);
        if (!kernel) continue;  // counted below
        const Row& row = detail::row_of(*kernel);
        made_by[static_cast<std::size_t>(t)].push_back(
            {i, &row, std::string(detail::entry_of(row.entry).name)});
        (void)detail::find_entry(detail::entry_of(row.entry).name);
        (void)find_kernel(kernel->name());
        (void)kernel->supports(test::problem_for(own_random, row));
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  std::vector<const Row*> rows(texts.size());
  std::map<std::string, std::uint32_t> entries;
  std::map<std::string_view, const Row*> names;
  for (const std::vector<Made>& all : made_by) {
    REQUIRE(all.size() == shared + alone);
    for (const Made& each : all) {
      const Row*& row = rows[each.text];
      if (row == nullptr) row = each.row;
      REQUIRE(row == each.row);
      REQUIRE(entries.try_emplace(each.entry, row->entry).first->second == row->entry);
      REQUIRE(names.try_emplace(row->metadata.name, row).first->second == row);
    }
  }
  for (std::size_t i = 0; i < texts.size(); ++i) REQUIRE(&detail::row_of(made(texts[i])) == rows[i]);
}
