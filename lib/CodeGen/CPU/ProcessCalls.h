//===- ProcessCalls.h - Calls of functions of the process -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CODEGEN_CPU_PROCESSCALLS_H
#define AMP_LIB_CODEGEN_CPU_PROCESSCALLS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::amp {

/// Calls the function `name` of the process that runs the step, which returns
/// nothing, before `op`. Declares it in the module of `op`.
void callProcess(RewriterBase &rewriter, Operation *op, StringRef name,
                 ValueRange operands);

/// The memref `buffer` without its extents, so that one function takes all
/// shapes.
Value eraseShape(RewriterBase &rewriter, Value buffer);

/// The element type of `buffer`, as in names of such functions.
std::string spellElementType(Value buffer);

/// Calls, before `op`, the function `prefix` + element type for each of
/// `buffers`. A buffer is freed after its last use. If the process keeps
/// buffers for a later call, such calls must also follow that call.
void passBuffers(RewriterBase &rewriter, Operation *op, StringRef prefix,
                 ValueRange buffers);

/// A memref with `elements`, which never change, in a global of the module of
/// `op`. Its name begins with `prefix`.
Value getConstantBuffer(RewriterBase &rewriter, Operation *op, StringRef prefix,
                        DenseElementsAttr elements);

} // namespace mlir::amp

#endif // AMP_LIB_CODEGEN_CPU_PROCESSCALLS_H
