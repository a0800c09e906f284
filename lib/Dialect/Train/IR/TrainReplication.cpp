//===- TrainReplication.cpp - What is equal on all ranks ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of ReplicationOpInterface for each operation of the
// dialect: a table from rules to operations.
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"
#include "ReplicationModels.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Interfaces/ReplicationOpInterface.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::train;
using amp::RankReduction;
using amp::Replication;
using amp::ReplicationInference;

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

static void sum(ReplicationInference &inference) {
  inference.setResults(amp::addReplications(
      inference, amp::getOperandNumbers(inference.getOperation())));
}

static void any(ReplicationInference &inference) {
  inference.setResults(amp::mapReplications(
      inference, amp::getOperandNumbers(inference.getOperation())));
}

static void times(ReplicationInference &inference) {
  inference.setResults(amp::multiplyReplications(inference, 0, 1));
}

static void quotientOf(ReplicationInference &inference) {
  inference.setResults(
      amp::multiplyReplications(inference, 0, 1, /*divide=*/true));
}

static void squareOf(ReplicationInference &inference) {
  inference.setResults(amp::multiplyReplications(inference, 0, 0));
}

/// Linear in operand `linear`, multiplied by a function of all others.
template <unsigned linear>
static void gatedBy(ReplicationInference &inference) {
  SmallVector<unsigned> others;
  for (unsigned i : amp::getOperandNumbers(inference.getOperation()))
    if (i != linear)
      others.push_back(i);
  Replication gate = amp::mapReplications(inference, others);
  inference.setResults(
      amp::gateReplication(gate, amp::addReplications(inference, {linear})));
}

static void choice(ReplicationInference &inference) {
  inference.setResults(
      amp::gateReplication(amp::mapReplications(inference, {0}),
                           amp::chooseReplication(inference, {1, 2})));
}

static void concatenation(ReplicationInference &inference) {
  inference.setResults(amp::chooseReplication(
      inference, amp::getOperandNumbers(inference.getOperation())));
}

static void padding(ReplicationInference &inference) {
  if (cast<PadOp>(inference.getOperation()).getValue().isZero())
    return sum(inference);
  any(inference);
}

static void constantOf(ReplicationInference &inference) {
  inference.setResults(
      matchPattern(inference.getOperation()->getResult(0), m_AnyZeroFloat())
          ? Replication::zero()
          : Replication::replicated());
}

//===----------------------------------------------------------------------===//
// Movement and reductions
//===----------------------------------------------------------------------===//

static ShapedType getOperandType(ReplicationInference &inference,
                                 unsigned index) {
  return cast<ShapedType>(
      inference.getOperation()->getOperand(index).getType());
}

static int64_t getResultRank(ReplicationInference &inference, unsigned index) {
  return cast<ShapedType>(inference.getOperation()->getResult(index).getType())
      .getRank();
}

/// Any function along dimension `axis`, such as a softmax.
static Replication alongAxis(Replication replication, int64_t axis) {
  return replication.getDim() == axis ? replication.withDim(Replication::kNoDim)
                                      : replication;
}

template <typename OpTy>
static void anyAlong(ReplicationInference &inference) {
  int64_t axis = cast<OpTy>(inference.getOperation()).getAxis();
  inference.setResults(alongAxis(amp::mapReplications(inference, {0}), axis));
}

/// Linear in operand 1, with operand 0 as the saved output.
template <typename OpTy>
static void gradientAlong(ReplicationInference &inference) {
  int64_t axis = cast<OpTy>(inference.getOperation()).getAxis();
  inference.setResults(
      alongAxis(amp::gateReplication(amp::mapReplications(inference, {0}),
                                     inference.getOperand(1)),
                axis));
}

/// Reduces along `axis`.
template <typename OpTy>
static void reducedAlong(ReplicationInference &inference) {
  int64_t axis = cast<OpTy>(inference.getOperation()).getAxis();
  inference.setResults(amp::reduceReplication(inference.getOperand(0),
                                              getOperandType(inference, 0),
                                              {axis}, RankReduction::Other));
}

static void runningSum(ReplicationInference &inference) {
  inference.setResults(
      alongAxis(inference.getOperand(0),
                cast<CumsumOp>(inference.getOperation()).getAxis()));
}

template <typename OpTy, RankReduction reduction>
static void reducedOver(ReplicationInference &inference) {
  auto op = cast<OpTy>(inference.getOperation());
  inference.setResults(
      amp::reduceReplication(inference.getOperand(0), op.getInput().getType(),
                             op.getDims(), reduction, op.getKeepDims()));
}

/// A value that is repeated along a divided dimension is divided along it: the
/// sum over the dimension is then a partial sum.
static void repetition(ReplicationInference &inference) {
  auto op = cast<BroadcastOp>(inference.getOperation());
  SmallVector<int64_t> kept;
  for (int64_t dim = 0, e = getResultRank(inference, 0); dim != e; ++dim)
    if (!llvm::is_contained(op.getDims(), dim))
      kept.push_back(dim);
  Replication input = amp::moveReplication(inference.getOperand(0), kept);
  Replication::Power power = input.getPower();
  if (op.getLike()) {
    Replication like = inference.getOperand(1);
    if (like.isVarying() && llvm::is_contained(op.getDims(), like.getDim())) {
      if (power && op.getMean())
        power = *power + 1;
      inference.setResult(0, input.isZero()
                                 ? input
                                 : Replication::varying(like.getDim(), power));
      return;
    }
  } else if (op.getMean()) {
    // The dimension may be divided or not.
    input = input.withPower(std::nullopt);
  }
  inference.setResult(0, input);
}

static void reshaped(ReplicationInference &inference) {
  auto op = cast<ReshapeOp>(inference.getOperation());
  inference.setResults(amp::reshapeReplication(inference.getOperand(0),
                                               op.getInput().getType(),
                                               op.getResult().getType()));
}

static void transposed(ReplicationInference &inference) {
  auto op = cast<TransposeOp>(inference.getOperation());
  SmallVector<int64_t> dims(op.getPermutation().size());
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    dims[from] = to;
  inference.setResults(amp::moveReplication(inference.getOperand(0), dims));
}

static void oneHot(ReplicationInference &inference) {
  inference.setResults(amp::mapReplication(inference.getOperand(0)));
}

/// Each sequence has lengths of its own, along the last dimension.
static void documentMask(ReplicationInference &inference) {
  inference.setResults(alongAxis(amp::mapReplications(inference, {0}),
                                 getOperandType(inference, 0).getRank() - 1));
}

/// The dimensions of indices of `rank` in a result that has them from `axis`.
static SmallVector<int64_t> getIndexDims(int64_t rank, int64_t axis) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim != rank; ++dim)
    dims.push_back(axis + dim);
  return dims;
}

static void gathered(ReplicationInference &inference) {
  auto op = cast<GatherOp>(inference.getOperation());
  int64_t axis = op.getAxis(), indices = getOperandType(inference, 1).getRank();
  SmallVector<int64_t> dims;
  for (int64_t dim = 0, e = getOperandType(inference, 0).getRank(); dim != e;
       ++dim)
    dims.push_back(dim < axis    ? dim
                   : dim == axis ? amp::kLostDim
                                 : dim + indices - 1);
  inference.setResults(amp::gateReplication(
      amp::moveReplication(inference.getOperand(1),
                           getIndexDims(indices, axis)),
      amp::moveReplication(inference.getOperand(0), dims)));
}

/// Indices of elements that vary scatter them into a part of a sum.
static void scattered(ReplicationInference &inference) {
  auto op = cast<ScatterAddOp>(inference.getOperation());
  int64_t axis = op.getAxis(), indices = getOperandType(inference, 1).getRank();
  Replication index = amp::moveReplication(inference.getOperand(1),
                                           getIndexDims(indices, axis));
  Replication all = amp::gateReplication(index, inference.getOperand(0));
  SmallVector<int64_t> dims;
  for (int64_t dim = 0, e = getOperandType(inference, 0).getRank(); dim != e;
       ++dim)
    dims.push_back(dim < axis             ? dim
                   : dim < axis + indices ? amp::kSummedDim
                                          : dim - indices + 1);
  inference.setResults(
      amp::contractReplications(all, dims, Replication::replicated(), {}));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static void matrixProduct(ReplicationInference &inference) {
  auto op = cast<MatmulOp>(inference.getOperation());
  int64_t rank = getResultRank(inference, 0);
  SmallVector<int64_t> a = amp::getAlignedDims(rank, rank), b = a;
  a[rank - (op.getTransposeA() ? 2 : 1)] = amp::kSummedDim;
  a[rank - (op.getTransposeA() ? 1 : 2)] = rank - 2;
  b[rank - (op.getTransposeB() ? 1 : 2)] = amp::kSummedDim;
  b[rank - (op.getTransposeB() ? 2 : 1)] = rank - 1;
  inference.setResults(amp::contractReplications(inference.getOperand(0), a,
                                                 inference.getOperand(1), b));
}

static void affine(ReplicationInference &inference) {
  auto op = cast<LinearOp>(inference.getOperation());
  int64_t rank = getResultRank(inference, 0);
  SmallVector<int64_t> a = amp::getAlignedDims(rank, rank), b(2);
  a[rank - 1] = amp::kSummedDim;
  b[op.getTransposeWeight() ? 1 : 0] = amp::kSummedDim;
  b[op.getTransposeWeight() ? 0 : 1] = rank - 1;
  Replication product = amp::contractReplications(inference.getOperand(0), a,
                                                  inference.getOperand(1), b);
  if (op.getBias())
    product = amp::addReplication(
        product, amp::moveReplication(inference.getOperand(2), {rank - 1}));
  inference.setResults(product);
}

/// A convolution: the dimensions of both operands in the result.
static void convolution(ReplicationInference &inference, ArrayRef<int64_t> a,
                        ArrayRef<int64_t> b) {
  inference.setResults(amp::contractReplications(inference.getOperand(0), a,
                                                 inference.getOperand(1), b));
}

static void convolved(ReplicationInference &inference) {
  convolution(inference, {0, amp::kLostDim, amp::kLostDim, amp::kSummedDim},
              {amp::kLostDim, amp::kLostDim, amp::kSummedDim, 3});
}

static void convolvedInputGrad(ReplicationInference &inference) {
  convolution(inference, {0, amp::kLostDim, amp::kLostDim, amp::kSummedDim},
              {amp::kLostDim, amp::kLostDim, 3, amp::kSummedDim});
}

static void convolvedFilterGrad(ReplicationInference &inference) {
  convolution(inference, {amp::kSummedDim, amp::kLostDim, amp::kLostDim, 2},
              {amp::kSummedDim, amp::kLostDim, amp::kLostDim, 3});
}

/// Windows over images. Only the batch and the channels remain divided.
static Replication pooled(const Replication &replication) {
  return amp::moveReplication(replication,
                              {0, amp::kLostDim, amp::kLostDim, 3});
}

static void maxPool(ReplicationInference &inference) {
  inference.setResults(pooled(amp::mapReplications(inference, {0})));
}

static void maxPoolGrad(ReplicationInference &inference) {
  inference.setResults(pooled(amp::gateReplication(
      amp::mapReplications(inference, {0, 1}), inference.getOperand(2))));
}

static void linearPool(ReplicationInference &inference) {
  inference.setResults(pooled(inference.getOperand(0)));
}

/// A dimension before the last two of the operands remains divided.
static Replication attended(const Replication &replication, int64_t rank) {
  return replication.getDim() < rank - 2
             ? replication
             : replication.withDim(Replication::kNoDim);
}

static void attention(ReplicationInference &inference) {
  auto op = cast<ScaledDotProductAttentionOp>(inference.getOperation());
  SmallVector<unsigned> operands = {0, 1, 2};
  if (op.getRng())
    operands.push_back(op->getNumOperands() - 1);
  Replication all = attended(amp::mapReplications(inference, operands),
                             getResultRank(inference, 0));
  if (op.getMask())
    all = amp::gateReplication(inference.getOperand(3).withDim(all.getDim()),
                               all);
  inference.setResults(all);
}

static void attentionGrad(ReplicationInference &inference) {
  auto op = cast<ScaledDotProductAttentionGradOp>(inference.getOperation());
  SmallVector<unsigned> operands = {1, 2, 3, 4};
  if (op.getRng())
    operands.push_back(op->getNumOperands() - 1);
  Replication gate = amp::mapReplications(inference, operands);
  inference.setResults(
      attended(amp::gateReplication(gate, inference.getOperand(0)),
               getResultRank(inference, 0)));
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

/// Statistics of dimensions before those of operand 1, gamma.
static void normalization(ReplicationInference &inference) {
  Replication result = amp::mapReplications(
      inference, amp::getOperandNumbers(inference.getOperation()));
  int64_t leading = getOperandType(inference, 0).getRank() -
                    getOperandType(inference, 1).getRank();
  if (result.getDim() >= leading)
    result = result.withDim(Replication::kNoDim);
  inference.setResults(result);
}

/// Gradients of an input and of the parameters: the latter sum over `summed`
/// dimensions at the start of the former.
static void normalizationGrad(ReplicationInference &inference, int64_t summed) {
  Replication gate = amp::mapReplications(inference, {1, 2});
  Replication input = amp::gateReplication(gate, inference.getOperand(0));
  if (input.getDim() >= summed)
    input = input.withDim(Replication::kNoDim);
  inference.setResult(0, input);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, summed));
  Replication sums = amp::reduceReplication(input, getOperandType(inference, 1),
                                            dims, RankReduction::Sum)
                         .withCount(0);
  for (unsigned i = 1, e = inference.getOperation()->getNumResults(); i != e;
       ++i)
    inference.setResult(i, sums);
}

static void rowNormGrad(ReplicationInference &inference) {
  normalizationGrad(inference, getOperandType(inference, 1).getRank() -
                                   getOperandType(inference, 2).getRank());
}

static void batchNormGrad(ReplicationInference &inference) {
  normalizationGrad(inference, getOperandType(inference, 1).getRank() - 1);
}

/// The statistics cover the part of the batch that a rank has.
static void batchNorm(ReplicationInference &inference) {
  Replication input = amp::mapReplications(inference, {0, 1, 2});
  inference.setResults(input.isReplicated() ? input : Replication::varying());
  inference.setResult(0, input);
}

//===----------------------------------------------------------------------===//
// Losses and optimizers
//===----------------------------------------------------------------------===//

/// The inputs of a loss, whose operand 1 has the first dimensions of operand 0.
static Replication getLossInputs(ReplicationInference &inference) {
  auto first = getOperandType(inference, 0),
       second = getOperandType(inference, 1);
  Replication labels = inference.getOperand(1);
  if (labels.isPartial())
    return Replication::varying();
  Replication input = amp::mapReplication(inference.getOperand(0));
  bool isRow = first.getRank() != second.getRank();
  Replication all = amp::gateReplication(labels, input);
  return isRow ? alongAxis(all, first.getRank() - 1) : all;
}

/// The mean over the rows of a rank is N times its part of the mean over all.
static void meanLoss(ReplicationInference &inference) {
  Replication inputs = getLossInputs(inference);
  auto type = getOperandType(inference, 0);
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  inference.setResults(
      amp::reduceReplication(inputs, type, dims, RankReduction::Mean));
}

static void meanLossGrad(ReplicationInference &inference) {
  Replication inputs = getLossInputs(inference);
  Replication grad = inference.getOperand(2);
  Replication result = amp::gateReplication(inputs, grad);
  Replication::Power power = result.getPower();
  if (inputs.getDim() != Replication::kNoDim)
    power = power ? Replication::Power(*power + 1) : power;
  else if (!inputs.isReplicated())
    power = std::nullopt;
  inference.setResults(result.withPower(power));
}

/// An optimizer that steps on parts: all tensors are parts along the same
/// dimension, and all ranks have the numbers.
static void optimizerOfParts(ReplicationInference &inference) {
  int64_t dim = Replication::kNoDim;
  auto operands = amp::getOperandNumbers(inference.getOperation());
  for (unsigned i : operands)
    if (inference.getOperand(i).isSharded() && dim == Replication::kNoDim)
      dim = inference.getOperand(i).getDim();
  for (unsigned i : operands) {
    Replication state = inference.getOperand(i);
    if (getOperandType(inference, i).getRank() == 0)
      inference.requireReplicated(i, "all ranks step alike");
    else if (Replication whole = Replication::replicated(state.getPower());
             state.isSharded() && !amp::describeDeviation(whole).empty())
      inference.report(i, "operand " + Twine(i) + " " +
                              amp::describeDeviation(whole) + ", expected " +
                              amp::describeExpected(whole) +
                              ": an optimizer steps on the gradient of the "
                              "whole batch");
    else if (!state.isSharded() || state.getDim() != dim)
      inference.report(i, "operand " + Twine(i) +
                              " is not the part of this rank along dimension " +
                              Twine(dim) +
                              ", expected parts of the same elements: the "
                              "optimizer steps on a part of the state");
  }
  Replication part = Replication::sharded(dim);
  inference.setResults(inference.getOperand(1).isReduced() ? part.asReduced()
                                                           : part);
}

static void optimizer(ReplicationInference &inference) {
  if (llvm::any_of(
          amp::getOperandNumbers(inference.getOperation()),
          [&](unsigned i) { return inference.getOperand(i).isSharded(); }))
    return optimizerOfParts(inference);
  for (unsigned i : amp::getOperandNumbers(inference.getOperation()))
    inference.requireReplicated(
        i, i == 1 ? "an optimizer steps on the gradient of the whole batch"
                  : "it is part of the state that an optimizer updates");
  inference.setResults(Replication::replicated());
}

static void clipByNorm(ReplicationInference &inference) {
  for (unsigned i : amp::getOperandNumbers(inference.getOperation()))
    inference.requireReplicated(
        i, "gradients are reduced before they are clipped");
  inference.setResults(Replication::replicated());
}

/// A gradient of a value that all ranks have is a part of the sum over them.
static void gradients(ReplicationInference &inference) {
  Replication loss = inference.getOperand(0);
  for (unsigned i = 0, e = inference.getOperation()->getNumResults(); i != e;
       ++i) {
    Replication of = inference.getOperand(i + 1);
    inference.setResult(
        i, loss.isReplicated() ? Replication::replicated(loss.getPower())
           : of.isReplicated() ? Replication::partial(loss.getPower())
                               : of.withPower(loss.getPower()));
  }
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
using RankRule = void (*)(ReplicationInference &);

template <typename OpTy, RankRule rule>
struct RankModel
    : amp::ReplicationOpInterface::ExternalModel<RankModel<OpTy, rule>, OpTy> {
  void inferReplication(Operation *, ReplicationInference &inference) const {
    rule(inference);
  }
  bool drawsByIndex(Operation *op) const {
    if constexpr (llvm::is_one_of<OpTy, ScaledDotProductAttentionOp,
                                  ScaledDotProductAttentionGradOp>::value)
      return bool(cast<OpTy>(op).getRng());
    return std::is_same_v<OpTy, DropoutOp>;
  }
  LogicalResult synchronize(Operation *op, OpBuilder &builder,
                            SmallVectorImpl<Value> &results) const {
    if constexpr (llvm::is_one_of<OpTy, BatchNormTrainingOp,
                                  BatchNormGradOp>::value)
      return synchronizeBatchNorm(cast<OpTy>(op), builder, results);
    return failure();
  }
  bool combinesParts(Operation *) const {
    return std::is_same_v<OpTy, ClipByGlobalNormOp>;
  }
  void combineParts(Operation *op, OpBuilder &builder, ValueRange operands,
                    ArrayRef<bool> isPart,
                    SmallVectorImpl<Value> &results) const {
    if constexpr (std::is_same_v<OpTy, ClipByGlobalNormOp>)
      clipParts(cast<ClipByGlobalNormOp>(op), builder, operands, isPart,
                results);
  }
};
} // namespace

template <RankRule rule, typename... Ops>
static void attachRank(MLIRContext *context) {
  (Ops::template attachInterface<RankModel<Ops, rule>>(*context), ...);
}

static void attachElementwiseRules(MLIRContext *context) {
  attachRank<sum, NegOp, AddOp, SubOp, SliceOp>(context);
  attachRank<any, AbsOp, SignOp, SinOp, CosOp, ErfOp, SqrtOp, LogOp, Log1pOp,
             TanhOp, SigmoidOp, SiluOp, ReluOp, ExpOp, Expm1Op, RsqrtOp,
             ReciprocalOp, GeluOp, ClipOp, MaximumOp, MinimumOp, PowOp,
             CompareOp, AdvanceRngOp, BatchNormInferenceOp>(context);
  attachRank<times, MulOp>(context);
  attachRank<quotientOf, DivOp>(context);
  attachRank<squareOf, SquareOp>(context);
  attachRank<gatedBy<0>, DropoutOp, RotaryEmbeddingOp>(context);
  attachRank<gatedBy<1>, ReluGradOp, TanhGradOp, SigmoidGradOp, SiluGradOp,
             GeluGradOp, ClipGradOp>(context);
  attachRank<choice, SelectOp>(context);
  attachRank<concatenation, ConcatOp>(context);
  attachRank<padding, PadOp>(context);
  attachRank<constantOf, ConstantOp>(context);
}

static void attachShapeRules(MLIRContext *context) {
  attachRank<anyAlong<SoftmaxOp>, SoftmaxOp>(context);
  attachRank<anyAlong<LogSoftmaxOp>, LogSoftmaxOp>(context);
  attachRank<gradientAlong<SoftmaxGradOp>, SoftmaxGradOp>(context);
  attachRank<gradientAlong<LogSoftmaxGradOp>, LogSoftmaxGradOp>(context);
  attachRank<reducedAlong<LogsumexpOp>, LogsumexpOp>(context);
  attachRank<reducedAlong<ArgmaxOp>, ArgmaxOp>(context);
  attachRank<runningSum, CumsumOp>(context);
  attachRank<reducedOver<ReduceSumOp, RankReduction::Sum>, ReduceSumOp>(
      context);
  attachRank<reducedOver<ReduceMeanOp, RankReduction::Mean>, ReduceMeanOp>(
      context);
  attachRank<reducedOver<ReduceMaxOp, RankReduction::Other>, ReduceMaxOp>(
      context);
  attachRank<repetition, BroadcastOp>(context);
  attachRank<reshaped, ReshapeOp>(context);
  attachRank<transposed, TransposeOp>(context);
  attachRank<oneHot, OneHotOp>(context);
  attachRank<gathered, GatherOp>(context);
  attachRank<scattered, ScatterAddOp>(context);
}

void mlir::train::attachReplicationModels(MLIRContext *context) {
  attachElementwiseRules(context);
  attachShapeRules(context);
  attachRank<matrixProduct, MatmulOp>(context);
  attachRank<affine, LinearOp>(context);
  attachRank<convolved, Conv2DOp>(context);
  attachRank<convolvedInputGrad, Conv2DInputGradOp>(context);
  attachRank<convolvedFilterGrad, Conv2DFilterGradOp>(context);
  attachRank<maxPool, MaxPool2DOp>(context);
  attachRank<maxPoolGrad, MaxPool2DGradOp>(context);
  attachRank<linearPool, AvgPool2DOp, AvgPool2DGradOp>(context);
  attachRank<documentMask, DocumentMaskOp>(context);
  attachRank<attention, ScaledDotProductAttentionOp>(context);
  attachRank<attentionGrad, ScaledDotProductAttentionGradOp>(context);
  attachRank<normalization, LayerNormOp, RMSNormOp>(context);
  attachRank<rowNormGrad, LayerNormGradOp, RMSNormGradOp>(context);
  attachRank<batchNorm, BatchNormTrainingOp>(context);
  attachRank<batchNormGrad, BatchNormGradOp>(context);
  attachRank<meanLoss, CrossEntropyOp, MSEOp, L1Op>(context);
  attachRank<meanLossGrad, CrossEntropyGradOp, MSEGradOp, L1GradOp>(context);
  attachRank<optimizer, SGDOp, AdamOp, AdamWOp>(context);
  attachRank<clipByNorm, ClipByGlobalNormOp>(context);
  attachRank<gradients, GradientsOp>(context);
}
