#include "tools/emulate/trial.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "tools/command/arguments.hpp"

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

  /// Memory for the partial sums and the counters of a launch, which is bound to it; the counters are zero.
  Status make_workspace(GemmLaunch& launch) {
    if (launch.workspace_bytes == 0) return {};
    const std::size_t partials = launch.counters_bytes > 0 ? launch.counters_offset : launch.workspace_bytes;
    // Whole multiples of the alignment, so that the end is at the guarded page all the same.
    GuardedPages& pages = pages_.emplace_back(GuardedPages::make(launch.workspace_bytes, 0, guarded_));
    if (pages.data() == nullptr) return out_of_memory();
    auto* const begin = static_cast<std::byte*>(pages.data());
    memory_.add(begin, partials, MemoryUse::output, "the workspace's partial sums");
    if (launch.counters_bytes > 0) {
      std::memset(begin + launch.counters_offset, 0, launch.counters_bytes);
      memory_.add(begin + launch.counters_offset, launch.counters_bytes, MemoryUse::updated,
                  "the workspace's counters");
    }
    bind_workspace(launch, begin);
    return {};
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

/// The emulator reads a map's fields as they are.
TensorMap map_of(const TensorMapFields& fields) {
  TensorMap map = {};
  static_assert(sizeof fields <= sizeof map.bytes);
  std::memcpy(map.bytes, &fields, sizeof fields);
  return map;
}

Status run_launch(const detail::Row& row, const GemmLaunch& launch, const Modules& modules,
                  emulator::GlobalMemory& memory, const TrialOptions& options, emulator::Counters& counters) {
  const std::string name(detail::entry_of(row.entry).name);
  const TensorGemmParams tensor_params = {.gemm = launch.params,
                                          .a = map_of(launch.map_a),
                                          .b = map_of(launch.map_b),
                                          .out = map_of(launch.map_out),
                                          .stores_boxes = launch.map_out.has_box()};
  const void* const params = &launch.params;
  const emulator::Launch kernel = {
      .entry = &modules[name],
      .params = launch.has_tensor_maps ? &tensor_params : params,
      .grid = launch.grid,
      .threads = launch.threads,
      .shared_memory = launch.shared_memory,
      .blocks_wait = launch.params.mode == Mode::split_k_serial || launch.params.mode == Mode::stream_k,
      .cluster = launch.cluster,
      .dependent = launch.has_tensor_maps};
  if (Status s = run_grid(name, kernel, memory, options, counters); !s) return s;
  if (launch.reduce.grid == 0) return {};
  const std::string reduction(launch.reduce_entry);
  return run_grid(reduction,
                  {.entry = &modules[reduction],
                   .params = &launch.reduce.params,
                   .grid = launch.reduce.grid,
                   .threads = launch.reduce.threads,
                   .shared_memory = 0},
                  memory, options, counters);
}

/// A launch of the kernel alone, which adds up slices.
Status run_reduction(const Kernel& kernel, const ReduceLaunch& launch, const Modules& modules,
                     emulator::GlobalMemory& memory, const TrialOptions& options,
                     emulator::Counters& counters) {
  const std::string name(kernel.name());
  return run_grid(name,
                  {.entry = &modules[name],
                   .params = &launch.params,
                   .grid = launch.grid,
                   .threads = launch.threads,
                   .shared_memory = 0},
                  memory, options, counters);
}

/// Runs the kernel on operands in guarded memory.
Status run_on(const Kernel& kernel, Operands& operands, std::int64_t slices, const Modules& modules,
              emulator::GlobalMemory& memory, const TrialOptions& options, emulator::Counters& counters) {
  if (slices > 0) {
    detail::PreparedReduction prepared;
    const ReduceSplitKArguments reduction = detail::reduction_of(operands.arguments(), slices);
    if (Status s = detail::prepare_launch(detail::row_of(kernel), reduction, prepared); !s) return s;
    if (!prepared.needed.out) return {};
    return run_reduction(kernel, prepared.launch, modules, memory, options, counters);
  }
  detail::PreparedLaunch prepared;
  if (Status s =
          detail::prepare_launch(detail::row_of(kernel), kernel.controls(), operands.arguments(), prepared);
      !s)
    return s;
  if (!prepared.needed.out) return {};
  if (Status s = operands.make_workspace(prepared.launch); !s) return s;
  return run_launch(detail::row_of(kernel), prepared.launch, modules, memory, options, counters);
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
  const command::Arguments arguments = command::arguments_of(problem);
  const Result<std::size_t> bytes = command::workspace_size(kernel, arguments);
  if (!bytes) return bytes.status();
  const GuardedPages workspace =
      GuardedPages::make(*bytes + workspace_alignment, 0, emulator::GuardedEnd::front);
  if (workspace.data() == nullptr) return out_of_memory();
  if (Status s = command::run(kernel, arguments, {.workspace = {workspace.data(), *bytes}}); !s) return s;
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

Result<std::vector<std::string>> entries_for(const Kernel& kernel, const GemmArguments& arguments) {
  detail::PreparedLaunch prepared;
  if (Status s = detail::prepare_launch(detail::row_of(kernel), kernel.controls(), arguments, prepared); !s)
    return s;
  std::vector<std::string> names = {std::string(detail::entry_of(detail::row_of(kernel).entry).name)};
  if (prepared.launch.reduce.grid > 0) names.emplace_back(prepared.launch.reduce_entry);
  return names;
}

Verdict run_trial(const Kernel& kernel, host::RandomProblem& problem, const Modules& modules,
                  const TrialOptions& options) {
  Verdict verdict;
  const auto failed = [&](Status status) {
    verdict.status = std::move(status);
    return verdict;
  };
  if (Status s = command::supports(kernel, command::arguments_of(problem)); !s) return failed(s);
  problem.reset_output();
  const Result<host::Reference> reference = command::reference_of(problem, {.threads = 1});
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
  const host::Tolerance tolerance = host::tolerance(kernel.metadata(), command::terms(problem));
  verdict.reference = host::compare(*reference, problem.arguments, tolerance);
  verdict.executor = host::compare(*executed, problem.arguments, tolerance);
  return verdict;
}

}  // namespace quarry::emulate
