/// What a campaign asks of reductions.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "lab/campaign/source.hpp"
#include "quarry/kernel.hpp"
#include "quarry/reduce_split_k.hpp"

namespace quarry::lab::reduce_split_k {

/// Types of the partial sums and the output.
struct TypeKey {
  DType partials, out;
  friend auto operator<=>(const TypeKey&, const TypeKey&) = default;
};

/// Types of all kinds, 1 to 24 slices, extents that are log-uniform from 1, batches, padded, interleaved and
/// misaligned outputs, everything that an epilogue can have. Some have types that no kernel has, slices that
/// are not packed, or break a rule of the API.
class Source final : public CampaignSource {
 public:
  /// @param cost the most that a problem may cost, in elements times 64
  Source(std::span<const Kernel> kernels, double cost);

  DrawnProblem draw(std::uint64_t seed) const override;
  std::string types_of(const KernelMetadata& kernel) const override;
  std::vector<std::string> types_for(const Arguments& arguments) const override;
  bool is_always_taken(const Arguments& arguments) const override;
  std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Arguments& arguments,
                               const DeviceModel& device) const override;
  std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const override;

 private:
  /// The types that there are kernels of, and the layouts of outputs beside them.
  std::vector<TypeKey> types_;
  std::set<std::pair<TypeKey, Layout>> there_;
  double cost_;
};

/// Whether each stride is the product of the extents behind it, but those of extents of 1.
bool is_packed(const TensorView& partials);

/// As CampaignSource says.
std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const ReduceSplitKArguments& arguments, const DeviceModel& device);
std::string fault_of_empty_answer(const Status& status, const ReduceSplitKArguments& arguments);

}  // namespace quarry::lab::reduce_split_k
