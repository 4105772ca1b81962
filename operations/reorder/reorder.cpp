/// quarry::reorder: a query and a run.
#include "quarry/reorder.hpp"

#include "quarry/registry.hpp"

namespace quarry {

Status reorder(const TensorView& from, const TensorView& to, const ReorderOptions& options) {
  const ReorderArguments arguments = {.from = from, .to = to};
  const Result<Candidate> best = find_best(arguments);
  if (!best) return best.status();
  return best->run(arguments, {.stream = options.stream, .compile = options.compile});
}

}  // namespace quarry
