//===- CUDAEmitter.h - Programs as CUDA C++ ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints a `cuda.program` as one source file over the headers of
// amp/Runtime/CUDA. It makes no decisions of its own.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TARGET_CUDA_CUDAEMITTER_H
#define AMP_TARGET_CUDA_CUDAEMITTER_H

#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "amp/Target/CUDA/ProgramNumbers.h"

#include <string>

namespace mlir::cuda {

/// What to print in addition to the program.
struct EmitterOptions {
  /// The name of the input, for the first line of the file.
  std::string source;
  /// The file of `emitHeader` to include, as the source names it, or empty.
  std::string header;
  /// A `main` that trains, with the options of amp-run.
  bool emitMain = false;
  /// The forward function without a `main`, for callers of the C interface.
  bool emitForward = false;
  /// The forward function of the program, for predictions. May be null. Printed
  /// with one of the two options above.
  ProgramOp forward;
  /// How numbers are printed that follow from extents, and the numbers, which
  /// are added to the lists. Null prints literals.
  ProgramNumbers *numbers = nullptr;

  /// The forward function if it is printed, or null.
  ProgramOp getPrintedForward() const {
    return emitMain || emitForward ? forward : ProgramOp();
  }
};

/// Prints `program` to `text`. Returns failure, after a diagnostic at the
/// operation, if something cannot be printed; `text` is then incomplete.
LogicalResult emitCUDA(ProgramOp program, const EmitterOptions &options,
                       std::string &text);

/// Prints the header with the C interface of `program`.
void emitHeader(ProgramOp program, std::string &text);

/// Prints a CMakeLists.txt that builds the source file `source`, by its path
/// from there, and a trainer if it has a `main`. The source is printed with the
/// same `options`. With `strictRounding`, nvcc makes no multiply-add of a
/// product and a sum that round by themselves.
void emitCMake(ProgramOp program, const EmitterOptions &options,
               StringRef source, bool strictRounding, std::string &text);

/// The name of the C interface: that of the program, as an identifier.
std::string getPrefix(ProgramOp program);

/// Describes products of `program` that GPUs of `capability` do not support,
/// such as "8-bit products". Empty if they support all products. `capability`
/// is ten times the major version plus the minor version.
std::string describeMissingProducts(ProgramOp program, int capability);

/// Prints, for each launch, its operations, bytes, what bounds it and the least
/// time that it can take on the GPU `target` (a100, ...), and their sums. If
/// the program has collectives, prints their estimated times on `nodes` nodes,
/// which divide the number of ranks of the program.
void printCosts(ProgramOp program, StringRef target, int64_t nodes,
                raw_ostream &stream);

} // namespace mlir::cuda

#endif // AMP_TARGET_CUDA_CUDAEMITTER_H
