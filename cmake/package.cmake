# What `cmake --install` puts where, so that find_package(quarry) works from outside.
include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/quarry")

install(TARGETS quarry EXPORT quarryTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quarry" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(FILES "${quarry_public_lists_folder}/quarry/operations.hpp" "${quarry_public_lists_folder}/quarry/version.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quarry")
install(EXPORT quarryTargets NAMESPACE quarry:: DESTINATION "${package_folder}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/quarryConfig.cmake.in" quarryConfig.cmake
                              INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file(quarryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/quarryConfig.cmake" "${PROJECT_BINARY_DIR}/quarryConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/cudart.cmake"
        DESTINATION "${package_folder}")
