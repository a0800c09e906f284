//===- Interruption.h - Signals that end training ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run that Ctrl-C or a batch system ends keeps its work: the training loop
// finishes the step, and the program then writes its outputs. Its exit status
// is 128 plus the number of the signal, as shells report it.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_INTERRUPTION_H
#define AMP_RUNTIME_HOST_INTERRUPTION_H

#include <csignal>
#if __has_include(<unistd.h>)
#include <signal.h>
#include <unistd.h>
#define AMP_HOST_CATCHES_SIGNALS 1
#endif

namespace amphost {

/// The first of the signals SIGINT and SIGTERM that arrived while an
/// `InterruptionGuard` lived, or 0.
inline volatile std::sig_atomic_t noticedSignal = 0;

inline int getInterruption() { return noticedSignal; }

/// The name of a signal that `InterruptionGuard` catches.
inline const char *nameInterruption(int number) {
  return number == SIGTERM ? "SIGTERM" : "SIGINT";
}

/// While it lives, the first SIGINT or SIGTERM only sets `getInterruption`. A
/// second signal of that kind ends the process. Signals that are ignored, as
/// in a process that the shell runs in the background, stay ignored. Systems
/// without POSIX signals end the process at the first one.
class InterruptionGuard {
public:
#ifdef AMP_HOST_CATCHES_SIGNALS
  explicit InterruptionGuard(bool isActive = true) {
    if (!isActive)
      return;
    struct ::sigaction action = {};
    action.sa_handler = [](int number) { noticedSignal = number; };
    action.sa_flags = int(SA_RESETHAND) | SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    for (Caught &signal : caught) {
      if (::sigaction(signal.number, nullptr, &signal.previous) != 0 ||
          signal.previous.sa_handler == SIG_IGN)
        continue;
      signal.isCaught = ::sigaction(signal.number, &action, nullptr) == 0;
    }
  }
  ~InterruptionGuard() {
    for (Caught &signal : caught)
      if (signal.isCaught)
        ::sigaction(signal.number, &signal.previous, nullptr);
  }
#else
  explicit InterruptionGuard(bool = true) {}
#endif
  InterruptionGuard(const InterruptionGuard &) = delete;
  InterruptionGuard &operator=(const InterruptionGuard &) = delete;

private:
#ifdef AMP_HOST_CATCHES_SIGNALS
  struct Caught {
    int number;
    bool isCaught = false;
    struct ::sigaction previous = {};
  };
  Caught caught[2] = {{SIGINT}, {SIGTERM}};
#endif
};

/// The exit status of a program whose own status is `status`.
inline int getExitStatus(int status) {
  const int number = getInterruption();
  return number ? 128 + number : status;
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_INTERRUPTION_H
