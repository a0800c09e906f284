//===- BufferizeCollectives.cpp - Calls that exchange buffers -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives become calls of functions of the process that runs the step.
// `amp_collective_add_<type>` adds a buffer to the bucket, and
// `amp_collective_all_reduce_<reduction>` reduces all buffers of the bucket in
// place. Later calls of `amp_collective_release_<type>` keep the buffers
// allocated until then.
//
//===----------------------------------------------------------------------===//

#include "amp/CodeGen/ProcessFunctions.h"

#include "ProcessCalls.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::bufferization;

namespace {

/// Reduces the buffers of the operands in place.
struct AllReduceBuffers
    : BufferizableOpInterface::ExternalModel<AllReduceBuffers, AllReduceOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return true;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    return {{op->getResult(operand.getOperandNumber()),
             BufferRelation::Equivalent}};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<SmallVector<Value>> buffers =
        getOperandBuffers(rewriter, op, options, state);
    if (failed(buffers))
      return failure();
    passBuffers(rewriter, op, "amp_collective_add_", *buffers);
    StringRef reduction =
        stringifyRankReductionKind(cast<AllReduceOp>(op).getReduction());
    callProcess(rewriter, op, ("amp_collective_all_reduce_" + reduction).str(),
                ValueRange());
    passBuffers(rewriter, op, "amp_collective_release_", *buffers);
    replaceOpWithBufferizedValues(rewriter, op, *buffers);
    return success();
  }
};

/// Writes the part of this rank, or the parts of all ranks, to a new buffer.
template <typename OpTy>
struct ShardBuffers : NewBufferModel<ShardBuffers<OpTy>, OpTy> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<Value> from =
        getBuffer(rewriter, op->getOperand(0), options, state);
    if (failed(from))
      return failure();
    FailureOr<Value> to = allocateResult(rewriter, op->getResult(0), options);
    if (failed(to))
      return failure();
    Value along = arith::ConstantOp::create(
        rewriter, op->getLoc(),
        rewriter.getI64IntegerAttr(cast<OpTy>(op).getAlong()));
    callProcess(
        rewriter, op,
        ("amp_collective_" + op->getName().stripDialect() + "_").str() +
            spellElementType(*from),
        {eraseShape(rewriter, *from), eraseShape(rewriter, *to), along});
    replaceOpWithBufferizedValues(rewriter, op, *to);
    return success();
  }
};

} // namespace

void mlir::amp::registerCollectiveBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AMPDialect *) {
    AllReduceOp::attachInterface<AllReduceBuffers>(*context);
    AllGatherOp::attachInterface<ShardBuffers<AllGatherOp>>(*context);
    RankPartOp::attachInterface<ShardBuffers<RankPartOp>>(*context);
    ReduceScatterOp::attachInterface<ShardBuffers<ReduceScatterOp>>(*context);
    context->loadDialect<func::FuncDialect, memref::MemRefDialect>();
  });
}
