#include <string>

#include "fuzz/harness_list.hpp"
#include "lab/operation.hpp"
#include "lab/tune/problem_lines.hpp"
#include "quarry/registry.hpp"

namespace quarry::fuzz {

void problem_texts(Bytes input) {
  const Result<lab::Problem> problem = lab::parse_command_text(text_of(input));
  // What is wrong with an expression is shown below its text, with a mark: three lines.
  constexpr int lines = 3;
  check_message(problem.status(), lines);
  if (!problem) return;
  const std::string text = command_text(*problem);
  const Result<lab::Problem> again = lab::parse_command_text(text);
  require(static_cast<bool>(again),
          "a problem's text can be read: " + text + ": " + again.status().message());
  require(command_text(*again) == text, "a problem's text gives it back: " + text);
  require(!shape_text(*problem).empty(), "a problem has a shape");
  (void)sizes_of(*problem);
  (void)speed_text(*problem, 1e-3);
  (void)touched_bytes(*problem);
  (void)memory_bytes(*problem, 3);
  check_message(check_not_empty(*problem));
  (void)operand_options(*problem, 1);
  check_message(find_best(arguments_of(*problem)).status());
}

}  // namespace quarry::fuzz
