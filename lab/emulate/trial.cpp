#include "lab/emulate/trial.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "lab/problems/arguments.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"

namespace quarry::emulate {
namespace {

using emulator::GuardedPages;
using emulator::MemoryUse;

constexpr std::size_t workspace_alignment = 256;

Status out_of_memory() { return {StatusCode::device_error, "there is no memory for the operands"}; }

/// A tensor's own bytes, from its first element to the end of its last; of an array: those of each matrix.
std::size_t bytes_of(const TensorView& view) {
  return static_cast<std::size_t>(host::Matrix(view).span() * quarry::bytes_of(view.dtype));
}

/// The operands of a problem in guarded memory, and what the kernel may do with each.
class Operands {
 public:
  Operands(const GemmArguments& arguments, emulator::GuardedEnd guarded, emulator::GlobalMemory& memory)
      : arguments_(arguments), guarded_(guarded), memory_(memory) {}

  /// Copies the operands and points `arguments` at the copies.
  Status make(const host::RandomOptions& options) {
    const bool in_place = options.in_place;
    Epilogue& e = arguments_.epilogue;
    if (Status s = add(arguments_.a, MemoryUse::input, arguments_.b.rank > 0 ? "a" : "the partial sums"); !s)
      return s;
    if (Status s = add(arguments_.b, MemoryUse::input, "b"); !s) return s;
    if (e.bias) {
      if (Status s = add(*e.bias, MemoryUse::input, "the bias"); !s) return s;
    }
    if (e.scale) {
      if (Status s = add(*e.scale, MemoryUse::input, "the scale"); !s) return s;
    }
    if (e.residual && !options.residual_in_place) {
      if (Status s = add(*e.residual, MemoryUse::input, "the residual"); !s) return s;
    }
    if (e.aux) {
      if (Status s = add(*e.aux, MemoryUse::output, "aux"); !s) return s;
    }
    if (arguments_.c && !in_place) {
      if (Status s = add(*arguments_.c, MemoryUse::input, "c"); !s) return s;
    }
    const bool updated = in_place || options.residual_in_place;
    if (Status s = add(arguments_.out, updated ? MemoryUse::updated : MemoryUse::output, "out"); !s) return s;
    if (in_place) arguments_.c->data = arguments_.out.data;
    if (options.residual_in_place) e.residual->data = arguments_.out.data;
    return {};
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

  const GemmArguments& arguments() const { return arguments_; }

 private:
  Status add(TensorView& view, MemoryUse use, const std::string& name) {
    return view.is_pointer_array ? add_array(view, use, name) : copy(view.data, bytes_of(view), use, name);
  }

  /// The matrices of an array, each for itself, and the array.
  Status add_array(TensorView& view, MemoryUse use, const std::string& name) {
    const host::Matrix m(view);
    std::vector<const void*> pointers;
    for (std::int64_t entry = 0; entry < m.batch; ++entry) {
      const void* matrix = m.first(entry);
      if (Status s = copy(matrix, bytes_of(view), use, name + " of batch entry " + std::to_string(entry)); !s)
        return s;
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

  GemmArguments arguments_;
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
std::string name_of(const detail::Row& row, const Step& step) {
  return std::string(detail::entry_of(step.entry == 0 ? row.entry : row.companions[step.entry - 1U]).name);
}

/// Puts a run's pointers into an image, and maps as the emulator reads them: their fields.
void bind(Launch& launch, const PlanOperands& pointers) {
  static_assert(sizeof(TensorMapFields) <= sizeof(TensorMap));
  put_pointers(launch, pointers, launch.image);
  for (const Relocation& relocation : launch.relocations) {
    if (relocation.kind != Relocation::Kind::map) continue;
    TensorMapFields fields = launch.maps[relocation.map];
    fields.data = pointers[relocation.source];
    std::memcpy(launch.image + relocation.at, &fields, sizeof fields);
  }
}

/// Runs the steps of a launch that is bound, as launch_on_stream does.
Status run_launch(const detail::Row& row, const Launch& launch, std::byte* workspace, const Modules& modules,
                  emulator::GlobalMemory& memory, const TrialOptions& options, emulator::Counters& counters) {
  for (const Step& step : launch.steps) {
    if (step.kind == Step::Kind::clear) {
      std::memset(workspace + step.clear_at, 0, step.clear_bytes);
      continue;
    }
    const std::string name = name_of(row, step);
    const emulator::Launch kernel = {.entry = &modules[name],
                                     .params = launch.image + step.at,
                                     .grid = step.grid,
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
Status run_on(const Kernel& kernel, Operands& operands, std::int64_t slices, const Modules& modules,
              emulator::GlobalMemory& memory, const TrialOptions& options, emulator::Counters& counters) {
  const detail::Row& row = detail::row_of(kernel);
  const GemmArguments& arguments = operands.arguments();
  detail::PreparedLaunch prepared;
  const Status status = slices > 0 ? detail::prepare_launch(row, kernel.controls(),
                                                            detail::reduction_of(arguments, slices), prepared)
                                   : detail::prepare_launch(row, kernel.controls(), arguments, prepared);
  if (!status || prepared.launch.is_empty()) return status;
  const Result<std::byte*> workspace = operands.make_workspace(prepared.launch);
  if (!workspace) return workspace.status();
  prepared.pointers[Operand::workspace] = *workspace;
  bind(prepared.launch, prepared.pointers);
  return run_launch(row, prepared.launch, *workspace, modules, memory, options, counters);
}

/// Replaces a reference's values of one output with what stands there.
void read_values(const TensorView& view, const host::Reference& reference, std::vector<double>& values) {
  const host::Matrix out(view);
  std::size_t next = 0;
  for (std::int64_t entry = 0; entry < reference.batch; ++entry) {
    for (const std::int64_t row : reference.rows) {
      for (std::int64_t column = 0; column < reference.columns; ++column) {
        values[next++] = host::read_element(out.type, out.first(entry), out.index(row, column));
      }
    }
  }
}

/// Where the pieces of a tensor begin, each of so many bytes: its matrices where it is an array of pointers,
/// or all of it.
std::vector<const void*> pieces_of(const TensorView& view) {
  if (bytes_of(view) == 0) return {};
  if (!view.is_pointer_array) return {view.data};
  const host::Matrix m(view);
  std::vector<const void*> pieces;
  for (std::int64_t entry = 0; entry < m.batch; ++entry) pieces.push_back(m.first(entry));
  return pieces;
}

/// The bytes of an output, guards not included, as they are now: piece by piece.
std::vector<std::byte> bytes_now(const TensorView& view) {
  std::vector<std::byte> bytes;
  for (const void* piece : pieces_of(view)) {
    const auto* const first = static_cast<const std::byte*>(piece);
    bytes.insert(bytes.end(), first, first + bytes_of(view));
  }
  return bytes;
}

void put_back(const std::vector<std::byte>& bytes, const host::GuardedTensor& tensor) {
  const std::byte* next = bytes.data();
  if (bytes.empty()) return;
  for (const void* piece : pieces_of(tensor.view())) {
    std::memcpy(const_cast<void*>(piece), next, bytes_of(tensor.view()));
    next += bytes_of(tensor.view());
  }
}

/// What the host executor computes, in the form of a reference.
Result<host::Reference> executor_result(const Kernel& kernel, host::RandomProblem& problem,
                                        host::Reference reference) {
  problem.reset_output();
  const lab::Arguments arguments = lab::arguments_of(problem);
  const Result<std::size_t> bytes = lab::workspace_size(kernel, arguments);
  if (!bytes) return bytes.status();
  const GuardedPages workspace =
      GuardedPages::make(*bytes + workspace_alignment, 0, emulator::GuardedEnd::front);
  if (workspace.data() == nullptr) return out_of_memory();
  if (Status s = lab::run(kernel, arguments, {.workspace = {workspace.data(), *bytes}}); !s) return s;
  read_values(problem.out.view(), reference, reference.values);
  if (problem.arguments.epilogue.aux) read_values(problem.aux.view(), reference, reference.aux);
  return reference;
}

}  // namespace

std::string Verdict::reason() const {
  if (!status) return status.message();
  const bool by_reference = !reference.within();
  const host::Comparison& c = by_reference ? reference : executor;
  char text[256];
  std::snprintf(text, sizeof text,
                "%swrong against %s: error %.3g, bound %.3g; furthest off at (%lld, %lld, %lld): expected "
                "%.9g, got %.9g",
                c.operand == Operand::aux ? "aux: " : "", by_reference ? "float64" : "the host executor",
                c.error, c.bound, static_cast<long long>(c.entry), static_cast<long long>(c.row),
                static_cast<long long>(c.column), c.expected, c.got);
  return text;
}

Verdict run_trial(const Kernel& kernel, host::RandomProblem& problem, const Modules& modules,
                  const TrialOptions& options) {
  Verdict verdict;
  const auto failed = [&](Status status) {
    verdict.status = std::move(status);
    return verdict;
  };
  if (Status s = lab::supports(kernel, lab::arguments_of(problem)); !s) return failed(s);
  problem.reset_output();
  const Result<host::Reference> reference = lab::reference_of(problem, {.threads = 1});
  if (!reference) return failed(reference.status());

  emulator::GlobalMemory memory(options.emulator.checks);
  Operands operands(problem.arguments, options.guarded, memory);
  if (Status s = operands.make(problem.options); !s) return failed(s);
  if (Status s = run_on(kernel, operands, problem.slices, modules, memory, options, verdict.counters); !s)
    return failed(s);
  const GemmArguments& ran = operands.arguments();
  const std::vector<std::byte> out = bytes_now(ran.out);
  const std::vector<std::byte> aux =
      ran.epilogue.aux ? bytes_now(*ran.epilogue.aux) : std::vector<std::byte>();

  const Result<host::Reference> executed = executor_result(kernel, problem, *reference);
  if (!executed) return failed(executed.status());
  problem.reset_output();
  put_back(out, problem.out);
  put_back(aux, problem.aux);
  if (Status s = problem.check_output(); !s) return failed(s);
  const host::Tolerance tolerance = host::tolerance(kernel.metadata(), lab::terms(problem));
  verdict.reference = host::compare(*reference, problem.arguments, tolerance);
  verdict.executor = host::compare(*executed, problem.arguments, tolerance);
  return verdict;
}

}  // namespace quarry::emulate
