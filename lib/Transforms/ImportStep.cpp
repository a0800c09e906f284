//===- ImportStep.cpp - Gradients named by position -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::amp {
#define GEN_PASS_DEF_IMPORTSTEPPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

/// A result that is a gradient.
struct Gradient {
  unsigned result;
  OpResult value;
  StringAttr parameter;
};

/// The changes to one function.
struct Import {
  FunctionOpInterface function;
  Operation *terminator = nullptr;
  SmallVector<Gradient> gradients;
  SmallVector<unsigned> seeds;
};

class ImportStepPass final
    : public amp::impl::ImportStepPassBase<ImportStepPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Import> imports;
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          Import found;
          found.function = function;
          if (failed(examine(found)))
            return WalkResult::interrupt();
          if (!found.gradients.empty() || !found.seeds.empty())
            imports.push_back(std::move(found));
          return WalkResult::skip();
        });
    // All errors are found before anything changes.
    if (result.wasInterrupted())
      return signalPassFailure();
    for (Import &entry : imports)
      rewrite(entry);
  }

private:
  static LogicalResult examine(Import &found);
  void rewrite(Import &found);
};

} // namespace

LogicalResult ImportStepPass::examine(Import &found) {
  FunctionOpInterface function = found.function;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
    if (function.getArgAttr(i, AMPDialect::kGradientSeedAttr))
      found.seeds.push_back(i);
  auto getName = [&](unsigned result) {
    return function.getResultAttrOfType<StringAttr>(
        result, AMPDialect::kGradientOfAttr);
  };
  bool hasGradients = false;
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
    hasGradients |= static_cast<bool>(getName(i));
  if (!hasGradients && found.seeds.empty())
    return success();
  if (!function.getFunctionBody().hasOneBlock())
    return function->emitError(
        "expected a step with marked gradients to have one block");
  found.terminator = function.getFunctionBody().front().getTerminator();
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i) {
    StringAttr name = getName(i);
    if (!name)
      continue;
    auto value = dyn_cast<OpResult>(found.terminator->getOperand(i));
    if (!value)
      return function->emitError("result ")
             << i << " is marked as the gradient of " << name
             << ", but is an argument; expected a value that the step computes";
    for (const Gradient &other : found.gradients)
      if (other.value == value)
        return function->emitError("result ")
               << i << ", the gradient of " << name << ", is the gradient of "
               << other.parameter << " too";
    found.gradients.push_back({i, value, name});
  }
  return success();
}

void ImportStepPass::rewrite(Import &found) {
  FunctionOpInterface function = found.function;
  OpBuilder builder(function.getContext());
  for (const Gradient &gradient : found.gradients) {
    Operation *op = gradient.value.getOwner();
    SmallVector<Attribute> names(op->getNumResults(),
                                 builder.getStringAttr(""));
    if (auto present =
            op->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr))
      names.assign(present.begin(), present.end());
    names[gradient.value.getResultNumber()] = gradient.parameter;
    op->setDiscardableAttr(
        StringAttr::get(&getContext(), AMPDialect::kGradientOfAttr),
        builder.getArrayAttr(names));
    ++numGradients;
  }
  llvm::BitVector results(function.getNumResults());
  llvm::BitVector operands(found.terminator->getNumOperands());
  for (const Gradient &gradient : found.gradients) {
    results.set(gradient.result);
    operands.set(gradient.result);
  }
  found.terminator->eraseOperands(operands);
  (void)function.eraseResults(results);

  llvm::BitVector arguments(function.getNumArguments());
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  for (unsigned index : found.seeds) {
    BlockArgument argument = function.getArgument(index);
    auto loss = function.getArgAttrOfType<StringAttr>(
        index, AMPDialect::kGradientSeedAttr);
    Value seed = GradientSeedOp::create(builder, argument.getLoc(),
                                        argument.getType(), loss);
    argument.replaceAllUsesWith(seed);
    arguments.set(index);
  }
  (void)function.eraseArguments(arguments);
}
