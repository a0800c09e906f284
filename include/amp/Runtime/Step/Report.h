//===- Report.h - Errors for callers of C -----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_STEP_REPORT_H
#define AMP_RUNTIME_STEP_REPORT_H

#include "amp/Runtime/Host/Status.h"

#include <exception>
#include <new>

namespace amphost {

/// The message of the last error reported in this thread. Empty before the
/// first error.
inline std::string &lastErrorText() {
  static thread_local std::string text;
  return text;
}
inline const char *lastError() { return lastErrorText().c_str(); }

/// Keeps the message of an error for `lastError` and returns its code.
inline int report(const Status &status) {
  lastErrorText() = status.getMessage();
  return status.getCode();
}

/// Reports the result of `body`. No exception reaches the caller, which may be
/// C.
template <typename Body>
int reportCall(Body &&body) {
#ifdef __cpp_exceptions
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    // The message is short enough to need no memory.
    return report(Status(kOutOfMemory, "no host memory"));
  } catch (const std::exception &exception) {
    return report(Status(kInvalidArgument, exception.what()));
  }
#else
  return report(body());
#endif
}

} // namespace amphost

#endif // AMP_RUNTIME_STEP_REPORT_H
