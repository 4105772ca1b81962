#include "lab/coverage/coverage_rows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "config_text.hpp"
#include "quarry/tensor.hpp"
#include "registry/metadata/fields.hpp"

namespace quarry::lab {
namespace {

/// How many kernels have each of some values, in the order of the values.
template <class Value>
using Counts = std::map<Value, std::int64_t>;

/// "value (3)", or "value" where all kernels have it.
std::string counted(const std::string& value, std::int64_t count, std::int64_t all) {
  return count == all ? value : value + " (" + std::to_string(count) + ")";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

template <class Value, class Text>
std::string list_of(const Counts<Value>& counts, std::int64_t all, Text text) {
  std::vector<std::string> parts;
  for (const auto& [value, count] : counts) parts.push_back(counted(text(value), count, all));
  return joined(parts);
}

std::string letters(const LayoutKey& key) {
  std::string text;
  for (const Layout layout : {key.a, key.b, key.out}) text += letter_of(layout);
  return text;
}

/// Combinations that are there, of `every` that there could be.
std::string layouts_text(const Counts<LayoutKey>& counts, std::size_t every, std::int64_t all) {
  if (counts.empty()) return "any";
  const auto least = std::ranges::min_element(counts, {}, [](const auto& each) { return each.second; });
  const auto most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  if (counts.size() != every) return list_of(counts, all, letters);
  std::string text = "all " + std::to_string(counts.size()) + ", " + std::to_string(least->second);
  if (least->second != most->second) text += " to " + std::to_string(most->second);
  return text + " each";
}

/// Combinations of row and column, then those with interleaved layouts.
std::string layouts_text(const Counts<LayoutKey>& counts, std::int64_t all) {
  constexpr std::size_t strided_combinations = 8;
  constexpr std::size_t combinations = layout_count * layout_count * layout_count;
  Counts<LayoutKey> strided;
  Counts<LayoutKey> interleaved;
  for (const auto& each : counts) (is_strided(each.first) ? strided : interleaved).insert(each);
  if (interleaved.empty()) return layouts_text(strided, strided_combinations, all);
  const std::string text = layouts_text(interleaved, combinations - strided_combinations, all);
  if (strided.empty()) return text;
  return layouts_text(strided, strided_combinations, all) + "; interleaved: " + text;
}

/// What a kernel has of a part of the metadata: the names of what is true, and other values with theirs.
std::vector<std::string> parts_of(const KernelMetadata& kernel, std::string_view part) {
  std::vector<std::string> parts;
  for (const detail::Field* field : detail::find_fields_of(part)) {
    if (!detail::present(*field, kernel)) continue;
    const std::string name(field->path.substr(field->path.rfind('.') + 1));
    const std::string value = detail::value_text(*field, kernel);
    if (field->type != FieldType::boolean) parts.push_back(name + " " + value);
    if (field->type == FieldType::boolean && value == "true") parts.push_back(name);
  }
  return parts;
}

/// Values in the order in which kernels have them.
class Tally {
 public:
  void add(const std::string& value) {
    const auto known = std::ranges::find(counts_, value, [](const auto& each) { return each.first; });
    if (known == counts_.end()) {
      counts_.emplace_back(value, 1);
    } else {
      ++known->second;
    }
  }
  std::string text(std::int64_t all) const {
    std::vector<std::string> parts;
    for (const auto& [value, count] : counts_) parts.push_back(counted(value, count, all));
    return joined(parts);
  }

 private:
  std::vector<std::pair<std::string, std::int64_t>> counts_;
};

/// The matrix instruction, M and K first: those that differ in N alone are neighbours. Of the operands that
/// an exchanged kernel gives it.
std::array<int, 3> instruction_of(const DesignMetadata& design) {
  const Extent3& shape = *design.instruction;
  const bool exchanged = design.orientation == Orientation::exchanged;
  return exchanged ? std::array{shape.n, shape.k, shape.m} : std::array{shape.m, shape.k, shape.n};
}

std::string instructions_text(const Counts<std::array<int, 3>>& counts, std::int64_t all) {
  std::vector<std::string> parts;
  for (auto first = counts.begin(); first != counts.end();) {
    const auto [m, k, least_n] = first->first;
    int most_n = least_n;
    std::int64_t kernels = 0;
    for (; first != counts.end() && first->first[0] == m && first->first[1] == k; ++first) {
      most_n = first->first[2];
      kernels += first->second;
    }
    std::string text = std::to_string(m) + "x" + std::to_string(least_n);
    if (most_n != least_n) text += ".." + std::to_string(most_n);
    parts.push_back(counted(text + "x" + std::to_string(k), kernels, all));
  }
  return joined(parts);
}

/// What one row counts.
struct Group {
  std::int64_t kernels = 0;
  Tally families;
  Tally math_units;
  Tally modes;
  Tally epilogue;
  Counts<std::array<int, 3>> instructions;
  Counts<LayoutKey> layouts;
  Counts<std::pair<int, int>> alignments;

  void add(const KernelMetadata& kernel) {
    ++kernels;
    families.add(std::string(kernel.family));
    for (const std::string& part : parts_of(kernel, "epilogue")) epilogue.add(part);
    if (!is_product(kernel.operation)) return;
    if (kernel.operands.scales != ScaleSupport::none)
      epilogue.add(std::string(to_string(kernel.operands.scales)));
    math_units.add(std::string(to_string(kernel.design.math_unit)));
    modes.add("gemm");
    for (const std::string& mode : parts_of(kernel, "modes")) modes.add(mode);
    if (kernel.design.instruction) ++instructions[instruction_of(kernel.design)];
    ++layouts[layout_key(kernel)];
    ++alignments[{kernel.operands.a.alignment, kernel.operands.b.alignment}];
  }
};

/// The kernels of one TypeKey that take any problem.
struct Fallback {
  Tally families;
  std::set<LayoutKey> layouts;
};

std::string any_problem_text(const Fallback& fallback, const Counts<LayoutKey>& layouts) {
  if (fallback.layouts.empty()) return "none";
  std::vector<std::string> lacking;
  for (const auto& [key, count] : layouts) {
    if (!fallback.layouts.contains(key)) lacking.push_back(letters(key));
  }
  const std::string text = fallback.families.text(-1);
  return lacking.empty() ? text : text + "; none for " + joined(lacking);
}

CoverageRow row_of(const TypeKey& types, const Group& group, const Fallback& fallback) {
  const std::int64_t all = group.kernels;
  return {.types = types,
          .kernels = all,
          .families = group.families.text(all),
          .math_units = group.math_units.text(all),
          .instructions = instructions_text(group.instructions, all),
          .layouts = layouts_text(group.layouts, all),
          .modes = group.modes.text(all),
          .epilogue = group.epilogue.text(all),
          .alignments = list_of(group.alignments, all,
                                [](const std::pair<int, int>& pair) {
                                  return std::to_string(pair.first) + "x" + std::to_string(pair.second);
                                }),
          .any_problem = any_problem_text(fallback, group.layouts)};
}

/// Kernels that multiply operands as they are take part whatever the math asked for.
TypeKey exact(TypeKey types) {
  types.math = Math::exact;
  return types;
}

}  // namespace

TypeKey type_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return {o.a.dtype, o.b.dtype, o.accumulator, o.out.dtype, kernel.design.math, kernel.operation};
}

LayoutKey layout_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return {o.a.layout, o.b.layout, o.out.layout};
}

bool is_strided(const LayoutKey& key) {
  return !is_interleaved(key.a) && !is_interleaved(key.b) && !is_interleaved(key.out);
}

/// Whether it takes problems whatever their sizes, strides, alignment and kind of batch.
static bool takes_any_matrices(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  for (const OperandMetadata* operand : {&o.a, &o.b, &o.c, &o.out}) {
    if (operand->alignment != 1) return false;
  }
  // Kernels of operations with batches have both; kernels of the others have neither.
  if (kernel.modes.batched != kernel.modes.array) return false;
  return kernel.design.math_unit == MathUnit::simt && !kernel.design.copy_engine && !kernel.max_cc;
}

bool takes_any_problem(const KernelMetadata& kernel) {
  return kernel.operands.scales == ScaleSupport::none && takes_any_matrices(kernel);
}

bool takes_any_scaled_problem(const KernelMetadata& kernel) {
  const ScaleSupport scales = kernel.operands.scales;
  return takes_blocks(scales) && scales != ScaleSupport::zero_points && takes_any_matrices(kernel);
}

bool takes_any_problem_with_zeros(const KernelMetadata& kernel) {
  return kernel.operands.scales == ScaleSupport::zero_points && takes_any_matrices(kernel);
}

std::vector<CoverageRow> coverage(std::span<const Kernel> kernels) {
  std::map<TypeKey, Group> groups;
  std::map<TypeKey, Fallback> fallbacks;
  for (const Kernel& kernel : kernels) {
    const KernelMetadata& metadata = kernel.metadata();
    groups[type_key(metadata)].add(metadata);
    if (!takes_any_problem(metadata)) continue;
    Fallback& fallback = fallbacks[type_key(metadata)];
    fallback.families.add(std::string(metadata.family));
    fallback.layouts.insert(layout_key(metadata));
  }
  std::vector<CoverageRow> rows;
  for (const auto& [types, group] : groups) {
    const Fallback& own = fallbacks[types];
    rows.push_back(row_of(types, group, own.layouts.empty() ? fallbacks[exact(types)] : own));
  }
  std::ranges::stable_sort(rows, {}, [](const CoverageRow& row) { return row.types.operation; });
  return rows;
}

}  // namespace quarry::lab
