//===- BucketedReductions.cpp - Where ranks add their values --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BucketedReductions.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

StringAttr mlir::amp::getGradientName(Value gradient) {
  Operation *op = gradient.getDefiningOp();
  auto names = op ? op->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr)
                  : ArrayAttr();
  return names ? cast<StringAttr>(
                     names[cast<OpResult>(gradient).getResultNumber()])
               : StringAttr();
}

SmallVector<Value> mlir::amp::getNamedGradients(Block &body) {
  SmallVector<Value> gradients;
  for (Operation &op : body)
    for (Value result : op.getResults())
      if (StringAttr name = getGradientName(result); name && !name.empty())
        gradients.push_back(result);
  return gradients;
}

BlockArgument mlir::amp::getUpdatedArgument(FunctionOpInterface function,
                                            unsigned index) {
  Attribute name = function.getResultAttr(index, AMPDialect::kUpdatesAttr);
  for (BlockArgument argument : function.getArguments())
    if (name && function.getArgAttr(argument.getArgNumber(),
                                    AMPDialect::kNameAttr) == name)
      return argument;
  return {};
}

Value mlir::amp::buildDivisions(OpBuilder &builder, Value value, int power) {
  for (int i = 0; i < power; ++i)
    value = DivideByRanksOp::create(builder, value.getLoc(), value,
                                    /*ranks=*/IntegerAttr());
  return value;
}

void mlir::amp::moveGradientName(Value from, Value to) {
  StringAttr name = getGradientName(from);
  if (!name || name.empty())
    return;
  auto set = [&](Value value, StringAttr text) {
    Operation *op = value.getDefiningOp();
    auto empty = StringAttr::get(op->getContext(), "");
    SmallVector<Attribute> names(op->getNumResults(), empty);
    if (auto old = op->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr))
      llvm::copy(old, names.begin());
    names[cast<OpResult>(value).getResultNumber()] = text;
    if (llvm::all_equal(names) && names.front() == empty)
      op->removeAttr(AMPDialect::kGradientOfAttr);
    else
      op->setAttr(AMPDialect::kGradientOfAttr,
                  ArrayAttr::get(op->getContext(), names));
  };
  set(from, StringAttr::get(name.getContext(), ""));
  set(to, name);
}

/// The parameters of a layer share what precedes the last dot of their names.
static StringRef getLayer(Value gradient) {
  return getGradientName(gradient).getValue().rsplit('.').first;
}

FloatType BucketedReductions::getExchangedType(const Summand &summand) const {
  auto type =
      dyn_cast<FloatType>(getElementTypeOrSelf(summand.value.getType()));
  if (!type || type.getWidth() > 32)
    return type;
  return summand.isGradient && settings.low
             ? settings.low
             : Float32Type::get(type.getContext());
}

int64_t BucketedReductions::getBytes(const Summand &summand) const {
  auto type = cast<ShapedType>(summand.value.getType());
  FloatType element = getExchangedType(summand);
  return type.hasStaticShape() && element
             ? type.getNumElements() * (element.getWidth() / 8)
             : 0;
}

void BucketedReductions::replace(const Summand &summand, Value total,
                                 Value wide,
                                 const llvm::DenseSet<Operation *> &except) {
  if (summand.use)
    return summand.use->set(total);
  moveGradientName(summand.value, total);
  Value value = summand.value;
  value.replaceUsesWithIf(
      total, [&](OpOperand &use) { return !except.contains(use.getOwner()); });
  // An unscale reads the sum before it is rounded to a low type.
  if (wide != total)
    total.replaceUsesWithIf(
        wide, [](OpOperand &use) { return isa<UnscaleOp>(use.getOwner()); });
  if (wide != total && total.use_empty()) {
    moveGradientName(total, wide);
    total.getDefiningOp()->erase();
  }
}

void BucketedReductions::flush(OpBuilder &builder,
                               SmallVectorImpl<Summand> &bucket) {
  if (bucket.empty())
    return;
  SmallVector<Value> values;
  SmallVector<Location> locations;
  llvm::DenseSet<Operation *> made;
  auto convert = [&](Value value, FloatType type) {
    if (!type || getElementTypeOrSelf(value.getType()) == type)
      return value;
    Value converted = buildInsertedCast(builder, value.getLoc(), value, type);
    made.insert(converted.getDefiningOp());
    return converted;
  };
  for (const Summand &summand : bucket) {
    values.push_back(convert(summand.value, getExchangedType(summand)));
    locations.push_back(summand.value.getLoc());
  }
  auto sum = AllReduceOp::create(builder, builder.getFusedLoc(locations),
                                 RankReductionKind::Sum, values);
  made.insert(sum);
  ++numCollectives;
  for (auto [summand, reduced] : llvm::zip_equal(bucket, sum.getReduced())) {
    auto own =
        dyn_cast<FloatType>(getElementTypeOrSelf(summand.value.getType()));
    Value wide = buildDivisions(builder, reduced, summand.power);
    Value total = convert(wide, own);
    replace(summand, total, wide, made);
    numGradients += summand.isGradient;
  }
  bucket.clear();
}

void BucketedReductions::reduceAlone(OpBuilder &builder,
                                     const Summand &summand) {
  SmallVector<Summand> bucket = {summand};
  flush(builder, bucket);
}

void BucketedReductions::addGradient(Value gradient, int power) {
  gradients.push_back({gradient, power, /*use=*/nullptr, /*isGradient=*/true});
}

void BucketedReductions::addResult(OpOperand &operand, int power) {
  results.push_back({operand.get(), power, &operand});
}

void BucketedReductions::build(Block &body) {
  OpBuilder builder(body.getTerminator());
  SmallVector<Summand> bucket;
  llvm::DenseSet<Value> pending;
  int64_t bytes = 0;
  auto end = [&] {
    flush(builder, bucket);
    pending.clear();
    bytes = 0;
  };
  auto uses = [&](Operation &op) {
    return op
        .walk([&](Operation *nested) {
          return llvm::any_of(
                     nested->getOperands(),
                     [&](Value operand) { return pending.contains(operand); })
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  const auto *next = gradients.begin();
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (next == gradients.end() && bucket.empty())
      break;
    if (!pending.empty() && uses(op)) {
      builder.setInsertionPoint(&op);
      end();
    }
    while (next != gradients.end() && next->value.getDefiningOp() == &op) {
      StringRef layer = getLayer(next->value);
      bucket.push_back(*next);
      pending.insert(next->value);
      bytes += getBytes(*next++);
      bool isLast = next == gradients.end();
      if (!isLast &&
          (bytes < settings.bucketBytes || getLayer(next->value) == layer))
        continue;
      builder.setInsertionPointAfter(&op);
      // Metrics that are known travel with the last gradients.
      if (isLast)
        llvm::erase_if(results, [&](const Summand &result) {
          Operation *defining = result.value.getDefiningOp();
          if (defining && !defining->isBeforeInBlock(&op) && defining != &op)
            return false;
          bucket.push_back(result);
          return true;
        });
      end();
    }
  }
  builder.setInsertionPoint(body.getTerminator());
  flush(builder, results);
}

void BucketedReductions::buildMaximum(Operation *before,
                                      ArrayRef<Value> values) {
  OpBuilder builder(before);
  SmallVector<Location> locations;
  for (Value value : values)
    locations.push_back(value.getLoc());
  auto largest = AllReduceOp::create(builder, builder.getFusedLoc(locations),
                                     RankReductionKind::Max, values);
  ++numCollectives;
  for (auto [value, reduced] : llvm::zip_equal(values, largest.getReduced()))
    Value(value).replaceAllUsesExcept(reduced, largest);
}
