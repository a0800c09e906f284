//===- LastError.h - Errors for callers of C --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_STEP_LASTERROR_H
#define AMP_RUNTIME_STEP_LASTERROR_H

#include "amp/Runtime/Host/Status.h"

#include <exception>
#include <new>
#include <string_view>

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

/// The message `text` for callers of C: the host runtime names options of its
/// programs, C has fields, flags and functions for them.
inline std::string nameForC(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {" or --compare", ""},
      {"--backend=", "the backend "},
      {"--batch-size", "AMP_STEP_OTHER_BATCH_SIZE"},
      {"--cuda-cache", "cuda_cache"},
      {"--cuda-compiler", "cuda_compiler"},
      {"--entry", "the field entry"},
      {"--init", "write"},
      {"--loss-scale", "loss_scale"},
      {"--master-weights", "master_weights"},
      {"--num-threads", "threads"},
      {"--other-scaler", "AMP_STEP_OTHER_SCALER"},
      {"--pipeline", "pipeline"},
      {"--precision", "precision"},
      {"--set", "set_hyperparameter"}};
  for (const auto &[option, name] : kNames)
    for (size_t at = 0; (at = text.find(option, at)) != std::string::npos;
         at += name.size())
      text.replace(at, option.size(), name);
  return text;
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

#endif // AMP_RUNTIME_STEP_LASTERROR_H
