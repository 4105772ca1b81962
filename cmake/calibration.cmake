# The factors of registry/device/*_calibration.json, which tools/calibrate.py wrote, as a header:
# calibrations.hpp in quarry_lists_folder. A new file needs no other change.

file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/registry/device/*_calibration.json")
set(calibrations "")
foreach(file IN LISTS files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" calibration)
  string(JSON device GET "${calibration}" device)
  string(JSON date GET "${calibration}" date)
  string(APPEND calibrations "    // measured on ${date}\n    {.device = \"${device}\",\n     .factors = {\n")
  foreach(kind simt mma wgmma)
    string(APPEND calibrations "         .${kind} = {")
    foreach(part launch memory math copies latency ends epilogue exchange reduction)
      string(JSON factor GET "${calibration}" factors ${kind} ${part})
      string(APPEND calibrations ".${part} = ${factor}, ")
    endforeach()
    string(APPEND calibrations "},\n")
  endforeach()
  string(APPEND calibrations "     }},\n")
endforeach()
file(CONFIGURE OUTPUT "${quarry_lists_folder}/calibrations.hpp" @ONLY CONTENT [[
// Made by cmake/calibration.cmake of registry/device/*_calibration.json.
#pragma once

#include <string_view>

#include "quarry/device_model.hpp"

namespace quarry::detail {

/// What tools/calibrate.py found on a device of this name.
struct MeasuredCalibration {
  std::string_view device;
  Calibration factors;
};

inline constexpr MeasuredCalibration calibrations[] = {
@calibrations@};

}  // namespace quarry::detail
]])
