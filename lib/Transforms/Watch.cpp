//===- Watch.cpp - Statistics of the values of a step ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "StepRewriter.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/AMP/IR/Watched.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/Regex.h"

namespace mlir::amp {
#define GEN_PASS_DEF_WATCHPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// Returns whether `value` depends on no other value. An empty tensor has no
/// elements that a statistic may read.
static bool isConstant(Value value) {
  auto op = value.getDefiningOp<PrecisionOpInterface>();
  if (!op)
    return matchPattern(value, m_Constant());
  PrecisionSlots slots;
  op.getPrecisionSlots(slots);
  return slots.isConstant || matchPattern(value, m_Constant());
}

/// Returns whether `value` is an empty tensor into which operations have
/// inserted slices. Its other elements are undefined, and statistics of the
/// slices describe these.
static bool isPartlyWritten(Value value) {
  bool hasSlice = false;
  while (auto insertion = value.getDefiningOp<DestinationStyleOpInterface>()) {
    if (!isa<OffsetSizeAndStrideOpInterface>(*insertion) ||
        insertion.getNumDpsInits() != 1)
      return false;
    hasSlice = true;
    value = insertion.getDpsInits().front();
  }
  return hasSlice && isConstant(value) && !matchPattern(value, m_Constant());
}

/// Returns whether `value` is a tensor that `amp.statistics` takes.
static bool isWatchable(Value value) {
  if (!isPrecisionTensor(value.getType()) || isConstant(value) ||
      isPartlyWritten(value))
    return false;
  Type type = getElementTypeOrSelf(value.getType());
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

/// Returns the type to which `op` narrows its operand, or null.
static FloatType getNarrowType(Operation *op) {
  CastLike convert(op);
  if (!convert || !isWatchable(convert.getInput()))
    return {};
  auto from =
      cast<FloatType>(getElementTypeOrSelf(convert.getInput().getType()));
  auto to = dyn_cast<FloatType>(getElementTypeOrSelf(convert.getType()));
  return to && to.getWidth() < from.getWidth() ? to : FloatType();
}

/// Returns whether `op` is a cast whose result has the values of its operand.
static bool isExactCast(Operation *op) {
  CastLike convert(op);
  return convert && isWatchable(convert.getInput()) && !getNarrowType(op);
}

namespace {

class WatchPass final : public amp::impl::WatchPassBase<WatchPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    std::string wrong;
    if (llvm::Regex regex(match); !match.empty() && !regex.isValid(wrong)) {
      getOperation()->emitError("wrong value of 'match': '")
          << match << "', expected a regular expression: " << wrong;
      return signalPassFailure();
    }
    WalkResult result =
        getOperation()->walk([&](FunctionOpInterface function) -> WalkResult {
          if (function.isExternal() || !isStepFunction(function) ||
              isWatched(function))
            return WalkResult::skip();
          return failed(watch(function)) ? WalkResult::interrupt()
                                         : WalkResult::skip();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static bool isWatched(FunctionOpInterface function) {
    for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
      if (auto name = function.getResultAttrOfType<StringAttr>(
              i, AMPDialect::kPredictionAttr))
        if (name.getValue().starts_with(kWatchPrefix))
          return true;
    return false;
  }

  LogicalResult watch(FunctionOpInterface function) {
    FailureOr<StepRewriter> step = StepRewriter::get(function);
    if (failed(step))
      return failure();
    Block &body = step->getBody();
    parts = findStepParts(body);
    llvm::SetVector<Value> chosen;
    for (Value argument : body.getArguments())
      if (isWatchable(argument) && selects(argument))
        chosen.insert(argument);
    for (Operation &op : body)
      for (Value result : op.getResults()) {
        if (!isWatchable(result) || isExactCast(&op) || !selects(result))
          continue;
        // Statistics of the operand describe a narrowing cast.
        Value described =
            !values && getNarrowType(&op) ? op.getOperand(0) : result;
        chosen.insert(described);
      }
    if (chosen.empty())
      return function->emitError("'")
             << match << "' selects no value to watch, expected a regular "
             << "expression for a part of a name such as '" << nameExample(body)
             << "'";
    OpBuilder builder(function.getContext());
    for (auto [index, value] : llvm::enumerate(chosen)) {
      builder.setInsertionPointAfterValue(value);
      Value output = values ? value : buildStatistics(builder, value);
      // The name of a value says what `amp.statistics` would.
      std::string name = (kWatchPrefix + Twine(index)).str();
      if (values)
        name += (" in " + getPart(value)).str();
      if (failed(step->addResult(output, AMPDialect::kPredictionAttr, name)))
        return failure();
    }
    numWatched += chosen.size();
    return success();
  }

  /// Returns whether the name of `value` matches.
  bool selects(Value value) const {
    return match.empty() || llvm::Regex(match).match(nameWatchedValue(value));
  }

  static std::string nameExample(Block &body) {
    std::string name;
    for (Operation &op : body)
      for (Value result : op.getResults())
        if (isWatchable(result))
          name = nameWatchedValue(result);
    return name;
  }

  Value buildStatistics(OpBuilder &builder, Value value) {
    TypeAttr to;
    for (Operation *user : value.getUsers())
      if (FloatType type = getNarrowType(user); type && !to)
        to = TypeAttr::get(type);
    return StatisticsOp::create(builder, value.getLoc(), value, to,
                                builder.getStringAttr(getPart(value)));
  }

  StringRef getPart(Value value) const {
    return stringifyPart(parts.lookup(value.getDefiningOp()));
  }

  /// The parts of the operations of a step.
  llvm::DenseMap<Operation *, StepPart> parts;
};

} // namespace
