/// What a campaign asks of grouped GEMMs.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "lab/campaign/source.hpp"
#include "operations/grouped_gemm/lab/problem.hpp"
#include "quarry/grouped_gemm.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab::grouped_gemm {

/// Types of A, B, the sums and the output.
struct TypeKey {
  DType a, b, sums, out;
  friend auto operator<=>(const TypeKey&, const TypeKey&) = default;
};

/// Groups in each form, from 1 to 40, of any strides; with empty groups, one huge group, sizes past the room,
/// negative ones and ends that do not ascend; everything that an epilogue can have. Some have types that no
/// kernel has, or break a rule of the API.
class Source final : public CampaignSource {
 public:
  /// @param cost the most multiplications that a problem may need
  Source(std::span<const Kernel> kernels, double cost);

  DrawnProblem draw(std::uint64_t seed) const override;
  std::string types_of(const KernelMetadata& kernel) const override;
  std::vector<std::string> types_for(const Arguments& arguments) const override;
  bool is_always_taken(const Arguments& arguments) const override;
  std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Arguments& arguments,
                               const DeviceModel& device) const override;
  std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const override;

 private:
  /// The types that there are kernels of.
  std::vector<TypeKey> types_;
  double cost_;
};

/// As CampaignSource says.
std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const GroupedGemmArguments& arguments, const DeviceModel& device);
std::string fault_of_empty_answer(const Status& status, const GroupedGemmArguments& arguments);

}  // namespace quarry::lab::grouped_gemm
