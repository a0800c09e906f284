//===- ProcessCalls.h - Calls of functions of the process -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CODEGEN_CPU_PROCESSCALLS_H
#define AMP_LIB_CODEGEN_CPU_PROCESSCALLS_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::amp {

/// Creates a call of the function `name` before `op`, and declares the function
/// in the module of `op`. The process that runs the step defines the function,
/// which returns nothing.
void callProcess(RewriterBase &rewriter, Operation *op, StringRef name,
                 ValueRange operands);

/// Casts the memref `buffer` to an unranked memref, so that one function takes
/// all shapes.
Value eraseShape(RewriterBase &rewriter, Value buffer);

/// The element type of `buffer`, as the names of such functions spell it.
std::string spellElementType(Value buffer);

/// Creates a call of the function `prefix` + element type for each of `buffers`
/// before `op`. Deallocation frees a buffer after its last use. If the process
/// keeps buffers for a later call, pass them to a function after that call too.
void passBuffers(RewriterBase &rewriter, Operation *op, StringRef prefix,
                 ValueRange buffers);

/// The buffers of the operands of `op`.
FailureOr<SmallVector<Value>>
getOperandBuffers(RewriterBase &rewriter, Operation *op,
                  const bufferization::BufferizationOptions &options,
                  bufferization::BufferizationState &state);

/// Allocates a buffer for the static tensor `result`.
FailureOr<Value>
allocateResult(RewriterBase &rewriter, OpResult result,
               const bufferization::BufferizationOptions &options);

/// The base of models of operations that read all operands and write their
/// results to new buffers.
template <typename Model, typename OpTy>
struct NewBufferModel
    : bufferization::BufferizableOpInterface::ExternalModel<Model, OpTy> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const bufferization::AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const bufferization::AnalysisState &) const {
    return false;
  }
  bufferization::AliasingValueList
  getAliasingValues(Operation *, OpOperand &,
                    const bufferization::AnalysisState &) const {
    return {};
  }
};

/// Returns a memref of a constant global with `elements` in the module of `op`.
/// The name of a new global begins with `prefix`.
Value getConstantBuffer(RewriterBase &rewriter, Operation *op, StringRef prefix,
                        DenseElementsAttr elements);

} // namespace mlir::amp

#endif // AMP_LIB_CODEGEN_CPU_PROCESSCALLS_H
