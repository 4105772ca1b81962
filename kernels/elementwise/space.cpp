/// elementwise configs as text: elementwise_v8_u4. Elements that move together, and how many of those a
/// thread takes.
#include <bit>

#include "elementwise/describe.hpp"
#include "settings.hpp"

namespace quarry::elementwise {

/// Each runs its own device code.
static Config entry(const Config& c) { return c; }

namespace {

constexpr auto settings = settings_of<Config>(
    {setting<&Config::elements>("elements", "v"), setting<&Config::vectors>("vectors", "u")});

bool is_power(int number, int most) {
  return number >= 1 && number <= most && std::has_single_bit(static_cast<unsigned>(number));
}

std::string fault(const Config& c) {
  if (!is_power(c.elements, 16)) return "elements must be 1, 2, 4, 8 or 16";
  return is_power(c.vectors, 8) ? "" : "vectors must be 1, 2, 4 or 8";
}

/// There are few, and all go together.
std::string unit_group(const Config&) { return ""; }

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space =
    config_space<settings, fault, unit_group>(family_name, "quarry::ElementwiseParams", EntryProblem::same);

}  // namespace quarry::elementwise
