#include <algorithm>
#include <map>

#include "problem.hpp"

namespace quarry::golden {
namespace {

Signature signature_of(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  if (kernel.operation == Operation::reduce_split_k) {
    return {DType::none, DType::none, o.accumulator, o.out.dtype,
            Math::exact, Layout::row, Layout::row,   o.out.layout};
  }
  return {o.a.dtype,          o.b.dtype,  o.accumulator, o.out.dtype,
          kernel.design.math, o.a.layout, o.b.layout,    o.out.layout};
}

}  // namespace

Choices choices_of_registry() {
  Choices choices;
  choices.kernels = get_kernels([](const KernelMetadata& kernel) {
    return kernel.operation == Operation::gemm || kernel.operation == Operation::reduce_split_k;
  });
  std::sort(choices.kernels.begin(), choices.kernels.end(),
            [](const Kernel& a, const Kernel& b) { return a.name() < b.name(); });
  std::map<Signature, std::vector<Kernel>> gemms;
  std::map<Signature, std::vector<Kernel>> reductions;
  for (const Kernel& kernel : choices.kernels) {
    const bool reduces = kernel.metadata().operation == Operation::reduce_split_k;
    (reduces ? reductions : gemms)[signature_of(kernel.metadata())].push_back(kernel);
  }
  for (const auto& [signature, kernels] : gemms) {
    if (choices.gemms.empty() || choices.gemms.back().front().signature.a != signature.a) {
      choices.gemms.emplace_back();
    }
    choices.gemms.back().push_back({signature, kernels});
  }
  for (const auto& [signature, kernels] : reductions) choices.reductions.push_back({signature, kernels});
  return choices;
}

}  // namespace quarry::golden
