#include "gemm/host.hpp"
#include "gemm_sm80/cost.hpp"
#include "grouped_gemm/common_family.hpp"
#include "grouped_gemm_sm80/config.hpp"

namespace quarry::grouped_gemm_sm80 {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

/// Groups begin at any row of A, and ragged ones at any position of K: where these run along lines, pieces of
/// several elements would begin between two multiples of their size.
Status check_beginnings(const GemmTraits& kernel, GroupForm form) {
  const bool is_row_a = kernel.layouts.a == Layout::row;
  if (form == GroupForm::contiguous && !is_row_a && kernel.alignment.a > 1)
    return {StatusCode::unsupported,
            "Contiguous groups are unsupported by a kernel whose A is column-major, except with an alignment "
            "of 1"};
  if (form != GroupForm::ragged_k) return {};
  if (is_row_a && kernel.alignment.a > 1)
    return {StatusCode::unsupported,
            "Ragged K is unsupported by a kernel whose A is row-major, except with an alignment of 1"};
  if (kernel.layouts.b == Layout::column && kernel.alignment.b > 1)
    return {StatusCode::unsupported,
            "Ragged K is unsupported by a kernel whose B is column-major, except with an alignment of 1"};
  return {};
}

class GroupedGemmSm80 final : public CommonGroupedFamily {
 public:
  Status supports(const GemmProfile& kernel, const GroupedGemmProblem& problem,
                  const DeviceModel& device) const override {
    if (Status s = check_beginnings(kernel.traits, problem.groups.form); !s) return s;
    if (Status s = gemm_supports(kernel.traits, problem.gemm, device); !s) return s;
    return gemm_sm80::check_lines(kernel.traits, problem.gemm);
  }

 private:
  GemmTraits traits(const void* config) const override {
    return gemm_sm80::traits(tile_config(config_of(config)));
  }
  BlockCost block_cost(const void* config, const DeviceModel& device) const override {
    return gemm_sm80::block_cost(tile_config(config_of(config)), device);
  }
};

constinit const GroupedGemmSm80 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::grouped_gemm_sm80
