/// What a campaign asks of convolutions.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "lab/campaign/source.hpp"
#include "quarry/conv2d.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab::conv2d {

/// A direction, and types in the order of the operands.
struct TypeKey {
  Direction direction;
  DType a, b, accumulator, out;
  friend auto operator<=>(const TypeKey&, const TypeKey&) = default;
};

/// Windows of all kinds (draw_windows), strides of any kind, everything that an epilogue of a convolution can
/// have. Some have types that no kernel has, or break a rule of the API.
class Source final : public CampaignSource {
 public:
  /// @param cost the most products of a problem
  Source(std::span<const Kernel> kernels, double cost);

  DrawnProblem draw(std::uint64_t seed) const override;
  std::string types_of(const KernelMetadata& kernel) const override;
  std::vector<std::string> types_for(const Arguments& arguments) const override;
  bool is_always_taken(const Arguments& arguments) const override;
  std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Arguments& arguments,
                               const DeviceModel& device) const override;
  std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const override;

 private:
  std::vector<TypeKey> types_;
  double cost_;
};

/// The types of arguments, and of a kernel.
TypeKey type_key(const Conv2dArguments& arguments);
TypeKey type_key(const KernelMetadata& kernel);

/// As CampaignSource says.
std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const Conv2dArguments& arguments, const DeviceModel& device);
std::string fault_of_empty_answer(const Status& status, const Conv2dArguments& arguments);

}  // namespace quarry::lab::conv2d
