//===- CopiesToLoops.cpp - Copies of parts of buffers ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/CodeGen/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace mlir::amp {
#define GEN_PASS_DEF_COPIESTOLOOPS
#include "amp/CodeGen/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

struct CopiesToLoops : mlir::amp::impl::CopiesToLoopsBase<CopiesToLoops> {
  void runOnOperation() override {
    auto isContiguous = [](Value buffer) {
      auto type = dyn_cast<MemRefType>(buffer.getType());
      return type && memref::isStaticShapeAndContiguousRowMajor(type);
    };
    getOperation()->walk([&](memref::CopyOp copy) {
      Value source = copy.getSource(), target = copy.getTarget();
      if (!isa<MemRefType>(source.getType()) ||
          !isa<MemRefType>(target.getType()) ||
          (isContiguous(source) && isContiguous(target)))
        return;
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), source, target);
      copy.erase();
    });
  }
};

} // namespace
