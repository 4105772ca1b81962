#include "lab/bench/operands.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "lab/device/device_operands.hpp"
#include "lab/parallel.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/trials/trial.hpp"
#include "registry/device/properties.hpp"

namespace quarry::lab {
namespace {

constexpr std::size_t most_sets = 4096;
/// Of the L2, that all sets hold together.
constexpr double times_l2 = 4;
/// Multiplications that a reference may cost: a fraction of a second on a few cores.
constexpr double reference_multiplications = 5e8;
/// What is copied from the device in the time that a copy takes to start: copies of more pieces than this
/// allows take longer than one copy of all.
constexpr std::size_t bytes_per_copy = std::size_t{100} << 10;
constexpr unsigned char poison = 0xff;
/// Sets start at a multiple of this, as the host's memory does.
constexpr std::size_t set_alignment = 256;

std::size_t period_of(const GuardedTensor& tensor) {
  const std::size_t bytes = array_offset(tensor) + array_bytes(tensor);
  return (bytes + set_alignment - 1) / set_alignment * set_alignment;
}

/// All sets of a tensor that is an array of pointers: each has an array of its own.
Status upload_arrays(const GuardedTensor& tensor, std::size_t sets, std::size_t period,
                     const DeviceBuffer& buffer) {
  std::vector<std::byte> bytes(sets * period);
  for (std::size_t set = 0; set < sets; ++set) {
    std::byte* const at = bytes.data() + set * period;
    std::copy_n(tensor.storage(), tensor.storage_bytes(), at);
    write_array(tensor, static_cast<std::byte*>(buffer.data()) + set * period, at + array_offset(tensor));
  }
  return buffer.upload(bytes.data(), bytes.size());
}

Status too_large(const std::string& what) {
  return Status(StatusCode::device_error, "the operands need more memory than " + what + " has");
}

/// Refuses operands that memory cannot hold, before any is touched.
Status check_memory(const Problem& problem, std::size_t sets, const detail::DeviceProperties& device) {
  const double bytes = memory_bytes(problem);
  const double host =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > 0.9 * host) return too_large("this machine");
  if (bytes * static_cast<double>(sets) > 0.9 * static_cast<double>(device.memory_bytes))
    return too_large("the device");
  return {};
}

/// Whether copies of the reference's rows alone, which must be contiguous, are faster than a copy of all.
bool rows_are_faster(const GuardedTensor& out, const Expected& expected) {
  const TensorView& view = out.view();
  if (view.is_pointer_array || view.strides[view.rank - 1U] != 1) return false;
  const std::size_t copies = static_cast<std::size_t>(Matrices(view).count()) * expected.rows.size();
  return copies * bytes_per_copy < out.storage_bytes();
}

}  // namespace

std::size_t sets_for(double bytes, double l2) {
  const double sets = std::ceil(times_l2 * l2 / std::max(bytes, 1.0));
  return static_cast<std::size_t>(std::clamp(sets, 2.0, static_cast<double>(most_sets)));
}

/// Makes the sets of the next tensor.
Status BenchOperands::copy(const GuardedTensor& tensor) {
  Rotating& rotating = rotating_.emplace_back();
  rotating.period = period_of(tensor);
  const bool is_array = tensor.view().is_pointer_array;
  rotating.offset = is_array ? array_offset(tensor) : tensor.offset();
  Result<DeviceBuffer> buffer = DeviceBuffer::allocate(sets_ * rotating.period, used_device);
  if (!buffer) return buffer.status();
  rotating.buffer = *std::move(buffer);
  if (is_array) return upload_arrays(tensor, sets_, rotating.period, rotating.buffer);
  if (Status s = rotating.buffer.upload(tensor.storage(), tensor.storage_bytes()); !s) return s;
  return rotating.buffer.repeat(rotating.period);
}

Result<BenchOperands> BenchOperands::make(const Problem& problem, const HeldArguments& stored,
                                          std::uint64_t seed) {
  const Result<detail::DeviceProperties> device = detail::device_properties(used_device);
  if (!device) return device.status();
  const std::size_t sets = sets_for(touched_bytes(problem), static_cast<double>(device->l2_bytes));
  if (Status fits = check_memory(problem, sets, *device); !fits) return fits;
  OperandOptions options = operand_options(problem, seed);
  options.threads = default_threads();
  Result<Operands> host = Operands::make(stored, options);
  if (!host) return host.status();
  BenchOperands made(*std::move(host), sets);
  Result<Reference> reference =
      compute_reference(made.host_.arguments(), {.max_multiplications = reference_multiplications});
  if (!reference) return reference.status();
  made.reference_ = *std::move(reference);

  for (const NamedTensor& each : made.host_.tensors()) {
    if (Status s = made.copy(each.tensor); !s) return s;
  }
  const Status edited =
      edit_copies(made.host_, made.arguments_, [&](std::size_t place, TensorView& view) -> Status {
        const TensorView& host = made.host_.tensors()[place].tensor.view();
        view = in_place_view(view.dtype, host.on({MemoryKind::device, used_device}));
        view.data = made.rotating_[place].data(0);
        return {};
      });
  if (!edited) return edited;
  return made;
}

PlanOperands BenchOperands::operands(std::size_t set) const {
  PlanOperands pointers;
  for (std::size_t i = 0; i < rotating_.size(); ++i)
    pointers[host_.tensors()[i].name] = rotating_[i].data(set);
  for (const Operand name : host_.options().in_place) pointers[name] = rotating_.front().data(set);
  return pointers;
}

Result<Reference> BenchOperands::reference_of(const Problem& other) {
  host_.reset_outputs();  // what is in the first one's place stands there again
  HeldArguments arguments = arguments_of(other);
  const std::vector<Operand>& in_place = host_.options().in_place;
  const Status bound = arguments.edit_operands([&](const detail::OperandRef& operand, TensorView& view) {
    const bool is_first = std::ranges::find(in_place, operand.name) != in_place.end();
    view = is_first ? in_place_view(view.dtype, host_.tensors().front().tensor.view())
                    : host_[operand.name].view();
    return Status();
  });
  if (!bound) return bound;
  return compute_reference(arguments, {.max_multiplications = reference_multiplications});
}

/// Makes one output ready: as the reference found it, if any of that may remain, else with poison, which is
/// faster.
Status BenchOperands::reset(std::size_t tensor) {
  const GuardedTensor& out = host_.tensors()[tensor].tensor;
  const bool is_read = tensor == 0 && !host_.options().in_place.empty();
  const bool has_sizes =
      std::ranges::find(host_.tensors(), Operand::sizes, &NamedTensor::name) != host_.tensors().end();
  if (!is_read && !has_sizes && !out.view().is_pointer_array) return rotating_[tensor].buffer.fill(poison);
  host_.reset_outputs();
  return rotating_[tensor].buffer.upload(out.storage(), out.storage_bytes());
}

Status BenchOperands::reset() {
  for (std::size_t i = 0; i < rotating_.size(); ++i) {
    if (!host_.tensors()[i].is_output) continue;
    if (Status s = reset(i); !s) return s;
  }
  return {};
}

/// The reference's rows, of an output whose rows are contiguous.
Status BenchOperands::download_rows(std::size_t tensor, const Expected& expected) {
  const NamedTensor& out = host_.tensors()[tensor];
  const Matrices m(out.tensor.view());
  const auto element = static_cast<std::size_t>(bytes_of(m.type()));
  const std::size_t bytes = static_cast<std::size_t>(m.columns()) * element;
  const Rotating& rotating = rotating_[tensor];
  for (std::int64_t matrix = 0; matrix < m.count(); ++matrix) {
    for (const std::int64_t row : expected.rows) {
      const auto index = static_cast<std::size_t>(m.start(matrix) + m.index(row, 0));
      const std::size_t at = rotating.offset + index * element;
      if (Status s = rotating.buffer.download(out.tensor.storage() + at, at, bytes); !s) return s;
    }
  }
  return {};
}

Result<Comparison> BenchOperands::check(const Tolerance& tolerance, const Expected& expected) {
  const auto place = std::ranges::find(host_.tensors(), expected.name, &NamedTensor::name);
  const auto tensor = static_cast<std::size_t>(place - host_.tensors().begin());
  const GuardedTensor& out = place->tensor;
  const Status copied = rows_are_faster(out, expected)
                            ? download_rows(tensor, expected)
                            : rotating_[tensor].buffer.download(out.storage(), 0, out.storage_bytes());
  if (!copied) return copied;
  return compare(expected, out.view(), tolerance, default_threads());
}

Result<Comparison> BenchOperands::check(const Tolerance& tolerance, const Reference& reference) {
  Comparison compared;
  for (const Expected& expected : reference.outputs) {
    const Result<Comparison> output = check(tolerance, expected);
    if (!output) return output.status();
    if (compared.within()) compared = *output;
    if (!compared.within()) break;
  }
  return compared;
}

}  // namespace quarry::lab
