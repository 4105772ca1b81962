#include "operations/reduce_split_k/executor.hpp"

#include <cstdint>
#include <string>

#include "common/config_parts.hpp"
#include "operations/common/host/arithmetic.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/epilogue.hpp"
#include "operations/common/host/parallel.hpp"

namespace quarry::host {
namespace {

/// Below so many elements, starting threads costs more than it gains.
constexpr double least_work_for_threads = 1e5;

/// @tparam Sum of partial sums
template <class Sum>
Sum sum_of(const ReduceParams& p, std::int64_t index) {
  const auto* const partials = static_cast<const Sum*>(p.partials);
  const std::int64_t slice = std::int64_t{p.batch} * p.m * p.n;
  Sum sum = partials[index];
  for (int i = 1; i < p.slices; ++i) sum = added(sum, partials[i * slice + index]);
  return sum;
}

/// Row `row` of the output, counted over the batch.
template <class Sum, class Compute, class Element>
void reduce_row(const ReduceParams& p, Layout layout, std::int64_t row) {
  const HostEpilogue<Compute, Element> epilogue(p, layout);
  const auto entry = static_cast<int>(row / p.m);
  const auto row_of_entry = static_cast<int>(row % p.m);
  for (int column = 0; column < p.n; ++column) {
    const Sum sum = sum_of<Sum>(p, row * p.n + column);
    epilogue.finish(entry, row_of_entry, column, static_cast<Compute>(sum));
  }
}

template <class Sum, class Compute>
void reduce(const ReduceParams& p, const OperandMetadata& out, int threads) {
  const std::int64_t rows = std::int64_t{p.batch} * p.m;
  const double work = static_cast<double>(rows) * p.n * p.slices;
  if (work < least_work_for_threads) threads = 1;
  with_element(out.dtype, [&]<class E>(E) {
    parallel_for(rows, threads,
                 [&](int, std::int64_t row) { reduce_row<Sum, Compute, E>(p, out.layout, row); });
  });
}

}  // namespace

Status execute(const KernelMetadata& kernel, const ReduceParams& p, int threads) {
  const OperandMetadata& out = kernel.operands.out;
  if (p.m <= 0 || p.n <= 0 || p.batch <= 0) return {};
  if (threads <= 0) threads = default_threads();
  if (bits_of(out.dtype) == 0) {
    return {StatusCode::unsupported,
            "The host executor does not know type " + std::string(to_string(out.dtype))};
  }
  const DType sums = kernel.operands.accumulator;
  const bool is_known = with_compute_type(sums, [&]<class Sum>(Sum) {
    if (compute_type(sums, out.dtype) == sums) {
      reduce<Sum, Sum>(p, out, threads);
    } else {
      reduce<Sum, float>(p, out, threads);
    }
  });
  if (is_known) return {};
  return {StatusCode::unsupported,
          "The host executor does not know partial sums of " + std::string(to_string(sums))};
}

}  // namespace quarry::host
