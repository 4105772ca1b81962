// Stream-K: launches, what is refused, sums, and when it is chosen.
#include "common/stream_k.hpp"
#include "support/gemm_rules.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/tile_order.hpp"
#include "gemm/host.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "lab/reference/tolerance.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/gemm/executor.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"
#include "support/stream_parts.hpp"

using namespace quarry;
using test::OwnPart;
using test::parts_by_tile;
using test::Random;

// ---- Launches.

namespace {

constexpr std::string_view half_kernel = "gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s4_stream_k_a8x8";
constexpr std::string_view large_kernel = "gemm_sm80_f16_f16_f32_f16_rcr_256x128x32_w4x2x1_s3_stream_k_a8x8";

Kernel kernel_named(std::string_view name) {
  const Result<Kernel> kernel = find_kernel(name);
  INFO(name);
  REQUIRE(kernel);
  return *kernel;
}

struct Resolved {
  GemmProblem problem;
  ChosenControls controls;
  Launch launch;

  unsigned grid() const { return kernel_step(launch)->grid; }
  const GemmParams& params() const { return params_of<GemmParams>(launch.image, *kernel_step(launch)); }
};

Resolved resolved(const Kernel& kernel, const GemmArguments& args, const DeviceModel& device) {
  Resolved r;
  const detail::Row& row = detail::row_of(kernel);
  const Status status = test::resolve(row, args, {}, device, r.problem, r.controls);
  INFO(status.message());
  REQUIRE(status);
  detail::gemm::family_of(row).launch(row.entry_config, r.problem, r.controls, r.launch);
  return r;
}

GemmArguments with(GemmArguments args, const Controls& controls) {
  args.controls = controls;
  return args;
}

}  // namespace

TEST_CASE("stream-K launches: blocks, workspace, and where nothing is cut", "[stream]") {
  const DeviceModel h200 = test::device_named("h200");
  const Kernel kernel = kernel_named(large_kernel);
  struct Case {
    int m, n, k;
    Controls controls;
    unsigned grid;
    bool cuts;
  };
  // One block of 256 threads a multiprocessor, each with 4 K tiles of 32 at least.
  const Case cases[] = {
      {256 * 14, 128 * 10, 1024, {}, 132, true},                     // 140 tiles
      {256 * 12, 128 * 11, 1024, {}, 132, false},                    // 132 tiles
      {256 * 24, 128 * 22, 1024, {}, 132, false},                    // four rounds
      {256 * 14, 128 * 10, 32, {}, 132, false},                      // one K tile
      {256, 128, 1024, {}, 8, true},                                 // one tile of 32 K tiles
      {1, 1, 1024, {}, 8, true},                                     // most of it empty
      {256, 128, 96, {}, 1, false},                                  // too little to share
      {256, 128, 1024, {.multiprocessors = 1}, 1, false},            // nobody to share with
      {256 * 3, 128, 1024, {.multiprocessors = 2}, 2, true},         // three tiles for two
      {256 * 14, 128 * 10, 1024, {.mode = Mode::gemm}, 132, false},  // as it was asked
      {256, 128, 1024, {.mode = Mode::gemm}, 1, false},              // a tile a block
      {256 * 3, 128, 1024, {.mode = Mode::stream_k, .multiprocessors = 5000}, 24, true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.m, c.n, c.k, c.controls.multiprocessors.value_or(0), c.grid);
    const GemmArguments args = with(test::plain_problem(c.m, c.n, c.k), c.controls);
    const Resolved r = resolved(kernel, args, h200);
    CHECK(r.grid() == c.grid);
    CHECK(r.params().mode == (c.cuts ? Mode::stream_k : Mode::gemm));
    CHECK(r.params().slices == 1);
    CHECK((r.launch.workspace_bytes > 0) == c.cuts);
    if (!c.cuts) continue;
    const std::size_t tile_bytes = 256 * 128 * sizeof(float);
    const WorkspacePart& counters = *find_part(r.launch, "counters");
    CHECK(counters.offset == (c.grid - 1) * tile_bytes);
    CHECK(counters.bytes == c.grid * sizeof(int));
    CHECK(r.launch.workspace_bytes == counters.offset + (c.grid * sizeof(int) + 255) / 256 * 256);
  }
}

TEST_CASE("stream-K without K leaves tiles whole", "[stream]") {
  GemmArguments args = test::plain_problem(256 * 14, 128 * 10, 1024);
  args.epilogue.alpha = 0;
  const Resolved r = resolved(kernel_named(large_kernel), args, test::device_named("h200"));
  CHECK(r.params().k == 0);
  CHECK(r.params().mode == Mode::gemm);
  CHECK(r.grid() == 132);
  CHECK(r.launch.workspace_bytes == 0);
}

TEST_CASE("stream-K uses the multiprocessors by as many blocks as they hold", "[stream]") {
  const GemmArguments args = test::plain_problem(128 * 14, 128 * 10, 4096);
  for (const char* name : {"h200", "a100"}) {
    const DeviceModel device = test::device_named(name);
    const Resolved r = resolved(kernel_named(half_kernel), args, device);
    CAPTURE(name);
    CHECK(r.controls.resident == 2);
    CHECK(r.grid() == 2U * static_cast<unsigned>(device.multiprocessors));
    GemmArguments few = with(args, {.multiprocessors = 5});
    CHECK(resolved(kernel_named(half_kernel), few, device).grid() == 10);
  }
}

TEST_CASE("stream-K of an empty output launches nothing", "[stream]") {
  const Kernel kernel = kernel_named(half_kernel);
  for (const auto& [m, n] : {std::pair(0, 64), std::pair(64, 0)}) {
    const Resolved r = resolved(kernel, test::plain_problem(m, n, 64), test::device_named("h200"));
    CHECK(r.launch.is_empty());
    CHECK(r.launch.workspace_bytes == 0);
  }
}

// ---- What is refused.

TEST_CASE("stream-K and ways of cutting K exclude each other", "[stream]") {
  const Kernel kernel = kernel_named(half_kernel);
  const GemmArguments args = test::plain_problem(512, 512, 512);
  CHECK(kernel.supports(args));
  CHECK(kernel.supports(with(args, {.mode = Mode::stream_k})));
  CHECK(kernel.supports(with(args, {.mode = Mode::stream_k, .split_k_slices = 1})));
  CHECK(kernel.supports(with(args, {.mode = Mode::gemm, .multiprocessors = 7})));
  for (const Mode mode : {Mode::split_k_serial, Mode::split_k_parallel, Mode::split_k_cluster}) {
    for (const int slices : {1, 2}) {
      const Status status = kernel.supports(with(args, {.mode = mode, .split_k_slices = slices}));
      CHECK(status.reason() == Reason::mode);
      CHECK(status.message() ==
            "Control `mode` is unsupported: expected a mode that the kernel permits, got " +
                std::string(to_string(mode)));
    }
  }
  const Status sliced = kernel.supports(with(args, {.split_k_slices = 2}));
  CHECK(sliced.reason() == Reason::split_k_slices);
  const Status both = kernel.supports(with(args, {.mode = Mode::stream_k, .split_k_slices = 2}));
  CHECK(both.code() == StatusCode::invalid_arguments);
  for (const int most : {0, -1}) {
    const Status none = kernel.supports(with(args, {.multiprocessors = most}));
    CHECK(none.reason() == Reason::multiprocessors);
  }

  int others = 0;
  for (const Kernel& other : get_kernels([](const KernelMetadata& k) {
         return k.operation == Operation::gemm && !k.modes.stream_k &&
                k.operands.scales == ScaleSupport::none;
       })) {
    const detail::Row& row = detail::row_of(other);
    if (test::types_of(row) != Types{DType::f16, DType::f16, DType::f32, DType::f16} ||
        test::layouts_of(row) != Layouts{Layout::row, Layout::column, Layout::row}) {
      continue;
    }
    const Status status = other.supports(with(args, {.mode = Mode::stream_k}));
    CAPTURE(other.name());
    REQUIRE(status.message() ==
            "Control `mode` is unsupported: expected a mode that the kernel permits, got stream_k");
    ++others;
  }
  CHECK(others > 10);
  for (const Candidate& found : get_kernels(with(args, {.mode = Mode::stream_k}))) {
    REQUIRE(found.metadata().modes.stream_k);
    REQUIRE(found.metadata().design.schedule == Schedule::stream_k);
  }
}

TEST_CASE("stream-K needs its workspace, or leaves tiles whole where there is none", "[stream]") {
  GemmArguments shape = test::plain_problem(300, 200, 2000);
  shape.controls.multiprocessors = 2;
  Result<lab::OperandsOf<GemmArguments>> made = lab::OperandsOf<GemmArguments>::make(shape, {.seed = 5});
  REQUIRE(made);
  GemmArguments& args = made->arguments;
  const Kernel kernel = kernel_named(half_kernel);
  const Result<std::size_t> bytes = kernel.workspace_size(args);
  REQUIRE(bytes);
  REQUIRE(*bytes > 0);
  std::vector<std::byte> memory(*bytes + 256);
  void* aligned = memory.data();
  std::size_t space = memory.size();
  REQUIRE(std::align(256, *bytes, aligned, space) != nullptr);
  CHECK(kernel.run(args).code() == StatusCode::invalid_workspace);
  CHECK(kernel.run(args, {.workspace = {aligned, *bytes - 1}}).reason() == Reason::workspace_size);
  CHECK(kernel.run(args, {.workspace = {aligned, *bytes}}));
  CHECK(made->check_outputs());

  const Filter by_name([&](const KernelMetadata& k) { return k.name == half_kernel; });
  for (const std::size_t most : {*bytes, *bytes - 1, std::size_t{0}}) {
    const CandidateList found = get_kernels(args, by_name, {.max_workspace = most});
    REQUIRE(found.size() == 1);
    const Candidate& only = found.front();
    CHECK(*only.controls().mode == (most == *bytes ? Mode::stream_k : Mode::gemm));
    CHECK(only.workspace() == (most == *bytes ? *bytes : 0));
    CHECK(*only.workspace_size(args) == only.workspace());
    CHECK(only.run(args, {.workspace = {aligned, only.workspace()}}));
  }
  const GemmArguments asked = with(args, {.mode = Mode::stream_k, .multiprocessors = 2});
  CHECK(get_kernels(asked, by_name, {.max_workspace = *bytes - 1}).empty());
}

// ---- Sums.

namespace {

/// What so many blocks are launched with.
struct Work {
  GemmParams params;
  unsigned grid;
};

/// A launch of these tiles on host memory.
Work work_of(const GemmArguments& args, const host::HostKernel& kernel, Random& random) {
  const auto params = [](const TensorView& view) {
    const host::Matrix m(view);
    return MatrixParams{m.data, m.row_stride, m.column_stride, m.batch_stride};
  };
  const host::Matrix a(args.a);
  const host::Matrix out(args.out);
  Work work = {};
  GemmParams& p = work.params;
  p.a = params(args.a);
  p.b = params(args.b);
  p.out = params(args.out);
  p.epilogue.alpha = 1;
  p.m = static_cast<int>(out.rows);
  p.n = static_cast<int>(out.columns);
  p.k = static_cast<int>(a.columns);
  p.batch = static_cast<int>(out.batch);
  p.tiles_m = tiles_along(p.m, kernel.tile_m);
  p.tiles_n = tiles_along(p.n, kernel.tile_n);
  p.swizzle_log2 = test::between(random, 0, 3);
  p.raster = test::coin(random) ? Raster::along_n : Raster::along_m;
  p.mode = Mode::stream_k;
  p.slices = 1;
  p.k_tiles_per_slice = tiles_along(p.k, kernel.tile_k);
  const int tiles = p.batch * p.tiles_m * p.tiles_n;
  const int most = test::coin(random) ? tiles : tiles * p.k_tiles_per_slice;
  work.grid = static_cast<unsigned>(test::between(random, 1, most));
  return work;
}

/// One sum in the order of the tile's parts.
float summed(const lab::OperandsOf<GemmArguments>& problem, const host::HostKernel& kernel,
             const std::vector<OwnPart>& parts, int batch, int row, int column, int k) {
  const host::Matrix a(problem.arguments.a);
  const host::Matrix b(problem.arguments.b);
  float total = 0;
  for (const OwnPart& own : parts) {
    float sum = 0;
    const int first = own.part.first_k_tile * kernel.tile_k;
    for (int i = first; i < std::min(k, first + own.part.k_tiles * kernel.tile_k); ++i) {
      sum += static_cast<float>(host::read_element(a.type, a.data, a.index(batch, row, i)) *
                                host::read_element(b.type, b.data, b.index(batch, i, column)));
    }
    total += sum;
  }
  return total;
}

}  // namespace

TEST_CASE("the host executor adds the parts of a tile as blocks do", "[stream]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  constexpr Types types = {DType::f16, DType::f16, DType::f32, DType::f32};
  int cut = 0;
  for (int i = 0; i < 60; ++i) {
    constexpr int tiles[] = {16, 48, 80, 144};
    const host::HostKernel kernel = {.types = types,
                                     .tile_m = test::one_of(random, tiles),
                                     .tile_n = test::one_of(random, tiles),
                                     .tile_k = 16};
    const int batch = test::between(random, 1, 2);
    const std::int64_t m = test::between(random, 1, 200);
    const std::int64_t n = test::between(random, 1, 200);
    const std::int64_t k = test::between(random, 1, 150);
    const auto tensor = [&](DType type, std::int64_t rows, std::int64_t columns) {
      return TensorView::row_major(nullptr, type, {batch, rows, columns});
    };
    const Result<lab::OperandsOf<GemmArguments>> problem = lab::OperandsOf<GemmArguments>::make(
        {.a = tensor(DType::f16, m, k), .b = tensor(DType::f16, k, n), .out = tensor(DType::f32, m, n)},
        {.seed = random()});
    REQUIRE(problem);
    const Work work = work_of(problem->arguments, kernel, random);
    const GemmParams& p = work.params;
    REQUIRE(host::execute(kernel, p, work.grid));
    CHECK(problem->check_outputs());
    const auto all = static_cast<unsigned>(p.batch * p.tiles_m * p.tiles_n);
    const auto parts = parts_by_tile(stream_shares(p.mode, all, p.k_tiles_per_slice, work.grid));
    const host::Matrix out(problem->arguments.out);
    bool same = true;
    for (int entry = 0; entry < batch; ++entry) {
      for (int row = 0; row < p.m; row += test::between(random, 1, 9)) {
        for (int column = 0; column < p.n; column += test::between(random, 1, 9)) {
          const unsigned tile = tile_position(p, entry, row / kernel.tile_m, column / kernel.tile_n);
          cut += parts.at(tile).size() > 1;
          const double got = host::read_element(out.type, out.data, out.index(entry, row, column));
          same = same && got == summed(*problem, kernel, parts.at(tile), entry, row, column, p.k);
        }
      }
    }
    CAPTURE(p.m, p.n, p.k, p.batch, kernel.tile_m, kernel.tile_n, work.grid);
    REQUIRE(same);
  }
  CHECK(cut > 1000);
}

TEST_CASE("stream-K kernels on the host are within the bounds of the reference", "[stream]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  std::vector<Kernel> kernels;
  for (const Kernel& kernel : get_kernels([](const KernelMetadata& k) { return k.modes.stream_k; })) {
    kernels.push_back(kernel);
  }
  REQUIRE(kernels.size() > 100);
  for (int i = 0; i < 30; ++i) {
    const Kernel& kernel = kernels[random() % kernels.size()];
    const detail::Row& row = detail::row_of(kernel);
    GemmArguments shape = test::random_shape(random, test::types_of(row), test::layouts_of(row),
                                             {.m = 300, .n = 300, .k = 600, .alignment_bytes = 16});
    shape.math = kernel.metadata().design.math;
    shape.controls.multiprocessors = test::between(random, 1, 9);
    shape.epilogue.activation = Activation::relu;
    const Result<lab::OperandsOf<GemmArguments>> problem =
        lab::OperandsOf<GemmArguments>::make(shape, {.seed = random()});
    CAPTURE(kernel.name());
    REQUIRE(problem);
    const Result<std::size_t> bytes = kernel.workspace_size(problem->arguments);
    REQUIRE(bytes);
    std::vector<std::byte> memory(*bytes + 256);
    void* aligned = memory.data();
    std::size_t space = memory.size();
    REQUIRE(std::align(256, *bytes, aligned, space) != nullptr);
    const Result<lab::Reference> reference = lab::compute_reference(problem->arguments);
    REQUIRE(reference);
    REQUIRE(kernel.run(problem->arguments, {.workspace = {aligned, *bytes}}));
    const auto k = static_cast<std::int64_t>(problem->arguments.a.extents[problem->arguments.a.rank - 1U]);
    CHECK(lab::compare(*reference, problem->arguments, lab::tolerance(kernel.metadata(), k)).within());
  }
}

// ---- When it is chosen.

TEST_CASE("predictions of stream-K: less for a bad fit, not for a good one", "[stream][ranking]") {
  const DeviceModel h200 = test::device_named("h200");
  const auto seconds = [&](std::string_view name, const GemmArguments& args) {
    const Filter by_name([&](const KernelMetadata& k) { return k.name == name; });
    const CandidateList found = get_kernels(args, by_name, {.device = &h200});
    REQUIRE(found.size() == 1);
    return found.front().predicted_seconds();
  };
  constexpr std::string_view plain = "gemm_sm80_f16_f16_f32_f16_rcr_256x128x32_w4x2x1_s3_a8x8";
  // 140 tiles on 132 multiprocessors: a second round with hardly anything to do.
  CHECK(seconds(large_kernel, test::plain_problem(256 * 14, 128 * 10, 4096)) <
        0.75 * seconds(plain, test::plain_problem(256 * 14, 128 * 10, 4096)));
  // One, two and four rounds that come out even.
  for (const auto& [m, n] : {std::pair(12, 11), std::pair(24, 11), std::pair(24, 22)}) {
    const GemmArguments args = test::plain_problem(256 * m, 128 * n, 4096);
    CAPTURE(m, n);
    CHECK(seconds(large_kernel, args) >= seconds(plain, args));
  }
  // Hardly any K: handing sums on costs more than it brings.
  CHECK(seconds(large_kernel, test::plain_problem(256 * 14, 128 * 10, 64)) >
        seconds(plain, test::plain_problem(256 * 14, 128 * 10, 64)));
}
