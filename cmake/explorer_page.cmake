# The explorer's page (registry/explorer/page/) as a text in the library.
set(explorer_page "${QUARRY_GENERATED_DIR}/explorer_page.cpp")
file(GLOB explorer_page_parts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/registry/explorer/page/*")
add_custom_command(
  OUTPUT "${explorer_page}"
  COMMAND "${CMAKE_COMMAND}" -D "PAGE=${PROJECT_SOURCE_DIR}/registry/explorer/page" -D "OUT=${explorer_page}"
          -P "${PROJECT_SOURCE_DIR}/cmake/assemble_page.cmake"
  DEPENDS ${explorer_page_parts} "${PROJECT_SOURCE_DIR}/cmake/assemble_page.cmake"
  COMMENT "Assembling the explorer's page"
  VERBATIM)
target_sources(quarry PRIVATE "${explorer_page}")
