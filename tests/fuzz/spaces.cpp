#include "config_text.hpp"
#include "expand.hpp"
#include "fuzz/harness_list.hpp"
#include "fuzz/input.hpp"
#include "fuzz/memory_file.hpp"
#include "space_file.hpp"

namespace quarry::fuzz {
namespace {

/// Configs that the axes make.
double product(const generator::SpaceFile& file) {
  double all = 0;
  for (const generator::SpaceBlock& block : file.blocks) {
    double count = 1;
    for (const generator::Axis& axis : block.axes) count *= static_cast<double>(axis.points.size());
    all += count;
  }
  return all;
}

}  // namespace

void spaces(Bytes input) {
  Input values(input);
  const auto all = config_spaces();
  const ConfigSpace& space = *all[values.byte() % all.size()];
  const MemoryFile file(values.rest());
  const Result<generator::SpaceFile> read = generator::read_space_file(space, file.path());
  check_message(read.status(), 3);
  constexpr double most = 300;
  if (!read || product(*read) > most) return;
  const Result<generator::Expansion> expansion = generator::expand(*read);
  check_message(expansion.status(), 3);
  if (!expansion) return;
  for (const generator::Config& config : expansion->configs) {
    require(kernel_fault(space, config.values).empty(), "what is registered can be: " + config.name);
    const Result<SettingValues> values_again = parse_config_name(space, config.name);
    require(values_again && *values_again == config.values, "a name gives its config back: " + config.name);
  }
}

}  // namespace quarry::fuzz
