#include <algorithm>
#include <cmath>

#include "lab/problems/matrices.hpp"
#include "lab/reference/epilogue.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/reduce_split_k/lab/operation.hpp"

namespace quarry::lab::reduce_split_k {
namespace {

/// Adds up the slices of some columns of a batch entry. @return their sum of squares, scaled
double add_slices(const TensorView& partials, EpilogueReference& epilogue, std::int64_t entry,
                  std::int64_t first, int columns) {
  const Matrices m(partials);
  const std::int64_t slices = partials.extents[0];
  double squares = 0;
  host::with_element(m.type(), [&]<class E>(E) {
    for (std::size_t i = 0; i < epilogue.rows().size(); ++i) {
      const std::int64_t row = epilogue.rows()[i];
      double* const sums = epilogue.sums(entry, i, first);
      double* const own_squares = epilogue.squares(entry, i, first);
      for (std::int64_t slice = 0; slice < slices; ++slice) {
        const void* const matrix = m.first(slice * epilogue.batch() + entry);
        for (int j = 0; j < columns; ++j) {
          const double value = host::read_element<E>(matrix, m.index(row, first + j));
          const double scaled = value * epilogue.scale_at(row, first + j);
          sums[j] += value;
          squares += scaled * scaled;
          if (own_squares != nullptr) own_squares[j] += scaled * scaled;
        }
      }
    }
  });
  return squares;
}

}  // namespace

Reference Lab::reference(const ReduceSplitKArguments& args, const ReferenceOptions& options) {
  Reference reference;
  EpilogueReference epilogue(args.out, args.c, args.epilogue, args.partials.dtype,
                             static_cast<double>(args.partials.extents[0]), options, reference);
  if (epilogue.is_empty()) return reference;
  const std::int64_t strips = (epilogue.columns() + block_columns - 1) / block_columns;
  std::vector<double> squares(static_cast<std::size_t>(epilogue.batch() * strips));
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  host::parallel_for(epilogue.batch() * strips, threads, [&](int, std::int64_t i) {
    const std::int64_t first = i % strips * block_columns;
    const auto columns = static_cast<int>(std::min<std::int64_t>(block_columns, epilogue.columns() - first));
    squares[static_cast<std::size_t>(i)] = add_slices(args.partials, epilogue, i / strips, first, columns);
    epilogue.finish(i / strips, first, columns);
  });
  double sum = 0;
  for (const double s : squares) sum += s;
  epilogue.set_scale(std::sqrt(sum));
  return reference;
}

}  // namespace quarry::lab::reduce_split_k
