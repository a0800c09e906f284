//===- TestBufferLiveness.cpp - What functions over buffers allocate ------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/BufferLiveness.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

struct TestBufferLiveness
    : PassWrapper<TestBufferLiveness, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestBufferLiveness)

  StringRef getArgument() const override { return "test-buffer-liveness"; }
  StringRef getDescription() const override {
    return "Say how much each function has allocated at most";
  }
  void runOnOperation() override {
    std::optional<int64_t> bytes = computePeakBufferBytes(getOperation());
    if (bytes)
      getOperation().emitRemark() << "allocates " << *bytes << " bytes at most";
    else
      getOperation().emitRemark("allocates what depends on values");
  }
};

} // namespace

namespace mlir::amp::test {
void registerBufferLivenessTest() { PassRegistration<TestBufferLiveness>(); }
} // namespace mlir::amp::test
