#include "tools/command/common/usage.hpp"

#include <optional>
#include <vector>

#include "lab/text.hpp"

namespace quarry::command {
namespace {

std::string see_help(const std::string& command) {
  return " (see quarry " + (command.empty() ? "" : command + " ") + "--help)";
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  return lab::did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
}

std::string unknown_flag(const CLI::App& app, const std::string& flag) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return "unknown flag " + lab::quoted(flag) + did_you_mean(flag, names);
}

/// A flag as it was typed: "--where=x", "-ox".
struct TypedFlag {
  std::string name;
  std::optional<std::string> value;
};

TypedFlag split(const std::string& word) {
  if (!word.starts_with("--")) {
    return {word.substr(0, 2), word.size() > 2 ? std::optional(word.substr(2)) : std::nullopt};
  }
  const std::size_t sign = word.find('=');
  if (sign == word.npos) return {word, std::nullopt};
  return {word.substr(0, sign), word.substr(sign + 1)};
}

/// An empty value would mean the same as no flag: `--resume "$UNSET"`.
std::string empty_value(const std::string& flag) { return flag + " has an empty value"; }

/// What is wrong with a flag, or "". @param takes_next becomes whether the next word is its value
std::string flag_fault(const CLI::App& command, const std::string& word, bool& takes_next) {
  const TypedFlag flag = split(word);
  const CLI::Option* const option = command.get_option_no_throw(flag.name);
  if (option == nullptr) return unknown_flag(command, word.starts_with("--") ? flag.name : word);
  const bool has_value = option->get_items_expected_max() > 0;
  takes_next = has_value && !flag.value;
  if (!flag.value) return "";
  if (!has_value) return flag.name + " takes no value, got " + lab::quoted(*flag.value);
  return flag.value->empty() ? empty_value(flag.name) : "";
}

/// What is wrong with the words behind a command, or "".
std::string words_fault(const CLI::App& command, std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return "";
    if (word.starts_with('[') && word.ends_with(']'))
      return "unexpected " + lab::quoted(word) + ": no name, operation, shape or type has brackets";
    if (!word.starts_with('-') || word == "-") continue;
    bool takes_next = false;
    if (std::string fault = flag_fault(command, word, takes_next); !fault.empty()) return fault;
    if (takes_next && ++i < words.size() && words[i].empty()) return empty_value(split(word).name);
  }
  return "";
}

}  // namespace

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto commands =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return commands.empty() ? nullptr : commands.front();
}

std::string unknown_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return "unknown command " + lab::quoted(name) + did_you_mean(name, names);
}

std::string usage_fault(const CLI::App& app, std::span<const std::string> words) {
  if (words.empty()) return "no command given" + see_help("");
  const bool has_command = !words[0].starts_with('-');
  const CLI::App* const command = has_command ? find_command(app, words[0]) : &app;
  if (command == nullptr) return unknown_command(app, words[0]) + see_help("");
  const std::string fault = words_fault(*command, words.subspan(has_command ? 1 : 0));
  return fault.empty() ? "" : fault + see_help(has_command ? words[0] : "");
}

std::string usage_text(const CLI::ParseError& error, const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const std::string text = lab::one_ascii_line(error.what());
  if (chosen.empty()) return text + see_help("");
  const std::vector<std::string> extra = chosen[0]->remaining();
  return (extra.empty() ? text : "unexpected argument " + lab::quoted(extra[0])) +
         see_help(chosen[0]->get_name());
}

}  // namespace quarry::command
