#include "registry/compile/sources.hpp"

#include <algorithm>

#include "basic/text.hpp"
#include "entry_text.hpp"
#include "operations/common/expression/interned.hpp"
#include "registry/operation.hpp"

namespace quarry::detail {
namespace {

Status unknown_entry(std::string_view name, const std::string& why) {
  return {StatusCode::not_found, quoted(name) + " is the name of no device function: " + why};
}

Result<EntrySource> family_entry(const ConfigSpace& space, std::string_view name) {
  const Result<SettingValues> values = parse_config_name(space, name);
  if (!values) return unknown_entry(name, values.status().message());
  if (const std::string fault = space.fault(*values); !fault.empty()) return unknown_entry(name, fault);
  const SettingValues entry = space.entry(*values);
  if (entry != *values) return unknown_entry(name, "such a kernel runs " + quoted(config_name(space, entry)));
  const EntryText text = entry_text(space, entry);
  const int shared_memory = space.describe(entry, name).design.shared_memory;
  return EntrySource{instantiation({&text, 1}), text.config(), shared_memory, text.only_cc};
}

constexpr std::string_view with = " with ";

/// "out = x + y with x=bf16:row,y=bf16:row,out=bf16:row"
std::string text_of(const Expression& expression) {
  return expression.text() + std::string(with) + expression.declarations().text();
}

/// The entry of a family with an expression compiled in: as without, but that the kernel's second template
/// argument is the expression's code.
Result<EntrySource> expression_entry(const ConfigSpace& space, std::string_view name,
                                     const ExpressionEntryName& parts) {
  const InternedExpression* const interned = find_interned(parts.number);
  if (interned == nullptr) return unknown_entry(name, "this program has no expression of its number");
  const Result<SettingValues> values = parse_config_name(space, parts.entry);
  if (!values) return unknown_entry(name, values.status().message());
  if (const std::string fault = space.fault(*values); !fault.empty()) return unknown_entry(name, fault);
  EntryText text = entry_text(space, space.entry(*values));
  text.name = name;
  const KernelMetadata kernel = space.describe(*values, name);
  const auto code_of = info_of(kernel.operation).expression_code;
  if (code_of == nullptr) return unknown_entry(name, "kernels of its operation take no expressions");
  const std::string code_name = "code_of_" + text.name;
  const Result<std::string> code = code_of(interned->expression, code_name);
  if (!code) return code.status();
  std::string include = "#include \"" + text.folder + "/kernel.cuh\"\n";
  const std::string own = text.folder + "/expression.cuh";
  if (std::ranges::find(kernel_sources(), own, &SourceFile::name) != kernel_sources().end())
    include += "#include \"" + own + "\"\n";
  const std::string entry = "QUARRY_ENTRY(" + text.name + ", quarry::" + code_name + "::Parameters<" +
                            text.params + ">, quarry::" + text.folder + "::kernel,\n             (" +
                            text.config() + "), quarry::" + code_name + ")\n";
  const std::string config = text.config() + " " + text_of(interned->expression);
  return EntrySource{include + "\n" + *code + entry, config, kernel.design.shared_memory, text.only_cc};
}

/// The expression that `config` ends with, and that has this number. Its text does not say of which type the
/// sums are, so that all are tried.
Status learn(std::string_view name, std::uint64_t number, std::string_view text) {
  const std::size_t at = text.rfind(with);
  if (at == text.npos) return unknown_entry(name, "its config names no expression");
  const std::string_view declarations = text.substr(at + with.size());
  for (const DType sum : {DType::none, DType::f32, DType::f64, DType::s32}) {
    const Result<expression::Declarations> declared = expression::Declarations::parse(declarations, sum);
    if (!declared) continue;
    const Result<Expression> expression = Expression::parse(text.substr(0, at), *declared);
    if (expression && expression->hash() == number && interned(*expression)->number == number) return {};
  }
  return unknown_entry(name, "its config names another expression");
}

/// The family whose names start like this one; null if no family matches.
const ConfigSpace* family_of(std::string_view name) {
  for (const ConfigSpace* space : config_spaces()) {
    if (name.starts_with(space->family) && name.substr(space->family.size()).starts_with('_')) return space;
  }
  return nullptr;
}

}  // namespace

std::string_view sources_digest(std::string_view name) {
  const ConfigSpace* const space = family_of(name);
  if (space == nullptr) return sources_digest();
  const auto digests = family_digests();
  const auto found = std::ranges::find(digests, space->family, &FamilyDigest::family);
  if (found == digests.end()) return sources_digest();
  return parse_expression_entry(name) ? found->with_expression : found->plain;
}

Result<EntrySource> entry_source(std::string_view entry) {
  if (const ConfigSpace* space = family_of(entry)) {
    const auto parts = parse_expression_entry(entry);
    return parts ? expression_entry(*space, entry, *parts) : family_entry(*space, entry);
  }
  return unknown_entry(entry, "no family makes such names");
}

Status learn_expression(std::string_view entry, std::string_view config) {
  const auto parts = parse_expression_entry(entry);
  if (!parts || find_interned(parts->number) != nullptr) return {};
  const Result<EntrySource> plain = entry_source(parts->entry);
  if (!plain) return plain.status();
  if (!config.starts_with(plain->config + " ")) return unknown_entry(entry, "its config is another one");
  return learn(entry, parts->number, config.substr(plain->config.size() + 1));
}

}  // namespace quarry::detail
