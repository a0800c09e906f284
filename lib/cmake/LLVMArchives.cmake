# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes MLIR's static libraries link LLVM's static libraries. In Debian's
# packages, they link LLVM's shared library, and MLIRExecutionEngine links the
# shared library of MLIR. A program would then need both at run time, and would
# contain a second copy of MLIR.

llvm_map_components_to_libnames(archives
  ${LLVM_NATIVE_ARCH} analysis asmparser bitreader bitwriter core coroutines
  debuginfodwarf executionengine frontendopenmp instrumentation ipo irreader
  jitlink linker mc mcjit mcparser object objcarcopts orcdebugging orcjit passes
  perfjitevents profiledata runtimedyld scalaropts support tablegen target
  targetparser transformutils vectorize)

# MLIR initializes all LLVM backends, but a step needs only the host backend.
# Empty functions replace the other backends, which are larger than the rest of
# LLVM. MLIR reports their targets as unknown.
set(source "/* Stubs of the LLVM backends that are left out. */\n")
foreach(target ${LLVM_TARGETS_TO_BUILD})
  if(NOT target STREQUAL LLVM_NATIVE_ARCH)
    foreach(part Target TargetInfo TargetMC AsmPrinter AsmParser Disassembler)
      string(APPEND source "void LLVMInitialize${target}${part}(void) {}\n")
    endforeach()
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lib/OtherTargets.c CONTENT "${source}")
add_library(AMPOtherTargets STATIC ${PROJECT_BINARY_DIR}/lib/OtherTargets.c)

# The target is imported, so the project's CMake package need not export it.
add_library(AMPLLVMArchives INTERFACE IMPORTED)
target_link_libraries(AMPLLVMArchives INTERFACE AMPOtherTargets ${archives})
get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY IMPORTED_TARGETS)
list(FILTER targets INCLUDE REGEX "^MLIR.")
foreach(target ${targets})
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  if(libraries)
    list(TRANSFORM libraries REPLACE "^(\\$<LINK_ONLY:)?LLVM>?$" AMPLLVMArchives)
    list(TRANSFORM libraries REPLACE "^MLIR$" MLIRTargetLLVMIRExport)
    set_target_properties(${target} PROPERTIES
                          INTERFACE_LINK_LIBRARIES "${libraries}")
  endif()
endforeach()

# Link zstd statically, so that a wheel need not contain it.
if(TARGET zstd::libzstd_static)
  get_target_property(libraries LLVMSupport INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM libraries REPLACE "^zstd::libzstd_shared$" zstd::libzstd_static)
  set_target_properties(LLVMSupport PROPERTIES
                        INTERFACE_LINK_LIBRARIES "${libraries}")
endif()
