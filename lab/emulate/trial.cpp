#include "lab/emulate/trial.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "lab/problems/matrices.hpp"
#include "operations/common/host/element.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "registry/query/own_kernels.hpp"

namespace quarry::lab::emulate {
namespace {

using emulator::GuardedPages;
using emulator::MemoryUse;

constexpr std::size_t workspace_alignment = 256;

Status out_of_memory() { return {StatusCode::device_error, "there is no memory for the operands"}; }

/// A tensor's own bytes, from its first element to the end of its last; of an array: each matrix's.
std::size_t span_bytes(const TensorView& view) {
  return static_cast<std::size_t>(bytes_for(view.dtype, Matrices(view).span()));
}

/// Copies of a problem's operands in guarded memory, and what the kernel may do with each.
class GuardedOperands {
 public:
  GuardedOperands(const HeldArguments& arguments, emulator::GuardedEnd guarded,
                  emulator::GlobalMemory& memory)
      : arguments_(arguments), guarded_(guarded), memory_(memory) {}

  /// Copies the operands and points the arguments at the copies.
  Status make(const Operands& operands) {
    const std::vector<Operand>& in_place = operands.options().in_place;
    TensorView* first = nullptr;  // the first output, which stands in front
    return arguments_.edit_operands([&](const detail::OperandRef& operand, TensorView& view) -> Status {
      if (std::ranges::find(in_place, operand.name) != in_place.end()) {
        view.data = first->data;
        return {};
      }
      const bool is_first = first == nullptr;
      if (is_first) first = &view;
      const MemoryUse use = !operand.is_output              ? MemoryUse::input
                            : is_first && !in_place.empty() ? MemoryUse::updated
                                                            : MemoryUse::output;
      const std::string name(to_string(operand.name));
      return view.is_pointer_array ? add_array(view, use, name)
                                   : copy(view.data, span_bytes(view), use, name);
    });
  }

  /// Memory for the workspace of a launch, part by part; those that a step clears may be read, too. Null
  /// where the launch needs none.
  Result<std::byte*> make_workspace(const Launch& launch) {
    if (launch.workspace_bytes == 0) return nullptr;
    // Whole multiples of the alignment, so that the end is at the guarded page all the same.
    GuardedPages& pages = pages_.emplace_back(GuardedPages::make(launch.workspace_bytes, 0, guarded_));
    if (pages.data() == nullptr) return out_of_memory();
    auto* const begin = static_cast<std::byte*>(pages.data());
    for (const WorkspacePart& part : launch.parts) {
      const bool is_cleared = std::ranges::any_of(launch.steps, [&](const Step& step) {
        return step.kind == Step::Kind::clear && step.clear_at == part.offset;
      });
      memory_.add(begin + part.offset, part.bytes, is_cleared ? MemoryUse::updated : MemoryUse::output,
                  "the workspace's " + std::string(part.name));
    }
    return begin;
  }

  const HeldArguments& arguments() const { return arguments_; }

 private:
  /// The matrices of an array, each for itself, and the array.
  Status add_array(TensorView& view, MemoryUse use, const std::string& name) {
    const Matrices m(view);
    std::vector<const void*> pointers;
    for (std::int64_t entry = 0; entry < m.count(); ++entry) {
      const void* matrix = m.first(entry);
      const std::string own_name = name + " of batch entry " + std::to_string(entry);
      if (Status s = copy(matrix, span_bytes(view), use, own_name); !s) return s;
      pointers.push_back(matrix);
    }
    view.data = pointers.data();
    return copy(view.data, pointers.size() * sizeof(void*), MemoryUse::input, "the pointers of " + name);
  }

  /// Copies `bytes` bytes from `data` on, and points that at the copy.
  Status copy(const void*& data, std::size_t bytes, MemoryUse use, const std::string& name) {
    if (bytes == 0) return {};
    const auto phase = reinterpret_cast<std::uintptr_t>(data) % 64;
    GuardedPages& pages = pages_.emplace_back(GuardedPages::make(bytes, phase, guarded_));
    if (pages.data() == nullptr) return out_of_memory();
    std::memcpy(pages.data(), data, bytes);
    data = pages.data();
    memory_.add(data, bytes, use, name);
    return {};
  }

  HeldArguments arguments_;
  emulator::GuardedEnd guarded_;
  emulator::GlobalMemory& memory_;
  std::vector<GuardedPages> pages_;
};

/// Shared memory that a block may have on the device that a kernel is written for.
unsigned shared_memory_limit() {
  return static_cast<unsigned>(default_device_model().shared_memory_per_block);
}

Status run_grid(const std::string& name, const emulator::Launch& launch, emulator::GlobalMemory& memory,
                const TrialOptions& options, emulator::Counters& counters) {
  if (const std::string refused = emulator::fault_of(launch, shared_memory_limit()); !refused.empty()) {
    return {StatusCode::device_error, "Cannot launch `" + name + "`: " + refused};
  }
  const emulator::Outcome outcome = emulator::run(launch, memory, options.emulator);
  counters += outcome.counters;
  return outcome.good() ? Status() : Status(StatusCode::device_error, outcome.fault);
}

/// The name of a step's entry.
std::string name_of(const detail::Row& row, const Launch& launch, const Step& step) {
  return std::string(detail::entry_of(detail::entry_of_step(row, launch, step)).name);
}

/// Puts a run's pointers into an image, and maps as the emulator reads them: their fields.
void bind(Launch& launch, const PlanOperands& pointers) {
  static_assert(sizeof(TensorMapFields) <= sizeof(TensorMap));
  put_pointers(launch, pointers, launch.image);
  for (const Relocation& relocation : launch.relocations) {
    if (relocation.kind != Relocation::Kind::map) continue;
    TensorMapFields fields = launch.maps[relocation.map];
    fields.data = static_cast<const std::byte*>(pointers[relocation.source]) + relocation.offset;
    std::memcpy(launch.image + relocation.at, &fields, sizeof fields);
  }
}

/// Blocks of a step's grid. Where blocks walk over the work, the device would have more of them than most
/// problems here have tiles. So there are few for two of three seeds: then each block has several tiles.
unsigned blocks_of(const Step& step, std::uint64_t seed) {
  if (!step.blocks_walk || seed % 3 == 0) return step.grid;
  const auto clusters = static_cast<unsigned>(1 + seed / 3 % 4);
  return std::min(step.grid, clusters * step.cluster);
}

/// Runs the steps of a launch that is bound, as launch_on_stream does.
Status run_launch(const detail::Row& row, const Launch& launch, std::byte* workspace, const Modules& modules,
                  emulator::GlobalMemory& memory, const TrialOptions& options, emulator::Counters& counters) {
  for (const Step& step : launch.steps) {
    if (step.kind == Step::Kind::clear) {
      std::memset(workspace + step.clear_at, 0, step.clear_bytes);
      continue;
    }
    const std::string name = name_of(row, launch, step);
    const Result<const emulator::Entry*> entry = modules.find(name);
    if (!entry) return entry.status();
    const emulator::Launch kernel = {.entry = *entry,
                                     .params = launch.image + step.at,
                                     .grid = blocks_of(step, options.emulator.seed),
                                     .threads = step.threads,
                                     .shared_memory = step.shared_memory,
                                     .blocks_wait = step.blocks_wait,
                                     .cluster = step.cluster,
                                     .dependent = step.waits_for_earlier};
    if (Status s = run_grid(name, kernel, memory, options, counters); !s) return s;
  }
  return {};
}

/// Runs the kernel on operands in guarded memory.
Status run_on(const Kernel& kernel, GuardedOperands& operands, const Modules& modules,
              emulator::GlobalMemory& memory, const TrialOptions& options, emulator::Counters& counters) {
  const detail::Row& row = detail::row_of(kernel);
  detail::PreparedLaunch prepared;
  const Status status = detail::prepare_launch(row, kernel.entry_controls(), operands.arguments(), prepared);
  if (!status || prepared.launch.is_empty()) return status;
  if (options.edit) options.edit(prepared.launch);
  const Result<std::byte*> workspace = operands.make_workspace(prepared.launch);
  if (!workspace) return workspace.status();
  prepared.pointers[Operand::workspace] = *workspace;
  bind(prepared.launch, prepared.pointers);
  return run_launch(row, prepared.launch, *workspace, modules, memory, options, counters);
}

/// Replaces a reference's values of one output with what stands there.
void read_values(const TensorView& view, Expected& expected) {
  const Matrices out(view);
  std::size_t next = 0;
  for (std::int64_t matrix = 0; matrix < expected.matrices; ++matrix) {
    for (const std::int64_t row : expected.rows) {
      for (std::int64_t column = 0; column < expected.columns; ++column) {
        expected.values[next++] = host::read_element(out.type(), out.first(matrix), out.index(row, column));
      }
    }
  }
}

/// How far a kernel's values may lie from the executor's, where the reference knows how far both may lie from
/// its own: twice as far, and rounding may then take them to neighbouring elements.
void widen(DType type, Expected& expected) {
  for (std::size_t i = 0; i < expected.radii.size(); ++i) {
    double& radius = expected.radii[i];
    if (radius == 0) continue;
    const double step = is_integer(type) ? 1 : 2 * unit_roundoff(type) * std::abs(expected.values[i]);
    radius = 2 * radius + step + (is_floating(type) ? info_of(type).smallest : 0);
  }
}

/// Where the pieces of a tensor begin, each of span_bytes(): its matrices where it is an array of pointers,
/// or all of it.
std::vector<const void*> pieces_of(const TensorView& view) {
  if (span_bytes(view) == 0) return {};
  if (!view.is_pointer_array) return {view.data};
  const Matrices m(view);
  std::vector<const void*> pieces;
  for (std::int64_t entry = 0; entry < m.count(); ++entry) pieces.push_back(m.first(entry));
  return pieces;
}

/// Copies the elements of each output of some arguments, and what lies between them, to the same operands in
/// guarded tensors.
void put_back(const HeldArguments& from, Operands& to) {
  detail::OperandList operands;
  from.list(operands);
  for (const detail::OperandRef& operand : operands) {
    if (!operand.is_output) continue;
    const TensorView& view = to[operand.name].view();
    const std::vector<const void*> sources = pieces_of(*operand.view);
    const std::vector<const void*> places = pieces_of(view);
    for (std::size_t i = 0; i < places.size(); ++i)
      std::memcpy(const_cast<void*>(places[i]), sources[i], span_bytes(view));
  }
}

/// What the host executor computes, in the form of a reference.
Result<Reference> executor_result(const Kernel& kernel, Operands& operands, Reference reference) {
  operands.reset_outputs();
  const Result<std::size_t> bytes = kernel.workspace_size(operands.arguments());
  if (!bytes) return bytes.status();
  const GuardedPages workspace =
      GuardedPages::make(*bytes + workspace_alignment, 0, emulator::GuardedEnd::front);
  if (workspace.data() == nullptr) return out_of_memory();
  if (Status s = kernel.run(operands.arguments(), {.workspace = {workspace.data(), *bytes}}); !s) return s;
  for (Expected& expected : reference.outputs) {
    const TensorView& view = operands[expected.name].view();
    read_values(view, expected);
    expected.roundings = 2;
    widen(view.dtype, expected);
  }
  return reference;
}

}  // namespace

std::string Verdict::reason() const {
  if (!status) return status.message();
  if (!reference.within()) return "wrong against float64: " + reference.text();
  return "wrong against the host executor: " + executor.text();
}

Verdict run_trial(const Kernel& kernel, Operands& operands, const Modules& modules,
                  const TrialOptions& options) {
  Verdict verdict;
  const auto failed = [&](Status status) {
    verdict.status = std::move(status);
    return verdict;
  };
  const HeldArguments& arguments = operands.arguments();
  if (Status s = kernel.supports(arguments); !s) return failed(s);
  operands.reset_outputs();
  const Result<Reference> reference = compute_reference(arguments, {.threads = 1});
  if (!reference) return failed(reference.status());

  emulator::GlobalMemory memory(options.emulator.checks);
  GuardedOperands guarded(arguments, options.guarded, memory);
  if (Status s = guarded.make(operands); !s) return failed(s);
  if (Status s = run_on(kernel, guarded, modules, memory, options, verdict.counters); !s) return failed(s);

  const Result<Reference> executed = executor_result(kernel, operands, *reference);
  if (!executed) return failed(executed.status());
  operands.reset_outputs();
  put_back(guarded.arguments(), operands);
  if (Status s = operands.check_outputs(); !s) return failed(s);
  verdict.reference = compare(*reference, arguments, kernel.metadata());
  verdict.executor = compare(*executed, arguments, kernel.metadata());
  return verdict;
}

}  // namespace quarry::lab::emulate
