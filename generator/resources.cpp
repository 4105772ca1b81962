#include "resources.hpp"

#include <sstream>

#include "basic/ptxas_log.hpp"
#include "json_file.hpp"

namespace quarry::generator {
namespace {

using Usage = detail::RegisterUsage;

std::string emit(const std::vector<std::vector<Usage>>& rows, const std::vector<int>& targets) {
  std::ostringstream out;
  out << "// Written by quarry_generate.\n#include <array>\n\n#include \"operations/common/row.hpp\"\n\n"
      << "namespace quarry::detail {\nnamespace {\n\nconstexpr std::array<int, " << targets.size()
      << "> targets = {";
  for (const int target : targets) out << target << ", ";
  out << "};\n\nconstinit const std::array<std::array<Resources, " << targets.size() << ">, " << rows.size()
      << "> resource_table = {{\n";
  for (const std::vector<Usage>& row : rows) {
    out << "    {{";
    for (const Usage& usage : row) out << "{" << usage.registers << ", " << usage.spill_bytes << "}, ";
    out << "}},\n";
  }
  out << R"(}};

}  // namespace

Resources resources(std::uint32_t entry, int cc) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == cc && entry < resource_table.size()) return resource_table[entry][i];
  }
  return {};
}

std::span<const int> precompiled_targets() { return targets; }

}  // namespace quarry::detail
)";
  return std::move(out).str();
}

/// The usage of each entry, an element a target; zeros where it was not compiled.
Result<std::vector<std::vector<Usage>>> usage_of_entries(const Json& entries,
                                                         const detail::RegisterUsages& usages,
                                                         const std::vector<int>& targets) {
  std::vector<std::vector<Usage>> rows;
  for (const Json& entry : entries) {
    rows.emplace_back(targets.size());
    if (entry.at("unit").is_null()) continue;
    const auto& name = entry.at("name").get_ref<const std::string&>();
    const int only_cc = entry.value("only_cc", 0);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (only_cc != 0 && targets[i] != only_cc) continue;
      const auto found = usages.find({name, targets[i]});
      if (found == usages.end() || found->second.registers == 0) {
        return Status(StatusCode::not_found,
                      "the compiler reported nothing of " + name + " for sm_" + std::to_string(targets[i]));
      }
      rows.back()[i] = found->second;
    }
  }
  return rows;
}

Result<std::string> read_and_emit(const Json& manifest, const std::filesystem::path& logs,
                                  const std::vector<int>& targets) {
  detail::RegisterUsages usages;
  for (const Json& unit : manifest.at("units")) {
    const Result<std::string> log = read_text(logs / (unit.get<std::string>() + ".log"));
    if (!log) return log.status();
    detail::read_ptxas_log(*log, usages);
  }
  const std::vector<int> compiled_for = manifest.at("units").empty() ? std::vector<int>() : targets;
  const auto rows = usage_of_entries(manifest.at("entries"), usages, compiled_for);
  if (!rows) return rows.status();
  return emit(*rows, compiled_for);
}

}  // namespace

Result<std::string> emit_resources(const std::filesystem::path& manifest, const std::filesystem::path& logs,
                                   const std::vector<int>& targets) {
  const Result<Json> json = read_json(manifest);
  if (!json) return json.status();
  try {
    return read_and_emit(*json, logs, targets);
  } catch (const Json::exception& error) {
    return Status(StatusCode::parse_error, manifest.string() + ": not a manifest of ours: " + error.what());
  }
}

}  // namespace quarry::generator
