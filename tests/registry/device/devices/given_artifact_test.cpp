// An artifact that a run is given is the code that runs.
#include <vector>

#include "registry/device/devices/cases.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

std::string entry_of(const Kernel& kernel) { return std::string(entry_name(kernel)); }

/// The codes of the kernels that one call launched.
std::vector<const void*> launched(const Status& status) {
  INFO(status.message());
  REQUIRE(status);
  return stand_in::take_launched_code();
}

}  // namespace

TEST_CASE("a run takes the code of the artifact that it is given, whatever else there is", "[two]") {
  (void)stand_in::take_launched_code();  // of other cases
  const Kernel kernel = gemm_kernel();
  const Artifact mine = fake_artifact(entry_of(kernel), 64);
  const Artifact other = fake_artifact(entry_of(kernel), 64);
  for (const int device : {0, 1}) {
    const auto run = [&](const Artifact* artifact) {
      return launched(kernel.run(gemm_on(device), {.workspace = workspace_on(device), .artifact = artifact}));
    };
    const std::vector<const void*> usual = run(nullptr);
    REQUIRE(usual.size() == 2);  // the product and its reduction
    for (int again = 0; again < 2; ++again) {
      CHECK(run(&mine) == std::vector<const void*>{mine.code().data(), usual[1]});
      CHECK(run(&other) == std::vector<const void*>{other.code().data(), usual[1]});
      CHECK(run(nullptr) == usual);
    }
  }
}

TEST_CASE("a plan keeps the code of the artifact that it was made with", "[two]") {
  (void)stand_in::take_launched_code();
  const Kernel kernel = gemm_kernel();
  Artifact mine = fake_artifact(entry_of(kernel), 70);
  const void* const code = mine.code().data();
  const Result<Plan> plan = kernel.prepare(gemm_on(1), {.artifact = &mine});
  REQUIRE(plan);
  mine = fake_artifact(entry_of(kernel), 80);
  const auto codes = launched(plan->run(detail::operands_of(gemm_on(1)), nullptr, workspace_on(1)));
  REQUIRE(codes.size() == 2);
  CHECK(codes[0] == code);
}

TEST_CASE("an artifact that cannot be the kernel's code on the device is refused", "[two]") {
  (void)stand_in::take_launched_code();
  const Kernel kernel = gemm_kernel();
  const auto refused = [&](const Artifact& artifact, const std::string& why) {
    for (const Status& status :
         {kernel.run(gemm_on(0), {.workspace = workspace_on(0), .artifact = &artifact}),
          kernel.prepare(gemm_on(0), {.artifact = &artifact}).status()}) {
      CHECK(status.code() == StatusCode::invalid_artifact);
      CHECK_THAT(status.message(), Catch::Contains(why));
      CHECK(stand_in::take_launched_code().empty());
    }
  };
  refused(fake_artifact("reduce_split_k_f32_f16"),
          "The artifact is code of `reduce_split_k_f32_f16`, and kernel `");
  auto for_80 = fake_data(entry_of(kernel));
  for_80->target = 80;
  for_80->key = detail::artifact_key(for_80->entry, for_80->config, 80, for_80->compiler);
  refused(Artifact(for_80), "is for compute capability 8.0, and the device has 9.0");
  auto other_sources = fake_data(entry_of(kernel));
  other_sources->key += " ";
  refused(Artifact(other_sources), "was compiled from other sources than this library's");
}
