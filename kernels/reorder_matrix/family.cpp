#include "reorder_matrix/family.hpp"

#include "reorder_matrix/config.hpp"
#include "reorder_matrix/step.hpp"

namespace quarry::reorder_matrix {
namespace {

class ReorderMatrix final : public ReorderFamily {
 public:
  /// Each element is read and written once.
  Account account(const void*, const ReorderProblem& problem, const DeviceModel& device) const override {
    const ReorderParams& p = problem.params;
    const double elements = static_cast<double>(p.rows) * p.columns * p.batch;
    Account account;
    account.bytes = 2 * elements * bytes_of(problem.type);
    account[TimePart::launch] = device.rates.launch.copy;
    account[TimePart::memory] = account.bytes / (device.memory_bandwidth * device.rates.memory.copy_share);
    account.seconds = account[TimePart::launch] + account[TimePart::memory];
    return account;
  }

  void launch(const void* config, const ReorderProblem& problem, Launch& launch) const override {
    if (is_empty(problem)) return;
    const Config& c = *static_cast<const Config*>(config);
    const ReorderParams& params = add_reorder(launch, 0, problem.type, problem.params);
    relocate(launch, params.from.data, Operand::from);
    relocate(launch, params.to.data, Operand::to);
    const auto element = static_cast<std::uint16_t>(element_bytes(c));
    launch.uses.add({Operand::from, problem.type, false, element});
    launch.uses.add({Operand::to, problem.type, false, element, true});
  }
};

constinit const ReorderMatrix instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::reorder_matrix
