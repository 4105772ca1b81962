/// quarry completion: commands, flags and kernel names for the shell's Tab key.
#include <algorithm>

#include "lab/operation.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {
namespace {

/// The long flags of a command, separated by blanks.
std::string flags_of(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words += (words.empty() ? "--" : " --") + name;
  }
  return words;
}

int complete_bash(const CLI::App& app) {
  std::string commands;
  std::string cases;
  std::string operations;
  for (const lab::OperationLab& lab : lab::operation_labs())
    operations.append(operations.empty() ? "" : " ").append(lab.name);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += "    " + command->get_name() + ") words='" + flags_of(*command) + "' ;;\n";
  }
  write_output(
      "_quarry() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  case $before in\n"
      "    --shapes|--resume|--svg|--dump-times|--cublaslt|-o|--output|--list) COMPREPLY=($(compgen -f -- "
      "\"$word\")); return ;;\n"
      "    --format) COMPREPLY=($(compgen -W 'table json csv names markdown' -- \"$word\")); return ;;\n"
      "    --on) COMPREPLY=($(compgen -W 'host device' -- \"$word\")); return ;;\n"
      "  esac\n"
      "  case ${COMP_WORDS[1]} in\n" +
      cases +
      "  esac\n"
      "  if [[ $COMP_CWORD == 1 ]]; then words='" +
      commands +
      "'\n"
      "  elif [[ $word != -* && ( $before == --kernel || ${COMP_WORDS[1]} =~ "
      "^(show|verify|pack|export)$ ) ]]; "
      "then words=$(quarry list --format names)\n"
      "  elif [[ $word != -* && ${COMP_WORDS[1]} == cache ]]; then words='info list verify clear'\n"
      "  elif [[ $word != -* ]]; then words='" +
      operations +
      "'; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}\n"
      "complete -F _quarry quarry\n");
  return done;
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  CLI::App* command = add_command(app, "completion",
                                  {.help = "Print what makes a shell complete this command",
                                   .usage = "bash",
                                   .examples = {"source <(quarry completion bash)"}});
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash")->required()->check(CLI::IsMember({"bash"}));
  command->callback([&app, &action, shell] { action = [&app] { return complete_bash(app); }; });
}

}  // namespace quarry::command
