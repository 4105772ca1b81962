# The text sides of the families, for the generator and the library: quarry_space_sources, with a config_spaces.cpp that is
# written from the list of families. For the library alone, which has their host sides too: quarry_family_sources.
#
# @pre QUARRY_FAMILIES
get_filename_component(quarry_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
list(TRANSFORM QUARRY_FAMILIES REPLACE "(.+)" "${quarry_root}/kernels/\\1/space.cpp" OUTPUT_VARIABLE quarry_space_sources)
list(APPEND quarry_space_sources "${quarry_root}/kernels/config_text.cpp" "${quarry_root}/kernels/entry_text.cpp"
     "${quarry_root}/kernels/settings.cpp" "${CMAKE_CURRENT_BINARY_DIR}/config_spaces.cpp")
# Small, and with the same headers: compiled together where a target compiles groups.
set_source_files_properties(${quarry_space_sources} PROPERTIES UNITY_GROUP spaces)

list(JOIN QUARRY_FAMILIES "\", \"" folders)
set(folders "\"${folders}\"")
set(declarations "")
set(pointers "")
foreach(family IN LISTS QUARRY_FAMILIES)
  string(APPEND declarations "namespace ${family} {\nextern const ConfigSpace space;\n}\n")
  string(APPEND pointers "&${family}::space, ")
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/config_spaces.cpp" @ONLY CONTENT [[
#include "config_text.hpp"

namespace quarry {
@declarations@
std::span<const ConfigSpace* const> config_spaces() {
  static constexpr const ConfigSpace* all[] = {@pointers@};
  return all;
}

std::span<const std::string_view> family_folders() {
  static constexpr std::string_view all[] = {@folders@};
  return all;
}

}  // namespace quarry
]])

set(getters "")
set(pairs "")
foreach(family IN LISTS QUARRY_FAMILIES)
  string(APPEND getters "const Family& ${family}_family() { return ${family}::family; }\n")
  string(APPEND declarations "namespace ${family} {\nextern const Family& family;\n}\n")
  string(APPEND pairs "{&${family}::space, {${family}_family}}, ")
endforeach()
set(quarry_family_sources "${CMAKE_CURRENT_BINARY_DIR}/families.cpp")
file(CONFIGURE OUTPUT "${quarry_family_sources}" @ONLY CONTENT [[
#include "registry/query/families.hpp"

namespace quarry {
@declarations@
namespace detail {
namespace {

@getters@
}  // namespace

std::span<const FamilySides> families() {
  static constexpr FamilySides all[] = {@pairs@};
  return all;
}

}  // namespace detail
}  // namespace quarry
]])
