/// The interface of families whose kernels compute lists of GEMMs (Operation::gemm_list). Host only.
#pragma once

#include <cstddef>

#include "../family.hpp"  // by its place: this file has the same name
#include "chosen_controls.hpp"
#include "gemm/profile.hpp"
#include "gemm_list/problem.hpp"
#include "launch.hpp"
#include "quarry/account.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"

namespace quarry {

class GemmListFamily : public Family {
 public:
  /// What is known of a kernel on a device whatever the problem.
  virtual GemmProfile profile(const void* config, const DeviceModel& device) const = 0;

  /// Whether the kernel takes the problem on such a device. Types and layouts were matched by the caller, who
  /// also checked the device's compute capability.
  virtual Status supports(const GemmProfile& kernel, const GemmListProblem& problem,
                          const DeviceModel& device) const = 0;

  /// Predicted seconds, and what they are made of. @pre supports(), and outputs have elements
  virtual Account account(const GemmProfile& kernel, const GemmListProblem& problem) const = 0;

  /// Bytes of the workspace of a launch.
  virtual std::size_t workspace(const void* config, const GemmListProblem& problem) const = 0;

  /// Fills a launch, which is empty. Nothing of it depends on what the sizes are. @pre supports()
  virtual void launch(const void* config, const GemmListProblem& problem, const ChosenControls& controls,
                      Launch& launch) const = 0;

  /// The tile of the blocks, or clusters, that walk over a list: what the host counts for its schedule.
  virtual Tile walked_tile(const void* config) const = 0;

  /// What the kernel of a launch computes. @param image of the launch, with the pointers of a run
  virtual GemmListParams params(const std::byte* image, const Step& step) const = 0;

 protected:
  constexpr ~GemmListFamily() = default;
};

/// Says what list a step computes: its sizes, and its leading dimensions and stretches where there are such.
/// @param tile of the blocks, or clusters, that walk @param params in the launch's image
void add_list(Launch& launch, const GemmListProblem& problem, Tile tile, ListParams& params);

/// Bytes of the workspace that reductions of lines need: each block has all of K.
std::size_t reduction_workspace(const GemmTraits& kernel, const GemmListProblem& problem);

/// The account of a list, from the account of equal problems. @param account_of as gemm_account of a
/// GemmProblem
template <class AccountOf>
Account list_account(const GemmListProblem& problem, Tile tile, const AccountOf& account_of) {
  const EqualProblems equal = equal_problems(problem, tile);
  Account account = account_of(equal.batch);
  for (double& seconds : account.seconds_of) seconds *= equal.tiles;
  account.seconds *= equal.tiles;
  account.waves *= equal.tiles;
  return account;
}

}  // namespace quarry
