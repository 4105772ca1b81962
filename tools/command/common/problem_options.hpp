/// Flags of problems, for commands that name a kernel.
#pragma once

#include <memory>
#include <string>

#include "lab/problems/problem_settings.hpp"
#include "tools/command/common/commands.hpp"

namespace quarry::command {

/// Adds the flags of problems but for types, which are the kernel's, and keeps what is given in `settings`.
template <class Flags>
void add_problem_options(CLI::App& command, const std::shared_ptr<Flags>& flags) {
  for (const lab::Setting& setting : lab::problem_settings()) {
    if (setting.name == "type") continue;
    const std::string name(setting.name);
    command
        .add_option_function<std::string>(
            "--" + name, [flags, name](const std::string& text) { flags->settings[name] = text; },
            std::string(setting.help))
        ->type_name(std::string(setting.value))
        ->group("Problem");
  }
}

}  // namespace quarry::command
