# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes MLIR's archives link LLVM's archives. In Debian's packages they name
# LLVM's shared library, and MLIRExecutionEngine names that of MLIR. A program
# would then need both at run time and have a second copy of MLIR.

llvm_map_components_to_libnames(archives
  ${LLVM_NATIVE_ARCH} analysis asmparser bitreader bitwriter core coroutines
  debuginfodwarf executionengine frontendopenmp instrumentation ipo irreader
  jitlink linker mc mcjit mcparser object objcarcopts orcdebugging orcjit passes
  perfjitevents profiledata runtimedyld scalaropts support tablegen target
  targetparser transformutils vectorize)

# MLIR initializes every code generator of LLVM, although a step needs that of
# this processor alone. Empty functions take the places of the others, which are
# larger than the rest of LLVM. MLIR reports such a target as unknown.
set(source "/* The code generators of LLVM that are left out. */\n")
foreach(target ${LLVM_TARGETS_TO_BUILD})
  if(NOT target STREQUAL LLVM_NATIVE_ARCH)
    foreach(part Target TargetInfo TargetMC AsmPrinter AsmParser Disassembler)
      string(APPEND source "void LLVMInitialize${target}${part}(void) {}\n")
    endforeach()
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lib/OtherTargets.c CONTENT "${source}")
add_library(AMPOtherTargets STATIC ${PROJECT_BINARY_DIR}/lib/OtherTargets.c)

# An imported target, which the project's own package does not have to export.
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

# One library less for a wheel to carry.
if(TARGET zstd::libzstd_static)
  get_target_property(libraries LLVMSupport INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM libraries REPLACE "^zstd::libzstd_shared$" zstd::libzstd_static)
  set_target_properties(LLVMSupport PROPERTIES
                        INTERFACE_LINK_LIBRARIES "${libraries}")
endif()
