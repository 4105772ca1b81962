#include "tools/command/common/paths.hpp"

#include "lab/problems/problem_text.hpp"

namespace quarry::command {

void add_problem_choice_flags(CLI::App& app, ProblemChoiceFlags& flags) {
  app.add_option("--problems", flags.problems,
                 "Random problems for each kernel (one of each of its paths, and three mixed ones)")
      ->type_name("N");
  app.add_option("--path", flags.path, "The problem of this path alone, for the kernels that have it")
      ->type_name("NAME");
}

Result<lab::ProblemChoice> read_problem_choice(const ProblemChoiceFlags& flags,
                                               std::vector<Kernel>& kernels) {
  lab::ProblemChoice choice{.path = flags.path};
  if (!flags.problems.empty()) {
    if (!flags.path.empty())
      return Status(StatusCode::parse_error, "--path is one problem: it does not go with --problems");
    const Result<std::int64_t> count = lab::parse_integer("--problems", flags.problems, 1, 1'000'000);
    if (!count) return count.status();
    choice.count = *count;
  }
  if (Status s = lab::check_path(flags.path); !s) return s;
  std::erase_if(kernels, [&](const Kernel& kernel) {
    return lab::problem_numbers(kernel.metadata(), choice, 0).empty();
  });
  return choice;
}

std::string paths_text(const lab::PathCounts& counts) {
  constexpr std::size_t most_columns = 100;
  if (counts.all().empty()) return "";
  std::string text;
  std::string line = "paths met:";
  for (const lab::PathCount& count : counts.all()) {
    const bool is_last = &count == &counts.all().back();
    const std::string part = " " + lab::to_string(count) + (is_last ? "" : ",");
    if (line.size() + part.size() > most_columns) {
      text += line + "\n";
      line = " ";
    }
    line += part;
  }
  return text + line + "\n";
}

nlohmann::ordered_json paths_json(const lab::PathCounts& counts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const lab::PathCount& count : counts.all())
    list.push_back({{"path", std::string(count.name)}, {"kernels", count.kernels}, {"met", count.met}});
  return list;
}

}  // namespace quarry::command
