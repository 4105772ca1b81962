/// export_plan: a launch of one problem as files.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <vector>

#include "basic/text.hpp"
#include "quarry/export.hpp"
#include "registry/compile/export_files.hpp"
#include "registry/compile/plan_header.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "registry/query/own_kernels.hpp"

namespace quarry {
namespace {

/// " * a: f16, 128 x 64, strides 64, 1"
std::string view_line(Operand operand, const TensorView& view) {
  std::string text = " *   " + std::string(to_string(operand)) + ": " + std::string(to_string(view.dtype));
  for (std::size_t i = 0; i < view.rank; ++i)
    text += (i == 0 ? ", " : " x ") + std::to_string(view.extents[i]);
  for (std::size_t i = 0; i < view.rank; ++i)
    text += (i == 0 ? ", strides " : ", ") + std::to_string(view.strides[i]);
  return text + "\n";
}

/// The operands of the problem, a line each.
std::string problem_lines(const detail::OperandList& operands) {
  std::string text;
  for (const detail::OperandRef& operand : operands) text += view_line(operand.name, *operand.view);
  return text;
}

/// Writes a launch: code first, the header last.
Status write_plan(const Kernel& kernel, const Launch& launch, detail::ExportedPlan& plan,
                  const std::filesystem::path& folder, const CompileOptions& options) {
  if (launch.is_empty()) {
    return {StatusCode::invalid_arguments,
            "There is no plan to export: the output has no elements, so that nothing is launched"};
  }
  const detail::Row& row = detail::row_of(kernel);
  std::vector<Artifact> codes;
  for (const Step& step : launch.steps) {
    if (step.kind != Step::Kind::kernel) continue;
    Result<Artifact> code = detail::exported_code(row, detail::entry_of_step(row, launch, step), options);
    if (!code) return code.status();
    const std::string entry(code->entry());
    const Result<std::string> file = detail::code_file("A plan", plan.name, entry, step.entry == 0);
    if (!file) return file.status();
    plan.functions.resize(std::max(plan.functions.size(), step.entry + std::size_t{1}));
    plan.functions[step.entry] = {entry, *file};
    codes.push_back(*std::move(code));
  }
  if (Status s = detail::make_export_folder(folder); !s) return s;
  auto code = codes.begin();
  for (const Step& step : launch.steps) {
    if (step.kind != Step::Kind::kernel) continue;
    const std::string& file = plan.functions[step.entry].file;
    if (Status s = detail::write_export(folder, file, (code++)->code()); !s) return s;
  }
  return detail::write_export(folder, plan.name + ".plan.h", detail::plan_header(plan, launch));
}

Status export_prepared(const Kernel& kernel, Arguments arguments, const std::string& folder,
                       const ExportOptions& options) try {
  detail::ExportedPlan plan;
  plan.name = options.name.empty() ? std::string(kernel.name()) : options.name;
  plan.kernel = kernel.name();
  if (Status s = detail::check_export_name("A plan", plan.name); !s) return s;
  detail::PreparedLaunch prepared;
  if (Status s = detail::prepare_launch(detail::row_of(kernel), kernel.entry_controls(), arguments, prepared);
      !s)
    return s;
  detail::OperandList operands;
  detail::info_of(arguments.operation()).operands(arguments.data(), operands);
  plan.problem = problem_lines(operands);
  CompileOptions compile = options.compile;
  if (compile.target == 0) compile.target = default_device_model().cc;
  plan.target = compile.target;
  return write_plan(kernel, prepared.launch, plan, folder, compile);
} catch (const std::exception& error) {
  return {StatusCode::device_error,
          "Cannot export a plan of " + detail::quoted(kernel.name()) + ": " + error.what()};
}

}  // namespace

Status export_plan(const Kernel& kernel, Arguments arguments, const std::string& folder,
                   const ExportOptions& options) {
  return export_prepared(kernel, arguments, folder, options);
}

}  // namespace quarry
