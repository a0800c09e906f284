# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The CMake packages AMP and AMPStep for the build tree, in lib/cmake under it,
# and for the installation tree, which may be moved.

if(NOT AMP_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(AMP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/AMP)
set(build_package ${PROJECT_BINARY_DIR}/lib/cmake/AMP)
set(template ${CMAKE_CURRENT_LIST_DIR}/AMPConfig.cmake.in)

# configure_package(FOLDER [INSTALL_PREFIX folder]): writes AMPConfig.cmake for
# one of the two trees.
macro(configure_package destination)
  configure_package_config_file(${template} ${destination}/AMPConfig.cmake
    INSTALL_DESTINATION ${AMP_PACKAGE_DIR} ${ARGN}
    PATH_VARS ${path_variables}
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
endmacro()

set(path_variables AMP_PRESETS_PATH AMP_INCLUDE_PATHS)
if(TARGET AMPPlugin)
  list(APPEND path_variables AMP_PLUGIN_PATH)
  set(AMP_PLUGIN_PATH ${CMAKE_INSTALL_LIBDIR}/AMPPlugin.so)
endif()
set(AMP_PRESETS_PATH ${CMAKE_INSTALL_DATADIR}/amp/presets)
set(AMP_INCLUDE_PATHS ${CMAKE_INSTALL_INCLUDEDIR})
configure_package(${PROJECT_BINARY_DIR}/cmake/AMP)

write_basic_package_version_file(
  ${build_package}/AMPConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)

install(EXPORT AMPTargets NAMESPACE AMP:: DESTINATION ${AMP_PACKAGE_DIR}
        COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/cmake/AMP/AMPConfig.cmake
              ${build_package}/AMPConfigVersion.cmake
        DESTINATION ${AMP_PACKAGE_DIR} COMPONENT development)
# AMPStep has only the C interface of compiled steps and needs no other package.
set(step_package ${PROJECT_BINARY_DIR}/lib/cmake/AMPStep)
file(WRITE ${step_package}/AMPStepConfig.cmake
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/AMPStepTargets.cmake\")\n")
write_basic_package_version_file(
  ${step_package}/AMPStepConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
set(AMP_STEP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/AMPStep)
install(EXPORT AMPStepTargets NAMESPACE AMP::
        DESTINATION ${AMP_STEP_PACKAGE_DIR} COMPONENT development)
install(FILES ${step_package}/AMPStepConfig.cmake
              ${step_package}/AMPStepConfigVersion.cmake
        DESTINATION ${AMP_STEP_PACKAGE_DIR} COMPONENT development)
export(EXPORT AMPStepTargets NAMESPACE AMP::
       FILE ${step_package}/AMPStepTargets.cmake)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/amp
                  ${PROJECT_SOURCE_DIR}/include/amp-c
                  ${PROJECT_BINARY_DIR}/include/amp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.h.inc"
        PATTERN CMakeFiles EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/Precision/Policy/presets
        DESTINATION ${CMAKE_INSTALL_DATADIR}/amp COMPONENT tools
        FILES_MATCHING PATTERN "*.yaml")
# What carries steps between JAX or PyTorch and the tools, for PYTHONPATH.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/amp-torch/amp_torch
        DESTINATION ${CMAKE_INSTALL_DATADIR}/amp/python COMPONENT tools
        FILES_MATCHING PATTERN "*.py" PATTERN "*.yaml")
install(FILES ${PROJECT_SOURCE_DIR}/tools/amp-jax/amp_jax.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/amp/python COMPONENT tools)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DATADIR}/amp COMPONENT tools)

# The build tree does not move.
set(AMP_PACKAGE_DIR lib/cmake/AMP)
set(AMP_PRESETS_PATH ${PROJECT_SOURCE_DIR}/lib/Precision/Policy/presets)
if(TARGET AMPPlugin)
  set(AMP_PLUGIN_PATH ${PROJECT_BINARY_DIR}/lib/AMPPlugin.so)
endif()
set(AMP_INCLUDE_PATHS ${PROJECT_SOURCE_DIR}/include)
configure_package(${build_package} INSTALL_PREFIX ${PROJECT_BINARY_DIR})
export(EXPORT AMPTargets NAMESPACE AMP:: FILE ${build_package}/AMPTargets.cmake)
