/// quarry completion: commands, flags, their values and kernel names for the shell's Tab key.
#include <algorithm>
#include <cctype>
#include <map>

#include "lab/operation.hpp"
#include "quarry/device_model.hpp"
#include "quarry/fields.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {
namespace {

/// What a shell offers behind a flag.
struct Values {
  enum class Kind { anything, words, files, kernels } kind = Kind::anything;
  std::string words = {};  ///< with blanks between them
  friend auto operator<=>(const Values&, const Values&) = default;
};

void append_word(std::string& words, std::string_view word) {
  words.append(words.empty() ? "" : " ").append(word);
}

/// The words of an enum, whose numbers begin at `first`.
template <class Enum>
std::string words_of(int first = 0) {
  std::string words;
  for (int i = first; to_string(static_cast<Enum>(i)) != "unknown"; ++i) {
    append_word(words, to_string(static_cast<Enum>(i)));
  }
  return words;
}

std::string field_names() {
  std::string words;
  for (const MetadataField& field : metadata_fields()) append_word(words, field.name);
  return words;
}

std::string device_models_words() {
  std::string words;
  for (const DeviceModel& model : device_models()) append_word(words, model.name);
  return words;
}

/// The words that a flag's value is one of, or begins with; empty where it is not of words.
std::string value_words(const std::string& flag, const std::string& type) {
  const std::map<std::string, std::string> by_flag = {{"activation", words_of<Activation>()},
                                                      {"math", words_of<Math>()},
                                                      {"mode", words_of<Mode>()},
                                                      {"raster", words_of<Raster>()},
                                                      {"accumulator", words_of<DType>(1)},
                                                      {"device-model", device_models_words()},
                                                      {"format", "table json csv names markdown"},
                                                      {"on", "host device"},
                                                      {"columns", field_names()},
                                                      {"sort", field_names()},
                                                      {"by", field_names()}};
  if (const auto found = by_flag.find(flag); found != by_flag.end()) return found->second;
  if (type == "OPERAND") return words_of<DType>(1);
  if (type.find('|') == type.npos || std::ranges::any_of(type, [](char c) { return std::isupper(c) != 0; }))
    return "";
  std::string words = type;
  std::ranges::replace(words, '|', ' ');
  return words;
}

Values values_of(const std::string& flag, const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == "FILE" || type == "FOLDER") return {Values::Kind::files};
  if (type == "NAME|JSON") return {Values::Kind::kernels};
  const std::string words = value_words(flag, type);
  return {words.empty() ? Values::Kind::anything : Values::Kind::words, words};
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// The flags that take values, each behind its command, "'find --kernel'|'run --on'", by what they take: a
/// flag of the same name may take none in another command.
std::map<Values, std::string> flags_by_values(const CLI::App& app) {
  std::map<Values, std::string> by_values;
  for (const CLI::App* command : commands_of(app)) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() == 0) continue;
      const auto add = [&](const std::string& dashes, const std::string& name) {
        std::string& flags = by_values[values_of(name, *option)];
        flags += (flags.empty() ? "'" : "|'") + command->get_name() + " " + dashes + name + "'";
      };
      for (const std::string& name : option->get_lnames()) add("--", name);
      for (const std::string& name : option->get_snames()) add("-", name);
    }
  }
  return by_values;
}

/// The commands, "find|run", by the name of the words that they take; none of those that take flags alone.
std::map<std::string, std::string> commands_by_words(const CLI::App& app) {
  std::map<std::string, std::string> by_words;
  for (const CLI::App* command : commands_of(app)) {
    for (const CLI::Option* option : command->get_options()) {
      if (!option->get_positional()) continue;
      std::string& commands = by_words[option->get_single_name()];
      commands.append(commands.empty() ? "" : "|").append(command->get_name());
    }
  }
  return by_words;
}

/// How a shell is told what to offer.
struct Shell {
  std::string_view words_begin, words_end;  ///< around words
  std::string_view files;
  std::string_view kernels;
};

/// The branches of a `case` over the command and the word before: what is offered behind each flag that takes
/// a value.
std::string value_cases(const CLI::App& app, const Shell& shell) {
  std::string cases;
  for (const auto& [values, flags] : flags_by_values(app)) {
    std::string offer;
    switch (values.kind) {
      case Values::Kind::anything: break;
      case Values::Kind::words:
        offer.append(shell.words_begin).append(values.words).append(shell.words_end);
        break;
      case Values::Kind::files: offer = shell.files; break;
      case Values::Kind::kernels: offer = shell.kernels; break;
    }
    cases += "    " + flags + ") " + offer + (offer.empty() ? "" : "; ") + "return ;;\n";
  }
  return cases;
}

std::string operation_words() {
  std::string words;
  for (const lab::OperationLab& lab : lab::operation_labs()) append_word(words, lab.name);
  return words;
}

std::string command_words(const CLI::App& app) {
  std::string words;
  for (const CLI::App* command : commands_of(app)) append_word(words, command->get_name());
  return words;
}

/// Words that a command takes, by their name: those that are always the same.
std::map<std::string, std::string> fixed_words(const CLI::App& app) {
  return {{"action", "info list verify clear"}, {"shell", "bash zsh"}, {"command", command_words(app)}};
}

/// The operations as alternatives of a pattern: "gemm|conv2d".
std::string operation_pattern() {
  std::string pattern = operation_words();
  std::ranges::replace(pattern, ' ', '|');
  return pattern;
}

/// The branches of a `case` over the command: what is offered where no flag begins. Of a problem, types
/// follow the operation, which shapes may follow, too.
/// @param has_operation whether a word before is an operation, as the shell asks it
std::string word_cases(const CLI::App& app, const Shell& shell, const std::string& has_operation) {
  const auto offer = [&](const std::string& words) {
    return std::string(shell.words_begin).append(words).append(shell.words_end);
  };
  const auto fixed = fixed_words(app);
  std::string cases;
  for (const auto& [words, commands] : commands_by_words(app)) {
    std::string offered;
    if (const auto found = fixed.find(words); found != fixed.end()) {
      offered = offer(found->second);
    } else if (words == "names") {
      offered = shell.kernels;
    } else if (words == "problem") {
      offered = "if " + has_operation + "; then " + offer(words_of<DType>(1)) + "; else " +
                offer(operation_words()) + "; fi";
    }
    cases += "      " + commands + ") " + offered + " ;;\n";
  }
  return cases;
}

int complete_bash(const CLI::App& app) {
  constexpr Shell bash = {"COMPREPLY=($(compgen -W '", "' -- \"$word\"))",
                          "COMPREPLY=($(compgen -f -- \"$word\"))",
                          "COMPREPLY=($(compgen -W \"$(quarry list --format names)\" -- \"$word\"))"};
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    std::string flags;
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) append_word(flags, "--" + name);
    }
    cases += "    " + command->get_name() + ") words='" + flags + "' ;;\n";
  }
  write_output(
      "_quarry() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  COMPREPLY=()\n"
      "  case \"${COMP_WORDS[1]} $before\" in\n" +
      value_cases(app, bash) +
      "  esac\n"
      "  if [[ $COMP_CWORD != 1 && $word != -* ]]; then\n"
      "    case ${COMP_WORDS[1]} in\n" +
      word_cases(app, bash,
                 "[[ \" ${COMP_WORDS[*]:2:COMP_CWORD-2} \" =~ \\ (" + operation_pattern() + ")\\  ]]") +
      "    esac\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n" +
      cases +
      "  esac\n"
      "  if [[ $COMP_CWORD == 1 ]]; then words='" +
      command_words(app) +
      "'; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}\n"
      "complete -F _quarry quarry\n");
  return done;
}

/// An entry of `_describe`: "NAME:help", between single quotes.
std::string described(const std::string& name, const std::string& help) {
  std::string text = "'" + name + ":";
  for (const char c : help) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c == '\n' ? ' ' : c;
    }
  }
  return text + "'";
}

int complete_zsh(const CLI::App& app) {
  constexpr Shell zsh = {"compadd -- ", "", "_files", "compadd -- ${(f)\"$(quarry list --format names)\"}"};
  std::string commands;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    append_word(commands, described(command->get_name(), command->get_description()));
    std::string flags;
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames())
        append_word(flags, described("--" + name, option->get_description()));
    }
    cases += "    " + command->get_name() + ") offers=(" + flags + ") ;;\n";
  }
  write_output(
      "#compdef quarry\n"
      "_quarry() {\n"
      "  local word=${words[CURRENT]} before=${words[CURRENT-1]}\n"
      "  local -a offers\n"
      "  case \"${words[2]} $before\" in\n" +
      value_cases(app, zsh) +
      "  esac\n"
      "  if (( CURRENT == 2 )) || [[ $CURRENT == 3 && $before == help ]]; then\n"
      "    offers=(" +
      commands +
      ")\n"
      "    _describe command offers; return\n"
      "  fi\n"
      "  if [[ $word != -* ]]; then\n"
      "    case ${words[2]} in\n" +
      word_cases(app, zsh, "[[ \" ${words[3,CURRENT-1]} \" == *' '(" + operation_pattern() + ")' '* ]]") +
      "    esac\n"
      "    return\n"
      "  fi\n"
      "  case ${words[2]} in\n" +
      cases +
      "  esac\n"
      "  _describe flag offers\n"
      "}\n"
      "compdef _quarry quarry\n");
  return done;
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  CLI::App* command =
      add_command(app, "completion",
                  {.help = "Print a script that completes quarry's commands and flags in a shell",
                   .usage = "bash|zsh",
                   .examples = {"source <(quarry completion bash)"},
                   .notes = "For zsh, put `source <(quarry completion zsh)` after `compinit` in ~/.zshrc."});
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([&app, &action, shell] {
    action = [&app, shell] { return *shell == "bash" ? complete_bash(app) : complete_zsh(app); };
  });
}

}  // namespace quarry::command
