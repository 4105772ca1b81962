#include "lab/problems/matrices.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/reorder/lab/operation.hpp"

namespace quarry::lab::reorder {

Reference Lab::reference(const ReorderArguments& args, const ReferenceOptions& options) {
  const Matrices from(args.from);
  const auto elements_of_a_row = static_cast<double>(from.count()) * static_cast<double>(from.columns());
  const std::vector<std::int64_t> rows = chosen_rows(from.rows(), elements_of_a_row, options);
  Reference reference;
  Expected& expected = reference.outputs.emplace_back(expected_output(Operand::to, args.to, rows));
  const auto lines = std::ssize(rows);
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  host::with_element(from.type(), [&]<class E>(E) {
    host::parallel_for(from.count() * lines, threads, [&](int, std::int64_t line) {
      const std::int64_t row = rows[static_cast<std::size_t>(line % lines)];
      const void* const matrix = from.first(line / lines);
      double* const values = expected.values.data() + line * from.columns();
      for (std::int64_t column = 0; column < from.columns(); ++column)
        values[column] = host::read_element<E>(matrix, from.index(row, column));
    });
  });
  return reference;
}

}  // namespace quarry::lab::reorder
