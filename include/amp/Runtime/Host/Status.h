//===- Status.h - Errors as values ------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host runtime returns every failure as a value. It never exits, aborts or
// throws across its interface. Its namespace is not `amp::host` because a
// second namespace `amp` next to `mlir::amp` is ambiguous in sources of the
// compiler.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_STATUS_H
#define AMP_RUNTIME_HOST_STATUS_H

#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>

namespace amphost {

/// The kind of an error, as the C interface of a program returns it. Backends
/// add their own codes: 2 and 5 to 7 belong to CUDA.
enum ErrorCode : int {
  kOk = 0,
  kInvalidArgument = 1, ///< a null pointer, a wrong size or option
  kOutOfMemory = 3,     ///< the message says how much is needed
  kFile = 4,     ///< a file that is unreadable, damaged or of another model
  kReported = 8, ///< the user has seen the message already
};

/// Success, or a code with a message in lower case without a full stop.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(const Status &) = default;
  Status(Status &&) = default;
  Status &operator=(const Status &) = default;
  Status &operator=(Status &&) = default;
  Status(ErrorCode code, std::string message)
      : code(code), text(std::move(message)) {}

  bool isOk() const { return code == kOk; }
  ErrorCode getCode() const { return code; }
  const std::string &getMessage() const { return text; }

  /// Replaces the message of an error by `words` of it.
  template <typename Words>
  Status rename(const Words &words) && {
    if (!isOk())
      text = words(text);
    return std::move(*this);
  }

  /// Puts `what` and a colon in front of the message of an error.
  Status in(const std::string &what) && {
    if (!isOk())
      text = what + ": " + text;
    return std::move(*this);
  }

private:
  ErrorCode code = kOk;
  std::string text;
};

/// Creates an error whose message is formatted as by printf.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
inline Status
makeError(ErrorCode code, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(length > 0 ? size_t(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return Status(code, std::move(text));
}

} // namespace amphost

/// Returns the error of `expression`, a Status, from the enclosing function.
#define AMP_RETURN_IF_ERROR(expression)                                        \
  do {                                                                         \
    if (::amphost::Status ampStatus = (expression); !ampStatus.isOk())         \
      return ampStatus;                                                        \
  } while (false)

#endif // AMP_RUNTIME_HOST_STATUS_H
