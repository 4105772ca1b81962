/// What a kernel refuses, and the launch that it prepares.
#pragma once

#include <memory>
#include <string>

#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {

/// The kernel of a name that must exist.
inline Kernel required_kernel(const std::string& name) {
  const Result<Kernel> kernel = make_kernel(name);
  INFO(kernel.status().message());
  REQUIRE(kernel);
  return *kernel;
}

/// Checks that a kernel cannot compute the problem, and says so.
template <class Args>
void check_refused(const Kernel& kernel, const Args& args, const std::string& why) {
  const Status status = kernel.supports(args);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message() == why);
}

/// The launch of a problem that the kernel computes.
template <class Args>
std::unique_ptr<detail::PreparedLaunch> launch_of(const Kernel& kernel, const Args& args) {
  auto prepared = std::make_unique<detail::PreparedLaunch>();
  const Status status = detail::prepare_launch(detail::row_of(kernel), {}, args, *prepared);
  INFO(status.message());
  REQUIRE(status);
  return prepared;
}

}  // namespace quarry::test
