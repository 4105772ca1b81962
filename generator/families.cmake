# The text sides of the families: quarry_space_sources, with a families.cpp that is written from the list of families.
#
# @pre QUARRY_FAMILIES
get_filename_component(quarry_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
list(TRANSFORM QUARRY_FAMILIES REPLACE "(.+)" "${quarry_root}/kernels/\\1/space.cpp" OUTPUT_VARIABLE quarry_space_sources)
list(APPEND quarry_space_sources "${quarry_root}/kernels/config_text.cpp" "${CMAKE_CURRENT_BINARY_DIR}/families.cpp")

set(declarations "")
set(pointers "")
foreach(family IN LISTS QUARRY_FAMILIES)
  string(APPEND declarations "namespace ${family} {\nextern const ConfigSpace space;\n}\n")
  string(APPEND pointers "&${family}::space, ")
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/families.cpp" @ONLY CONTENT [[
#include "generator/families.hpp"

namespace quarry {
@declarations@
namespace generator {

std::span<const ConfigSpace* const> families() {
  static constexpr const ConfigSpace* all[] = {@pointers@};
  return all;
}

}  // namespace generator
}  // namespace quarry
]])
