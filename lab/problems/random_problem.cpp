#include "lab/problems/random_problem.hpp"

#include <utility>

#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/reduce_split_k/problem.hpp"

namespace quarry::host {
namespace {

/// Numbers of the operands; the batch entries of each have numbers of their own from there on.
enum Stream : std::uint64_t { stream_a = 1, stream_b, stream_c, stream_bias, stream_scale, stream_residual };

/// 64 random bits from a number (the finalizer of SplitMix64).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/// One of all numbers of an integer type, or one of its ends.
double integer_of(std::uint64_t bits, DType type) {
  const double largest = info_of(type).largest;
  const double lowest = lowest_of(type);
  if ((bits >> 28) % 16 == 0) return (bits >> 27 & 1) != 0 ? largest : lowest;
  const std::uint64_t codes = std::uint64_t{1} << bits_of(type);
  const auto code = static_cast<double>((bits >> 32) % codes);
  return code > largest ? code - static_cast<double>(codes) : code;
}

double value_of(std::uint64_t bits, DType type, Values values) {
  if (values == Values::small_integers) {
    const std::uint64_t choice = bits >> 32;
    return is_unsigned(type) ? static_cast<double>(choice % 3) : static_cast<double>(choice % 5) - 2;
  }
  if (is_integer(type)) return integer_of(bits, type);
  return static_cast<double>(static_cast<std::int64_t>(bits >> 40) - (1 << 23)) * 0x1p-23;
}

/// Memory of an operand, filled unless it must not be read.
Status make_operand(const TensorView& shape, Stream stream, const RandomOptions& options, bool fill,
                    GuardedTensor& tensor, TensorView& view) {
  if (bytes_of(shape.dtype) == 0) {
    return {StatusCode::unsupported,
            "There are no random values of type " + std::string(to_string(shape.dtype))};
  }
  Result<GuardedTensor> made = GuardedTensor::make(shape);
  if (!made) return made.status();
  tensor = *std::move(made);
  view = tensor.view();
  if (fill) fill_random(view, stream, options);
  return {};
}

}  // namespace

void fill_random(const TensorView& tensor, std::uint64_t operand, const RandomOptions& options) {
  const Matrix m(tensor);
  const std::uint64_t base = mixed(mixed(options.seed + 0x9e3779b97f4a7c15U) + operand);
  with_element(m.type, [&]<class E>(E) {
    for (std::int64_t entry = 0; entry < m.batch; ++entry) {
      for (std::int64_t row = 0; row < m.rows; ++row) {
        const auto line = static_cast<std::uint64_t>(entry * m.rows + row);
        std::uint64_t state = mixed(base + 0x9e3779b97f4a7c15U * line);
        for (std::int64_t column = 0; column < m.columns; ++column) {
          state += 0x9e3779b97f4a7c15U;
          write_element<E>(const_cast<void*>(m.first(entry)), m.index(row, column),
                           value_of(mixed(state), m.type, options.values));
        }
      }
    }
  });
}

Result<RandomProblem> RandomProblem::make(const GemmArguments& shape, const RandomOptions& options) {
  RandomProblem problem;
  problem.arguments = shape;
  problem.options = options;
  GemmArguments& args = problem.arguments;
  const bool reads_c = args.epilogue.beta.pointer != nullptr || args.epilogue.beta.value != 0;
  problem.options.in_place = options.in_place && reads_c;

  if (Status s = make_operand(shape.a, stream_a, options, true, problem.a, args.a); !s) return s;
  if (shape.b.rank > 0) {
    if (Status s = make_operand(shape.b, stream_b, options, true, problem.b, args.b); !s) return s;
  }
  if (Status s = make_operand(shape.out, stream_c, options, false, problem.out, args.out); !s) return s;
  if (problem.options.in_place) {
    args.c = args.out;
  } else if (args.c) {
    if (Status s = make_operand(*shape.c, stream_c, options, reads_c, problem.c, *args.c); !s) return s;
  }
  problem.options.residual_in_place = options.residual_in_place && args.epilogue.residual;
  if (Status s = problem.make_epilogue(shape.epilogue); !s) return s;
  problem.reset_output();
  return problem;
}

Result<RandomProblem> RandomProblem::make(const ReduceSplitKArguments& shape, const RandomOptions& options) {
  GemmArguments roles = detail::in_gemm_roles(shape);
  const TensorView& partials = shape.partials;
  if (partials.rank == 4) {  // the slices of a batch are as many matrices
    const std::int64_t matrices = partials.extents[0] * partials.extents[1];
    roles.a =
        TensorView::row_major(nullptr, partials.dtype, {matrices, partials.extents[2], partials.extents[3]});
    roles.a.assumed_alignment = partials.assumed_alignment;
  }
  Result<RandomProblem> problem = make(roles, options);
  if (problem) problem->slices = partials.extents[0];
  return problem;
}

ReduceSplitKArguments RandomProblem::reduction() const { return detail::reduction_of(arguments, slices); }

Status RandomProblem::make_epilogue(const Epilogue& shape) {
  Epilogue& e = arguments.epilogue;
  const auto make = [&](const std::optional<TensorView>& from, Stream stream, bool fill,
                        GuardedTensor& tensor, std::optional<TensorView>& view) {
    return from ? make_operand(*from, stream, options, fill, tensor, *view) : Status();
  };
  if (Status s = make(shape.bias, stream_bias, true, bias, e.bias); !s) return s;
  if (Status s = make(shape.scale, stream_scale, true, scale, e.scale); !s) return s;
  if (Status s = make(shape.aux, stream_c, false, aux, e.aux); !s) return s;
  if (!options.residual_in_place) return make(shape.residual, stream_residual, true, residual, e.residual);
  e.residual = arguments.out;
  return {};
}

void RandomProblem::reset_output() {
  out.poison();
  if (options.in_place || options.residual_in_place) {
    fill_random(out.view(), options.in_place ? stream_c : stream_residual, options);
  }
  if (arguments.epilogue.aux) aux.poison();
}

Status RandomProblem::check_output() const {
  if (Status s = out.check(!options.in_place && !options.residual_in_place); !s) return s;
  if (!arguments.epilogue.aux) return {};
  Status s = aux.check();
  return s ? s : Status(s.code(), "aux: " + s.message());
}

}  // namespace quarry::host
