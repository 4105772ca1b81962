#include <algorithm>
#include <set>

#include "common/config_parts.hpp"
#include "lab/campaign/source.hpp"
#include "operations/gemm/lab/campaign_problems.hpp"
#include "operations/gemm/lab/operation.hpp"
#include "operations/gemm/lab/refusal.hpp"

namespace quarry::lab::gemm {
namespace {

std::string text_of(const TypeKey& key) {
  std::string text(to_string(key.math));
  for (const DType type : {key.a, key.b, key.accumulator, key.out}) text.append(" ").append(to_string(type));
  return text;
}

class Source final : public CampaignSource {
 public:
  Source(std::span<const Kernel> kernels, double cost) : space_(campaign_space(kernels, cost)) {}

  DrawnProblem draw(std::uint64_t seed) const override {
    const CampaignProblem problem = campaign_problem(space_, seed);
    const GemmArguments& args = problem.arguments;
    const DType compute = compute_type(*args.accumulator, args.out.dtype);
    return {.arguments = args,
            .in_place = problem.drawn.operands_in_place(),
            .scalars_in_memory = problem.drawn.scalars_by_pointer ? compute : DType::none,
            .text = described(problem)};
  }

  std::string types_of(const KernelMetadata& kernel) const override { return text_of(type_key(kernel)); }

  std::vector<std::string> types_for(const Arguments& arguments) const override {
    const GemmArguments& args = *arguments.as<GemmArguments>();
    TypeKey key{args.a.dtype, args.b.dtype, *args.accumulator, args.out.dtype, Math::exact};
    std::vector<std::string> texts = {text_of(key)};
    key.math = args.math;
    if (args.math != Math::exact) texts.push_back(text_of(key));
    return texts;
  }

  bool is_always_taken(const Arguments& arguments) const override {
    const GemmArguments& args = *arguments.as<GemmArguments>();
    const Controls& controls = args.controls;
    return !controls.mode && !controls.split_k_slices && !controls.multiprocessors &&
           gemm::is_always_taken(space_, args);
  }

  std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Arguments& arguments,
                               const DeviceModel& device) const override {
    return gemm::fault_of_refusal(status, kernel, *arguments.as<GemmArguments>(), device);
  }

  std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const override {
    return gemm::fault_of_empty_answer(status, *arguments.as<GemmArguments>());
  }

 private:
  CampaignSpace space_;
};

}  // namespace

std::unique_ptr<CampaignSource> Lab::campaign(std::span<const Kernel> kernels, double cost) {
  return std::make_unique<Source>(kernels, cost);
}

}  // namespace quarry::lab::gemm
