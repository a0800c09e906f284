//===- NormRows.cpp - Norms by strides, and sums --------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Norms of queries and keys read slices and transposes of a product. Like
// attention, they read the rows where they are in that product. Their gradients
// write rows in the order in which the next operation reads them. Gradients of
// norms, and dropouts, add a residual.
//
//===----------------------------------------------------------------------===//

#include "Products.h"
#include "StridedViews.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Support/TensorTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

/// The elements of a read of 16 bytes of `type`.
static int64_t getUnit(ShapedType type) {
  return AMP_CUDNN_ALIGNMENT * 8 / type.getElementTypeBitWidth();
}

namespace {
/// A norm, or its gradient, that can read x by strides.
struct RowReader {
  Operation *norm;
  unsigned index;
  StridedView view;
};
} // namespace

/// The number of the operand x of a norm of rows of one dimension, or nothing.
static std::optional<unsigned> findRows(Operation *op) {
  std::optional<unsigned> index =
      llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
          .Case<LayerNormOp, RMSNormOp>([](auto) { return 0; })
          .Case<LayerNormGradOp, RMSNormGradOp>([](auto) { return 1; })
          .Default([](Operation *) { return std::nullopt; });
  if (!index || typeOf(op->getOperand(*index + 1)).getRank() != 1 ||
      typeOf(op->getOperand(*index)).getRank() > 4 ||
      typeOf(op->getOperand(*index)).getRank() < 2)
    return std::nullopt;
  return index;
}

/// Whether rows with these strides begin where reads of 16 bytes can begin.
static bool isAligned(const StridedView &view, int64_t unit) {
  return view.strides.back() == 1 && view.offset % unit == 0 &&
         llvm::all_of(ArrayRef<int64_t>(view.strides).drop_back(),
                      [&](int64_t stride) { return stride % unit == 0; });
}

/// Makes norms read the rows of slices and transposes where they are.
static void readRows(func::FuncOp step) {
  llvm::MapVector<Value, SmallVector<RowReader>> readers;
  for (Operation &op : step.getBody().front()) {
    std::optional<unsigned> index = findRows(&op);
    if (!index)
      continue;
    Value x = op.getOperand(*index);
    StridedView view = trace(x);
    // A view of the whole tensor needs no strides.
    const bool isWhole =
        view.source == x ||
        (view.strides == getContiguousStrides(typeOf(x).getShape()) &&
         typeOf(x).getNumElements() == typeOf(view.source).getNumElements());
    if (!isWhole && isAligned(view, getUnit(typeOf(x))))
      readers[view.source].push_back({&op, *index, view});
  }
  for (auto &[source, parts] : readers) {
    // The source stays in memory for the gradients, in place of its parts. It
    // may not be much larger than they are.
    llvm::SmallDenseSet<Value> seen;
    int64_t elements = 0;
    for (RowReader &part : parts)
      if (Value x = part.norm->getOperand(part.index); seen.insert(x).second)
        elements += typeOf(x).getNumElements();
    if (2 * elements < typeOf(source).getNumElements())
      continue;
    for (RowReader &part : parts) {
      part.norm->setOperand(part.index, source);
      part.norm->setAttr("x_rows", getHeads(step.getContext(), part.view.offset,
                                            part.view.strides));
    }
  }
}

/// Makes a gradient write rows in the order of the transpose that reads them.
static void writeRows(Operation *norm) {
  Value dx = norm->getResult(0);
  auto transpose =
      dx.hasOneUse() ? dyn_cast<train::TransposeOp>(*dx.user_begin()) : nullptr;
  auto type = typeOf(dx);
  const int64_t rank = type.getRank();
  if (!transpose || rank > 4 ||
      transpose.getPermutation()[rank - 1] != rank - 1 ||
      type.getShape().back() % getUnit(type) != 0)
    return;
  SmallVector<int64_t> own =
                           getContiguousStrides(transpose.getType().getShape()),
                       strides(rank);
  for (auto [stride, dim] : llvm::zip_equal(own, transpose.getPermutation()))
    strides[dim] = stride;
  norm->setAttr("dx_rows", getHeads(norm->getContext(), 0, strides));
  dx.setType(transpose.getType());
  transpose.getResult().replaceAllUsesWith(dx);
  transpose.erase();
}

void mlir::cuda::placeNormRows(func::FuncOp step) {
  readRows(step);
  SmallVector<Operation *> gradients;
  for (Operation &op : step.getBody().front())
    if (isa<LayerNormGradOp, RMSNormGradOp>(op) && findRows(&op))
      gradients.push_back(&op);
  llvm::for_each(gradients, writeRows);
}

namespace {

/// Whether a launch adds to a result whose rows have the order of its inputs.
template <typename OpTy>
bool mayAdd(OpTy launch) {
  return !launch.getAccumulate() && !launch.getDxRows();
}
bool mayAdd(DropoutOp launch) { return !launch.getAccumulate(); }

/// The sum of the first result of a launch, the gradient of a norm or a
/// dropout, and another value. The sum is then rounded once.
template <typename OpTy>
struct FuseSum : OpRewritePattern<train::AddOp> {
  FuseSum(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::AddOp op,
                                PatternRewriter &rewriter) const override {
    if (strict && !op.getType().getElementType().isF32())
      return failure();
    for (unsigned index : {0u, 1u}) {
      Value term = op->getOperand(index), addend = op->getOperand(1 - index);
      auto launch = term.getDefiningOp<OpTy>();
      // The addend must not need anything else that the launch gives.
      if (!launch || term != launch->getResult(0) || !term.hasOneUse() ||
          !mayAdd(launch) || term.getType() != op.getType() ||
          addend.getType() != op.getType() || dependsOn(addend, launch))
        continue;
      SmallVector<Value> inputs(launch.getInputs());
      inputs.push_back(addend);
      NamedAttrList attributes(launch->getAttrDictionary());
      attributes.set("accumulate", rewriter.getUnitAttr());
      attributes.set(
          OpTy::getOperandSegmentSizeAttr(),
          rewriter.getDenseI32ArrayAttr({int32_t(inputs.size()), 0, 0, 0}));
      auto fused = OpTy::create(
          rewriter, rewriter.getFusedLoc({launch.getLoc(), op.getLoc()}),
          launch->getResultTypes(), inputs, attributes.getAttrs());
      rewriter.replaceOp(op, fused->getResult(0));
      rewriter.replaceOp(launch, fused->getResults());
      return success();
    }
    return failure();
  }

  bool strict;
};

} // namespace

void mlir::cuda::populateSums(RewritePatternSet &patterns, bool strict) {
  patterns.add<FuseSum<DropoutOp>, FuseSum<LayerNormGradOp>,
               FuseSum<RMSNormGradOp>>(patterns.getContext(), strict);
}
