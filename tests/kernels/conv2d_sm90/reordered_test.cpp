// Launches of convolutions whose channels lie in groups of 32: the copies around the kernel, and where all of
// it lies.
#include <algorithm>
#include <string>
#include <vector>

#include "common/interleaved.hpp"
#include "quarry/quarry.hpp"
#include "registry/operation.hpp"
#include "reorder_matrix/params.hpp"
#include "support/catch_compat.hpp"
#include "support/prepared_launch.hpp"

using namespace quarry;

namespace {

/// 2 images of 5 x 4 with 64 channels, 96 filters of 3 x 3; fake.
Conv2dArguments problem(DType out = DType::s8) {
  return {.a = nc32hw32(nullptr, DType::s8, {2, 5, 4, 64}),
          .b = c32rsk32(nullptr, DType::s8, {96, 3, 3, 64}),
          .out = nc32hw32(nullptr, out, {2, 5, 4, 96}),
          .padding = {1, 1}};
}

Kernel interleaved_kernel(const std::string& out = "s8") {
  const Result<Kernel> kernel =
      find_kernel("conv2d_sm90_fprop_s8_s8_s32_" + out + "_64x128x128_c1x1_s8_one_tile_nc32hw32");
  INFO(kernel.status().message());
  REQUIRE(kernel);
  return *kernel;
}

/// The entries of a launch's steps, in order.
std::vector<int> entries(const Launch& launch) {
  std::vector<int> all;
  for (const Step& step : launch.steps) all.push_back(step.entry);
  return all;
}

std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

TEST_CASE("of the epilogue's tensors C alone is copied: others are refused by name", "[conv2d]") {
  for (const auto& [part, name] :
       {std::pair(&Epilogue::residual, "residual"), std::pair(&Epilogue::aux, "aux")}) {
    Conv2dArguments args = problem();
    args.epilogue.*part = args.out;
    CHECK(interleaved_kernel().supports(args).message() ==
          "Operand `" + std::string(name) + "` is unsupported: expected none, got a tensor");
    CHECK_FALSE(get_kernels(args).empty());
  }
}

TEST_CASE("tensors are copied in front of the kernel and behind it", "[conv2d]") {
  const auto prepared = test::launch_of(interleaved_kernel(), problem());
  const Launch& launch = prepared->launch;
  CHECK(entries(launch) == std::vector{1, 1, 0, 2});
  const std::size_t a = 2 * 5 * 4 * 64;
  const std::size_t b = 96 * 9 * 64;
  const std::size_t out = 2 * 5 * 4 * 96;
  CHECK(launch.workspace_bytes == rounded(a) + rounded(b) + rounded(out));
  CHECK(launch.parts.count == 3);

  const auto& images = params_of<ReorderParams>(launch.image, launch.steps[0]);
  CHECK(images.rows == 20);
  CHECK(images.columns == 64);
  CHECK(images.batch == 2);
  CHECK((images.from.interleaved && !images.to.interleaved));
  CHECK(images.from.line_stride == 32);
  CHECK(images.from.element_stride == 20 * 32);
  CHECK(images.from.batch_stride == 20 * 64);
  CHECK(images.to.line_stride == 64);
  CHECK(images.to.batch_stride == 20 * 64);

  const auto& filters = params_of<ReorderParams>(launch.image, launch.steps[1]);
  CHECK(filters.rows == 96);
  CHECK(filters.batch == 9);
  CHECK(filters.from.line_stride == 32);
  CHECK(filters.from.element_stride == 9 * 96 * 32);
  CHECK(filters.from.batch_stride == 96 * 32);
  CHECK(filters.to.line_stride == 9 * 64);
  CHECK(filters.to.batch_stride == 64);

  const auto& results = params_of<ReorderParams>(launch.image, launch.steps[3]);
  CHECK((!results.from.interleaved && results.to.interleaved));
  CHECK(results.to.element_stride == 20 * 32);
}

TEST_CASE("the kernel between the copies reads and writes the workspace alone", "[conv2d]") {
  const auto prepared = test::launch_of(interleaved_kernel("f32"), problem(DType::f32));
  const Launch& launch = prepared->launch;
  const Step& kernel = *kernel_step(launch);
  int maps = 0;
  for (const Relocation& relocation : launch.relocations) {
    if (relocation.at < kernel.at || relocation.at >= kernel.at + kernel.bytes) continue;
    CHECK(relocation.source == Operand::workspace);
    CHECK(relocation.offset < launch.workspace_bytes);
    maps += relocation.kind == Relocation::Kind::map ? 1 : 0;
  }
  CHECK(maps == 3);
  const Kernel of_f32 = interleaved_kernel("f32");
  const detail::Row& row = detail::row_of(of_f32);
  CHECK(detail::entry_of(row.companions[0]).name == "reorder_matrix_s8");
  CHECK(detail::entry_of(row.companions[1]).name == "reorder_matrix_s32");
  CHECK(detail::entry_of(row.entry).name == "conv2d_sm90_fprop_s8_s8_s32_f32_64x128x128_c1x1_s8_one_tile");
}

TEST_CASE("C is copied, too, and what is not read is not", "[conv2d]") {
  Conv2dArguments args = problem();
  args.epilogue.beta = 1.0;
  args.c = args.out;
  CHECK(entries(test::launch_of(interleaved_kernel(), args)->launch) == std::vector{1, 1, 2, 0, 2});
  args.epilogue.alpha = 0.0;
  CHECK(entries(test::launch_of(interleaved_kernel(), args)->launch) == std::vector{2, 0, 2});
  args.a.extents[0] = args.c->extents[0] = args.out.extents[0] = 0;
  CHECK(entries(test::launch_of(interleaved_kernel(), args)->launch).empty());
}

TEST_CASE("copies need no alignment, so runs of a plan need none", "[conv2d]") {
  Conv2dArguments args = problem();
  args.a.assumed_alignment = args.b.assumed_alignment = args.out.assumed_alignment = 1;
  const auto prepared = test::launch_of(interleaved_kernel(), args);
  for (const PlanOperandNeed& need : prepared->launch.uses) CHECK(need.alignment == 1);
}

TEST_CASE("a query without workspace answers with other kernels", "[conv2d]") {
  FindOptions options;
  const auto all = get_kernels(problem(), Filter(), options);
  CHECK(std::ranges::any_of(all, [](const Candidate& each) { return each.metadata().design.reorders; }));
  options.max_workspace = 0;
  const auto some = get_kernels(problem(), Filter(), options);
  CHECK_FALSE(some.empty());
  CHECK(std::ranges::none_of(some, [](const Candidate& each) { return each.metadata().design.reorders; }));
}
