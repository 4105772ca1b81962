/// A problem for one kernel that is named: NAME MxNxK and flags, of which the kernel says the types.
#pragma once

#include <memory>
#include <string>

#include "commands.hpp"
#include "problem_settings.hpp"
#include "problem_text.hpp"
#include "quarry/kernel.hpp"

namespace quarry::command {

/// Whether a word of the command line is a shape, and not a kernel's name.
inline bool is_shape(const std::string& word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }

/// The problem of this shape in the kernel's types and layouts, of its operation, where flags do not say
/// otherwise.
Result<Problem> problem_for(const Kernel& kernel, const std::string& shape, SettingTexts settings);

/// Adds the flags of problems but for types, which are the kernel's, and keeps what is given in `settings`.
template <class Flags>
void add_problem_options(CLI::App& command, const std::shared_ptr<Flags>& flags) {
  for (const Setting& setting : problem_settings()) {
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
