//===- LinearLosses.cpp - Classifiers with their loss ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites the last product of a classifier, the cross-entropy of its result
// and the gradients of both as one launch that goes through the rows in chunks.
// The logits of the whole batch, and their gradient, then take no memory.
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::cuda;

namespace {

/// A product, the cross-entropy of its result, and the products that read the
/// gradient of that.
struct Classifier {
  GemmOp logits, inputGrad, weightGrad;
  CrossEntropyWithGradOp loss;
  /// The first largest class of each row, or null.
  train::ArgmaxOp argmax;
  /// Operations that need the logits of the whole batch.
  SmallVector<Operation *> readers;
  int64_t chunkRows = 0;

  Value getInput() { return logits.getA(); }
  Value getWeight() { return logits.getB(); }
};

} // namespace

/// The value that `value` is a view of.
static Value getViewed(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return value;
}

/// Collects the operations that read `value` or a view of it.
static void collectReaders(Value value, SmallVectorImpl<Operation *> &readers) {
  for (Operation *user : value.getUsers())
    if (auto view = dyn_cast<ViewOp>(user))
      collectReaders(view.getResult(), readers);
    else
      readers.push_back(user);
}

/// Whether `gemm` is a product of matrices without scale, epilogue and C.
static bool isBare(GemmOp gemm) {
  return isPlain(gemm) && !gemm.getAuxiliary() && !gemm.getBias() &&
         !gemm.getPredicate() && gemm.getScale().isExactlyValue(1.0) &&
         typeOf(gemm.getResult(0)).getRank() == 2;
}

/// Whether `value` is `matrix` in the same shape.
static bool isSame(Value value, Value matrix) {
  return value.getType() == matrix.getType() &&
         getViewed(value) == getViewed(matrix);
}

/// The products that read the gradient of the logits. Returns the reason why
/// `parts` takes no others, or "".
static StringRef matchGradients(Classifier &parts) {
  SmallVector<Operation *> readers;
  collectReaders(parts.loss.getResult(1), readers);
  Value gradient = parts.loss.getResult(1);
  bool isTransposed = parts.logits.getTransposeB();
  for (Operation *reader : readers) {
    auto gemm = dyn_cast<GemmOp>(reader);
    if (!gemm || !isBare(gemm) || gemm.getTf32() != parts.logits.getTf32())
      return "another operation than two products reads the gradient of the "
             "logits";
    auto isGradient = [&](Value value) {
      return getViewed(value) == gradient &&
             typeOf(value).getShape() ==
                 typeOf(parts.logits.getResult(0)).getShape();
    };
    if (!parts.inputGrad && isGradient(gemm.getA()) && !gemm.getTransposeA() &&
        isSame(gemm.getB(), parts.getWeight()) &&
        gemm.getTransposeB() != isTransposed && !gemm.getAccumulate())
      parts.inputGrad = gemm;
    else if (!parts.weightGrad && gemm.getTransposeA() &&
             !gemm.getTransposeB() &&
             isGradient(isTransposed ? gemm.getA() : gemm.getB()) &&
             isSame(isTransposed ? gemm.getB() : gemm.getA(), parts.getInput()))
      parts.weightGrad = gemm;
    else
      return "a product with the gradient of the logits is not a gradient of "
             "the "
             "classifier";
  }
  if (!parts.inputGrad || !parts.weightGrad)
    return "a gradient of the classifier is missing";
  if (!typeOf(parts.weightGrad.getResult(0)).getElementType().isF32())
    return "the gradient of its weight is not f32, but a sum over chunks is";
  return "";
}

/// Whether only predictions of the step depend on the results of `op`.
static bool isForPredictions(Operation *op,
                             const mlir::amp::StepSignature &signature) {
  SetVector<Operation *> slice;
  ForwardSliceOptions options;
  options.inclusive = true;
  getForwardSlice(op, &slice, options);
  Operation *terminator = op->getBlock()->getTerminator();
  return llvm::all_of(signature.results, [&](const auto &result) {
    return result.kind == mlir::amp::ResultKind::Prediction ||
           !slice.contains(
               terminator->getOperand(result.index).getDefiningOp());
  });
}

/// Finds the readers of the logits. Returns the reason why one of them needs
/// them in each step, or "".
static StringRef matchReaders(Classifier &parts,
                              const mlir::amp::StepSignature &signature) {
  SmallVector<Operation *> readers;
  collectReaders(parts.logits.getResult(0), readers);
  int64_t classes = typeOf(parts.logits.getResult(0)).getShape().back();
  for (Operation *reader : readers) {
    if (reader == parts.loss)
      continue;
    auto argmax = dyn_cast<train::ArgmaxOp>(reader);
    if (argmax && !parts.argmax &&
        int64_t(argmax.getAxis()) == typeOf(argmax.getInput()).getRank() - 1 &&
        typeOf(argmax.getInput()).getShape().back() == classes &&
        llvm::none_of(parts.loss.getInputs().drop_front(),
                      [&](Value input) { return dependsOn(input, argmax); })) {
      parts.argmax = argmax;
      continue;
    }
    bool isResult = reader->hasTrait<OpTrait::IsTerminator>();
    if (!isResult && !isForPredictions(reader, signature))
      return "another operation than the loss reads the logits";
    parts.readers.push_back(reader);
  }
  return "";
}

/// The largest number of rows that divides `rows` and whose logits take at most
/// `bytes`, but more than half of that: smaller products would not use the
/// whole GPU. A chunk of the input, whose rows take `inputBytes`, is aligned as
/// a buffer. 0 if there is no such number.
static int64_t getChunkRows(int64_t rows, int64_t rowBytes, int64_t inputBytes,
                            int64_t bytes) {
  int64_t least = llvm::divideCeil(rows * rowBytes, bytes);
  for (int64_t chunks = least; chunks <= std::min(rows, 2 * least); ++chunks)
    if (rows % chunks == 0 &&
        rows / chunks * inputBytes % CUDADialect::kAlignment == 0)
      return rows / chunks;
  return 0;
}

/// The parts around `loss`. Returns the reason why its logits stay whole, "" if
/// they are small or become chunks.
static StringRef match(CrossEntropyWithGradOp loss, int64_t logitBytes,
                       const mlir::amp::StepSignature &signature,
                       Classifier &parts) {
  parts.loss = loss;
  auto type = typeOf(loss.getInputs()[0]);
  if (getBytes(type) <= logitBytes)
    return "";
  parts.logits = getProduct<GemmOp>(loss.getInputs()[0]);
  if (!parts.logits || !isBare(parts.logits) || parts.logits.getAccumulate() ||
      parts.logits.getTransposeA() || parts.logits->getNumResults() != 1 ||
      typeOf(parts.logits.getResult(0)).getShape().back() !=
          type.getShape().back())
    return "its logits are not a product of two matrices alone";
  if (type.getElementType() != typeOf(parts.logits.getA()).getElementType())
    return "its logits have another type than the operands of their product";
  if (StringRef obstacle = matchGradients(parts); !obstacle.empty())
    return obstacle;
  if (StringRef obstacle = matchReaders(parts, signature); !obstacle.empty())
    return obstacle;
  int64_t rows = typeOf(parts.getInput()).getDimSize(0);
  parts.chunkRows =
      getChunkRows(rows, getBytes(type) / rows,
                   getBytes(typeOf(parts.getInput())) / rows, logitBytes);
  return parts.chunkRows == 0 ? "no aligned chunk that is nearly as large as "
                                "allowed divides the rows"
                              : "";
}

/// Replaces `parts` by one launch.
static void fuse(Classifier &parts, IRRewriter &rewriter) {
  Location loc = rewriter.getFusedLoc(
      {parts.logits.getLoc(), parts.loss.getLoc(), parts.inputGrad.getLoc(),
       parts.weightGrad.getLoc()});
  rewriter.setInsertionPoint(parts.loss);
  int64_t rows = typeOf(parts.getInput()).getDimSize(0);
  Value labels = parts.loss.getInputs()[1];
  auto view = [&](Value value, RankedTensorType type) -> Value {
    return value.getType() == type ? value
                                   : ViewOp::create(rewriter, loc, type, value);
  };
  labels = view(labels, typeOf(labels).clone({rows}));
  SmallVector<Type> types{parts.loss.getResult(0).getType(),
                          parts.inputGrad.getResult(0).getType(),
                          parts.weightGrad.getResult(0).getType()};
  if (parts.argmax)
    types.push_back(parts.argmax.getType().clone({rows}));
  auto fused = LinearCrossEntropyOp::create(
      rewriter, loc, types, StringAttr(),
      ValueRange{parts.getInput(), parts.getWeight(), labels,
                 parts.loss.getInputs()[2]},
      ValueRange(), ValueRange(), Value(), uint64_t(parts.chunkRows),
      parts.logits.getTransposeB(), parts.logits.getTf32(), bool(parts.argmax),
      parts.loss.getLabelSmoothing());
  if (parts.argmax)
    rewriter.replaceOp(parts.argmax,
                       view(fused.getResult(3), parts.argmax.getType()));
  rewriter.replaceOp(parts.inputGrad, fused.getResult(1));
  Value gradient = fused.getResult(2);
  if (Value other = parts.weightGrad.getC()) {
    // The other part of the gradient may depend on the gradient of the input.
    rewriter.setInsertionPoint(parts.weightGrad);
    gradient =
        train::AddOp::create(rewriter, getNamedLocation(parts.weightGrad),
                             gradient.getType(), gradient, other);
  }
  rewriter.replaceOp(parts.weightGrad, gradient);
  rewriter.replaceAllUsesWith(parts.loss.getResult(0), fused.getResult(0));
  // The loss has no readers any more, and is erased as dead code. The logits
  // have those that only predictions need.
}

bool mlir::cuda::fuseLinearLosses(func::FuncOp step, int64_t logitBytes) {
  FailureOr<mlir::amp::StepSignature> signature =
      mlir::amp::StepSignature::get(step);
  if (failed(signature) || logitBytes <= 0)
    return false;
  IRRewriter rewriter(step.getContext());
  bool changed = false;
  for (auto loss :
       llvm::make_early_inc_range(step.getOps<CrossEntropyWithGradOp>())) {
    Classifier parts;
    StringRef obstacle = match(loss, logitBytes, *signature, parts);
    if (!obstacle.empty())
      remark::missed(loss->getLoc(), remark::RemarkOpts::name("LogitsWhole")
                                         .category("amp")
                                         .function(step.getName()))
          << remark::reason("{0}", obstacle);
    if (parts.chunkRows == 0)
      continue;
    fuse(parts, rewriter);
    changed = true;
  }
  return changed;
}
