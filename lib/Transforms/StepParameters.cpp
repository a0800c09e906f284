//===- StepParameters.cpp - Parameters of a step and their readers --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepParameters.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"

using namespace mlir;
using namespace mlir::amp;

StepRewriter::OpSet mlir::amp::getForwardAndBackward(const StepRewriter &step) {
  SmallVector<Value> gradients = step.getGradients();
  SmallVector<Operation *> roots;
  for (Value gradient : gradients)
    roots.push_back(gradient.getDefiningOp());
  StepRewriter::OpSet slice;
  step.addBackwardSlice(roots, slice);

  StepRewriter::OpSet update = step.getDependents(gradients, slice);
  FunctionOpInterface function = step.getFunction();
  roots.clear();
  for (OpOperand &operand : step.getReturn()->getOpOperands()) {
    Operation *op = operand.get().getDefiningOp();
    auto updates = function.getResultAttrOfType<StringAttr>(
        operand.getOperandNumber(), AMPDialect::kUpdatesAttr);
    bool isModelState = false;
    for (unsigned i = 0; updates && i < function.getNumArguments(); ++i)
      isModelState |=
          function.getArgAttr(i, AMPDialect::kNameAttr) == updates &&
          getRole(function, i) == Role::ModelState;
    if (op && (!updates || isModelState))
      roots.push_back(op);
  }
  step.addBackwardSlice(roots, slice, update);
  return slice;
}

StringAttr mlir::amp::getUpdated(FunctionOpInterface function, unsigned index) {
  return function.getResultAttrOfType<StringAttr>(index,
                                                  AMPDialect::kUpdatesAttr);
}

SmallVector<std::pair<BlockArgument, FloatType>>
mlir::amp::getParameters(FunctionOpInterface function) {
  SmallVector<std::pair<BlockArgument, FloatType>> parameters;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (getRole(argument) != Role::Parameter ||
        !function.getArgAttrOfType<StringAttr>(index, AMPDialect::kNameAttr) ||
        !isPrecisionTensor(argument.getType()) ||
        !getElementTypeOrSelf(argument.getType()).isF32())
      continue;
    FloatType low;
    for (Operation *user : argument.getUsers())
      if (CastLike cast{user}; cast && cast.isInserted())
        low = mlir::cast<FloatType>(getElementTypeOrSelf(cast.getType()));
    parameters.push_back({argument, low});
  }
  return parameters;
}

SmallVector<Operation *> mlir::amp::getWideReaders(BlockArgument parameter,
                                                   Type low) {
  SmallVector<Operation *> readers;
  // The list of uses starts with the last one.
  SmallVector<Operation *> users(parameter.getUsers());
  for (Operation *user : llvm::reverse(users))
    if (CastLike cast(user); !cast || cast.getType() != low)
      readers.push_back(user);
  return readers;
}

LogicalResult mlir::amp::checkCasts(FunctionOpInterface function,
                                    CastChooser &casts, BlockArgument parameter,
                                    FloatType low, bool narrows) {
  Type type = parameter.getType();
  Type narrow = getWithElementType(type, low);
  Attribute name =
      function.getArgAttr(parameter.getArgNumber(), AMPDialect::kNameAttr);
  auto wide = Float32Type::get(type.getContext());
  SmallVector<Operation *> readers = getWideReaders(parameter, narrow);
  bool canBuild = readers.empty() || casts.canBuild(narrow, wide, readers);
  for (OpOperand &operand :
       function.getFunctionBody().front().getTerminator()->getOpOperands())
    if (narrows && getUpdated(function, operand.getOperandNumber()) == name)
      canBuild &= casts.canBuild(type, low, operand.get().getDefiningOp());
  if (canBuild)
    return success();
  return function->emitError("parameter ")
         << name << " is needed as " << type << " and as " << narrow
         << ", but neither the operations around it nor the dialect '"
         << type.getDialect().getNamespace()
         << "' have a cast between them; expected a "
            "CastMaterializationInterface, or a step into which "
            "auto-mixed-precision has put casts by an adapter";
}
