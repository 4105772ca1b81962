// Exported plans: what the header fills and lists against the library's own launch, for kernels of all
// families.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/export.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/plan_header.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"
#include "support/fake_artifact.hpp"
#include "support/gemm_rules.hpp"
#include "support/loaded_c.hpp"
#include "support/random_reduction.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using detail::TestFolder;
using test::LoadedC;
using test::Random;

namespace {

/// quarry_plan_step of a header.
struct ExportedStep {
  int is_kernel;
  const char* file;
  const char* entry;
  unsigned grid;
  unsigned threads;
  unsigned shared_bytes;
  unsigned cluster;
  int waits;
  std::size_t params_at;
  std::size_t params_bytes;
  std::size_t clear_at;
  std::size_t clear_bytes;
};

/// What the wrapper's encoder writes into a map: what it was told.
struct RecordedMap {
  const void* data;
  unsigned long long extents[3];
  unsigned long long strides[2];
  unsigned box[3];
  unsigned element_strides[3];
  int type;
  int rank;
  int interleave;
  int swizzle;
  int promotion;
  int fill;
};
static_assert(sizeof(RecordedMap) <= sizeof(TensorMap));

/// The same of a map of images.
struct RecordedImages {
  const void* data;
  unsigned long long extents[4];
  unsigned long long strides[3];
  unsigned box[2];
  int lower[2];
  int upper[2];
  unsigned element_strides[4];
  int type;
  int rank;
  int interleave;
  int swizzle;
  int promotion;
  int fill;
};
static_assert(sizeof(RecordedImages) <= sizeof(TensorMap));

constexpr const char* fake_image_encoder = R"c(
typedef struct {
  const void* data;
  unsigned long long extents[4], strides[3];
  unsigned box[2];
  int lower[2], upper[2];
  unsigned element_strides[4];
  int type, rank, interleave, swizzle, promotion, fill;
} recorded_images;
static CUresult CUDAAPI fake_im2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* data,
                                    const cuuint64_t* extents, const cuuint64_t* strides, const int* lower,
                                    const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                    const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                    CUtensorMapFloatOOBfill fill) {
  recorded_images r;
  memset(&r, 0, sizeof r);
  r.data = data;
  memcpy(r.extents, extents, sizeof r.extents);
  memcpy(r.strides, strides, sizeof r.strides);
  r.box[0] = channels;
  r.box[1] = pixels;
  memcpy(r.lower, lower, sizeof r.lower);
  memcpy(r.upper, upper, sizeof r.upper);
  memcpy(r.element_strides, element_strides, sizeof r.element_strides);
  r.type = (int)type;
  r.rank = (int)rank;
  r.interleave = (int)interleave;
  r.swizzle = (int)swizzle;
  r.promotion = (int)promotion;
  r.fill = (int)fill;
  memset(map, 0, sizeof *map);
  memcpy(map, &r, sizeof r);
  return data == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
)c";

constexpr const char* fake_encoder = R"c(
typedef struct {
  const void* data;
  unsigned long long extents[3], strides[2];
  unsigned box[3], element_strides[3];
  int type, rank, interleave, swizzle, promotion, fill;
} recorded;
static CUresult CUDAAPI fake(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* data,
                             const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                             const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                             CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                             CUtensorMapFloatOOBfill fill) {
  recorded r;
  memset(&r, 0, sizeof r);
  r.data = data;
  memcpy(r.extents, extents, sizeof r.extents);
  memcpy(r.strides, strides, sizeof r.strides);
  memcpy(r.box, box, sizeof r.box);
  memcpy(r.element_strides, element_strides, sizeof r.element_strides);
  r.type = (int)type;
  r.rank = (int)rank;
  r.interleave = (int)interleave;
  r.swizzle = (int)swizzle;
  r.promotion = (int)promotion;
  r.fill = (int)fill;
  memset(map, 0, sizeof *map);
  memcpy(map, &r, sizeof r);
  return data == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
)c";

/// Functions over a header's, with names that do not depend on the plan.
std::string wrapper(const Launch& launch) {
  const bool has_maps = launch.maps.count > 0;
  std::string text = "#include \"plan.plan.h\"\n#include \"plan.plan.h\"\n";
  const bool has_walks = std::ranges::any_of(launch.maps, &TensorMapFields::walks);
  if (has_maps) text += fake_encoder;
  if (has_walks) text += fake_image_encoder;
  text += R"c(
int q_fill(void* const* pointers, void* image);
const quarry_plan_step* q_steps(void);
int q_number(int which);
size_t q_workspace(void);
int q_fill(void* const* pointers, void* image) {
  plan_operands operands;
)c";
  for (const Operand operand : detail::plan_operands(launch)) {
    text += "  operands." + std::string(to_string(operand)) + " = pointers[" +
            std::to_string(static_cast<int>(operand)) + "];\n";
  }
  text += std::string("  return plan_fill(&operands, ") + (has_maps ? "fake, " : "") +
          (has_walks ? "fake_im2col, " : "") + "image);\n}\n";
  return text + R"c(
const quarry_plan_step* q_steps(void) { return plan_steps(); }
int q_number(int which) { return which == 0 ? plan_target : which == 1 ? plan_step_count : plan_image_bytes; }
size_t q_workspace(void) { return plan_workspace_bytes(); }
)c";
}

LoadedC load_plan(const TestFolder& folder, const Launch& launch) {
  return LoadedC(folder / "wrapper", wrapper(launch), "-isystem '" QUARRY_CUDA_INCLUDE "'");
}

void check_map(const TensorMapFields& fields, const void* data, const std::byte* slot) {
  RecordedMap map;
  std::memcpy(&map, slot, sizeof map);
  CHECK(map.data == data);
  CHECK(std::ranges::equal(map.extents, std::span(fields.extent).first(3)));
  CHECK(std::ranges::equal(map.strides, std::span(fields.stride).first(2)));
  CHECK(std::ranges::equal(map.box, fields.box));
  for (const unsigned stride : map.element_strides) CHECK(stride == 1);
  // Numbers of the CUDA driver API: CU_TENSOR_MAP_DATA_TYPE_*, CU_TENSOR_MAP_SWIZZLE_*.
  const int type = fields.rounds_to_tf32         ? 11
                   : fields.dtype == DType::f16  ? 6
                   : fields.dtype == DType::bf16 ? 9
                   : fields.dtype == DType::f32  ? 7
                   : bytes_of(fields.dtype) == 1 ? 0
                                                 : -1;
  CHECK(map.type == type);
  CHECK(map.swizzle == static_cast<int>(fields.swizzle));
  CHECK(map.rank == 3);
  CHECK(map.interleave == 0);
  CHECK(map.promotion == 2);  // 128 bytes
  CHECK(map.fill == 0);
}

void check_image_map(const TensorMapFields& fields, const void* data, const std::byte* slot) {
  RecordedImages map;
  std::memcpy(&map, slot, sizeof map);
  CHECK(map.data == data);
  CHECK(std::ranges::equal(map.extents, fields.extent));
  CHECK(std::ranges::equal(map.strides, fields.stride));
  CHECK(std::ranges::equal(map.box, std::span(fields.box).first(2)));
  CHECK(std::ranges::equal(map.lower, fields.walk.lower));
  CHECK(std::ranges::equal(map.upper, fields.walk.upper));
  CHECK(map.element_strides[0] == 1);
  CHECK(std::ranges::equal(std::span(map.element_strides).subspan(1, 2), fields.walk.step));
  CHECK(map.element_strides[3] == 1);
  CHECK(map.type == (fields.dtype == DType::bf16 ? 9 : 0));  // or bytes
  CHECK(map.swizzle == static_cast<int>(fields.swizzle));
  CHECK(map.rank == 4);
  CHECK(map.interleave == 0);
  CHECK(map.promotion == 2);
  CHECK(map.fill == 0);
}

void check_steps(const LoadedC& plan, const Launch& launch,
                 const std::vector<detail::PlanFunction>& functions) {
  REQUIRE(plan.call<int>("q_number", 1) == launch.steps.count);
  const auto* const steps = plan.call<const ExportedStep*>("q_steps");
  for (int i = 0; i < launch.steps.count; ++i) {
    const Step& step = launch.steps[i];
    const ExportedStep& exported = steps[i];
    REQUIRE((exported.is_kernel == 1) == (step.kind == Step::Kind::kernel));
    CHECK(exported.clear_at == step.clear_at);
    CHECK(exported.clear_bytes == step.clear_bytes);
    if (exported.is_kernel == 0) continue;
    CHECK(exported.entry == functions[step.entry].entry);
    CHECK(exported.file == functions[step.entry].file);
    CHECK(exported.grid == step.grid);
    CHECK(exported.threads == step.threads);
    CHECK(exported.shared_bytes == step.shared_memory);
    CHECK(exported.cluster == step.cluster);
    CHECK(exported.waits == step.waits_for_earlier);
    CHECK(exported.params_at == step.at);
    CHECK(exported.params_bytes == step.bytes);
  }
}

/// Compiles the header of a launch, and compares what it says with the launch.
void check_header(Launch& launch) {
  const TestFolder folder;
  const detail::ExportedPlan exported = {
      .name = "plan",
      .kernel = "kernel",
      .problem = " *   a problem\n",
      .target = 90,
      .functions = {{"own", "own.cubin"}, {"next", "next.cubin"}, {"last", "last.cubin"}}};
  std::ofstream(folder / "plan.plan.h") << detail::plan_header(exported, launch);
  const LoadedC plan = load_plan(folder, launch);
  CHECK(plan.call<int>("q_number", 0) == 90);
  REQUIRE(plan.call<int>("q_number", 2) == static_cast<int>(launch.image_bytes));
  CHECK(plan.call<std::size_t>("q_workspace") == launch.workspace_bytes);
  check_steps(plan, launch, exported.functions);

  PlanOperands pointers;
  constexpr std::size_t operands = static_cast<std::size_t>(last_operand) + 1;
  const void* by_number[operands];
  for (std::size_t i = 0; i < operands; ++i) {
    by_number[i] =
        reinterpret_cast<const void*>(std::uintptr_t{0x7000'0000'0000} + (std::uintptr_t{i} << 40));
    pointers[static_cast<Operand>(i)] = by_number[i];
  }
  put_pointers(launch, pointers, launch.image);
  alignas(TensorMap) std::byte image[Launch::most_image];
  REQUIRE(plan.call<int>("q_fill", static_cast<const void* const*>(by_number), static_cast<void*>(image)) ==
          0);
  for (const Relocation& r : launch.relocations) {
    if (r.kind != Relocation::Kind::map) continue;
    const TensorMapFields& fields = launch.maps[r.map];
    const void* const data = static_cast<const std::byte*>(pointers[r.source]) + r.offset;
    (fields.walks() ? check_image_map : check_map)(fields, data, image + r.at);
    std::memset(image + r.at, 0, sizeof(TensorMap));  // as the library's is
  }
  CHECK(std::memcmp(image, launch.image, launch.image_bytes) == 0);
  if (launch.maps.count == 0) return;
  const void* const nothing[operands] = {};
  CHECK(plan.call<int>("q_fill", static_cast<const void* const*>(nothing), static_cast<void*>(image)) != 0);
}

/// Puts fake code for a kernel and its companions where export finds it; false where code is precompiled.
bool add_fake_code(const Kernel& kernel) {
  std::vector<std::uint32_t> entries = {detail::row_of(kernel).entry};
  for (const std::uint32_t companion : detail::row_of(kernel).companions) {
    if (companion != detail::no_entry) entries.push_back(companion);
  }
  for (const std::uint32_t entry : entries) {
    if (detail::entry_of(entry).unit >= 0) return false;
    REQUIRE(add_artifact(test::fake_artifact(std::string(detail::entry_of(entry).name), 77)));
  }
  return true;
}

}  // namespace

TEST_CASE("an exported plan's header says what the library launches", "[export]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  static const DeviceModel device = test::device_named("h200");
  for (const char* const where :
       {"family == gemm_simt", "family == gemm_sm80 and modes.split_k_serial",
        "family == gemm_sm80 and modes.stream_k", "family == gemm_sm90 and a.alignment >= 8",
        "family == gemm_sm90 and a.alignment < 8", "family == gemm_sm90 and modes.split_k_cluster"}) {
    const std::vector<Kernel> kernels = get_kernels(*Filter::parse(where));
    REQUIRE_FALSE(kernels.empty());
    int checked = 0;
    for (int i = 0; i < 2000 && checked < 4; ++i) {
      const Kernel& kernel = kernels[random() % kernels.size()];
      GemmArguments args = test::problem_for(random, detail::row_of(kernel));
      args.controls = test::permitted(args.controls, kernel.metadata());
      if (test::coin(random)) test::choose_arrays(random, args);
      GemmProblem problem;
      ChosenControls controls;
      if (!test::resolve(detail::row_of(kernel), args, {}, device, problem, controls)) continue;
      Launch launch;
      detail::gemm::family_of(detail::row_of(kernel))
          .launch(detail::row_of(kernel).entry_config, problem, controls, launch);
      if (launch.is_empty()) continue;
      INFO(kernel.name());
      check_header(launch);
      ++checked;
    }
    INFO(where);
    CHECK(checked == 4);
  }
}

TEST_CASE("an exported plan's header says what a convolution launches", "[export]") {
  const auto tensor = [](std::array<std::int64_t, 4> e) {
    const std::array<std::int64_t, 4> strides = {e[1] * e[2] * e[3], e[2] * e[3], e[3], 1};
    return TensorView::strided(nullptr, DType::bf16, e, strides);
  };
  const Conv2dArguments args = {.a = tensor({2, 9, 8, 72}),
                                .b = tensor({16, 3, 5, 72}),
                                .out = tensor({2, 5, 4, 16}),
                                .padding = {1, 2},
                                .stride = {2, 2}};
  detail::PreparedLaunch prepared;
  const Result<Kernel> kernel =
      make_kernel("conv2d_sm90_fprop_bf16_bf16_f32_bf16_128x128x64_c1x1_s6_ping_pong");
  REQUIRE(kernel);
  REQUIRE(detail::prepare_launch(detail::row_of(*kernel), {}, args, prepared));
  REQUIRE(prepared.launch.maps.count >= 2);  // where K is cut, the reduction writes
  check_header(prepared.launch);
}

TEST_CASE("an exported plan's header says where maps begin in the workspace", "[export]") {
  const Conv2dArguments args = {.a = nc32hw32(nullptr, DType::s8, {2, 9, 8, 64}),
                                .b = c32rsk32(nullptr, DType::s8, {96, 3, 5, 64}),
                                .out = nc32hw32(nullptr, DType::f32, {2, 9, 8, 96}),
                                .padding = {1, 2}};
  detail::PreparedLaunch prepared;
  const Result<Kernel> kernel =
      find_kernel("conv2d_sm90_fprop_s8_s8_s32_f32_64x128x128_c1x1_s8_one_tile_nc32hw32");
  REQUIRE(kernel);
  REQUIRE(detail::prepare_launch(detail::row_of(*kernel), {}, args, prepared));
  REQUIRE(std::ranges::any_of(prepared.launch.relocations, [](const Relocation& r) {
    return r.kind == Relocation::Kind::map && r.source == Operand::workspace && r.offset > 0;
  }));
  check_header(prepared.launch);
}

TEST_CASE("an exported plan's header says what a reduction launches", "[export]") {
  Random random(3);
  const detail::Row& row = test::reduction_rows()[0];
  ReduceProblem problem;
  REQUIRE(test::resolve(row, test::random_reduction(random, row), test::device_named("h200"), problem));
  Launch launch;
  detail::reduce_split_k::family_of(row).launch(row.entry_config, problem, launch);
  check_header(launch);
}

TEST_CASE("an exported plan's header says what a reorder launches", "[export]") {
  const ReorderArguments args = {.from = TensorView::row_major(nullptr, DType::u8, {70, 50}),
                                 .to = TensorView::column_major(nullptr, DType::u8, {70, 50})};
  detail::PreparedLaunch prepared;
  REQUIRE(detail::prepare_launch(detail::row_of(get_kernels(args).front()), {}, args, prepared));
  check_header(prepared.launch);
  detail::ExportedPlan plan;
  plan.name = "copy";
  plan.functions = {{"reorder_matrix_s8", "copy.cubin"}};
  const std::string header = detail::plan_header(plan, prepared.launch);
  CHECK_THAT(header, Catch::Contains("  const void* from; /* u8, at a multiple of 1 bytes */"));
  CHECK_THAT(header, Catch::Contains("  void* to; /* u8, at a multiple of 1 bytes */"));
  CHECK_THAT(header, Catch::Contains("\"copy.cubin\", \"reorder_matrix_s8\", 2u, 256u, 16384u"));
}

TEST_CASE("a plan is exported as whole files", "[export]") {
  const TestFolder folder;
  const Kernel kernel = *make_kernel(test::fresh_name());
  if (!add_fake_code(kernel)) return;
  const OperandsMetadata& o = kernel.metadata().operands;
  const auto matrix = [](const OperandMetadata& operand, std::int64_t rows, std::int64_t columns) {
    return operand.layout == Layout::row ? TensorView::row_major(nullptr, operand.dtype, {rows, columns})
                                         : TensorView::column_major(nullptr, operand.dtype, {rows, columns});
  };
  GemmArguments args{.a = matrix(o.a, 512, 512),
                     .b = matrix(o.b, 512, 512),
                     .out = matrix(o.out, 512, 512),
                     .accumulator = o.accumulator,
                     .math = kernel.metadata().design.math,
                     .controls = {.mode = Mode::split_k_parallel, .split_k_slices = 2}};
  const std::string into = folder / "made";
  for (int time = 0; time < 2; ++time) {
    const Status status = export_plan(kernel, args, into, {.name = "mine"});
    INFO(status.message());
    REQUIRE(status);
  }
  const std::string reduction(detail::entry_of(detail::row_of(kernel).companions[0]).name);
  for (const std::string& file : {std::string("mine.cubin"), reduction + ".cubin"})
    CHECK(detail::file_bytes(into + "/" + file).size() == 77);
  std::ofstream(folder / "made/plan.c") << "#include \"mine.plan.h\"\n";
  CHECK(test::compiles("-x c -std=c11 -fsyntax-only", folder / "made/plan.c"));
  const std::filesystem::directory_iterator files(into);
  CHECK(std::distance(begin(files), end(files)) == 4);

  for (const char* const bad : {"2nd", "a b", "a-b", "../x", "int", "namespace", "xor_eq", "alignas"}) {
    const Status status = export_plan(kernel, args, into, {.name = bad});
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.message().find("expected a C identifier") != std::string::npos);
  }
  CHECK(export_plan(kernel, args, folder / "x", {.compile = {.target = 70}}).code() ==
        StatusCode::unsupported);
  GemmArguments other = args;
  other.accumulator = DType::s32;
  CHECK_FALSE(export_plan(kernel, other, folder / "x"));
  GemmArguments empty = args;
  empty.a = matrix(o.a, 0, 512);
  empty.out = matrix(o.out, 0, 512);
  CHECK(export_plan(kernel, empty, folder / "x").message().find("nothing is launched") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "x"));
  std::ofstream(folder / "file") << "x";
  CHECK(export_plan(kernel, args, folder / "file").code() == StatusCode::file_error);
  const std::string too_long(300, 'x');
  CHECK(export_plan(kernel, args, folder / too_long).code() == StatusCode::file_error);
  CHECK(export_kernel(kernel, folder / too_long).code() == StatusCode::file_error);
}
