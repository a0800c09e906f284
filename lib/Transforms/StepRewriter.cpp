//===- StepRewriter.cpp - Changing the signature of a step ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepRewriter.h"

#include "amp/Dialect/AMP/IR/GradientShape.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/AMP/IR/ParameterGradients.h"
#include "amp/Support/RegionFlow.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::amp;

FailureOr<StepRewriter> StepRewriter::get(FunctionOpInterface function) {
  if (failed(verifyStepBody(function)))
    return failure();
  return StepRewriter(function);
}

/// Attributes of JAX and its compilers on arguments and results.
static constexpr StringLiteral kMhloSharding = "mhlo.sharding";
static constexpr StringLiteral kShardings[] = {kMhloSharding, "sdy.sharding"};
static constexpr StringLiteral kAliasing = "tf.aliasing_output";
static constexpr StringLiteral kDonor = "jax.buffer_donor";

FailureOr<BlockArgument> StepRewriter::addArgument(StringRef name, Role role,
                                                   Type type, InitAttr init,
                                                   BlockArgument like) {
  unsigned index = function.getNumArguments();
  for (unsigned i = 0; i < index; ++i) {
    auto other =
        function.getArgAttrOfType<StringAttr>(i, AMPDialect::kNameAttr);
    if (other && other.getValue() == name)
      return function->emitError("cannot add the argument '")
             << name << "': argument " << i << " has that 'amp.name'";
  }
  Builder builder(function.getContext());
  NamedAttrList attributes;
  attributes.set(AMPDialect::kRoleAttr,
                 builder.getStringAttr(stringifyRole(role)));
  attributes.set(AMPDialect::kNameAttr, builder.getStringAttr(name));
  if (init)
    attributes.set(AMPDialect::kInitAttr, init);
  for (StringRef sharding : kShardings)
    if (like)
      if (Attribute of = function.getArgAttr(like.getArgNumber(), sharding))
        attributes.set(sharding, of);
  auto isSharded = [&](BlockArgument argument) {
    return function.getArgAttr(argument.getArgNumber(), kMhloSharding) !=
           nullptr;
  };
  if (!like && llvm::any_of(function.getArguments(), isSharded))
    attributes.set(kMhloSharding, builder.getStringAttr("{replicated}"));
  if (failed(function.insertArgument(
          index, type, attributes.getDictionary(function.getContext()),
          function.getLoc())))
    return function->emitError("cannot add the argument '") << name << "'";
  return function.getArgument(index);
}

/// Gives the result number `result` the sharding of the argument named `name`,
/// which it updates, and the argument an alias where parameters are donated.
void StepRewriter::alias(unsigned result, StringRef name) {
  auto isNamed = [&](BlockArgument argument) {
    auto have = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      AMPDialect::kNameAttr);
    return have && have.getValue() == name;
  };
  auto isDonated = [&](BlockArgument argument) {
    unsigned index = argument.getArgNumber();
    return getRole(argument) == Role::Parameter &&
           (function.getArgAttr(index, kAliasing) ||
            function.getArgAttr(index, kDonor));
  };
  auto *argument = llvm::find_if(function.getArguments(), isNamed);
  if (argument == function.getArguments().end())
    return;
  unsigned index = argument->getArgNumber();
  for (StringRef sharding : kShardings)
    if (Attribute of = function.getArgAttr(index, sharding))
      function.setResultAttr(result, sharding, of);
  if (argument->getType() == function.getResultTypes()[result] &&
      llvm::any_of(function.getArguments(), isDonated))
    function.setArgAttr(
        index, kAliasing,
        Builder(function.getContext()).getI32IntegerAttr(result));
}

LogicalResult StepRewriter::addResult(Value value, StringRef attribute,
                                      StringRef name) {
  unsigned index = function.getNumResults();
  for (unsigned i = 0; i < index; ++i) {
    auto other = function.getResultAttrOfType<StringAttr>(i, attribute);
    if (other && other.getValue() == name)
      return function->emitError("cannot add the result '")
             << name << "': result " << i << " has that '" << attribute << "'";
  }
  Builder builder(function.getContext());
  NamedAttrList attributes;
  attributes.set(attribute, builder.getStringAttr(name));
  if (failed(function.insertResult(
          index, value.getType(),
          attributes.getDictionary(function.getContext()))))
    return function->emitError("cannot add the result '") << name << "'";
  getReturn()->insertOperands(getReturn()->getNumOperands(), value);
  if (attribute == AMPDialect::kUpdatesAttr)
    alias(index, name);
  return success();
}

SmallVector<Value> StepRewriter::getGradients() const {
  return getParameterGradients(getBody());
}

Operation *StepRewriter::getResultPoint() const {
  Operation *before = getReturn();
  while (Operation *previous = before->getPrevNode()) {
    CastLike cast(previous);
    if (!cast || !cast.isInserted() ||
        llvm::any_of(previous->getUsers(),
                     [&](Operation *user) { return user != getReturn(); }))
      break;
    before = previous;
  }
  return before;
}

StringAttr StepRewriter::getParameterOf(Value gradient) {
  auto names = gradient.getDefiningOp()->getAttrOfType<ArrayAttr>(
      AMPDialect::kGradientOfAttr);
  return cast<StringAttr>(names[cast<OpResult>(gradient).getResultNumber()]);
}

StringAttr StepRewriter::getOptimizer(StringAttr argument) const {
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
    if (function.getArgAttr(i, AMPDialect::kNameAttr) == argument)
      return function.getArgAttrOfType<StringAttr>(i,
                                                   AMPDialect::kOptimizerAttr);
  return {};
}

LogicalResult StepRewriter::checkUpdates() const {
  llvm::StringSet<> updated, withGradient;
  llvm::StringMap<unsigned> arguments;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
    if (auto name =
            function.getArgAttrOfType<StringAttr>(i, AMPDialect::kNameAttr))
      arguments.try_emplace(name.getValue(), i);
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
    if (auto name = function.getResultAttrOfType<StringAttr>(
            i, AMPDialect::kUpdatesAttr))
      updated.insert(name.getValue());
  for (Operation &op : getBody())
    if (auto names = op.getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr))
      for (auto [index, name] : llvm::enumerate(names)) {
        StringRef text = cast<StringAttr>(name).getValue();
        if (text.empty())
          continue;
        auto found = arguments.find(text);
        if (found == arguments.end())
          return op.emitOpError("is the gradient of ")
                 << name << ", but no argument of the step has that 'amp.name'";
        // With several losses a parameter has several gradients.
        withGradient.insert(text);
        auto type =
            dyn_cast<ShapedType>(function.getArgument(found->second).getType());
        auto gradient =
            index < op.getNumResults()
                ? dyn_cast<ShapedType>(op.getResult(index).getType())
                : ShapedType();
        if (type && gradient && type.hasRank() && gradient.hasRank() &&
            !isGradientShape(gradient, type))
          return op.emitOpError("is the gradient of ")
                 << name << ", expected the shape of " << Type(type) << ", got "
                 << Type(gradient);
      }
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
    std::optional<Role> role = getRole(function, i);
    auto name = function.getArgAttrOfType<StringAttr>(i, AMPDialect::kNameAttr);
    if (!role || (name && updated.contains(name.getValue())))
      continue;
    bool hasGradient = role == Role::Parameter && name &&
                       withGradient.contains(name.getValue());
    if (role != Role::OptimizerState && role != Role::ScalerState &&
        role != Role::QuantizerState && !hasGradient)
      continue;
    InFlightDiagnostic diagnostic = function->emitError("argument ") << i;
    if (name)
      diagnostic << ", " << name << ',';
    diagnostic << " has 'amp.role' = \"" << stringifyRole(*role) << '"'
               << (hasGradient ? " and a gradient" : "")
               << ", but the step does not update it; expected a result with "
                  "'amp.updates' that names it, or another role";
    return diagnostic;
  }
  return success();
}

void StepRewriter::addBackwardSlice(ArrayRef<Operation *> roots, OpSet &slice,
                                    const OpSet &barrier) const {
  SmallVector<Operation *> worklist;
  auto push = [&](Operation *op) {
    if (op && !barrier.contains(op) && slice.insert(op).second)
      worklist.push_back(op);
  };
  for (Operation *root : roots)
    push(root);
  while (!worklist.empty()) {
    worklist.pop_back_val()->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          push(getAncestor(producer));
    });
  }
}

StepRewriter::OpSet StepRewriter::getDependents(ArrayRef<Value> values,
                                                const OpSet &except) const {
  OpSet dependents;
  SmallVector<Value> worklist(values);
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      Operation *ancestor = getAncestor(user);
      if (except.contains(ancestor) || !dependents.insert(ancestor).second)
        continue;
      llvm::append_range(worklist, ancestor->getResults());
    }
  }
  return dependents;
}

void StepRewriter::moveDependentsAfter(Operation *anchor,
                                       ArrayRef<Value> values,
                                       const OpSet &except) const {
  OpSet dependents = getDependents(values, except);
  Operation *last = anchor;
  for (Operation &op : llvm::make_early_inc_range(getBody())) {
    if (&op == anchor)
      break;
    if (!dependents.contains(&op))
      continue;
    op.moveAfter(last);
    last = &op;
  }
}
