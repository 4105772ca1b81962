/// What is wrong with a command line, said before CLI11 reads it: CLI11 counts words first, and so blames the
/// words behind an unknown flag.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace quarry::command {

/// The command of a name; null if no command has it.
const CLI::App* find_command(const CLI::App& app, const std::string& name);

/// "unknown command ...", with the nearest ones.
std::string unknown_command(const CLI::App& app, const std::string& name);

/// One line for the first word that no command can take, with the nearest command or flag; "" where there is
/// none:
///   - no command, or an unknown one;
///   - a flag that the command does not have, wherever it stands;
///   - a value for a flag that takes none (`--explain=yes`), and an empty one (`--where=`);
///   - a word in brackets, which CLI11 would take for a list.
std::string usage_fault(const CLI::App& app, std::span<const std::string> words);

/// One line for what CLI11 itself found wrong.
std::string usage_text(const CLI::ParseError& error, const CLI::App& app);

}  // namespace quarry::command
