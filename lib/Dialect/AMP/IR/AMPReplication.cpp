//===- AMPReplication.cpp - What is equal on all ranks --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplicationModels.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Interfaces/ReplicationOpInterface.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// A cast: rounded summands of a total are still its summands.
static void keepReplication(ReplicationInference &inference) {
  inference.setResults(addReplications(inference, {0}));
}

static void seedReplication(ReplicationInference &inference) {
  inference.setResults(Replication::replicated());
}

static void scaleReplication(ReplicationInference &inference) {
  inference.setResults(multiplyReplications(inference, 0, 1));
}

/// Linear in operand 0, for operands that are states of all ranks.
static void linearReplication(ReplicationInference &inference) {
  for (unsigned i : getOperandNumbers(inference.getOperation()))
    if (i != 0)
      inference.requireReplicated(i, "it is a loss scale");
  keepReplication(inference);
}

static void anyReplication(ReplicationInference &inference) {
  Operation *op = inference.getOperation();
  inference.setResults(mapReplications(inference, getOperandNumbers(op)));
}

/// A number that is computed from all elements, such as a maximum.
static void summaryReplication(ReplicationInference &inference) {
  bool isEqual = llvm::all_of(
      getOperandNumbers(inference.getOperation()),
      [&](unsigned i) { return inference.getOperand(i).isReplicated(); });
  inference.setResults(isEqual ? Replication::replicated(std::nullopt)
                               : Replication::varying());
}

/// Partial gradients may be unscaled before they are reduced. The flag is then
/// that of one rank.
static void unscaleReplication(ReplicationInference &inference) {
  auto op = cast<UnscaleOp>(inference.getOperation());
  unsigned count = op.getGradients().size();
  inference.requireReplicated(count, "it is a loss scale");
  bool isEqual = true;
  for (unsigned i = 0; i != count; ++i) {
    inference.setResult(i, inference.getOperand(i));
    isEqual &= inference.getOperand(i).isReplicated();
  }
  inference.setResult(count, isEqual ? Replication::replicated()
                                     : Replication::varying());
}

/// Each rank has a summand of the sum over parts.
static void squareSumReplication(ReplicationInference &inference) {
  bool isPart = false;
  for (unsigned i : getOperandNumbers(inference.getOperation()))
    isPart |= inference.getOperand(i).isSharded();
  if (!isPart)
    return inferNormReplication(inference);
  for (unsigned i : getOperandNumbers(inference.getOperation())) {
    Replication value = inference.getOperand(i);
    Replication whole = Replication::replicated(value.getPower());
    if (!value.isSharded())
      inference.report(i, "operand " + Twine(i) +
                              " is not a part, expected parts of all "
                              "gradients, because the ranks add their sums");
    else if (!describeDeviation(whole).empty())
      inference.report(i, "operand " + Twine(i) + " " +
                              describeDeviation(whole) + ", expected " +
                              describeExpected(whole) +
                              ": the norm needs reduced gradients");
  }
  inference.setResults(Replication::partial(0));
}

static void scalerReplication(ReplicationInference &inference) {
  for (unsigned i : getOperandNumbers(inference.getOperation()))
    inference.requireReplicated(i,
                                "all ranks must update the loss scale alike");
  inference.setResults(Replication::replicated());
}

/// Each rank adds a part of its own to the others, which are other elements.
static bool reportsPart(ReplicationInference &inference, unsigned index) {
  if (!inference.getOperand(index).isSharded())
    return false;
  inference.report(index, "operand " + Twine(index) +
                              " has other elements on each rank, expected "
                              "summands of the same elements");
  return true;
}

static void allReduceReplication(ReplicationInference &inference) {
  auto op = cast<AllReduceOp>(inference.getOperation());
  for (unsigned i : getOperandNumbers(op)) {
    Replication value = inference.getOperand(i);
    if (op.getReduction() == RankReductionKind::Sum)
      reportsPart(inference, i);
    if (op.getReduction() == RankReductionKind::Sum)
      inference.setResult(i, sumOverRanks(value));
    else
      inference.setResult(i, value.isReplicated()
                                 ? value
                                 : Replication::replicated(std::nullopt));
  }
}

/// The dimension along which the parts of `op` are divided. A flat part has
/// only one.
template <typename OpTy>
static int64_t getPartDim(OpTy op) {
  return op.isFlat() ? 0 : static_cast<int64_t>(op.getAlong());
}

static void reduceScatterReplication(ReplicationInference &inference) {
  auto op = cast<ReduceScatterOp>(inference.getOperation());
  reportsPart(inference, 0);
  inference.setResult(
      0, Replication::sharded(getPartDim(op),
                              sumOverRanks(inference.getOperand(0)).getPower())
             .asReduced());
}

static void rankPartReplication(ReplicationInference &inference) {
  auto op = cast<RankPartOp>(inference.getOperation());
  Replication value = inference.getOperand(0);
  if (!value.isReplicated())
    return inference.setResult(0, Replication::varying());
  Replication part = Replication::sharded(getPartDim(op), value.getPower());
  inference.setResult(0, value.isReduced() ? part.asReduced() : part);
}

static void allGatherReplication(ReplicationInference &inference) {
  auto op = cast<AllGatherOp>(inference.getOperation());
  Replication part = inference.getOperand(0);
  int64_t dim = getPartDim(op);
  if (part.isReplicated() && !part.isZero())
    inference.report(0, "operand 0 is equal on all ranks, expected the part of "
                        "each rank");
  if (part.isSharded() && part.getDim() != dim)
    inference.report(0, "operand 0 is a part along dimension " +
                            Twine(part.getDim()) + ", expected a part along " +
                            Twine(dim));
  bool isKnown = !part.isPartial() && part.getDim() == dim;
  Replication whole =
      Replication::replicated(isKnown ? part.getPower() : std::nullopt);
  // The parts of an old state are an old state.
  inference.setResult(
      0, part.isSharded() && !part.isReduced() ? whole : whole.asReduced());
}

static void divideReplication(ReplicationInference &inference) {
  Replication value = inference.getOperand(0);
  Replication::Power power = value.getPower();
  inference.setResults(
      value.withPower(power ? Replication::Power(*power - 1) : power));
}

/// Eight bits and a scale represent a value. Ranks with different scales round
/// it differently.
static void payloadReplication(ReplicationInference &inference) {
  Replication scale = inference.getOperand(1).withDim(Replication::kNoDim);
  Replication value = inference.getOperand(0);
  // Ranks with different random numbers round differently, too.
  if (inference.getOperation()->getNumOperands() > 2)
    value = gateReplication(
        inference.getOperand(2).withDim(Replication::kNoDim), value);
  inference.setResults(gateReplication(
      scale, value.isPartial() ? Replication::varying() : value));
}

/// The product of the values that the payloads represent.
static void scaledMatmulReplication(ReplicationInference &inference) {
  auto op = cast<ScaledMatmulOp>(inference.getOperation());
  auto getRank = [](Value value) {
    return cast<ShapedType>(value.getType()).getRank();
  };
  int64_t rank = getRank(op.getResult()), aRank = getRank(op.getLhs());
  // All dimensions but the last are the rows of a matrix.
  SmallVector<int64_t> a(aRank, kSummedDim), b(getRank(op.getRhs()));
  if (op.getTransposeA())
    a.back() = rank - 2;
  else
    for (int64_t dim = 0; dim != aRank - 1; ++dim)
      a[dim] = dim;
  for (int64_t &dim : b)
    dim = op.getTransposeB() ? rank - 1 : kSummedDim;
  b.back() = op.getTransposeB() ? kSummedDim : rank - 1;
  Replication product = contractReplications(inference.getOperand(0), a,
                                             inference.getOperand(2), b);
  if (op.getBias())
    product = addReplication(
        product, moveReplication(inference.getOperand(4), {rank - 1}));
  inference.setResults(product);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Unscales parts. The gradients are finite if those of all ranks are.
static void unscaleParts(UnscaleOp op, OpBuilder &builder, ValueRange operands,
                         SmallVectorImpl<Value> &results) {
  ValueRange gradients = operands.drop_back();
  SmallVector<Type> types;
  for (auto [gradient, old] : llvm::zip_equal(gradients, op.getUnscaled()))
    types.push_back(
        cast<ShapedType>(gradient.getType()).clone(getElementTypeOrSelf(old)));
  auto own = UnscaleOp::create(builder, op.getLoc(), types,
                               op.getAllFinite().getType(), gradients,
                               operands.back(), op.getStrict());
  own->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  llvm::append_range(results, own.getUnscaled());
  results.push_back(AllReduceOp::create(builder, op.getLoc(),
                                        RankReductionKind::And,
                                        own.getAllFinite())
                        .getReduced()[0]);
}

/// The largest magnitude of gradients, some of which are parts. Zeros follow
/// the last element of a part.
static void largestOfParts(MaxMagnitudeOp op, OpBuilder &builder,
                           ValueRange gradients,
                           SmallVectorImpl<Value> &results) {
  Value own = MaxMagnitudeOp::create(builder, op.getLoc(), gradients);
  // A maximum over the ranks may follow, together with other magnitudes.
  if (llvm::all_of(op->getUsers(), [](Operation *user) {
        auto all = dyn_cast<AllReduceOp>(user);
        return all && all.getReduction() == RankReductionKind::Max;
      }))
    return results.push_back(own);
  results.push_back(
      AllReduceOp::create(builder, op.getLoc(), RankReductionKind::Max, own)
          .getReduced()[0]);
}

namespace {
using ReplicationRule = void (*)(ReplicationInference &);

template <typename OpTy, ReplicationRule rule, bool collective>
struct ReplicationModel : ReplicationOpInterface::ExternalModel<
                              ReplicationModel<OpTy, rule, collective>, OpTy> {
  void inferReplication(Operation *, ReplicationInference &inference) const {
    rule(inference);
  }
  bool isCollective(Operation *) const { return collective; }
  bool combinesParts(Operation *) const {
    return llvm::is_one_of<OpTy, UnscaleOp, MaxMagnitudeOp>::value;
  }
  void combineParts(Operation *op, OpBuilder &builder, ValueRange operands,
                    ArrayRef<bool>, SmallVectorImpl<Value> &results) const {
    if constexpr (std::is_same_v<OpTy, UnscaleOp>)
      unscaleParts(cast<UnscaleOp>(op), builder, operands, results);
    else if constexpr (std::is_same_v<OpTy, MaxMagnitudeOp>)
      largestOfParts(cast<MaxMagnitudeOp>(op), builder, operands, results);
  }
};
} // namespace

template <ReplicationRule rule, typename... Ops>
static void attachReplication(MLIRContext *context) {
  (Ops::template attachInterface<ReplicationModel<Ops, rule, false>>(*context),
   ...);
}

template <ReplicationRule rule, typename OpTy>
static void attachCollective(MLIRContext *context) {
  OpTy::template attachInterface<ReplicationModel<OpTy, rule, true>>(*context);
}

void mlir::amp::attachReplicationModels(MLIRContext *context) {
  attachReplication<keepReplication, CastOp>(context);
  attachReplication<seedReplication, GradientSeedOp>(context);
  attachReplication<scaleReplication, ScaleOp>(context);
  attachReplication<linearReplication, InnerGradientOp, RescaleOp>(context);
  attachReplication<anyReplication, MasterCopyOp, ResidualOp, CompensateOp,
                    UpperHalfOp>(context);
  attachReplication<summaryReplication, AmaxOp, MaxMagnitudeOp, StatisticsOp>(
      context);
  attachReplication<anyReplication, ScaleFromAmaxOp>(context);
  attachReplication<payloadReplication, DequantizeOp, QuantizeOp>(context);
  attachReplication<scaledMatmulReplication, ScaledMatmulOp>(context);
  attachReplication<unscaleReplication, UnscaleOp>(context);
  attachReplication<squareSumReplication, SquareSumOp>(context);
  attachReplication<scalerReplication, UpdateScaleOp, AdaptScaleOp>(context);
  attachReplication<divideReplication, DivideByRanksOp>(context);
  attachCollective<allReduceReplication, AllReduceOp>(context);
  attachCollective<reduceScatterReplication, ReduceScatterOp>(context);
  attachReplication<rankPartReplication, RankPartOp>(context);
  attachCollective<allGatherReplication, AllGatherOp>(context);
}
