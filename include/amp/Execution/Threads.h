//===- Threads.h - The threads of a step ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps with several threads call LLVM's OpenMP runtime library, libomp. The
// first query for the number of threads loads it. Without it steps run on one
// thread.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_THREADS_H
#define AMP_EXECUTION_THREADS_H

#include "llvm/Support/Error.h"
#include <string>

namespace mlir::amp {

/// The most threads that a step may be compiled for.
inline constexpr unsigned kMaxThreads = 1024;

/// OpenMP's runtime library in this process.
struct ThreadRuntime {
  /// The file name for the dynamic linker.
  std::string path;
  /// The threads of a parallel region: the value of OMP_NUM_THREADS, else the
  /// processors that the process may use.
  unsigned threads = 1;
};

/// Loads the library once in a process. Fails if it is not installed.
llvm::Expected<ThreadRuntime> getThreadRuntime();

/// The number of threads of a step for the request `threads`. 0 requests the
/// number of the runtime library, or one without it. Fails for more than one
/// thread without the library, and for more than `kMaxThreads`.
llvm::Expected<unsigned> chooseThreads(unsigned threads);

} // namespace mlir::amp

#endif // AMP_EXECUTION_THREADS_H
