#include "expand.hpp"

#include <unordered_set>

#include "basic/text.hpp"

namespace quarry::generator {
namespace {

Status failure(const SpaceFile& file, const SpaceBlock& block, const std::string& message) {
  return {StatusCode::parse_error,
          file.file.string() + ": " + (block.path.empty() ? "" : block.path + ": ") + message};
}

/// The values at one index of the product of all axes; the last axis runs fastest.
SettingValues values_at(const ConfigSpace& space, const SpaceBlock& block, std::size_t index) {
  SettingValues values = unsaid_values(space);
  for (auto axis = block.axes.rbegin(); axis != block.axes.rend(); ++axis) {
    for (const Assignment& a : axis->points[index % axis->points.size()]) values[a.setting] = a.value;
    index /= axis->points.size();
  }
  return values;
}

/// All combinations of a block's axes in their order, then the mirrored ones where there are such.
std::vector<SettingValues> combinations_of(const ConfigSpace& space, const SpaceBlock& block) {
  std::size_t count = 1;
  for (const Axis& axis : block.axes) count *= axis.points.size();
  std::vector<SettingValues> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(values_at(space, block, i));
  if (!block.mirror) return all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(space.mirrored(all[i]));
  return all;
}

/// The first constraint that a config breaks, "" where it breaks none. Counts what each constraint lets pass.
std::string broken_constraint(const ConfigSpace& space, const SpaceBlock& block, const Config& config,
                              std::vector<std::size_t>& passed) {
  const KernelMetadata metadata = space.describe(config.values, config.name);
  std::string reason;
  for (std::size_t i = 0; i < block.constraints.size(); ++i) {
    if (block.constraints[i].filter(metadata)) {
      ++passed[i];
    } else if (reason.empty()) {
      reason = "constraint " + detail::quoted(block.constraints[i].text);
    }
  }
  return reason;
}

/// Appends the configs of one block.
Status expand_block(const SpaceFile& file, const SpaceBlock& block, Expansion& result) {
  std::vector<std::size_t> passed(block.constraints.size());
  const std::size_t before = result.configs.size();
  bool possible = false;
  for (SettingValues& values : combinations_of(*file.space, block)) {
    Config config = {std::move(values), {}};
    config.name = config_name(*file.space, config.values);
    std::string reason = kernel_fault(*file.space, config.values);
    if (reason.empty()) {
      possible = true;
      reason = broken_constraint(*file.space, block, config, passed);
    }
    if (reason.empty()) {
      result.configs.push_back(std::move(config));
    } else {
      result.dropped.push_back({std::move(config.name), std::move(reason)});
    }
  }
  if (!possible)
    return failure(file, block, "no config is possible, the first because " + result.dropped.back().reason);
  for (std::size_t i = 0; i < passed.size(); ++i) {
    if (passed[i] == 0) {
      return failure(file, block,
                     "constraint " + detail::quoted(block.constraints[i].text) + " rejects every config");
    }
  }
  if (result.configs.size() == before)
    return failure(file, block, "the constraints together reject every config");
  return {};
}

}  // namespace

Result<Expansion> expand(const SpaceFile& file) {
  Expansion result = {file.space, {}, {}};
  for (const SpaceBlock& block : file.blocks) {
    if (Status ok = expand_block(file, block, result); !ok) return ok;
  }
  std::unordered_set<std::string_view> names;
  for (const Config& config : result.configs) {
    if (!names.insert(config.name).second) {
      return Status(
          StatusCode::parse_error,
          file.file.string() + ": duplicate config: two spaces, or one and its mirror, make " + config.name);
    }
  }
  return result;
}

}  // namespace quarry::generator
