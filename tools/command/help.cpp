/// quarry help: what `quarry --help` and `quarry COMMAND --help` print.
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/usage.hpp"

namespace quarry::command {
namespace {

int help(const CLI::App& app, const std::string& name) {
  const CLI::App* const command = name.empty() ? &app : find_command(app, name);
  if (command == nullptr) {
    message(unknown_command(app, name));
    return usage;
  }
  // App::help would print the help of the command which was chosen, this one.
  write_output(command->get_formatter()->make_help(command, command->get_name(), CLI::AppFormatMode::Normal));
  return done;
}

}  // namespace

void add_help(CLI::App& app, Action& action) {
  CLI::App* command = add_command(app, "help",
                                  {.help = "Print what a command does and takes, as COMMAND --help does",
                                   .usage = "[COMMAND]",
                                   .examples = {"quarry help find"}});
  const auto name = std::make_shared<std::string>();
  command->add_option("command", *name, "The command");
  command->callback([&app, &action, name] { action = [&app, name] { return help(app, *name); }; });
}

}  // namespace quarry::command
