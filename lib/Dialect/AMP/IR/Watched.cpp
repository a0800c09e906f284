//===- Watched.cpp - The values that amp-watch returns --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/Watched.h"

#include "amp/Support/LocationText.h"

using namespace mlir;
using namespace mlir::amp;

OpResult mlir::amp::getComputedResult(Value value) {
  auto result = dyn_cast<OpResult>(value);
  while (result) {
    Operation *op = result.getOwner();
    if (op->getNumRegions() == 0 || op->getRegion(0).empty() ||
        op->getRegion(0).front().empty())
      break;
    Operation *yield = &op->getRegion(0).front().back();
    if (!yield->hasTrait<OpTrait::IsTerminator>() ||
        yield->getNumOperands() != op->getNumResults())
      break;
    auto inner =
        dyn_cast<OpResult>(yield->getOperand(result.getResultNumber()));
    if (!inner || !op->isProperAncestor(inner.getOwner()))
      break;
    result = inner;
  }
  return result;
}

std::string mlir::amp::nameWatchedValue(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function =
        dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    auto name = function ? function.getArgAttrOfType<StringAttr>(
                               argument.getArgNumber(), AMPDialect::kNameAttr)
                         : StringAttr();
    return "argument " + (name ? "\"" + name.str() + "\""
                               : std::to_string(argument.getArgNumber()));
  }
  OpResult result = getComputedResult(value);
  Operation *op = result.getOwner();
  std::string text = op->getName().getStringRef().str();
  if (op->getNumResults() > 1)
    text += "#" + std::to_string(result.getResultNumber());
  LocationText location(op->getLoc());
  for (const std::string &part : {location.name, location.place})
    if (!part.empty())
      text += " " + part;
  return text;
}

StringRef mlir::amp::stringifyPart(StepPart part) {
  static constexpr StringLiteral names[] = {"forward", "backward", "update"};
  return names[int(part)];
}

llvm::DenseMap<Operation *, StepPart> mlir::amp::findStepParts(Block &body) {
  // The earliest part of the operations that use a value.
  llvm::DenseMap<Value, StepPart> uses;
  llvm::DenseMap<Operation *, StepPart> parts;
  for (Operation &op : body) {
    StepPart part = StepPart::Forward;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (auto it = uses.find(operand); it != uses.end())
          part = std::max(part, it->second);
      if (isa<GradientSeedOpInterface>(nested) ||
          nested->hasAttr(AMPDialect::kBackwardOfAttr))
        part = std::max(part, StepPart::Backward);
    });
    parts[&op] = part;
    auto gradients = op.getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
    for (auto [index, result] : llvm::enumerate(op.getResults())) {
      bool isGradient = gradients && index < gradients.size() &&
                        gradients[index] != StringAttr::get(op.getContext());
      uses[result] = isGradient ? StepPart::Update : part;
    }
  }
  return parts;
}

SmallVector<WatchedValue>
mlir::amp::getWatchedValues(FunctionOpInterface function) {
  SmallVector<WatchedValue> values;
  Operation *terminator = function.getFunctionBody().front().getTerminator();
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(
        i, AMPDialect::kPredictionAttr);
    StringRef text = name ? name.getValue() : StringRef();
    unsigned number;
    if (!text.consume_front(kWatchPrefix) || text.consumeInteger(10, number))
      continue;
    text.consume_front(" in ");
    Value value = terminator->getOperand(i);
    auto statistics = value.getDefiningOp<StatisticsOp>();
    if (statistics) {
      text = statistics.getPart().value_or("forward");
      value = statistics.getInput();
    }
    values.push_back({number, name.str(), text.str(), value, statistics});
  }
  return values;
}
