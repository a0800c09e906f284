//===- FinishLLVM.cpp - Final changes to the LLVM dialect -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/CodeGen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::amp {
#define GEN_PASS_DEF_FINISHLLVM
#include "amp/CodeGen/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// Replaces the type bf16 by i16 everywhere. At this point bf16 is only moved.
/// Widening and rounding have become integer arithmetic.
static LogicalResult replaceBF16(ModuleOp module) {
  auto bf16 = BFloat16Type::get(module.getContext());
  auto i16 = IntegerType::get(module.getContext(), 16);
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [=](BFloat16Type) -> std::optional<Type> { return i16; });
  replacer.addReplacement([=](FloatAttr attr) -> std::optional<Attribute> {
    if (attr.getType() != bf16)
      return std::nullopt;
    return IntegerAttr::get(i16, attr.getValue().bitcastToAPInt());
  });
  replacer.addReplacement(
      [=](DenseElementsAttr attr) -> std::optional<Attribute> {
        if (attr.getElementType() != bf16)
          return std::nullopt;
        return attr.bitcast(i16);
      });

  auto mentions = [&](Type type) { return replacer.replace(type) != type; };
  WalkResult result = module.walk([&](Operation *op) {
    bool computes = op->getDialect() &&
                    op->getDialect()->getNamespace() == "llvm" &&
                    op->hasTrait<OpTrait::SameOperandsAndResultType>() &&
                    llvm::any_of(op->getResultTypes(), mentions);
    if (!computes)
      return WalkResult::advance();
    op->emitOpError("computes on bf16, expected the computation to be widened");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  // Remove the casts between the two types.
  module.walk([](LLVM::BitcastOp cast) {
    if (cast.getArg().getType() == cast.getType()) {
      cast.replaceAllUsesWith(cast.getArg());
      cast.erase();
    }
  });
  return success();
}

/// Conversions leave attributes of their source dialects behind. The
/// translation to LLVM IR does not know them.
static void dropForeignAttributes(ModuleOp module) {
  module.walk([](Operation *op) {
    for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
      if (isa<arith::ArithDialect>(attr.getValue().getDialect()))
        op->removeDiscardableAttr(attr.getName());
  });
}

namespace {

struct FinishLLVM : mlir::amp::impl::FinishLLVMBase<FinishLLVM> {
  void runOnOperation() override {
    dropForeignAttributes(getOperation());
    if (failed(replaceBF16(getOperation())))
      signalPassFailure();
  }
};

} // namespace
