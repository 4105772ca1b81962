#include "lab/problems/shapes_file.hpp"

#include "fuzz/harness_list.hpp"
#include "fuzz/input.hpp"
#include "fuzz/memory_file.hpp"
#include "lab/operation.hpp"

namespace quarry::fuzz {

void shapes_files(Bytes input) {
  Input values(input);
  const auto labs = lab::operation_labs();
  const Operation operation = labs[values.byte() % labs.size()].operation;
  const MemoryFile file(values.rest());
  const auto problems = lab::read_shapes_file(file.path(), operation, {});
  check_message(problems.status());
  if (!problems) return;
  require(!problems->empty(), "a file of problems has one");
  for (const lab::Problem& problem : *problems) {
    require(!command_text(problem).empty(), "a problem has a text");
    (void)flops(problem);
    (void)memory_bytes(problem);
  }
}

}  // namespace quarry::fuzz
