#include "registry/device/copied_runs.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "operations/common/tensor_checks.hpp"
#include "registry/device/device_model.hpp"
#include "registry/operation.hpp"

namespace quarry::detail {
namespace {

constexpr std::uint64_t alignment = 256;

Status out_of_memory() { return {StatusCode::device_error, "Out of memory for a run with copies"}; }

}  // namespace

CopiedRuns::CopiedRuns(std::unique_ptr<CopyEngine> engine, std::size_t staging_bytes)
    : engine_(std::move(engine)), staging_(*engine_, staging_bytes) {}

CopiedRuns::~CopiedRuns() { close(); }

Status CopiedRuns::check_open() const {
  if (engine_ != nullptr) return {};
  return invalid("This OnDevice is closed");
}

bool CopiedRuns::is_closed() const {
  const std::lock_guard lock(mutex_);
  return engine_ == nullptr;
}

std::size_t CopiedRuns::pending() const {
  const std::lock_guard lock(mutex_);
  return pending_.size();
}

CUstream_st* CopiedRuns::stream() const {
  const std::lock_guard lock(mutex_);
  return engine_ == nullptr ? nullptr : engine_->stream();
}

void CopiedRuns::close() {
  const std::lock_guard lock(mutex_);
  if (engine_ == nullptr) return;
  (void)engine_->wait();  // a failure has been told by what failed, and nothing comes back
  staging_.release();
  pending_.clear();
  engine_.reset();
}

Status CopiedRuns::sync() try {
  const std::lock_guard lock(mutex_);
  if (Status s = check_open(); !s) return s;
  if (Status s = engine_->ready(); !s) return s;
  return bring_back();
} catch (const std::exception&) {
  return out_of_memory();
}

/// Copies what is pending to the host. Nothing is pending after it, whatever failed.
Status CopiedRuns::bring_back() {
  const std::vector<Pending> pending = std::exchange(pending_, {});
  std::vector<CopyBack> parts;
  parts.reserve(pending.size());
  for (const Pending& each : pending) parts.push_back({each.span.get(), each.runs});
  Status done = staging_.download(parts);
  if (!done) (void)engine_->wait();  // copies under way end before their memory is freed
  return done;
}

Status CopiedRuns::run(const Kernel* kernel, const Arguments& arguments, const RunOptions& options) try {
  const std::lock_guard lock(mutex_);
  if (Status s = check_open(); !s) return s;
  if (Status s = kernel != nullptr ? check_arguments(row_of(*kernel), arguments) : check_arguments(arguments);
      !s)
    return s;
  if (Status s = engine_->ready(); !s) return s;
  std::optional<Candidate> best;
  if (kernel == nullptr) {
    Result<Candidate> found = best_for(arguments);
    if (!found) return found.status();
    kernel = &best.emplace(*std::move(found));
  }
  struct Call {
    CopiedRuns& self;
    const Kernel& kernel;
    const RunOptions& options;
  } call{*this, *kernel, options};
  return info_of(arguments.operation())
      .with_copy(arguments.data(), &call, [](void* context, const Arguments& copy) {
        const Call& c = *static_cast<const Call*>(context);
        return c.self.run_copy(c.kernel, copy, c.options);
      });
} catch (const std::exception&) {
  return out_of_memory();
}

/// The best kernel for the device that copies lie on.
Result<Candidate> CopiedRuns::best_for(const Arguments& arguments) const {
  const Memory memory = engine_->memory();
  FindOptions options;
  if (memory.kind == MemoryKind::device) {
    options.device = cached_device_model(memory.device);
    if (options.device == nullptr) return device_model(memory.device).status();
  }
  return find_best(arguments, {}, options);
}

/// @param copy of the arguments, which may be changed
Status CopiedRuns::run_copy(const Kernel& kernel, const Arguments& copy, const RunOptions& options) {
  std::vector<HostOperand> operands;
  if (Status s = find_host_operands(copy, kernel, engine_->memory(), operands); !s) return s;
  std::vector<Group> groups;
  if (Status s = place(operands, groups); !s) return s;
  if (!options.assume_supported) {  // before anything is copied
    if (Status s = kernel.supports(copy); !s) return s;
  }
  for (const Group& group : groups) {
    if (Status s = upload(group); !s) return s;
  }
  if (Status s = launch(kernel, copy, options); !s) return s;
  keep_outputs(groups);
  return {};
}

/// Runs the kernel with a workspace of the engine, unless one is given.
Status CopiedRuns::launch(const Kernel& kernel, const Arguments& copy, const RunOptions& options) {
  RunOptions with_memory = options;
  with_memory.pool = nullptr;
  std::shared_ptr<void> workspace;  // freed on the stream, behind the kernel
  if (options.workspace.data == nullptr) {
    const Result<std::size_t> bytes = kernel.workspace_size(copy);
    if (!bytes) return bytes.status();
    if (*bytes > 0) {
      Result<std::shared_ptr<void>> memory = engine_->allocate(*bytes);
      if (!memory) return memory.status();
      workspace = *std::move(memory);
      with_memory.workspace = {workspace.get(), *bytes};
    }
  }
  return engine_->run(kernel, copy, with_memory);
}

/// Whether outputs that did not come back share elements with a group: then the host's are not what a run has
/// to read. @param known the span on the device that holds all of the group's elements, if there is one
bool CopiedRuns::is_stale_on_host(const Group& group, std::shared_ptr<const DeviceSpan>& known) const {
  bool is_stale = false;
  bool is_one_span = true;
  std::size_t found = 0;
  for (const HostOperand* operand : group.operands) {
    bool is_known = false;
    for (const Pending& each : pending_) {
      if (!may_overlap(operand->on_host, each.on_host)) continue;
      is_stale = true;
      is_one_span = is_one_span && (known == nullptr || known == each.span);
      known = each.span;
      is_known = is_known || operand->runs == each.runs;
    }
    found += is_known ? 1 : 0;
  }
  if (!is_one_span || found < group.operands.size()) known.reset();
  return is_stale;
}

/// Gives the operands memory on the device, one span for those that share host memory, and points the
/// arguments there.
Status CopiedRuns::place(std::vector<HostOperand>& operands, std::vector<Group>& groups) {
  std::vector<HostOperand*> sorted;
  for (HostOperand& operand : operands) sorted.push_back(&operand);
  std::ranges::sort(sorted, {}, [](const HostOperand* operand) { return operand->runs.begin; });
  std::uint64_t end = 0;
  for (HostOperand* const operand : sorted) {
    if (groups.empty() || operand->runs.begin >= end) groups.emplace_back();
    groups.back().operands.push_back(operand);
    end = std::max(end, std::max(operand->runs.end(), operand->runs.begin + 1));
  }
  for (Group& group : groups) {
    if (!is_stale_on_host(group, group.span)) continue;
    group.is_there = group.span != nullptr;
    if (group.is_there) continue;
    for (Group& each : groups) {
      each.span.reset();
      each.is_there = false;
    }
    if (Status s = bring_back(); !s) return s;
    break;
  }
  for (Group& group : groups) {
    if (group.span == nullptr) {
      if (Status s = make_span(group); !s) return s;
    }
    for (HostOperand* const operand : group.operands) {
      *operand->data = group.span->at(operand->runs.begin);
    }
  }
  return {};
}

/// A span begins like the host's memory, so that each operand of several is as aligned as it is there; of one
/// operand alone, it is aligned best.
Status CopiedRuns::make_span(Group& group) {
  DeviceSpan span;
  span.begin = group.operands.front()->runs.begin;
  for (const HostOperand* operand : group.operands) span.end = std::max(span.end, operand->runs.end());
  const std::uint64_t offset = group.operands.size() > 1 ? span.begin % alignment : 0;
  const std::uint64_t bytes = offset + std::max<std::uint64_t>(span.end - span.begin, 1);
  Result<std::shared_ptr<void>> memory = engine_->allocate(bytes);
  if (!memory) return memory.status();
  std::byte* const first = static_cast<std::byte*>(memory->get()) + offset;
  span.memory = std::shared_ptr<void>(*std::move(memory), first);
  group.span = std::make_shared<const DeviceSpan>(std::move(span));
  return {};
}

Status CopiedRuns::upload(const Group& group) {
  if (group.is_there) return {};
  std::vector<ByteRuns> parts;
  for (const HostOperand* operand : group.operands) {
    const bool is_new = std::ranges::find(parts, operand->runs) == parts.end();
    if (operand->is_read && operand->runs.bytes > 0 && is_new) parts.push_back(operand->runs);
  }
  return staging_.upload(*group.span, parts);
}

void CopiedRuns::keep_outputs(const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    for (const HostOperand* operand : group.operands) {
      if (!operand->is_output || operand->runs.bytes == 0) continue;
      // What was pending there before is overwritten: the later one alone comes back.
      std::erase_if(pending_, [&](const Pending& each) { return each.runs == operand->runs; });
      pending_.push_back({group.span, operand->on_host, operand->runs});
    }
  }
}

}  // namespace quarry::detail
