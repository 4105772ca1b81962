/// Device models, and where problems run; also on machines without a driver, which most tests run on.
#include "quarry/device_model.hpp"
#include "support/gemm_rules.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "quarry/conv2d.hpp"
#include "quarry/gemm.hpp"
#include "quarry/registry.hpp"
#include "registry/device/device_model.hpp"
#include "registry/device/memory.hpp"
#include "registry/device/runtime.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using detail::RunPlace;

namespace {

bool says(const Status& status, std::string_view text) {
  return status.message().find(text) != std::string::npos;
}

/// A problem of fake tensors that lie there.
GemmArguments problem_in(Memory a, Memory b, Memory out) {
  return {.a = TensorView::row_major(nullptr, DType::f16, {4, 4}).on(a),
          .b = TensorView::row_major(nullptr, DType::f16, {4, 4}).on(b),
          .out = TensorView::row_major(nullptr, DType::f16, {4, 4}).on(out)};
}

void check_factors(const nlohmann::json& file, const TimeFactors& built) {
  const std::pair<const char*, double> parts[] = {
      {"launch", built.launch},     {"memory", built.memory},     {"math", built.math},
      {"copies", built.copies},     {"latency", built.latency},   {"ends", built.ends},
      {"epilogue", built.epilogue}, {"exchange", built.exchange}, {"reduction", built.reduction}};
  REQUIRE(file.size() == std::size(parts));
  for (const auto& [name, value] : parts) CHECK(file.at(name).get<double>() == value);
}

detail::DeviceProperties properties_of(const std::string& name, double peak_memory_bandwidth, int cc) {
  detail::DeviceProperties properties;
  name.copy(properties.name, sizeof properties.name - 1);
  properties.cc = cc;
  properties.peak_memory_bandwidth = peak_memory_bandwidth;
  return properties;
}

/// The factors of a device that the driver describes so.
Calibration calibration_of(const std::string& name, double peak_memory_bandwidth, int cc = 90) {
  return detail::model_of(properties_of(name, peak_memory_bandwidth, cc)).rates.calibration;
}

bool is_built_in(const Calibration& calibration) {
  return std::ranges::any_of(
      device_models(), [&](const DeviceModel& model) { return model.rates.calibration == calibration; });
}

constexpr Memory host = {MemoryKind::host, 0};
constexpr Memory device0 = {MemoryKind::device, 0};
constexpr Memory device1 = {MemoryKind::device, 1};
constexpr Memory pinned0 = {MemoryKind::pinned, 0};
constexpr Memory managed0 = {MemoryKind::managed, 0};
constexpr Memory open = {};

}  // namespace

TEST_CASE("a model says which device its calibration was fitted to") {
  const auto source_of = [](const DeviceModel& model) { return calibration_source(model); };
  for (const DeviceModel& model : device_models()) {
    const CalibrationSource source = source_of(model);
    INFO(model.name);
    CHECK(source.device == "NVIDIA H200");
    CHECK(source.is_own == (std::string_view(model.name) == "h200"));
    CHECK(source.is_same_architecture == (model.cc == 90));
  }
  for (const char* const name : {"NVIDIA H200", "NVIDIA H200 MIG 1g.18gb"})
    CHECK(source_of(detail::model_of(properties_of(name, 4.8e12, 90))).is_own);
  const CalibrationSource other = source_of(detail::model_of(properties_of("NVIDIA L40S", 0.86e12, 89)));
  CHECK(other.device == "NVIDIA H200");
  CHECK(!other.is_own);
  CHECK(!other.is_same_architecture);
  // Factors that nobody measured.
  DeviceModel by_hand = *find_device_model("h200");
  by_hand.rates.calibration.mma.math = 1.2345;
  CHECK(source_of(by_hand).device.empty());
  CHECK(!source_of(by_hand).is_own);
}

TEST_CASE("the built-in models describe the devices of the data sheets") {
  REQUIRE(device_models().size() == 3);
  for (const DeviceModel& model : device_models()) {
    INFO(model.name);
    const Result<DeviceModel> found = find_device_model(model.name);
    REQUIRE(found);
    CHECK(std::string_view(found->name) == model.name);
    const double tera = model.multiprocessors * model.clock * 1e-12;
    CHECK(tera * model.tensor_flops_per_clock > 300);
    CHECK(tera * model.tensor_flops_per_clock < 700);
    CHECK(tera * model.fma_f32_flops_per_clock == Approx(model.cc == 80 ? 19.5 : 67).epsilon(0.02));
    CHECK(tera * model.fma_f64_flops_per_clock == Approx(model.cc == 80 ? 9.7 : 33.5).epsilon(0.02));
    CHECK(model.memory_bandwidth > 1e12);
    CHECK(model.l2_bytes >= 40 << 20);
    CHECK(model.shared_memory_per_block == (model.cc == 80 ? 163 : 227) * 1024);
    CHECK(model.shared_memory_per_multiprocessor == model.shared_memory_per_block + 1024);
  }
}

TEST_CASE("devices of a kind that was measured have the factors of the calibration's file") {
  const std::filesystem::path folder = std::filesystem::path(QUARRY_SOURCE_DIR) / "registry" / "device";
  int files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    if (!each.path().filename().string().ends_with("_calibration.json")) continue;
    ++files;
    std::ifstream in(each.path());
    const nlohmann::json calibration = nlohmann::json::parse(in);
    const std::string device = calibration.at("device");
    INFO(each.path());
    const Calibration built = calibration_of(device, 1e12);
    check_factors(calibration.at("factors").at("simt"), built.simt);
    check_factors(calibration.at("factors").at("mma"), built.mma);
    check_factors(calibration.at("factors").at("wgmma"), built.wgmma);
    CHECK(calibration_of(device + " MIG 1g.18gb", 0.5e12) == built);
    CHECK(is_built_in(built));
  }
  CHECK(files > 0);
}

TEST_CASE("a device that was not measured has the factors of the one with the nearest memory") {
  const Calibration h100 = find_device_model("h100")->rates.calibration;
  const Calibration h200 = find_device_model("h200")->rates.calibration;
  CHECK(calibration_of("NVIDIA GH200 480GB", 4.9e12) == h200);
  CHECK(calibration_of("A later one", 8e12) == h200);
  CHECK(calibration_of("NVIDIA H100 PCIe", 2.04e12) == h100);
  CHECK(calibration_of("NVIDIA A100-SXM4-80GB", 2.04e12, 80) == find_device_model("a100")->rates.calibration);
  CHECK(calibration_of("An older one", 0.9e12, 86) == find_device_model("a100")->rates.calibration);
  // What the driver does not tell is 0.
  CHECK(is_built_in(calibration_of("Nothing is known of it", 0)));
}

TEST_CASE("the model of a device has the driver's numbers, and its own kind's clock and memory") {
  detail::DeviceProperties properties = properties_of("NVIDIA H100 80GB HBM3", 3.35e12, 90);
  properties.multiprocessors = 132;
  properties.clock = 1e9;
  const DeviceModel whole = detail::model_of(properties);
  const DeviceModel h100 = *find_device_model("h100");
  CHECK(std::string_view(whole.name) == "NVIDIA H100 80GB HBM3");
  CHECK(whole.clock == h100.clock);
  CHECK(whole.memory_bandwidth == h100.memory_bandwidth);
  CHECK(whole.rates == h100.rates);
  properties.multiprocessors = 66;
  CHECK(detail::model_of(properties).memory_bandwidth == h100.memory_bandwidth / 2);
  properties = properties_of("Another", 2e12, 90);
  properties.clock = 1e9;
  CHECK(detail::model_of(properties).memory_bandwidth == 0.9 * 2e12);
  CHECK(detail::model_of(properties).clock == 1e9);
}

TEST_CASE("a model's factors make its predictions longer") {
  DeviceModel model = *find_device_model("h200");
  const GemmArguments args = problem_in(open, open, open);
  const auto seconds = [&] { return get_kernels(args, {}, {.device = &model}).front().predicted_seconds(); };
  const double before = seconds();
  for (TimeFactors* const factors :
       {&model.rates.calibration.simt, &model.rates.calibration.mma, &model.rates.calibration.wgmma})
    factors->launch *= 2;
  CHECK(seconds() > 1.2 * before);
}

TEST_CASE("an unknown model is refused with the names there are") {
  for (const char* name : {"", "b300", "H200", "h2000", "h200\n"}) {
    const Status status = find_device_model(name).status();
    CHECK(status.code() == StatusCode::not_found);
    for (const char* known : {"`a100`", "`h100`", "`h200`"}) CHECK(says(status, known));
    CHECK_FALSE(says(status, "\n"));
  }
}

TEST_CASE("a device that is not there has no model, and a reason") {
  const Status& runtime = detail::runtime_status();
  for (const int ordinal : {-1, detail::device_count(), 63, 64, 4000}) {
    if (ordinal >= 0 && ordinal < detail::device_count()) continue;
    const Status status = device_model(ordinal).status();
    CHECK(status.code() == StatusCode::no_device);
    CHECK(detail::cached_device_model(ordinal) == nullptr);
    CHECK(says(status, runtime ? "There is no CUDA device " + std::to_string(ordinal) : runtime.message()));
  }
}

TEST_CASE("whether there is a driver is known, and why not") {
  const Status& status = detail::runtime_status();
  if (status) {
    CHECK(detail::device_count() > 0);
    CHECK(detail::driver_version() >= 12000);
    CHECK(std::string_view(default_device_model().name) == device_model(0)->name);
  } else {
    CHECK(status.code() == StatusCode::no_device);
    CHECK(detail::device_count() == 0);
    CHECK(says(status, detail::driver_version() == 0 ? "No CUDA driver is installed" : "driver"));
    CHECK(std::string_view(default_device_model().name) == "h200");
  }
  CHECK(detail::runtime_version() >= 12000);
}

TEST_CASE("models can be asked for from many threads at once") {
  std::vector<const DeviceModel*> seen(8);
  std::vector<std::thread> threads;
  for (const DeviceModel*& mine : seen) threads.emplace_back([&mine] { mine = &default_device_model(); });
  for (std::thread& thread : threads) thread.join();
  for (const DeviceModel* model : seen) CHECK(model == seen[0]);
}

TEST_CASE("where operands lie is where the problem runs") {
  const auto place = [](const GemmArguments& args) {
    const Result<RunPlace> found = test::place_of(args);
    REQUIRE(found);
    return *found;
  };
  CHECK(place(problem_in(open, open, open)).kind == RunPlace::Kind::unknown);
  CHECK(place(problem_in(host, host, host)).kind == RunPlace::Kind::host);
  CHECK(place(problem_in(open, host, open)).kind == RunPlace::Kind::host);
  for (const Memory memory : {device1, pinned0, managed0}) {
    const RunPlace found = place(problem_in(memory, open, memory));
    CHECK(found.kind == RunPlace::Kind::device);
    CHECK(found.device == memory.device);
  }
  // Memory that every device can reach goes where the rest is.
  CHECK(place(problem_in(pinned0, device1, managed0)).device == 1);
  CHECK(place(problem_in(device1, managed0, pinned0)).device == 1);
  CHECK(place(problem_in(device1, pinned0, device1)).device == 1);

  float on_the_stack[16] = {};
  GemmArguments args = problem_in(open, open, open);
  args.b.data = on_the_stack;
  CHECK(place(args).kind == RunPlace::Kind::host);
}

TEST_CASE("operands that lie in different places are refused by name") {
  const auto check = [](const GemmArguments& args, Operand operand) {
    const Status status = test::place_of(args).status();
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.reason() == Reason::mixed_devices);
    CHECK(status.operand() == operand);
  };
  check(problem_in(host, device0, device0), Operand::a);
  check(problem_in(device0, host, device0), Operand::b);
  check(problem_in(device0, device1, device0), Operand::b);
  check(problem_in(pinned0, host, host), Operand::a);
  check(problem_in(device0, device1, managed0), Operand::b);

  GemmArguments args = problem_in(device0, device0, device0);
  args.c = args.out.on(host);
  CHECK(test::place_of(args));  // beta is 0: never read
  args.epilogue.beta = 1;
  check(args, Operand::c);
  args.c = args.out;
  args.epilogue.bias = TensorView::vector(nullptr, DType::f16, 4).on(device1);
  check(args, Operand::bias);
}

TEST_CASE("a model whose sizes or rates make no sense is refused, and the least one is ranked by") {
  const DeviceModel h200 = *find_device_model("h200");
  GemmArguments gemm = problem_in(open, open, open);
  Conv2dArguments conv = {.a = TensorView::row_major(nullptr, DType::bf16, {2, 16, 16, 32}),
                          .b = TensorView::row_major(nullptr, DType::bf16, {32, 3, 3, 32}),
                          .out = TensorView::row_major(nullptr, DType::bf16, {2, 14, 14, 32})};
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr int most = std::numeric_limits<int>::max();
  const auto refused = [&](auto member, auto value) {
    DeviceModel model = h200;
    member(model) = value;
    INFO(value);
    CHECK_FALSE(is_complete(model));
    const FindOptions options = {.device = &model};
    CHECK(find_best(gemm, {}, options).status().code() == StatusCode::invalid_arguments);
    CHECK(find_best(conv, {}, options).status().code() == StatusCode::invalid_arguments);
  };
  for (const int registers : {-1, 0, 64, 256, 16383, most})
    refused([](DeviceModel& m) -> int& { return m.registers_per_multiprocessor; }, registers);
  for (const int threads : {0, 1023, most})
    refused([](DeviceModel& m) -> int& { return m.threads_per_multiprocessor; }, threads);
  for (const int bytes : {-1, most})
    refused([](DeviceModel& m) -> int& { return m.reserved_shared_memory; }, bytes);
  refused([](DeviceModel& m) -> int& { return m.shared_memory_per_multiprocessor; }, most);
  for (const double rate : {-1.0, 0.0, 1e-300, 1e300, infinite, std::nan("")}) {
    refused([](DeviceModel& m) -> double& { return m.memory_bandwidth; }, rate);
    refused([](DeviceModel& m) -> double& { return m.clock; }, rate);
    refused([](DeviceModel& m) -> double& { return m.rates.launch.copy; }, rate);
    refused([](DeviceModel& m) -> double& { return m.rates.calibration.mma.math; }, rate);
  }
  refused([](DeviceModel& m) -> double& { return m.rates.memory.split_lines; }, infinite);
  refused([](DeviceModel& m) -> double& { return m.rates.memory.crowded_lines; }, infinite);
  DeviceModel least = h200;
  least.multiprocessors = least.blocks_per_multiprocessor = least.registers_per_thread = 1;
  least.registers_per_multiprocessor = 1 << 14;
  least.threads_per_multiprocessor = 1024;
  least.reserved_shared_memory = 0;
  for (const int cc : {80, 90}) {
    least.cc = cc;
    REQUIRE(is_complete(least));
    for (const auto& list :
         {get_kernels(gemm, {}, {.device = &least}), get_kernels(conv, {}, {.device = &least})}) {
      REQUIRE_FALSE(list.empty());
      for (const Candidate& each : list) REQUIRE(std::isfinite(each.predicted_seconds()));
    }
  }
}
