//===- BufferizeCalls.cpp - Operations of the caller on buffers -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/CodeGen/ProcessFunctions.h"

#include "ProcessCalls.h"
#include "amp/Dialect/AMP/IR/AMPCallOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::bufferization;

/// Creates a call of `amp_call_run` with the name and the numbers of `op`.
static void runCall(RewriterBase &rewriter, CallOp op) {
  StringRef callee = op.getCallee();
  auto letters =
      RankedTensorType::get({int64_t(callee.size())}, rewriter.getI8Type());
  ArrayRef<char> bytes(callee.data(), callee.size());
  ArrayRef<int64_t> seeds = op.getSeeds().value_or(ArrayRef<int64_t>());
  SmallVector<int64_t> numbers{int64_t(op.getInputs().size()),
                               int64_t(seeds.size())};
  llvm::append_range(numbers, seeds);
  llvm::append_range(numbers, op.getWrt().value_or(ArrayRef<int64_t>()));
  auto list =
      RankedTensorType::get({int64_t(numbers.size())}, rewriter.getI64Type());
  Value name =
      getConstantBuffer(rewriter, op, "amp_call_name",
                        DenseElementsAttr::getFromRawBuffer(letters, bytes));
  Value places =
      getConstantBuffer(rewriter, op, "amp_call_numbers",
                        DenseElementsAttr::get(list, ArrayRef(numbers)));
  callProcess(rewriter, op, "amp_call_run",
              {eraseShape(rewriter, name), eraseShape(rewriter, places)});
}

namespace {

struct CallBuffers : NewBufferModel<CallBuffers, CallOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<SmallVector<Value>> operands =
        getOperandBuffers(rewriter, op, options, state);
    if (failed(operands))
      return failure();
    SmallVector<Value> buffers = *operands, results;
    for (OpResult result : op->getResults()) {
      FailureOr<Value> buffer = allocateResult(rewriter, result, options);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
      results.push_back(*buffer);
    }
    passBuffers(rewriter, op, "amp_call_add_", buffers);
    runCall(rewriter, cast<CallOp>(op));
    passBuffers(rewriter, op, "amp_call_release_", buffers);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

} // namespace

void mlir::amp::registerCallBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AMPDialect *) {
    CallOp::attachInterface<CallBuffers>(*context);
    context->loadDialect<func::FuncDialect, memref::MemRefDialect>();
  });
}
