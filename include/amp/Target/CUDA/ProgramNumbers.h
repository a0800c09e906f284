//===- ProgramNumbers.h - Numbers in the source of a program ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of one step for different batch sizes differ only in numbers: sizes
// of buffers, offsets, extents of loops and factors of means. The emitter can
// print these numbers as data of the library, and those of kernels as arguments
// of the kernels. Then the sources of these programs are equal.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TARGET_CUDA_PROGRAMNUMBERS_H
#define AMP_TARGET_CUDA_PROGRAMNUMBERS_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::cuda {

/// The numbers that the emitter prints other than as literals.
struct ProgramNumbers {
  enum class Form {
    /// Prints a placeholder for each number. Two programs of equal patterns
    /// differ in numbers alone. The pattern does not compile.
    Pattern,
    /// Prints a valid source.
    Data,
  };
  Form form = Form::Pattern;

  /// For the form Data: for each number of a kernel, whether it is an argument
  /// of the kernel. Others are literals. Programs whose patterns and literals
  /// are equal have equal sources.
  std::vector<bool> arguments;

  /// The numbers of the kernels, in their order in the pattern. A float
  /// is stored as the bits of a double.
  std::vector<int64_t> kernels;
  /// The data of the library: the numbers of the host code.
  std::vector<int64_t> host;
};

/// Writes `numbers`, the numbers of the host code, into the bytes of a library
/// that was compiled from a source of the form Data. Returns false if the
/// bytes are not such a library, or if its source has another count of numbers.
bool setNumbers(std::string &library, const std::vector<int64_t> &numbers);

} // namespace mlir::cuda

#endif // AMP_TARGET_CUDA_PROGRAMNUMBERS_H
