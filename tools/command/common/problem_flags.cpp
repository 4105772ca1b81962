#include "tools/command/common/problem_flags.hpp"

#include "lab/problems/shapes_file.hpp"
#include "lab/text.hpp"

namespace quarry::command {
namespace {

Status wrong(const std::string& message) { return Status(StatusCode::parse_error, message); }

/// Takes the word as the type of all operands.
Status take_type(const std::string& word, lab::SettingTexts& settings) {
  if (settings.contains("type"))
    return wrong("unexpected " + lab::quoted(word) + ": the type is given twice");
  if (const Result<DType> type = parse_dtype(word); !type) return type.status();
  settings["type"] = word;
  return {};
}

Result<Operation> read_operation(const std::vector<std::string>& words) {
  if (words.empty()) return wrong("no problem given; say for example: gemm 4096x4096x4096 f16");
  return lab::parse_operation(words[0]);
}

}  // namespace

void add_problem_flags(CLI::App& app, ProblemFlags& flags) {
  app.add_option("problem", flags.words, "The operation, its sizes, and the type of its operands")
      ->type_name("gemm MxNxK [TYPE] | reduce_split_k SxMxN [TYPE]")
      ->expected(0, 3);
  for (const lab::Setting& setting : lab::problem_settings()) {
    if (setting.name == "type") continue;  // said behind the shape
    const std::string name(setting.name);
    app.add_option_function<std::string>(
           "--" + name, [&flags, name](const std::string& text) { flags.settings[name] = text; },
           std::string(setting.help))
        ->type_name(std::string(setting.value))
        ->group("Problem");
  }
  app.add_option("--shapes", flags.shapes_file, "Problems from a JSON file; the flags are their defaults")
      ->type_name("FILE")
      ->group("Problem");
}

Result<std::vector<lab::Problem>> read_problems(const ProblemFlags& flags) {
  lab::SettingTexts settings = flags.settings;
  const bool from_file = !flags.shapes_file.empty();
  std::size_t next = 0;
  Operation operation = Operation::gemm;
  if (!from_file || !flags.words.empty()) {
    const Result<Operation> known = read_operation(flags.words);
    if (!known) return known.status();
    operation = *known;
    ++next;
  }
  if (from_file && operation != Operation::gemm)
    return wrong("--shapes holds problems of gemm, and does not go with " +
                 std::string(to_string(operation)));
  Result<lab::Shape> shape = lab::Shape{};
  if (!from_file) {
    if (next == flags.words.size()) return wrong("no shape given; say for example: gemm 4096x4096x4096 f16");
    shape = lab::parse_shape(flags.words[next++], operation);
    if (!shape) return shape.status();
  }
  for (; next < flags.words.size(); ++next) {
    if (Status taken = take_type(flags.words[next], settings); !taken) return taken;
  }
  if (from_file) return lab::read_shapes_file(flags.shapes_file, settings);
  Result<lab::Problem> problem = lab::make_problem(*shape, settings, operation);
  if (!problem) return problem.status();
  return std::vector<lab::Problem>{*std::move(problem)};
}

void add_device_model_flag(CLI::App& app, std::string& name) {
  std::string names;
  for (const DeviceModel& model : device_models())
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  app.add_option("--device-model", name,
                 "Rank for this device (" + names + "); otherwise for the one that is here")
      ->type_name("NAME");
}

Result<DeviceModel> read_device_model(const std::string& name) {
  if (name.empty()) return default_device_model();
  return find_device_model(name);
}

}  // namespace quarry::command
