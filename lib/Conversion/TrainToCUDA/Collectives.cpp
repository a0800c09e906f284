//===- Collectives.cpp - Reductions of several ranks as launches ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Dialect/AMP/IR/AMPCollectives.h"
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
static StringRef moveNamesToOperands(Operation *op, PatternRewriter &rewriter) {
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

/// Converts a collective that divides a dimension.
template <typename OpTy, typename LaunchTy>
struct ConvertPart : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value operand = op->getOperand(0), result = op->getResult(0);
    int64_t along = op.getAlong();
    auto launch = LaunchTy::create(
        rewriter, getNamedLocation(op), TypeRange(result.getType()),
        StringAttr(), ValueRange(operand), ValueRange(), ValueRange(), Value(),
        rewriter.getI64IntegerAttr(along));
    rewriter.replaceOp(op, launch.getResults());
    return success();
  }
};

} // namespace

LogicalResult mlir::cuda::verifyCollectives(func::FuncOp step) {
  // A part of a whole is contiguous.
  auto verifyPart = [](Operation *op, int64_t along) -> LogicalResult {
    RankedTensorType type = typeOf(op->getOperand(0));
    if (getAxisExtents(type, along).outer == 1)
      return success();
    return op->emitOpError("divides dimension ")
           << along << " of " << Type(type)
           << ", expected the extents before it to be 1 on a GPU";
  };
  auto verify = [&](Operation *op) -> LogicalResult {
    if (auto scatter = dyn_cast<mlir::amp::ReduceScatterOp>(op))
      return verifyPart(op, scatter.getAlong());
    if (auto gather = dyn_cast<mlir::amp::AllGatherOp>(op))
      return verifyPart(op, gather.getAlong());
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

void mlir::cuda::populateCollectives(RewritePatternSet &patterns) {
  patterns
      .add<ConvertAllReduce, ConvertPart<mlir::amp::AllGatherOp, AllGatherOp>,
           ConvertPart<mlir::amp::ReduceScatterOp, ReduceScatterOp>>(
          patterns.getContext());
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
