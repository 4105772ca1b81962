/// Reads the command line and hands over to the command that was chosen.
#include <algorithm>
#include <exception>
#include <new>
#include <sstream>

#include "lab/operation.hpp"
#include "lab/text.hpp"
#include "quarry/version.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/usage.hpp"

namespace quarry::command {
namespace {

constexpr const char* about =
    "Quarry: GPU kernels for the problem at hand. A registry of thousands of kernels that are found, ranked, "
    "explained,\n"
    "run and verified, on a machine with a GPU or without one.";

/// Lines of examples.
std::string lines_of(const std::vector<std::string>& examples) {
  std::string text;
  for (const std::string& example : examples) text += "  " + example + "\n";
  return text;
}

std::string closing() {
  return "A problem is an operation, a shape and the type of its operands, more of it by flags:\n" +
         lines_of(lab::examples_of("")) +
         "Kernels are chosen by a filter, or by names, which also come through a pipe:\n"
         "  quarry list --where 'cc == 80 and a.dtype == bf16 and tile.m >= 128'\n" +
         lines_of(lab::examples_of("verify")) +
         "\n"
         "Exit status: 0 done; 1 failed, wrong results, or no kernel found; 2 wrong usage or bad input.\n"
         "`quarry COMMAND --help` says more of a command.";
}

/// Help with a usage line of our own.
class HelpText : public CLI::Formatter {
 public:
  explicit HelpText(std::string usage) : usage_(std::move(usage)) { column_width(28); }
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n"; }
  /// The usage line names them, and options repeat what they are.
  std::string make_positionals(const CLI::App*) const override { return ""; }

 private:
  std::string usage_;
};

int dispatch(int argc, char** argv) {
  CLI::App app(about, "quarry");
  app.footer(closing());
  app.set_version_flag("--version", std::string("quarry ") + QUARRY_VERSION);
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpText>("quarry COMMAND [FLAGS]"));
  Action action;
  for (const auto add :
       {add_list, add_find, add_show, add_run, add_verify, add_bench, add_tune, add_stats, add_explore,
        add_coverage, add_pack, add_warm_up, add_export, add_cache, add_doctor, add_completion, add_help}) {
    add(app, action);
  }
#ifdef QUARRY_EMULATOR
  add_emulate(app, action);
#endif
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (const std::string fault = usage_fault(app, words); !fault.empty()) {
    message(fault);
    return usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      const int exit = app.exit(error, text, text);
      write_output(text.str());
      return exit;
    }
    message(usage_text(error, app));
    return usage;
  }
  return action();
}

}  // namespace

CLI::App* add_command(CLI::App& app, const std::string& name, const Presentation& presentation) {
  CLI::App* command = app.add_subcommand(name, presentation.help);
  command->formatter(std::make_shared<HelpText>("quarry " + name + " " + presentation.usage));
  std::string footer = presentation.notes.empty() ? "" : presentation.notes + "\n\n";
  footer += "Examples:";
  for (const std::string& example : lab::examples_of(name)) footer += "\n  " + example;
  for (const std::string& example : presentation.examples) footer += "\n  " + example;
  command->footer(footer);
  return command;
}

int run_command(int argc, char** argv) try { return dispatch(argc, argv); } catch (const std::bad_alloc&) {
  message("out of memory");
  return failed;
} catch (const std::exception& error) {
  message(lab::one_ascii_line(error.what()));
  return failed;
}

}  // namespace quarry::command
