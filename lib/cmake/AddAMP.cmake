# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Thin wrappers over the LLVM/MLIR CMake functions, so that every library and
# tool of the project links the MLIR dylib the same way.

# LLVM's packages leave MLIR_LINK_MLIR_DYLIB unset although the dylib exists
# (llvm-project issue 197175). Two copies of MLIR in one process do not share a
# pass registry, so prefer the dylib whenever the target exists.
if(TARGET MLIR)
  set(AMP_LINK_MLIR_DYLIB_DEFAULT ON)
else()
  set(AMP_LINK_MLIR_DYLIB_DEFAULT OFF)
endif()
option(AMP_LINK_MLIR_DYLIB "Link the MLIR shared library instead of archives"
       ${AMP_LINK_MLIR_DYLIB_DEFAULT})
set(MLIR_LINK_MLIR_DYLIB ${AMP_LINK_MLIR_DYLIB})

if(AMP_LINK_MLIR_DYLIB)
  set(AMP_MLIR_LIBS MLIR LLVM)
  set(AMP_MLIR_ENGINE_LIBS MLIRExecutionEngineShared)
else()
  get_property(AMP_MLIR_DIALECT_LIBS GLOBAL PROPERTY MLIR_DIALECT_LIBS)
  get_property(AMP_MLIR_CONVERSION_LIBS GLOBAL PROPERTY MLIR_CONVERSION_LIBS)
  get_property(AMP_MLIR_EXTENSION_LIBS GLOBAL PROPERTY MLIR_EXTENSION_LIBS)
  set(AMP_MLIR_LIBS ${AMP_MLIR_DIALECT_LIBS} ${AMP_MLIR_CONVERSION_LIBS}
      ${AMP_MLIR_EXTENSION_LIBS} MLIROptLib MLIRTranslateLib MLIRReduceLib
      MLIRReduce MLIRLspServerLib MLIRRegisterAllDialects
      MLIRRegisterAllExtensions MLIRRegisterAllPasses)
  list(FILTER AMP_MLIR_LIBS EXCLUDE REGEX "^MLIR.*Test")
  set(AMP_MLIR_ENGINE_LIBS MLIRExecutionEngine MLIRExecutionEngineUtils
      MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation
      MLIROpenMPToLLVMIRTranslation)
  include(LLVMArchives)
endif()

# A wheel needs tools and libraries that run on a machine without LLVM.
option(AMP_PORTABLE "Build for other machines, without symbols for plugins" OFF)
if(AMP_PORTABLE)
  # LLVM's static libraries link libraries that only their unused members need.
  add_link_options(-Wl,--as-needed -Wl,--gc-sections)
  # Multithreaded steps call libomp. Copy it next to the step library.
  file(REAL_PATH ${LLVM_LIBRARY_DIR}/libomp.so.5 openmp)
  configure_file(${openmp} ${PROJECT_BINARY_DIR}/lib/libomp.so.5 COPYONLY)
endif()

# Precompiles the headers that most sources include. Edits then build in a
# fraction of the time. Off by default because it hides a missing #include.
option(AMP_PRECOMPILE_HEADERS "Compile common headers once" OFF)
if(AMP_PRECOMPILE_HEADERS)
  set(AMP_PRECOMPILED ${CMAKE_CURRENT_BINARY_DIR}/Precompiled.cpp)
  file(CONFIGURE OUTPUT ${AMP_PRECOMPILED} CONTENT "")
  # ccache needs a header that does not depend on the time of the build.
  add_compile_options(
      "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  add_library(AMPPrecompiled OBJECT ${AMP_PRECOMPILED})
  llvm_update_compile_flags(AMPPrecompiled)
  target_precompile_headers(AMPPrecompiled
                            PRIVATE ${CMAKE_CURRENT_LIST_DIR}/Precompiled.h)
  # ccache looks for the precompiled header in GCC's output.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  add_dependencies(AMPPrecompiled mlir-headers)
endif()

function(amp_reuse_precompiled target)
  if(AMP_PRECOMPILE_HEADERS)
    # Compile a program like a library, because the header was.
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
    target_precompile_headers(${target} REUSE_FROM AMPPrecompiled)
  endif()
endfunction()

# Compiles a target with -O1 in release builds of GCC. For generated definitions
# of operations and for code that runs once: it takes a third off the build
# time, and passes spend no measurable time there. Clang's precompiled header
# has one level of optimisation.
function(amp_optimize_less target)
  target_compile_options(
      ${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-O1>)
endfunction()

# add_amp_library(NAME sources... DEPENDS targets... LINK_LIBS PUBLIC libs...)
# A static library of the project, AMP::<NAME without AMP> to other projects.
# TableGen targets go under DEPENDS.
function(add_amp_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} ${ARG_LINK_LIBS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  add_dependencies(${name} mlir-headers)
  amp_reuse_precompiled(${name})
  amp_export(${name})
endfunction()

# Adds a library to the CMake package under its name there.
function(amp_export name)
  string(REGEX REPLACE "^AMP" "" short ${name})
  add_library(AMP::${short} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
  if(AMP_INSTALL)
    install(TARGETS ${name} EXPORT AMPTargets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
            INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endfunction()

# add_amp_tool(NAME [NO_INSTALL] sources... LINK_LIBS libs...)
function(add_amp_tool name)
  cmake_parse_arguments(ARG "NO_INSTALL" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  amp_reuse_precompiled(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} ${AMP_MLIR_LIBS})
  if(NOT AMP_LINK_MLIR_DYLIB AND NOT AMP_PORTABLE)
    export_executable_symbols_for_plugins(${name})
  endif()
  if(AMP_INSTALL AND NOT ARG_NO_INSTALL)
    # The dynamic linker may not search the folder of MLIR.
    set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
            COMPONENT tools)
  endif()
endfunction()
