//===- Threads.h - The threads of a step ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps of several threads call LLVM's OpenMP runtime library, libomp, which is
// loaded when it is first asked how many there are. Without it steps run on one
// thread.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_THREADS_H
#define AMP_EXECUTION_THREADS_H

#include "llvm/Support/Error.h"
#include <string>

namespace mlir::amp {

/// The most threads that a step may be compiled for.
inline constexpr unsigned kMostThreads = 1024;

/// OpenMP's runtime library in this process.
struct ThreadRuntime {
  /// The file, as the dynamic linker takes it.
  std::string path;
  /// The threads of a parallel region: the value of OMP_NUM_THREADS, else the
  /// processors that the process may use.
  unsigned threads = 1;
};

/// Loads the library, once in a process. Fails where it is not installed.
llvm::Expected<ThreadRuntime> getThreadRuntime();

/// How many threads a step is to have for the wish `threads`, where 0 is as
/// many as the runtime library gives, or one without it. Fails for more than
/// one thread without the library, and for more than `kMostThreads`.
llvm::Expected<unsigned> chooseThreads(unsigned threads);

} // namespace mlir::amp

#endif // AMP_EXECUTION_THREADS_H
