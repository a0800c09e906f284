//===- CheckBackwardPass.cpp - Conditions of loss scaling on a step -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckBackwardPass.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Support/DependentValues.h"

#include "mlir/Interfaces/CallInterfaces.h"
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

/// Adds notes to `diagnostic` on the parameters whose updates depend on `value`
/// and that have no marked gradient.
static void explainMissingGradients(const StepRewriter &step, Value value,
                                    ArrayRef<Value> gradients,
                                    InFlightDiagnostic &diagnostic) {
  FunctionOpInterface function = step.getFunction();
  llvm::DenseSet<Attribute> marked;
  for (Value gradient : gradients)
    marked.insert(StepRewriter::getParameterOf(gradient));
  // The operations that depend on the value.
  StepRewriter::OpSet dependents = step.getDependents({value}, {});
  Operation *last = step.getReturn();
  for (unsigned i = 0, e = last->getNumOperands(); i != e; ++i) {
    auto name =
        function.getResultAttrOfType<StringAttr>(i, AMPDialect::kUpdatesAttr);
    Operation *definer = last->getOperand(i).getDefiningOp();
    if (!name || marked.contains(name) || !definer ||
        !dependents.contains(step.getAncestor(definer)))
      continue;
    for (BlockArgument argument : function.getArguments())
      if (getRole(argument) == Role::Parameter &&
          function.getArgAttr(argument.getArgNumber(), AMPDialect::kNameAttr) ==
              name)
        diagnostic.attachNote(argument.getLoc())
            << "no gradient of " << name
            << " is marked, although its update depends on this; if a pass "
               "dropped 'amp.gradient_of' with the operation that had it, mark "
               "the gradient by position, as 'amp-import-step' reads it";
  }
}

LogicalResult mlir::amp::checkBackwardPass(const StepRewriter &step,
                                           CastChooser &casts,
                                           ArrayRef<Operation *> seeds,
                                           ArrayRef<Value> gradients,
                                           const StepRewriter::OpSet &backward,
                                           SmallVectorImpl<Value> &observed) {
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

  // Readers of a low gradient after the backward pass read the unscaled
  // gradient, rounded to the low type again.
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
             << ", for which neither its dialect nor the dialect of its "
                "producer has "
                "a cast; expected a CastMaterializationInterface, or a step "
                "into which auto-mixed-precision has put casts by an adapter";
    }
  }

  // The operations on which the results of the step depend. The others are
  // dead.
  StepRewriter::OpSet live;
  step.addBackwardSlice({step.getReturn()}, live);
  SmallVector<Value> seeded;
  for (Operation *seed : seeds)
    seeded.push_back(seed->getResult(0));
  // A loss reads the true gradient, and the values that are computed back from
  // there have no factor.
  auto follows = [&](OpOperand &use) {
    Operation *op = use.getOwner();
    Operation *ancestor = step.getAncestor(op);
    // A called function lacks this operation.
    return !isa<InnerGradientOp>(op) &&
           (!ancestor || backward.contains(ancestor));
  };
  llvm::DenseSet<Value> known(gradients.begin(), gradients.end());
  llvm::DenseSet<Value> scaled = findDependentValues(seeded, follows);
  for (Operation &op : step.getBody()) {
    for (Value value : op.getResults()) {
      if (!scaled.contains(value) || known.contains(value))
        continue;
      auto isOutside = [&](Operation *nested) {
        Operation *user = step.getAncestor(nested);
        return !backward.contains(user) && live.contains(user);
      };
      auto user = llvm::find_if(value.getUsers(), isOutside);
      if (user == value.user_end())
        continue;
      // A result of a loop or a call, such as a norm, is unscaled like a
      // gradient. A decision has no factor.
      if (op.getNumRegions() != 0 || isa<CallOpInterface>(op)) {
        if (isPrecisionTensor(value.getType()))
          observed.push_back(value);
        continue;
      }
      auto diag = op.emitOpError(
          "depends on a gradient seed and is used outside of the backward "
          "pass, where it would still be scaled; expected "
          "'amp.gradient_of' here, or on the gradient that is computed "
          "from it");
      diag.attachNote(step.getAncestor(*user)->getLoc()) << "used here";
      explainMissingGradients(step, value, gradients, diag);
      return diag;
    }
  }
  return success();
}
