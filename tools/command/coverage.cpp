/// quarry coverage: which operand types, layouts, modes and epilogues there are kernels for, and how many.
#include "lab/coverage/coverage_rows.hpp"
#include "quarry/tensor.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/selection.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {
namespace {

struct CoverageFlags {
  SelectionFlags selection;
  ListingFlags listing;
};

const std::vector<Column>& coverage_columns() {
  static const std::vector<Column> all = {{.name = "operation"},
                                          {.name = "a.dtype"},
                                          {.name = "b.dtype"},
                                          {.name = "accumulator"},
                                          {.name = "out.dtype"},
                                          {.name = "math"},
                                          {.name = "kernels"},
                                          {.name = "families"},
                                          {.name = "math_units", .in_table = false},
                                          {.name = "instructions", .in_table = false},
                                          {.name = "layouts"},
                                          {.name = "modes", .in_table = false},
                                          {.name = "epilogue", .in_table = false},
                                          {.name = "alignments", .in_table = false},
                                          {.name = "any_problem"}};
  return all;
}

Cell cell_of(const lab::CoverageRow& row, std::size_t column) {
  const auto of_product = [&](const std::string& text) {
    return is_product(row.types.operation) ? Cell(text) : Cell();
  };
  const auto type = [](DType type) {
    return type == DType::none ? Cell() : Cell(std::string(to_string(type)));
  };
  switch (column) {
    case 0: return std::string(to_string(row.types.operation));
    case 1: return type(row.types.a);
    case 2: return type(row.types.b);
    case 3: return type(row.types.accumulator);
    case 4: return type(row.types.out);
    case 5: return of_product(std::string(to_string(row.types.math)));
    case 6: return row.kernels;
    case 7: return row.families;
    case 8: return of_product(row.math_units);
    case 9: return of_product(row.instructions);
    case 10: return row.layouts;
    case 11: return of_product(row.modes);
    case 12: return row.epilogue;
    case 13: return of_product(row.alignments);
    default: return row.any_problem;
  }
}

int print_coverage(const CoverageFlags& flags) {
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return report(kernels.status());
  const std::vector<lab::CoverageRow> rows = lab::coverage(*kernels);
  const Status printed =
      print({.noun = "coverage",
             .columns = coverage_columns(),
             .rows = rows.size(),
             .cell = [&](std::size_t row, std::size_t column) { return cell_of(rows[row], column); },
             .name_column = std::nullopt},
            flags.listing);
  return printed ? done : report(printed);
}

}  // namespace

void add_coverage(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<CoverageFlags>();
  CLI::App* command = add_command(
      app, "coverage",
      {.help = "List the types, layouts, modes and epilogues that kernels support",
       .usage = "[NAME...] [FLAGS]",
       .examples = {"quarry coverage", "quarry coverage --where 'family == gemm_sm80' --format markdown",
                    "quarry coverage --where 'a.dtype == f16' --columns out.dtype,modes,alignments"},
       .notes = "One line for each combination of types and math. A number in brackets counts the kernels "
                "that have a "
                "feature,\n"
                "if not all have it. any_problem: kernels that take every size, stride and alignment."});
  add_selection_flags(*command, flags->selection);
  add_listing_flags(*command, flags->listing);
  command->callback([flags, &action] { action = [flags] { return print_coverage(*flags); }; });
}

}  // namespace quarry::command

#include "quarry/tensor.hpp"
