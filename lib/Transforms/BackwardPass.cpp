//===- BackwardPass.cpp - What loss scaling asks of a step ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardPass.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

LogicalResult mlir::amp::checkRolesOfUpdates(FunctionOpInterface function) {
  bool updatesParameter = false;
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    auto updates = function.getResultAttrOfType<StringAttr>(
        result, AMPDialect::kUpdatesAttr);
    for (unsigned i = 0; updates && i < function.getNumArguments(); ++i) {
      if (function.getArgAttr(i, AMPDialect::kNameAttr) != updates)
        continue;
      std::optional<Role> role = getRole(function, i);
      if (!role)
        return function->emitError("the step updates argument ")
               << i << ", " << updates
               << ", which has no 'amp.role'; expected one that says whether "
                  "an overflow guards it";
      updatesParameter |= role == Role::Parameter;
    }
  }
  if (!updatesParameter)
    return function->emitError(
        "the step has gradients but updates no parameter; expected a result "
        "with 'amp.updates' that names an argument with 'amp.role' = "
        "\"parameter\"");
  return success();
}

LogicalResult mlir::amp::checkBackwardPass(
    const StepRewriter &step, CastChooser &casts, ArrayRef<Operation *> seeds,
    ArrayRef<Value> gradients, const StepRewriter::OpSet &backward) {
  for (Value gradient : gradients) {
    Type element = getElementTypeOrSelf(gradient);
    if (!isPrecisionTensor(gradient.getType()))
      return gradient.getDefiningOp()->emitOpError(
                 "expected a gradient to be a ranked tensor of floats, got ")
             << gradient.getType();
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
      return gradient.getDefiningOp()->emitOpError(
                 "expected the elements of a gradient to be f16, bf16, f32 or "
                 "f64, got ")
             << element;
  }

  // What reads a low gradient behind the backward pass reads the unscaled one,
  // rounded to that type again.
  for (Value gradient : gradients) {
    Type type = gradient.getType();
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    if (element.isF32() || element.isF64())
      continue;
    Type wide = getWithElementType(type, Float32Type::get(type.getContext()));
    for (Operation *nested : gradient.getUsers()) {
      Operation *user = step.getAncestor(nested);
      CastLike widening(nested);
      if (backward.contains(user) || (widening && widening.getType() == wide) ||
          casts.canBuild(wide, element, {user, gradient.getDefiningOp()}))
        continue;
      return nested->emitOpError("reads a gradient as ")
             << type
             << ", for which neither its dialect nor that of its producer has "
                "a cast; expected a CastMaterializationInterface, or a step "
                "into which auto-mixed-precision has put casts by an adapter";
    }
  }

  // What the results of the step depend on; the rest is dead.
  StepRewriter::OpSet live;
  step.addBackwardSlice({step.getReturn()}, live);
  SmallVector<Value> worklist;
  StepRewriter::OpSet holders;
  for (Operation *seed : seeds) {
    worklist.push_back(seed->getResult(0));
    if (Operation *ancestor = step.getAncestor(seed); ancestor != seed)
      holders.insert(ancestor);
  }
  llvm::DenseSet<Value> seen(gradients.begin(), gradients.end());
  StepRewriter::OpSet visited;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *nested : value.getUsers()) {
      Operation *user = step.getAncestor(nested);
      if (backward.contains(user)) {
        // What stands in a loss is the true gradient, and what goes back from
        // there has no factor either.
        if (isa<InnerGradientOp>(user))
          continue;
        // What a loop that holds a seed carries out of it, gradients beside
        // losses, is for amp-check-loss-scaling to prove.
        if (visited.insert(user).second && !holders.contains(user))
          llvm::append_range(worklist, user->getResults());
        continue;
      }
      if (seen.contains(value) || !live.contains(user))
        continue;
      auto diag = value.getDefiningOp()->emitOpError(
          "depends on a gradient seed and is used outside of the backward "
          "pass, where it would still be scaled; expected "
          "'amp.gradient_of' here, or on the gradient that is computed "
          "from it");
      diag.attachNote(user->getLoc()) << "used here";
      return diag;
    }
  }
  return success();
}
