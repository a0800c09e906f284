//===- Collectives.cpp - Reductions of several ranks as launches ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::LinalgBuilder;
using mlir::amp::typeOf;

/// The bits of the integer that stands for NaN, and the mask of the bits whose
/// order is reversed for negative numbers.
static constexpr int64_t kMagnitude = 0x7fffffff;

/// Reverses the order of the bits of negative numbers.
static Value reverseNegative(ImplicitLocOpBuilder &b, Value bits) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
  };
  Value isNegative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bits, constant(0));
  Value reversed = arith::XOrIOp::create(b, bits, constant(kMagnitude));
  return arith::SelectOp::create(b, isNegative, reversed, bits);
}

/// Integers in the order of the floats of `value`, of up to 32 bits. NaN is the
/// largest.
static Value getOrderedIntegers(LinalgBuilder &b, Value value) {
  RankedTensorType type = typeOf(value);
  Type i32 = b.getBuilder().getI32Type();
  return b.elementwise(
      RankedTensorType::get(type.getShape(), i32), value,
      [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        Value x = args[0];
        Value isNaN =
            arith::CmpFOp::create(inner, arith::CmpFPredicate::UNO, x, x);
        Value bits = arith::BitcastOp::create(inner, i32, x);
        Value nan = arith::ConstantOp::create(
            inner, inner.getI32IntegerAttr(int32_t(kMagnitude)));
        return arith::SelectOp::create(inner, isNaN, nan,
                                       reverseNegative(inner, bits));
      });
}

/// The floats of type `type` that `value` was made of.
static Value getFloats(LinalgBuilder &b, Value value, RankedTensorType type) {
  return b.elementwise(
      type, value, [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        return arith::BitcastOp::create(inner, inner.getF32Type(),
                                        reverseNegative(inner, args[0]));
      });
}

/// Gives the operands of `op` the names of the gradients that it reduces, as
/// they have them in a step of one rank. Returns the first name, or an empty
/// one.
static StringRef moveNamesToOperands(Operation *op, RewriterBase &rewriter) {
  StringRef attribute = mlir::amp::AMPDialect::kGradientOfAttr, first;
  auto names = op->getAttrOfType<ArrayAttr>(attribute);
  if (!names || names.size() != op->getNumOperands())
    return first;
  for (auto [operand, entry] : llvm::zip_equal(op->getOperands(), names)) {
    auto name = dyn_cast<StringAttr>(entry);
    auto result = dyn_cast<OpResult>(operand);
    if (!result || !name || name.empty())
      continue;
    if (first.empty())
      first = name;
    Operation *source = result.getOwner();
    SmallVector<Attribute> own(source->getNumResults(),
                               rewriter.getStringAttr(""));
    if (auto known = source->getAttrOfType<ArrayAttr>(attribute);
        known && known.size() == own.size())
      llvm::copy(known, own.begin());
    own[result.getResultNumber()] = name;
    rewriter.modifyOpInPlace(source, [&] {
      source->setAttr(attribute, rewriter.getArrayAttr(own));
    });
  }
  return first;
}

namespace {

struct ConvertAllReduce : OpRewritePattern<mlir::amp::AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::amp::AllReduceOp op,
                                PatternRewriter &rewriter) const override {
    using Kind = mlir::amp::RankReductionKind;
    auto reduction = op.getReduction() == Kind::Sum   ? RankReduction::Sum
                     : op.getReduction() == Kind::Max ? RankReduction::Max
                                                      : RankReduction::And;
    StringRef gradient = moveNamesToOperands(op, rewriter);
    StringAttr name;
    if (!gradient.empty())
      name = rewriter.getStringAttr("reduce_" + gradient);
    LinalgBuilder b(rewriter, op.getLoc());
    auto isOrdered = [&](Value value) {
      return reduction == RankReduction::Max &&
             isa<FloatType>(typeOf(value).getElementType());
    };
    SmallVector<Value> inputs, results;
    for (Value value : op.getValues())
      inputs.push_back(isOrdered(value) ? getOrderedIntegers(b, value) : value);
    auto launch = AllReduceOp::create(
        rewriter, getNamedLocation(op), ValueRange(inputs).getTypes(),
        reduction, name, inputs, ValueRange(), ValueRange(), Value());
    for (auto [value, result] :
         llvm::zip_equal(op.getValues(), launch.getResults()))
      results.push_back(isOrdered(value) ? getFloats(b, result, typeOf(value))
                                         : Value(result));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

/// Returns the value that `op` divides between the ranks, or null if it divides
/// nothing.
static Value getWhole(Operation *op) {
  if (isa<mlir::amp::ReduceScatterOp, mlir::amp::RankPartOp>(op))
    return op->getOperand(0);
  return isa<mlir::amp::AllGatherOp>(op) ? op->getResult(0) : Value();
}

/// Returns the part of this rank.
static Value getPart(Operation *op) {
  return isa<mlir::amp::AllGatherOp>(op) ? op->getOperand(0) : op->getResult(0);
}

/// Returns the dimension that `op` divides, or nothing for flat parts.
static std::optional<int64_t> getDividedDimension(Operation *op) {
  auto along = op->getAttrOfType<IntegerAttr>("along");
  if (!along || along.getInt() == mlir::amp::kFlatPart)
    return std::nullopt;
  return along.getInt();
}

/// Verifies that the parts of `op` are contiguous. If zeros follow the last
/// element, verifies that the number of ranks is known.
static LogicalResult verifyPart(Operation *op, int64_t ranks) {
  RankedTensorType whole = typeOf(getWhole(op)), part = typeOf(getPart(op));
  if (std::optional<int64_t> along = getDividedDimension(op)) {
    if (getAxisExtents(whole, *along).outer == 1)
      return success();
    return op->emitOpError("divides dimension ")
           << *along << " of " << Type(whole)
           << ", expected the extents before it to be 1 on a GPU";
  }
  const int64_t all = whole.getNumElements(), own = part.getNumElements();
  if (ranks > 0 && mlir::amp::getFlatPartSize(all, ranks) != own)
    return op->emitOpError("divides ")
           << Type(whole) << " into flat parts of " << own
           << " elements, expected " << mlir::amp::getFlatPartSize(all, ranks)
           << " for " << ranks << " ranks";
  if (ranks == 0 && all % own != 0)
    return op->emitOpError("divides ")
           << Type(whole) << " into flat parts of " << own
           << " elements for an unknown number of ranks, expected the option "
              "'ranks'";
  return success();
}

LogicalResult mlir::cuda::verifyCollectives(func::FuncOp step, int64_t ranks) {
  auto verify = [&](Operation *op) -> LogicalResult {
    if (getWhole(op))
      return verifyPart(op, ranks);
    auto divide = dyn_cast<mlir::amp::DivideByRanksOp>(op);
    if (!divide || divide.getRanks())
      return success();
    return op->emitOpError("has no number of ranks, which a program for a GPU "
                           "fixes; expected 'amp-set-ranks', or the option "
                           "'ranks'");
  };
  return failure(step.walk([&](Operation *op) {
                       return failed(verify(op)) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
                     })
                     .wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Returns a view of `value` with another shape.
static Value viewAs(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, typeOf(value).getElementType());
  return ViewOp::create(builder, value.getLoc(), type, value);
}

/// Returns the name of the state that `value` updates, or an empty string.
static StringRef findUpdatedState(Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      if (auto name = use.getOwner()
                          ->getParentOfType<func::FuncOp>()
                          .getResultAttrOfType<StringAttr>(
                              use.getOperandNumber(),
                              mlir::amp::AMPDialect::kUpdatesAttr))
        return name.getValue();
  return "";
}

/// Replaces the operations of `group`, which are of one kind, by one launch.
/// Each operand of the launch has one dimension.
template <typename LaunchTy>
static void convertGroup(ArrayRef<Operation *> group, IRRewriter &rewriter) {
  constexpr bool gathers = std::is_same_v<LaunchTy, AllGatherOp>;
  rewriter.setInsertionPoint(group.back());
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  StringRef name;
  for (Operation *op : group) {
    RankedTensorType operand = typeOf(op->getOperand(0)),
                     result = typeOf(op->getResult(0));
    const StringRef found = gathers ? findUpdatedState(op->getResult(0))
                                    : moveNamesToOperands(op, rewriter);
    if (name.empty())
      name = found;
    inputs.push_back(
        viewAs(rewriter, op->getOperand(0), operand.getNumElements()));
    types.push_back(RankedTensorType::get(result.getNumElements(),
                                          operand.getElementType()));
    locations.push_back(getNamedLocation(op));
  }
  const StringRef prefix = gathers ? "gather_" : "scatter_";
  auto launch = LaunchTy::create(
      rewriter, rewriter.getFusedLoc(locations), types,
      name.empty() ? StringAttr() : rewriter.getStringAttr(prefix + name),
      inputs, ValueRange(), ValueRange(), Value(),
      rewriter.getI64IntegerAttr(0));
  for (auto [op, result] : llvm::zip_equal(group, launch.getResults()))
    rewriter.replaceOp(
        op, viewAs(rewriter, result, typeOf(op->getResult(0)).getShape()));
}

static void convertRankPart(mlir::amp::RankPartOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  RankedTensorType part = typeOf(op.getPart());
  auto launch =
      RankPartOp::create(rewriter, getNamedLocation(op),
                         TypeRange(RankedTensorType::get(
                             part.getNumElements(), part.getElementType())),
                         StringAttr(), ValueRange(op.getValue()), ValueRange(),
                         ValueRange(), Value());
  rewriter.replaceOp(op,
                     viewAs(rewriter, launch.getResults()[0], part.getShape()));
}

void mlir::cuda::convertParts(func::FuncOp step) {
  IRRewriter rewriter(step.getContext());
  std::vector<SmallVector<Operation *>> groups;
  Operation *last = nullptr;
  auto dependsOnLast = [&](Operation *op) {
    return llvm::is_contained(groups.back(), op->getOperand(0).getDefiningOp());
  };
  for (Operation &op : step.getBody().front()) {
    if (!isa<mlir::amp::ReduceScatterOp, mlir::amp::AllGatherOp>(op))
      continue;
    if (last && last->getNextNode() == &op && last->getName() == op.getName() &&
        !dependsOnLast(&op))
      groups.back().push_back(&op);
    else
      groups.push_back({&op});
    last = &op;
  }
  for (ArrayRef<Operation *> group : groups)
    if (isa<mlir::amp::ReduceScatterOp>(group.front()))
      convertGroup<ReduceScatterOp>(group, rewriter);
    else
      convertGroup<AllGatherOp>(group, rewriter);
  SmallVector<mlir::amp::RankPartOp> parts(
      step.getBody().front().getOps<mlir::amp::RankPartOp>());
  for (mlir::amp::RankPartOp part : parts)
    convertRankPart(part, rewriter);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void mlir::cuda::populateCollectives(RewritePatternSet &patterns) {
  patterns.add<ConvertAllReduce>(patterns.getContext());
}

void mlir::cuda::startCollectivesEarly(func::FuncOp step) {
  Block &block = step.getBody().front();
  Operation *before = nullptr;
  for (auto launch :
       llvm::make_early_inc_range(block.getOps<LaunchOpInterface>())) {
    if (!launch.isCollective())
      continue;
    // Collectives keep their order, in which they run.
    Operation *last = before;
    for (Value operand : launch->getOperands())
      if (Operation *source = operand.getDefiningOp())
        if (!last || last->isBeforeInBlock(source))
          last = source;
    if (last && last->getNextNode() != launch)
      launch->moveAfter(last);
    before = launch;
  }
}
