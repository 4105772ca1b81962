#include <cmath>
#include <optional>
#include <vector>

#include "common/config_parts.hpp"
#include "lab/reference/epilogue.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/conv2d/lab/definition.hpp"
#include "operations/conv2d/lab/expression.hpp"
#include "operations/conv2d/lab/operation.hpp"

namespace quarry::lab::conv2d {
Reference Lab::reference(const Conv2dArguments& args, const ReferenceOptions& options) {
  if (args.expression) return reference_with_expression(args, options);
  Reference reference;
  const DType sums = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  EpilogueReference epilogue(args.out, args.c, args.epilogue, sums,
                             static_cast<double>(terms_of_output(args)), options, reference);
  if (epilogue.is_empty()) return reference;
  const bool multiplies = args.epilogue.alpha.pointer != nullptr || args.epilogue.alpha.value != 0;
  std::optional<Definition> definition;
  if (multiplies) definition.emplace(args);
  const std::int64_t inner = args.out.extents[1];
  std::vector<double> squares(static_cast<std::size_t>(epilogue.batch()));
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  host::parallel_for(epilogue.batch(), threads, [&](int, std::int64_t entry) {
    for (std::size_t i = 0; definition && i < epilogue.rows().size(); ++i) {
      const std::vector<Sum> sums = definition->line({entry / inner, entry % inner, epilogue.rows()[i]});
      for (std::size_t column = 0; column < sums.size(); ++column) {
        *epilogue.sums(entry, i, static_cast<std::int64_t>(column)) = sums[column].value;
        squares[static_cast<std::size_t>(entry)] += sums[column].squares;
        if (double* const own = epilogue.squares(entry, i, static_cast<std::int64_t>(column)))
          *own = sums[column].squares;
      }
    }
    epilogue.finish(entry, 0, static_cast<int>(epilogue.columns()));
  });
  double sum = 0;
  for (const double each : squares) sum += each;
  epilogue.set_scale(std::sqrt(sum));
  return reference;
}

}  // namespace quarry::lab::conv2d
