/// reorder_matrix configs as text: reorder_matrix_s8. The type of the elements.
#include "reorder_matrix/describe.hpp"
#include "settings.hpp"

namespace quarry::reorder_matrix {

/// Elements of one size are moved by the same code, which has the name of one of their types.
static Config entry(const Config& c) {
  for (const DType type : {DType::s8, DType::f16, DType::s32, DType::f64}) {
    if (bytes_of(type) == element_bytes(c)) return {type};
  }
  return c;
}

namespace {

constexpr auto settings = settings_of<Config>({setting<&Config::type>("type")});

std::string fault(const Config& c) { return element_bytes(c) > 0 ? "" : "elements must be whole bytes"; }

/// There are few, and all go together.
std::string unit_group(const Config&) { return ""; }

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space =
    config_space<settings, fault, unit_group>(family_name, "quarry::ReorderParams", EntryProblem::same);

std::string name_of(DType type) { return config_name(space, values_of(settings, entry({type}))); }

}  // namespace quarry::reorder_matrix
