//===- LibraryCache.h - Compiled CUDA sources -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles sources to shared libraries and keeps them in a folder. A library is
// found again by a hash of its source, of the compiler and its version, and of
// the flags. Each set of numbers has a copy of its own, because the loader of
// the system loads a file once.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_CUDA_LIBRARYCACHE_H
#define AMP_EXECUTION_CUDA_LIBRARYCACHE_H

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::amp {

/// How to compile CUDA sources.
struct CUDACompilerOptions {
  /// The compiler, called as nvcc. Empty: $AMP_CUDA_COMPILER, else nvcc.
  std::string compiler;
  /// The folder of libraries. Empty: $XDG_CACHE_HOME/amp, else ~/.cache/amp.
  std::string cache;
  /// The ordinal of the GPU to compile for. With -1, each rank uses the GPU of
  /// its local number, and all GPUs of a machine must have the same model.
  int device = 0;
  bool strictRounding = false;
  /// Whether to show no progress.
  bool quiet = false;
};

/// The source of the two units of a step, which are compiled in parallel. The
/// runtime is the same for all steps, so it is compiled once for each compiler
/// and set of flags.
struct CUDASource {
  std::string step, runtime;
  /// The numbers of the step, if they are data of its library. Steps that
  /// differ in these numbers alone are compiled once.
  std::vector<int64_t> numbers;
};

/// Returns the path of the shared library of `source`, compiled if the cache
/// does not have it. Messages call it `name`. Fails if there is no compiler, no
/// GPU or no folder, or if the compiler fails.
llvm::Expected<std::string> compileCUDA(const CUDASource &source,
                                        const std::string &name,
                                        const CUDACompilerOptions &options);

} // namespace mlir::amp

#endif // AMP_EXECUTION_CUDA_LIBRARYCACHE_H
