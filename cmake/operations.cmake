# The operations, read from the one list of them, the enum of include/quarry/operation.hpp: QUARRY_OPERATIONS. And, for the
# generator and the library, the folder quarry_lists_folder with operation_words.hpp; for the library alone
# quarry_operation_sources, a table of what each operation's folder says of it, and the folder quarry_public_lists_folder with
# the public header quarry/operations.hpp; and for the lab quarry_operation_lab_sources, the same table of the folder's lab/.
get_filename_component(operation_list "${CMAKE_CURRENT_LIST_DIR}/../include/quarry/operation.hpp" ABSOLUTE)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${operation_list}")
file(STRINGS "${operation_list}" QUARRY_OPERATIONS REGEX "^  [a-z0-9_]+,")
list(TRANSFORM QUARRY_OPERATIONS REPLACE "^  ([a-z0-9_]+),.*" "\\1")
list(LENGTH QUARRY_OPERATIONS operation_count)

set(words "")
set(includes "")
set(public_includes "")
set(rows "")
set(lab_includes "")
set(lab_rows "")
foreach(operation IN LISTS QUARRY_OPERATIONS)
  string(APPEND words "\"${operation}\", ")
  string(APPEND includes "#include \"operations/${operation}/operation.hpp\"\n")
  string(APPEND public_includes "#include \"quarry/${operation}.hpp\"\n")
  string(APPEND rows "      info_of<${operation}::Rules>(\"${operation}\"),\n")
  string(APPEND lab_includes "#include \"operations/${operation}/lab/operation.hpp\"\n")
  string(APPEND lab_rows "      row_of<${operation}::Lab>(\"${operation}\"),\n")
endforeach()

set(quarry_lists_folder "${CMAKE_CURRENT_BINARY_DIR}/lists")
file(CONFIGURE OUTPUT "${quarry_lists_folder}/operation_words.hpp" @ONLY CONTENT [[
#pragma once

#include <string_view>

namespace quarry::detail {

/// The names of the operations, by value.
inline constexpr std::string_view operation_words[] = {@words@};

}  // namespace quarry::detail
]])

set(quarry_public_lists_folder "${CMAKE_CURRENT_BINARY_DIR}/include")
file(CONFIGURE OUTPUT "${quarry_public_lists_folder}/quarry/operations.hpp" @ONLY CONTENT [[
/// The operations' own headers: their arguments. Written by the build, from the list in quarry/operation.hpp.
#pragma once

@public_includes@]])

set(quarry_operation_sources "${CMAKE_CURRENT_BINARY_DIR}/operations.cpp")
file(CONFIGURE OUTPUT "${quarry_operation_sources}" @ONLY CONTENT [[
@includes@
#include "registry/query/operation_info.hpp"

namespace quarry::detail {

std::span<const OperationInfo> operations() {
  static constexpr OperationInfo all[] = {
@rows@  };
  static_assert(std::size(all) == @operation_count@);
  return all;
}

}  // namespace quarry::detail
]])

set(quarry_operation_lab_sources "${CMAKE_CURRENT_BINARY_DIR}/operation_labs.cpp")
file(CONFIGURE OUTPUT "${quarry_operation_lab_sources}" @ONLY CONTENT [[
@lab_includes@
#include "lab/operation_row.hpp"

namespace quarry::lab {

std::span<const OperationLab> operation_labs() {
  static const OperationLab all[] = {
@lab_rows@  };
  static_assert(std::size(all) == @operation_count@);
  return all;
}

}  // namespace quarry::lab
]])
