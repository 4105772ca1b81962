#include "conv2d/family.hpp"

#include "conv2d_simt/config.hpp"
#include "gemm/estimate.hpp"
#include "gemm/host.hpp"
#include "gemm_simt/cost.hpp"

namespace quarry::conv2d_simt {
namespace {

gemm_simt::Config product_of(const void* config) { return product(*static_cast<const Config*>(config)); }

/// Without scales and without slices of K.
GemmTraits product_traits(const gemm_simt::Config& c) {
  return {c.tile,      c.layouts,  {0, 0} /* any strides */, c.types.accumulator,
          c.types.out, threads(c), shared_memory_bytes(c)};
}

class Conv2dSimt final : public Conv2dFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    const gemm_simt::Config c = product_of(config);
    return gemm_profile(product_traits(c), gemm_simt::block_cost(c, device), device);
  }

  Status supports(const GemmProfile& kernel, const Conv2dProblem& problem,
                  const DeviceModel& device) const override {
    return gemm_supports(kernel.traits, in_one_piece(problem.product), device);
  }

  Estimate estimate(const GemmProfile& kernel, const Conv2dProblem& problem,
                    std::size_t max_workspace) const override {
    const Controls c = in_one_piece(problem.product).controls;
    return {.controls = {.swizzle = *c.swizzle, .raster = *c.raster},
            .seconds = account(kernel, problem, max_workspace).seconds};
  }

  /// That of the product. Its matrices are read from memory more than once where windows overlap, but mostly
  /// from the cache; what it takes to find their elements was not measured.
  Account account(const GemmProfile& kernel, const Conv2dProblem& problem, std::size_t) const override {
    if (is_empty(problem.product)) return {};
    return gemm_account(kernel, in_one_piece(problem.product), 0);
  }

  std::size_t workspace_size(const void*, const Conv2dProblem&, const ChosenControls&) const override {
    return 0;
  }

  void launch(const void* config, const Conv2dProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    const GemmTraits traits = product_traits(product_of(config));
    gemm_launch(traits, problem.product, controls, launch, sizeof(Conv2dParams));
    if (launch.is_empty()) return;
    auto& params = params_of<Conv2dParams>(launch, *kernel_step(launch));
    params.windows = problem.windows;
    if (problem.product.expressed) params.out = problem.out_matrix;
  }
};

constinit const Conv2dSimt instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::conv2d_simt
