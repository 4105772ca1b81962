#include "lab/bench/operands.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "lab/device/device_problem.hpp"
#include "lab/trials/trial.hpp"
#include "registry/device/properties.hpp"

namespace quarry::lab {
namespace {

constexpr std::size_t most_sets = 4096;
/// Of the L2, that all sets hold together.
constexpr double times_l2 = 4;
/// Multiplications that a reference may cost: a fraction of a second on a few cores.
constexpr double reference_multiplications = 5e8;
/// Outputs up to this size are checked as a whole.
constexpr std::size_t small_output = std::size_t{2} << 20;
constexpr unsigned char poison = 0xff;
/// Sets start at a multiple of this, as the host's memory does.
constexpr std::size_t set_alignment = 256;

std::size_t period_of(const host::GuardedTensor& tensor) {
  const std::size_t bytes = detail::array_offset(tensor) + detail::array_bytes(tensor);
  return (bytes + set_alignment - 1) / set_alignment * set_alignment;
}

/// All sets of a tensor that is an array of pointers: each has an array of its own.
Status upload_arrays(const host::GuardedTensor& tensor, std::size_t sets, std::size_t period,
                     const detail::DeviceBuffer& buffer) {
  std::vector<std::byte> bytes(sets * period);
  for (std::size_t set = 0; set < sets; ++set) {
    std::byte* const at = bytes.data() + set * period;
    std::copy_n(tensor.storage(), tensor.storage_bytes(), at);
    detail::write_array(tensor, static_cast<std::byte*>(buffer.data()) + set * period,
                        at + detail::array_offset(tensor));
  }
  return buffer.upload(bytes.data(), bytes.size());
}

Status too_large(const std::string& what) {
  return Status(StatusCode::device_error, "the operands need more memory than " + what + " has");
}

/// Refuses operands that memory cannot hold, before any is touched.
Status check_memory(const Problem& problem, std::size_t sets, const detail::DeviceProperties& device) {
  const auto operand = [&problem](const OperandSpec& spec, std::int64_t rows, std::int64_t columns) {
    return stored_bytes(spec, rows, columns) * static_cast<double>(std::max<std::int64_t>(problem.batch, 1));
  };
  const bool multiplies = problem.operation == Operation::gemm;
  double bytes = operand(problem.out, problem.m, problem.n);
  bytes += multiplies ? operand(problem.a, problem.m, problem.k) + operand(problem.b, problem.k, problem.n)
                      : operand(problem.a, problem.m, problem.n) * static_cast<double>(problem.k);
  if (problem.beta != 0 && !problem.in_place)
    bytes += operand(problem.c.value_or(problem.out), problem.m, problem.n);
  for (const auto& extra : {problem.residual, problem.aux}) {
    if (extra) bytes += operand(*extra, problem.m, problem.n);
  }
  const double host =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > 0.9 * host) return too_large("this machine");
  if (bytes * static_cast<double>(sets) > 0.9 * static_cast<double>(device.memory_bytes))
    return too_large("the device");
  return {};
}

}  // namespace

double touched_bytes(const Problem& p) {
  const auto bytes = [](const OperandSpec& spec, std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns) * bytes_of(spec.dtype);
  };
  double all = bytes(p.out, p.m, p.n);
  all += p.operation == Operation::gemm ? bytes(p.a, p.m, p.k) + bytes(p.b, p.k, p.n)
                                        : bytes(p.a, p.m, p.n) * static_cast<double>(p.k);
  if (p.beta != 0) all += bytes(p.c.value_or(p.out), p.m, p.n);
  if (p.residual || p.residual_in_place) all += bytes(p.out, p.m, p.n);
  if (p.aux) all += bytes(*p.aux, p.m, p.n);
  return all * static_cast<double>(std::max<std::int64_t>(p.batch, 1));
}

std::size_t sets_for(double bytes, double l2) {
  const double sets = std::ceil(times_l2 * l2 / std::max(bytes, 1.0));
  return static_cast<std::size_t>(std::clamp(sets, 2.0, static_cast<double>(most_sets)));
}

Status BenchOperands::copy(const host::GuardedTensor& tensor, std::size_t sets, Rotating& rotating,
                           TensorView& view) {
  rotating.period = period_of(tensor);
  const bool is_array = tensor.view().is_pointer_array;
  rotating.offset = is_array ? detail::array_offset(tensor) : tensor.offset();
  Result<detail::DeviceBuffer> buffer = detail::DeviceBuffer::allocate(sets * rotating.period, used_device);
  if (!buffer) return buffer.status();
  rotating.buffer = *std::move(buffer);
  view = tensor.view().on({MemoryKind::device, used_device});
  view.data = rotating.data(0);
  if (is_array) return upload_arrays(tensor, sets, rotating.period, rotating.buffer);
  if (Status s = rotating.buffer.upload(tensor.storage(), tensor.storage_bytes()); !s) return s;
  return rotating.buffer.repeat(rotating.period);
}

Result<BenchOperands> BenchOperands::make(const Problem& problem, std::uint64_t seed) {
  const Result<detail::DeviceProperties> device = detail::device_properties(used_device);
  if (!device) return device.status();
  BenchOperands made;
  made.sets_ = sets_for(touched_bytes(problem), static_cast<double>(device->l2_bytes));
  if (Status fits = check_memory(problem, made.sets_, *device); !fits) return fits;
  Result<host::RandomProblem> host = random_operands(arguments_of(problem), random_options(problem, seed));
  if (!host) return host.status();
  made.host_ = *std::move(host);
  Result<host::Reference> reference =
      reference_of(made.host_, {.max_multiplications = reference_multiplications});
  if (!reference) return reference.status();
  made.reference_ = *std::move(reference);

  made.arguments_ = made.host_.arguments;
  GemmArguments& args = made.arguments_;
  if (Status s = copy(made.host_.a, made.sets_, made.a_, args.a); !s) return s;
  if (args.b.rank > 0) {  // which a reduction has not
    if (Status s = copy(made.host_.b, made.sets_, made.b_, args.b); !s) return s;
  }
  if (Status s = copy(made.host_.out, made.sets_, made.out_, args.out); !s) return s;
  if (made.host_.options.in_place) {
    args.c = args.out;
  } else if (args.c) {
    if (Status s = copy(made.host_.c, made.sets_, made.c_, *args.c); !s) return s;
  }
  if (Status s = made.copy_epilogue(); !s) return s;
  return made;
}

Status BenchOperands::copy_epilogue() {
  Epilogue& e = arguments_.epilogue;
  if (host_.options.residual_in_place) e.residual = arguments_.out;
  struct Part {
    const host::GuardedTensor& tensor;
    Rotating& rotating;
    std::optional<TensorView>& view;
    bool is_out;
  };
  for (const Part& part : {Part{host_.bias, bias_, e.bias, false}, Part{host_.scale, scale_, e.scale, false},
                           Part{host_.residual, residual_, e.residual, host_.options.residual_in_place},
                           Part{host_.aux, aux_, e.aux, false}}) {
    if (!part.view || part.is_out) continue;
    if (Status s = copy(part.tensor, sets_, part.rotating, *part.view); !s) return s;
  }
  return {};
}

PlanOperands BenchOperands::operands(std::size_t set) const {
  std::byte* const out = out_.data(set);
  return {{Operand::a, a_.data(set)},
          {Operand::b, b_.data(set)},
          {Operand::c, host_.options.in_place ? out : c_.data(set)},
          {Operand::out, out},
          {Operand::bias, bias_.data(set)},
          {Operand::scale, scale_.data(set)},
          {Operand::residual, host_.options.residual_in_place ? out : residual_.data(set)},
          {Operand::aux, aux_.data(set)},
          {Operand::partials, host_.slices > 0 ? a_.data(set) : nullptr}};
}

Status BenchOperands::reset() {
  const bool is_input = host_.options.in_place || host_.options.residual_in_place;
  if (!is_input && !host_.out.view().is_pointer_array) return out_.buffer.fill(poison);
  host_.reset_output();
  return out_.buffer.upload(host_.out.storage(), host_.out.storage_bytes());
}

/// The reference's rows, of a row-major output.
Status BenchOperands::download_rows() {
  const TensorView& out = host_.out.view();
  const std::size_t matrix = out.rank - 2U;  // where the extents of the matrix begin
  const auto element = static_cast<std::size_t>(bytes_of(out.dtype));
  const std::size_t bytes = static_cast<std::size_t>(out.extents[matrix + 1]) * element;
  for (std::int64_t entry = 0; entry < (matrix == 0 ? 1 : out.extents[0]); ++entry) {
    for (const std::int64_t row : reference_.rows) {
      const std::int64_t index = (matrix == 0 ? 0 : entry * out.strides[0]) + row * out.strides[matrix];
      const std::size_t at = out_.offset + static_cast<std::size_t>(index) * element;
      if (Status s = out_.buffer.download(host_.out.storage() + at, at, bytes); !s) return s;
    }
  }
  return {};
}

Result<host::Comparison> BenchOperands::check(const host::Tolerance& tolerance) {
  const TensorView& out = host_.out.view();
  const bool by_rows =
      host_.out.storage_bytes() > small_output && out.strides[out.rank - 1U] == 1 && !out.is_pointer_array;
  const Status copied =
      by_rows ? download_rows() : out_.buffer.download(host_.out.storage(), 0, host_.out.storage_bytes());
  if (!copied) return copied;
  return host::compare(reference_, out, tolerance);
}

}  // namespace quarry::lab
