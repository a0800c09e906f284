//===- Terms.cpp - What an elementwise operation combines -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Terms.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

SmallVector<OpOperand *, 4> mlir::amp::getInputs(Operation *op) {
  auto style = op->getNumRegions() != 0
                   ? dyn_cast<DestinationStyleOpInterface>(op)
                   : DestinationStyleOpInterface();
  SmallVector<OpOperand *, 4> inputs;
  for (OpOperand &operand : op->getOpOperands())
    if (!style || !style.isDpsInit(&operand))
      inputs.push_back(&operand);
  return inputs;
}

SmallVector<OpOperand *, 4> mlir::amp::getTerms(Operation *op) {
  SmallVector<OpOperand *, 4> terms = getInputs(op);
  llvm::erase_if(terms, [](OpOperand *operand) {
    return !isa<FloatType>(getElementTypeOrSelf(operand->get().getType()));
  });
  return terms;
}
