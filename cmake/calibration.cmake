# The factors of registry/device/h200_calibration.json, which tools/calibrate.py wrote, as a header:
# h200_calibration.hpp in quarry_lists_folder.

set(file "${PROJECT_SOURCE_DIR}/registry/device/h200_calibration.json")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
file(READ "${file}" calibration)
set(kinds "")
foreach(kind simt mma wgmma)
  set(factors "")
  foreach(part launch memory math copies latency ends epilogue exchange reduction)
    string(JSON factor GET "${calibration}" factors ${kind} ${part})
    string(APPEND factors ".${part} = ${factor}, ")
  endforeach()
  string(APPEND kinds "    .${kind} = {${factors}},\n")
endforeach()
string(JSON device GET "${calibration}" device)
string(JSON date GET "${calibration}" date)
file(CONFIGURE OUTPUT "${quarry_lists_folder}/h200_calibration.hpp" @ONLY CONTENT [[
// Made by cmake/calibration.cmake of registry/device/h200_calibration.json: measured on @device@, @date@.
#pragma once

#include "quarry/device_model.hpp"

namespace quarry::detail {

inline constexpr Calibration h200_calibration = {
@kinds@};

}  // namespace quarry::detail
]])
