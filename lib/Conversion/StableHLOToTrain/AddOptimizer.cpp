//===- AddOptimizer.cpp - Gradients and an optimizer for a loss -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

/// Lets `function` return the new value of each state, and then the loss.
static void setResults(func::FuncOp function,
                       ArrayRef<std::pair<std::string, Value>> updated,
                       Value loss, SmallVectorImpl<Value> &results) {
  Builder builder(function.getContext());
  SmallVector<Attribute> attributes;
  SmallVector<Type> types;
  Attribute metric = function.getResultAttrDict(0);
  results.clear();
  for (const auto &[name, value] : updated) {
    results.push_back(value);
    types.push_back(value.getType());
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        AMPDialect::kUpdatesAttr, builder.getStringAttr(name))));
  }
  results.push_back(loss);
  types.push_back(loss.getType());
  attributes.push_back(metric);
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), types));
  function.setResAttrsAttr(builder.getArrayAttr(attributes));
}

/// Appends gradients and an update of each parameter, with the state of the
/// optimizer as arguments.
LogicalResult StableHLOImporter::addUpdates(StringRef optimizer,
                                            double learningRate, Value loss,
                                            SmallVectorImpl<Value> &results) {
  Block *block = loss.getParentBlock();
  MLIRContext *context = function.getContext();
  Location loc = function.getLoc();
  StringAttr roleName = StringAttr::get(context, AMPDialect::kRoleAttr);
  StringAttr nameName = StringAttr::get(context, AMPDialect::kNameAttr);
  StringAttr initName = StringAttr::get(context, AMPDialect::kInitAttr);
  SmallVector<std::pair<std::string, Value>> parameters;
  llvm::StringSet<> names;
  std::string taken;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
    auto role = function.getArgAttrOfType<StringAttr>(i, roleName);
    auto name = function.getArgAttrOfType<StringAttr>(i, nameName);
    if (name)
      names.insert(name.getValue());
    if (role && name && role.getValue() == "parameter")
      parameters.push_back({name.str(), block->getArgument(i)});
  }
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto zeros = InitAttr::get(context, InitKind::Zeros, {}, {}, {});
  auto add = [&](Role role, const Twine &name, Type type, InitAttr init) {
    unsigned index = function.getNumArguments();
    if (!names.insert(name.str()).second)
      taken = name.str();
    DictionaryAttr attributes = builder.getDictionaryAttr(
        {{roleName, builder.getStringAttr(stringifyRole(role))},
         {nameName, builder.getStringAttr(name)},
         {initName, init}});
    // The old block is not an entry block any more, so add arguments by hand.
    Value argument = block->addArgument(type, loc);
    SmallVector<Type> inputs(function.getArgumentTypes());
    inputs.push_back(type);
    function.setFunctionType(FunctionType::get(
        context, inputs, function.getFunctionType().getResults()));
    SmallVector<Attribute> all;
    if (ArrayAttr present = function.getArgAttrsAttr())
      all.assign(present.begin(), present.end());
    all.resize(index, builder.getDictionaryAttr({}));
    all.push_back(attributes);
    function.setArgAttrsAttr(builder.getArrayAttr(all));
    return argument;
  };
  SmallVector<Value> wrt;
  SmallVector<Type> types;
  for (auto &[name, value] : parameters) {
    wrt.push_back(value);
    types.push_back(value.getType());
  }
  auto gradients = train::GradientsOp::create(builder, loc, types, loss, wrt);
  bool adam = optimizer == "adam";
  auto rate = InitAttr::get(context, InitKind::Constant,
                            builder.getF64FloatAttr(learningRate), {}, {});
  Value lr = add(Role::Hyperparameter, "lr", scalar, rate);
  Value step, next;
  SmallVector<std::pair<std::string, Value>> updated;
  if (adam) {
    step = add(Role::OptimizerState, "step", scalar, zeros);
    TrainBuilder b(builder, loc);
    next = b.add(step, 1.0);
    updated.push_back({"step", next});
  }
  for (auto [parameter, gradient] :
       llvm::zip(parameters, gradients.getResults())) {
    Value w = parameter.second;
    const std::string &name = parameter.first;
    if (!adam) {
      auto update = train::SGDOp::create(builder, loc, TypeRange(w.getType()),
                                         ValueRange{w, gradient, lr});
      updated.push_back({name, update->getResult(0)});
      continue;
    }
    Value m = add(Role::OptimizerState, name + ".m", w.getType(), zeros);
    Value v = add(Role::OptimizerState, name + ".v", w.getType(), zeros);
    Type same[] = {w.getType(), w.getType(), w.getType()};
    auto update = train::AdamOp::create(
        builder, loc, TypeRange(same), ValueRange{w, gradient, lr, m, v, next});
    updated.push_back({name, update->getResult(0)});
    updated.push_back({name + ".m", update->getResult(1)});
    updated.push_back({name + ".v", update->getResult(2)});
  }
  setResults(function, updated, loss, results);
  if (!taken.empty())
    return function.emitError("stablehlo-to-train: the optimizer '")
           << optimizer << "' needs an argument named '" << taken
           << "', but there is one; expected it to have another 'amp.name'";
  return success();
}
