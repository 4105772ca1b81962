// Exported kernels: what the files say against what the library itself launches.
#include "quarry/export.hpp"
#include "support/gemm_rules.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm/export/export.hpp"
#include "operations/gemm/export/params_layout.hpp"
#include "operations/gemm/normalise.hpp"
#include "operations/gemm/operation.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/cache_folder.hpp"
#include "support/exported_kernels.hpp"
#include "support/fake_artifact.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using detail::file_bytes;
using detail::TestFolder;
using nlohmann::json;
using test::ExportedProblem;
using test::LoadedC;
using test::must;
using test::Random;

namespace {

/// Compares what the header computes with the family's launch. False where the kernel does not take the
/// problem.
bool check_problem(const detail::Row& row, const LoadedC& c, const GemmArguments& args) {
  static const DeviceModel device = test::device_named("h200");
  GemmProblem problem;
  ChosenControls controls;
  if (!test::resolve(row, args, {}, device, problem, controls)) return false;
  void* const workspace = reinterpret_cast<void*>(std::uintptr_t{0x7000'0000'0000});
  Launch launch;
  detail::gemm::family_of(row).launch(row.entry_config, problem, controls, launch);
  PlanOperands pointers = detail::operands_of(args);
  pointers[Operand::workspace] = workspace;
  put_pointers(launch, pointers, launch.image);
  const ExportedProblem exported = test::exported_problem(row, args, controls, workspace);
  const ExportedProblem* const p = &exported;
  CAPTURE(exported.m, exported.n, exported.k, exported.batch, exported.mode, exported.slices);
  const Step* const kernel = kernel_step(launch);
  REQUIRE(c.call<unsigned>("q_grid", p) == (kernel == nullptr ? 0 : kernel->grid));
  REQUIRE(c.call<std::size_t>("q_workspace_bytes", p) == launch.workspace_bytes);
  const WorkspacePart* const counters = find_part(launch, "counters");
  REQUIRE(c.call<std::size_t>("q_counters_bytes", p) == (counters == nullptr ? 0 : counters->bytes));
  if (counters != nullptr) REQUIRE(c.call<std::size_t>("q_counters_offset", p) == counters->offset);
  if (kernel == nullptr) return true;
  GemmParams params;
  c.call<void>("q_params", p, &params);
  REQUIRE(test::same_params(&params, launch.image + kernel->at, detail::gemm_params_name));
  const Step* const reduction = kernel_step(launch, 1);
  REQUIRE(c.call<unsigned>("q_reduce_grid", p) == (reduction == nullptr ? 0 : reduction->grid));
  if (reduction != nullptr) {
    ReduceParams reduce;
    c.call<void>("q_reduce_params", p, &reduce);
    REQUIRE(test::same_params(&reduce, launch.image + reduction->at, detail::reduce_params_name));
  }
  return true;
}

json exported_json(const Kernel& kernel, int target = 90) {
  return json::parse(detail::export_json(test::described(kernel, target)));
}

/// Puts fake code for a kernel and its reduction where export finds it, unless they are precompiled.
bool add_fake_code(const Kernel& kernel) {
  const detail::ExportedKernel exported = test::described(kernel, default_device_model().cc);
  for (const std::string& entry : {exported.kernel.entry, exported.reduction.entry}) {
    const std::optional<std::uint32_t> number = detail::find_entry(entry);
    if (number && detail::entry_of(*number).unit >= 0) return false;
    must(add_artifact(test::fake_artifact(entry, 77)));
  }
  return true;
}

}  // namespace

TEST_CASE("an exported header computes what the library launches", "[export]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const TestFolder folder;
  const std::vector<Kernel> kernels = test::kinds_of_kernels();
  REQUIRE(kernels.size() >= 4);
  int by_mode[3] = {};
  for (const Kernel& kernel : kernels) {
    INFO(kernel.name());
    const std::string name(kernel.name());
    const detail::ExportedKernel exported = test::described(kernel, 90);
    std::ofstream(folder / (name + ".h")) << detail::export_header(exported);
    const LoadedC c = test::load_exported(folder.path(), name);
    REQUIRE(c.call<std::size_t>("q_problem_bytes") == sizeof(ExportedProblem));
    int checked = 0;
    for (int i = 0; i < 600; ++i) {
      GemmArguments args = test::problem_for(random, detail::row_of(kernel));
      if (i % 4 == 0) test::choose_arrays(random, args);
      if (i % 3 == 0)
        args.controls = {.mode = static_cast<Mode>(i / 3 % 3), .split_k_slices = {}, .swizzle = {}};
      if (args.controls.mode == Mode::gemm) args.controls.split_k_slices = 1;
      if (i % 3 == 0 && args.controls.mode != Mode::gemm)
        args.controls.split_k_slices = test::between(random, 2, 5);
      if (!check_problem(detail::row_of(kernel), c, args)) continue;
      ++checked;
      ++by_mode[static_cast<int>(args.controls.mode.value_or(Mode::gemm))];
    }
    CHECK(checked > 50);
  }
  for (const int problems : by_mode) CHECK(problems > 50);
}

TEST_CASE("headers of several kernels go into one source file", "[export]") {
  const TestFolder folder;
  const std::vector<Kernel> kernels = test::kinds_of_kernels();
  std::ofstream source(folder / "all.c");
  for (const Kernel& kernel : kernels) {
    const std::string name(kernel.name());
    std::ofstream(folder / (name + ".h")) << detail::export_header(test::described(kernel, 80));
    source << "#include \"" << name << ".h\"\n";
  }
  source << "const char* first(void);\nconst char* first(void) { return " << kernels[0].name()
         << "()->entry; }\n";
  source.close();
  for (const char* const flags :
       {"-x c -std=c11", "-x c -std=c17", "-x c++ -std=c++11", "-x c++ -std=c++20"}) {
    INFO(flags);
    CHECK(test::compiles(std::string(flags) + " -fsyntax-only", folder / "all.c"));
  }
}

TEST_CASE("a header does not compile where its structs would lie otherwise", "[export]") {
  const TestFolder folder;
  const Kernel kernel = test::kinds_of_kernels()[0];
  std::string text = detail::export_header(test::described(kernel, 90));
  const std::size_t at = text.find("  long long row_stride;");
  REQUIRE(at != text.npos);
  text.replace(at, std::strlen("  long long"), "  int");
  std::ofstream(folder / "moved.h") << text;
  std::ofstream(folder / "moved.c") << "#include \"moved.h\"\n";
  CHECK_FALSE(test::compiles("-x c -std=c11 -fsyntax-only 2>/dev/null", folder / "moved.c"));
}

TEST_CASE("exported JSON says what the header says", "[export]") {
  for (const Kernel& kernel : test::kinds_of_kernels()) {
    INFO(kernel.name());
    const json document = exported_json(kernel);
    const KernelMetadata& m = kernel.metadata();
    CHECK(document["schema_version"] == 1);
    CHECK(document["name"] == m.name);
    CHECK(document["entry"] == detail::entry_of(detail::row_of(kernel).entry).name);
    CHECK(document["code"]["file"] == std::string(m.name) + ".cubin");
    CHECK(document["code"]["target"] == 90);
    CHECK(document["operands_exchanged"] == detail::row_of(kernel).exchanged);
    CHECK(document.contains("exchange") == detail::row_of(kernel).exchanged);
    CHECK(document["operands"]["a"]["type"] == to_string(m.operands.a.dtype));
    const json& launch = document["launch"];
    CHECK(launch["threads"] == m.design.threads);
    CHECK(launch["dynamic_shared_bytes"] == m.design.shared_memory);
    CHECK(launch["raise_shared_memory_limit"] == (m.design.shared_memory > 48 * 1024));
    CHECK(launch["tile"]["m"] == (detail::row_of(kernel).exchanged ? m.design.tile.n : m.design.tile.m));
    CHECK(document["reduction"]["entry"].get<std::string>().starts_with("reduce_split_k_"));
    CHECK(document["numbers"]["mode"] == json({"gemm", "split_k_serial", "split_k_parallel"}));
    CHECK(document["numbers"]["activation"][static_cast<std::size_t>(Activation::gelu_tanh)] == "gelu_tanh");
  }
}

TEST_CASE("exported JSON lists every byte of the parameters", "[export]") {
  const json document = exported_json(test::kinds_of_kernels()[0]);
  const auto check = [](const json& parameters, std::string_view struct_name, std::size_t bytes) {
    CHECK(parameters["bytes"] == bytes);
    std::vector<bool> listed(bytes, false);
    for (const json& field : parameters["fields"]) {
      for (std::size_t i = 0; i < field["size"]; ++i) listed[field["offset"].get<std::size_t>() + i] = true;
      CHECK_FALSE(field["meaning"].get<std::string>().empty());
    }
    CHECK(listed == test::used_bytes(struct_name));
  };
  check(document["parameters"], detail::gemm_params_name, sizeof(GemmParams));
  check(document["reduction"]["parameters"], detail::reduce_params_name, sizeof(ReduceParams));
  const auto offset_of = [&](std::string_view name) -> std::size_t {
    for (const json& field : document["parameters"]["fields"]) {
      if (field["name"] == name) return field["offset"];
    }
    return 0;
  };
  CHECK(offset_of("out.row_stride") == offsetof(GemmParams, out) + offsetof(MatrixParams, row_stride));
  CHECK(offset_of("epilogue.leaky_slope") ==
        offsetof(GemmParams, epilogue) + offsetof(EpilogueParams, leaky_slope));
  CHECK(offset_of("epilogue.residual.column_stride") == offsetof(GemmParams, epilogue) +
                                                            offsetof(EpilogueParams, residual) +
                                                            offsetof(MatrixParams, column_stride));
  CHECK(offset_of("counters") == offsetof(GemmParams, counters));
}

TEST_CASE("an export is a folder of whole files", "[export]") {
  const TestFolder folder;
  const std::string into = folder / "made/on the way";
  Kernel kernel = *make_kernel(test::fresh_name());
  if (!add_fake_code(kernel)) return;  // the reduction is precompiled: it would be compiled
  for (int time = 0; time < 2; ++time) must(export_kernel(kernel, into));
  const std::string name(kernel.name());
  const detail::ExportedKernel exported = test::described(kernel, default_device_model().cc);
  CHECK(file_bytes(into + "/" + name + ".cubin").size() == 77);
  CHECK(file_bytes(into + "/" + exported.reduction.file).size() == 77);
  const json document = json::parse(std::ifstream(into + "/" + name + ".json"));
  CHECK(document["code"]["bytes"] == 77);
  CHECK(document["code"]["registers"] == 100);
  CHECK(document["code"]["target"] == default_device_model().cc);
  const LoadedC c = test::load_exported(into, name);
  const std::filesystem::directory_iterator files(into);
  CHECK(std::distance(begin(files), end(files)) == 4 + 2);  // the test's own .c and .so
}

TEST_CASE("an export that cannot be written says so", "[export]") {
  const TestFolder folder;
  Kernel kernel = *make_kernel(test::fresh_name());
  if (!add_fake_code(kernel)) return;
  std::ofstream(folder / "file") << "x";
  for (const std::string& into :
       {folder / "file", folder / "file/below", std::string("/proc/no/folder"), std::string()}) {
    const Status status = export_kernel(kernel, into);
    INFO(status.message());
    CHECK(status.code() == StatusCode::file_error);
    CHECK(status.message().find("folder") != std::string::npos);
  }
  CHECK(file_bytes(folder / "file").size() == 1);
  CHECK(export_kernel(kernel, folder / "x", {.target = 70}).code() == StatusCode::unsupported);
  CHECK_FALSE(std::filesystem::exists(folder / "x"));
}

TEST_CASE("a kernel that only the library can launch is not exported", "[export]") {
  const TestFolder folder;
  for (const char* name : {"gemm_sm90_f16_f16_f32_f16_rcr_64x64x64_c1x1_s4_one_tile_a8x8",
                           "gemm_sm90_f16_f16_f32_f16_rcr_64x64x64_c1x1_s4_one_tile_exchanged_a8x8",
                           "gemm_sm90_f16_f16_f32_f16_rcr_64x64x64_c1x1_s4_one_tile_cp_async_a4x4",
                           "gemm_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x1_s4_stream_k_a8x8"}) {
    const Result<Kernel> kernel = make_kernel(name);
    REQUIRE(kernel);
    const Status status = export_kernel(*kernel, folder / "x", {.target = 90});
    INFO(status.message());
    CHECK(status.code() == StatusCode::unsupported);
    CHECK(status.message().find("`" + std::string(name) + "` cannot be exported") == 0);
    CHECK_FALSE(std::filesystem::exists(folder / "x"));
  }
}
