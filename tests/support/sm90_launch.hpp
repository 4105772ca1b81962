/// Launches of gemm_sm90 kernels, made without a device.
#pragma once

#include <string>

#include "gemm_sm90/params.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"
#include "support/registry_problems.hpp"

namespace quarry::test {

/// A kernel, registered or not; `name` is what follows the types and layouts.
inline Kernel sm90(const std::string& name, const std::string& layouts = "rcr") {
  const Result<Kernel> kernel = make_kernel("gemm_sm90_bf16_bf16_f32_bf16_" + layouts + "_" + name);
  INFO(name << ": " << kernel.status().message());
  REQUIRE(kernel);
  return *kernel;
}

struct Resolved {
  GemmProblem problem;
  ChosenControls controls;
  Launch launch;

  /// The kernel's step. @pre the output is not empty
  const Step& step() const { return *kernel_step(launch); }
  const TensorGemmParams& params() const { return params_of<TensorGemmParams>(launch.image, step()); }
  /// The fields of the operand's tensor map; null if the launch has no such map.
  const TensorMapFields* map(Operand name) const { return find_map(launch, name); }
};

inline Status resolve(const Kernel& kernel, const GemmArguments& args, Resolved& resolved,
                      const DeviceModel& device = h200()) {
  const detail::Row& row = detail::row_of(kernel);
  const Status status = resolve(row, args, {}, device, resolved.problem, resolved.controls);
  if (!status) return status;
  resolved.launch = {};
  detail::gemm::family_of(row).launch(row.entry_config, resolved.problem, resolved.controls, resolved.launch);
  return status;
}

inline Resolved launch_of(const Kernel& kernel, const GemmArguments& args) {
  Resolved resolved;
  const Status status = resolve(kernel, args, resolved);
  INFO(kernel.name() << ": " << status.message());
  REQUIRE(status);
  return resolved;
}

inline void check_refused(const Kernel& kernel, const GemmArguments& args, const std::string& why,
                          const DeviceModel& device = h200()) {
  Resolved resolved;
  const Status status = resolve(kernel, args, resolved, device);
  INFO(kernel.name());
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message() == why);
}

inline GemmArguments bf16_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  return plain_problem(m, n, k, DType::bf16);
}

}  // namespace quarry::test
