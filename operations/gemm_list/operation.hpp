/// What a list of GEMMs is: the rules by which the registry treats it. See registry/operation.hpp.
#pragma once

#include <cstddef>

#include "gemm_list/family.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/device_model.hpp"
#include "quarry/gemm_list.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::gemm_list {

/// The family of a row that computes lists of GEMMs. @pre its operation is gemm_list
inline const GemmListFamily& family_of(const Row& row) {
  return static_cast<const GemmListFamily&>(row.family.get());
}

struct Rules {
  using Arguments = GemmListArguments;
  using Problem = GemmListProblem;
  using Profile = GemmProfile;

  static void operands(const GemmListArguments& arguments, OperandList& list);
  static Status check(const GemmListArguments& arguments, const OperandList& operands,
                      GemmListProblem& problem);
  static void describe(const GemmListArguments& arguments, GemmListProblem& problem);

  /// A key for each pair of layouts that A and B fit. Outputs have any strides.
  template <class Add>
  static void keys(const GemmListProblem& problem, const Add& add) {
    for (const Layout a : {Layout::row, Layout::column}) {
      for (const Layout b : {Layout::row, Layout::column}) {
        const bool fit = problem.gemm.a.fits[static_cast<int>(a)] && problem.gemm.b.fits[static_cast<int>(b)];
        if (!fit) continue;
        add(functional_key(Operation::gemm_list, Math::exact, problem.gemm.types, {a, b, Layout::row}));
      }
    }
  }
  static Status no_kernel(const GemmListProblem& problem);
  static Status check_signature(const Row& row, const GemmListProblem& problem);

  static GemmProfile profile(const Row& row, const DeviceModel& device);
  static Status check_constraints(const Row& row, const GemmProfile& profile, const GemmListProblem& problem,
                                  const DeviceModel& device);
  static Estimate estimate(const Row& row, const GemmProfile& profile, const GemmListProblem& problem,
                           const DeviceModel& device, std::size_t max_workspace);
  static Account account(const Row& row, const GemmProfile& profile, const GemmListProblem& problem,
                         const DeviceModel& device, std::size_t max_workspace);
  /// Blocks walk over tiles: as many as the device holds at once.
  static ChosenControls settle(const Row& row, const GemmProfile& profile, const Controls& of_kernel,
                               const DeviceModel& device, GemmListProblem& problem);
  static void launch(const Row& row, const GemmListProblem& problem, const ChosenControls& controls,
                     Launch& launch);
  static Status run_on_host(const Row& row, const Launch& launch, const std::byte* image);
};

}  // namespace quarry::detail::gemm_list
