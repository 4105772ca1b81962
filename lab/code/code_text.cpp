#include "lab/code/code_text.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "lab/code/disassemble.hpp"
#include "operations/common/row.hpp"
#include "quarry/artifact.hpp"
#include "registry/compile/compiler.hpp"
#include "registry/compile/sources.hpp"
#include "registry/operation.hpp"

namespace quarry::lab {
namespace {

/// The embedded files that a text includes, and those that they include.
void add_files_of(std::string_view text, std::set<std::string_view>& files) {
  constexpr std::string_view directive = "#include \"";
  const auto sources = detail::kernel_sources();
  for (auto at = text.find(directive); at != text.npos; at = text.find(directive)) {
    text.remove_prefix(at + directive.size());
    const std::string_view name = text.substr(0, text.find('"'));
    const auto file = std::ranges::find(sources, name, &detail::SourceFile::name);
    if (file != sources.end() && files.insert(file->name).second) add_files_of(file->text, files);
  }
}

Result<std::string> source_text(const Kernel& kernel) {
  const std::string_view entry = detail::entry_of(detail::row_of(kernel).entry).name;
  const Result<detail::EntrySource> source = detail::entry_source(entry);
  if (!source) return source.status();
  std::string text = "// " + std::string(kernel.name()) + "\n";
  if (entry != kernel.name()) {
    const bool exchanged = detail::row_of(kernel).exchanged;
    text += std::string("// runs") + (exchanged ? ", with its operands exchanged, " : " ") +
            std::string(entry) + "\n";
  }
  std::set<std::string_view> files;
  add_files_of(source->text, files);
  text += "//\n// Made of these files, which are part of the library:\n";
  for (const std::string_view file : files) text.append("//   ").append(file).append("\n");
  return text + source->text;
}

Result<std::string> ptx_text(const Kernel& kernel, int target) {
  const std::string entry(detail::entry_of(detail::row_of(kernel).entry).name);
  const Result<detail::EntrySource> source = detail::entry_source(entry);
  if (!source) return source.status();
  const Result<const detail::Compiler*> compiler = detail::find_compiler(CompilerBackend::automatic);
  if (!compiler) return compiler.status();
  return (*compiler)->ptx({source->text, entry, target, source->only_cc});
}

}  // namespace

Result<std::string> code_text(const Kernel& kernel, CodeForm form, int target) {
  if (form == CodeForm::source) return source_text(kernel);
  if (form == CodeForm::ptx) return ptx_text(kernel, target);
  return disassemble(kernel, target);
}

}  // namespace quarry::lab
