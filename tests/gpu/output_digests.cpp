/// Runs random kernels on random problems on device 0 and prints a digest of each output, so that two builds
/// (one that holds every kernel's machine code, one that compiles all of it when it is needed) can be
/// compared bit for bit.
///
/// Usage: quarry_output_digests COUNT SEED. Prints "NAME DIGEST" for each kernel; the same seed means the
/// same kernels and problems. Exit status 4: no device.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "lab/device/device_buffer.hpp"
#include "lab/device/device_operands.hpp"
#include "lab/problems/operands.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/device/runtime.hpp"
#include "support/random_gemm.hpp"

namespace {

using namespace quarry;

/// A problem that the kernel takes, of a few tiles.
GemmArguments shape_for(const KernelMetadata& kernel, test::Random& random) {
  const OperandsMetadata& o = kernel.operands;
  GemmArguments args = test::random_shape(random, {o.a.dtype, o.b.dtype, o.accumulator, o.out.dtype},
                                          {o.a.layout, o.b.layout, o.out.layout},
                                          {.m = 300, .n = 300, .k = 400, .alignment_bytes = 16});
  args.epilogue.alpha = 1;
  args.math = kernel.design.math;
  return args;
}

Result<std::uint64_t> digest_of(const Kernel& kernel, test::Random& random, std::uint64_t seed) {
  Result<lab::OperandsOf<GemmArguments>> problem =
      lab::OperandsOf<GemmArguments>::make(shape_for(kernel.metadata(), random), {.seed = seed});
  if (!problem) return problem.status();
  Result<lab::DeviceOperandsOf<GemmArguments>> device =
      lab::DeviceOperandsOf<GemmArguments>::make(*problem, 0);
  if (!device) return device.status();
  const Result<std::size_t> bytes = kernel.workspace_size(device->arguments);
  if (!bytes) return bytes.status();
  const Result<lab::DeviceBuffer> workspace =
      lab::DeviceBuffer::allocate(std::max<std::size_t>(*bytes, 1), 0);
  if (!workspace) return workspace.status();
  problem->reset_outputs();
  if (Status s = device->upload_outputs(*problem); !s) return s;
  if (Status s = kernel.run(device->arguments, {.workspace = {workspace->data(), *bytes}}); !s) return s;
  if (Status s = device->download_outputs(*problem); !s) return s;
  if (Status s = problem->check_outputs(); !s) return s;
  return detail::checksum({(*problem)[Operand::out].storage(), (*problem)[Operand::out].storage_bytes()});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: quarry_output_digests COUNT SEED\n", stderr);
    return 2;
  }
  if (!detail::runtime_status()) return 4;
  const auto count = static_cast<std::size_t>(std::atoll(argv[1]));
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[2]));
  std::vector<Kernel> kernels =
      get_kernels([](const KernelMetadata& k) { return k.operation == Operation::gemm; });
  test::Random random(seed);
  std::ranges::sort(kernels, {}, [](const Kernel& kernel) { return kernel.name(); });
  std::size_t failures = 0;
  for (std::size_t i = 0; i < std::min(count, kernels.size()); ++i) {
    std::swap(kernels[i], kernels[i + random() % (kernels.size() - i)]);
    test::Random own(seed + i);  // so that a failure changes no later problem
    const Result<std::uint64_t> digest = digest_of(kernels[i], own, seed + i);
    const std::string name(kernels[i].name());
    if (digest) {
      std::printf("%s %016llx\n", name.c_str(), static_cast<unsigned long long>(*digest));
    } else {
      ++failures;
      std::printf("%s FAILED: %s\n", name.c_str(), digest.status().message().c_str());
    }
  }
  return failures == 0 ? 0 : 1;
}
