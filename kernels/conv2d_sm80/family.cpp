#include "conv2d/family.hpp"

#include <algorithm>
#include <string>

#include "common/piece_map.hpp"
#include "conv2d_sm80/config.hpp"
#include "gemm/estimate.hpp"
#include "gemm/host.hpp"
#include "gemm_sm80/cost.hpp"

namespace quarry::conv2d_sm80 {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

/// K may be cut, but only where the slices of a tile add up one after another: outputs are tensors, which no
/// reduction reads.
GemmTraits product_traits(const Config& c) {
  GemmTraits traits = gemm_sm80::traits(product(c));
  traits.cuts_in_parallel = false;
  return traits;
}

// Instructions of a thread, estimated: to find a piece, to find what an index says. Not measured yet.

constexpr int find_instructions(Bounds bounds) {
  return bounds == Bounds::none ? 4 : bounds == Bounds::window ? 8 : 24;
}
constexpr int index_instructions(Iterator iterator) { return iterator == Iterator::few_channels ? 14 : 30; }
/// Of all warps, in a cycle of a multiprocessor.
constexpr int issued_per_clock = 4;

/// Cycles of a multiprocessor to find the pieces of a K tile.
double find_clocks(const OperandTile& tile, Bounds bounds, Iterator iterator, int threads) {
  const bool asynchronous = tile.alignment * tile.element_bytes >= 4;
  const int elements = asynchronous ? tile.alignment : tile.chunk_elements();
  const PieceMap map = piece_map(tile, elements, threads);
  const int singles = asynchronous ? 1 : elements;
  const int indices = (tile.k_contiguous ? map.column_rounds : map.line_rounds) * singles;
  const int instructions =
      map.pieces() * singles * find_instructions(bounds) + indices * index_instructions(iterator);
  return static_cast<double>(instructions) * threads / (32 * issued_per_clock);
}

/// The product's, and finding. Instructions are issued beside those of the matrix unit, which take one turn
/// in many.
BlockCost cost(const Config& c, const DeviceModel& device) {
  const gemm_sm80::Config code = product(c);
  BlockCost cost = gemm_sm80::block_cost(code, device);
  cost.copy += find_clocks(tile_a(code), bounds_a(c.direction), c.iterator, threads(c)) +
               find_clocks(tile_b(code), bounds_b(c.direction), c.iterator, threads(c));
  return cost;
}

Status refused(std::string why) { return {StatusCode::unsupported, std::move(why)}; }

/// Pieces are channels of one pixel or tap, all of one group.
Status check_operand(const ProblemOperand& operand, Operand name, int channels, int needed) {
  const std::string number = std::to_string(needed);
  if (operand.alignment[static_cast<int>(Layout::row)] < needed) {
    return refused("Operand `" + std::string(to_string(name)) +
                   "` is misaligned: this kernel needs a pointer and strides that are multiples of " +
                   number + " elements");
  }
  if (channels % needed == 0) return {};
  return refused("Operand `" + std::string(to_string(name)) + "` has " + std::to_string(channels) +
                 " channels in a group: this kernel takes multiples of " + number);
}

Status check_operands(const GemmTraits& kernel, const Conv2dProblem& problem) {
  const GemmProblem& p = problem.product;
  const int channels = problem.windows.channels.size;
  const bool is_wgrad = problem.direction == Direction::wgrad;
  const bool is_dgrad = problem.direction == Direction::dgrad;
  if (Status s = check_operand(p.a, Operand::a, is_wgrad ? p.m : channels, kernel.alignment.a); !s) return s;
  return check_operand(p.b, Operand::b, is_dgrad ? p.n : channels, kernel.alignment.b);
}

/// The product with open controls, and what of its matrices is read from memory once.
GemmProblem open_product(const Conv2dProblem& problem) {
  GemmProblem p = problem.product;
  p.controls = {};
  float& repeats = problem.direction == Direction::wgrad ? p.repeats_b : p.repeats_a;
  repeats = window_repeats(problem.windows);
  return p;
}

class Conv2dSm80 final : public Conv2dFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    const Config& c = config_of(config);
    return gemm_profile(product_traits(c), cost(c, device), device);
  }

  Status supports(const GemmProfile& kernel, const Conv2dProblem& problem,
                  const DeviceModel& device) const override {
    GemmProblem p = open_product(problem);
    if (is_empty(p) || p.k == 0) {  // nothing is read
      p.a.alignment[0] = p.a.alignment[1] = p.b.alignment[0] = p.b.alignment[1] = 16;
    } else if (Status s = check_operands(kernel.traits, problem); !s) {
      return s;
    }
    return gemm_supports(kernel.traits, p, device);
  }

  Estimate estimate(const GemmProfile& kernel, const Conv2dProblem& problem,
                    std::size_t max_workspace) const override {
    if (is_empty(problem.product)) return {};
    return gemm_estimate(kernel, open_product(problem), max_workspace);
  }

  Account account(const GemmProfile& kernel, const Conv2dProblem& problem,
                  std::size_t max_workspace) const override {
    if (is_empty(problem.product)) return {};
    return gemm_account(kernel, open_product(problem), max_workspace);
  }

  std::size_t workspace_size(const void* config, const Conv2dProblem& problem,
                             const ChosenControls& controls) const override {
    return gemm_workspace(product_traits(config_of(config)), problem.product, controls).bytes;
  }

  void launch(const void* config, const Conv2dProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    gemm_launch(product_traits(config_of(config)), problem.product, controls, launch, sizeof(Conv2dParams));
    if (launch.is_empty()) return;
    params_of<Conv2dParams>(launch, *kernel_step(launch)).windows = problem.windows;
  }
};

constinit const Conv2dSm80 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::conv2d_sm80
