//===- NumberPrinter.h - Numbers in the source of a program -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the numbers of a program that may follow from its extents. All other
// numbers, such as the rank of a buffer or the width of a vector, belong to the
// structure of a program and are literals.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TARGET_CUDA_NUMBERPRINTER_H
#define AMP_LIB_TARGET_CUDA_NUMBERPRINTER_H

#include "amp/Target/CUDA/ProgramNumbers.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::cuda {

/// A number that a kernel takes as an argument.
struct KernelArgument {
  StringRef type; ///< `int64_t`, `float` or `double`
  int64_t value;  ///< the bits of a double for a float
};

class NumberPrinter {
public:
  /// Prints literals if `numbers` is null.
  explicit NumberPrinter(ProgramNumbers *numbers) : numbers(numbers) {}

  bool printsLiterals() const { return !numbers; }

  /// Returns an expression for a number of the host code: `64`, `number(5)`.
  std::string getHost(int64_t value);
  /// The same for a float or, with `isDouble`, a double.
  std::string getHostReal(const APFloat &value, bool isDouble);

  /// Begins a kernel, which has no arguments yet.
  void beginKernel() { arguments.clear(); }
  /// Returns an expression for an integer of the kernel: `64`, `n0`.
  std::string getKernel(int64_t value);
  std::string getKernelReal(const APFloat &value, bool isDouble);
  /// The capture of a function in a kernel that may have numbers.
  StringRef getCapture() const { return numbers ? "[=]" : "[]"; }
  /// The numbers of the kernel that are arguments, called n0, n1, and so on.
  ArrayRef<KernelArgument> getArguments() const { return arguments; }
  /// The expression for `argument` in the launch of the kernel.
  std::string getArgument(const KernelArgument &argument);

  /// Declares `number` and `realNumber`, and defines them after the host code.
  void emitDeclarations(raw_ostream &os) const;
  void emitDefinitions(raw_ostream &os) const;

private:
  /// Returns the expression for the next number of the host code.
  std::string addHost(StringRef function, int64_t bits);
  std::string addKernel(StringRef type, int64_t bits, std::string literal);

  ProgramNumbers *numbers;
  SmallVector<KernelArgument> arguments;
};

} // namespace mlir::cuda

#endif // AMP_LIB_TARGET_CUDA_NUMBERPRINTER_H
