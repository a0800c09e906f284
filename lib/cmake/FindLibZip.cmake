# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Defines libzip::zip. libzip's own CMake package insists on its command line
# tools, which Debian packages apart; the library and the header are all that is
# needed.

find_path(LIBZIP_INCLUDE_DIR zip.h)
find_library(LIBZIP_LIBRARY zip)
mark_as_advanced(LIBZIP_INCLUDE_DIR LIBZIP_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibZip
  REQUIRED_VARS LIBZIP_LIBRARY LIBZIP_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libzip-dev")

if(LibZip_FOUND AND NOT TARGET libzip::zip)
  # Global: it is used where a project that takes this one in links.
  add_library(libzip::zip UNKNOWN IMPORTED GLOBAL)
  set_target_properties(libzip::zip PROPERTIES
    IMPORTED_LOCATION ${LIBZIP_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${LIBZIP_INCLUDE_DIR})
endif()
