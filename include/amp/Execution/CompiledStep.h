//===- CompiledStep.h - A function compiled for this machine ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_COMPILEDSTEP_H
#define AMP_EXECUTION_COMPILEDSTEP_H

#include "amp/Execution/NDArray.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include <memory>

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace mlir::amp {

/// Registers what translating the LLVM dialect to LLVM IR needs.
void registerExecutionDialects(DialectRegistry &registry);

/// The bits of the widest registers for vectors that this machine has: 128, 256
/// or 512.
unsigned getHostVectorBits();

/// The static type of one buffer that a compiled function takes.
struct BufferType {
  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t, 4> shape;
};

/// The buffer of a statically shaped argument or result, called `what` in
/// messages.
llvm::Expected<BufferType> getBufferType(RankedTensorType type,
                                         llvm::StringRef what);

/// A function of memrefs, JIT-compiled at the highest optimisation level for
/// the host. It works in place on the buffers that it is given and returns
/// nothing.
class CompiledStep {
public:
  /// Compiles `module`, which is in the LLVM dialect and stays unchanged.
  /// `function` takes a pointer to the elements of each of `buffers`, which are
  /// contiguous and row-major.
  static llvm::Expected<std::unique_ptr<CompiledStep>>
  compile(ModuleOp module, llvm::StringRef function,
          llvm::ArrayRef<BufferType> buffers);

  ~CompiledStep();

  llvm::ArrayRef<BufferType> getBuffers() const { return buffers; }

  /// Runs the function on one array per buffer, in order. The arrays must have
  /// the types of `getBuffers`; this is checked.
  llvm::Error run(llvm::ArrayRef<NDArray *> arrays);

  /// The most bytes that the last run had allocated at one time, beside the
  /// arrays that it was given, as the allocator counted them.
  int64_t getPeakBytes() const { return peakBytes; }

private:
  CompiledStep() = default;

  llvm::SmallVector<BufferType> buffers;
  std::unique_ptr<ExecutionEngine> engine;
  void (*entry)(void **) = nullptr;
  int64_t peakBytes = 0;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_COMPILEDSTEP_H
