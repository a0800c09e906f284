//===- ReplicationOpInterface.cpp - Equal on all ranks? -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/ReplicationOpInterface.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

#include "amp/Interfaces/ReplicationOpInterface.cpp.inc"

using Power = Replication::Power;
using Kind = Replication::Kind;

//===----------------------------------------------------------------------===//
// The lattice
//===----------------------------------------------------------------------===//

static Power mixPowers(Power a, Power b);
static int64_t getRank(Type type);

/// The power of a value that is `a` or `b`. Constants and parameters meet sums
/// over the ranks where a step replaces numbers that are not finite, and get
/// their factor later.
static Power joinPowers(const Replication &a, const Replication &b) {
  Power first = a.getPower(), second = b.getPower();
  if (first == second)
    return first;
  bool isKnown = (first || first.isOfSeveral()) &&
                 (second || second.isOfSeveral()) && !a.isPartial() &&
                 !a.isVarying();
  return isKnown && a.isReduced() && b.isReduced() ? Power::ofSeveral()
                                                   : Power();
}

bool Replication::operator==(const Replication &other) const {
  return kind == other.kind && power == other.power && dim == other.dim &&
         count == other.count && reduced == other.reduced;
}

Replication Replication::join(const Replication &a, const Replication &b) {
  if (a == b || a.kind < b.kind)
    return a == b || a.isUnset() || a.isZero() ? b : varying();
  if (a.kind > b.kind)
    return b.isUnset() || b.isZero() ? a : varying();
  if (a.isSharded() && a.dim != b.dim)
    return varying();
  Replication result = a;
  result.power = joinPowers(a, b);
  result.dim = a.dim == b.dim ? a.dim : kNoDim;
  result.count = a.count == b.count ? a.count : 0;
  result.reduced = a.reduced || b.reduced;
  return result;
}

void Replication::print(raw_ostream &os) const {
  switch (kind) {
  case Kind::Unset:
    os << "unset";
    return;
  case Kind::Zero:
    os << "zero";
    return;
  case Kind::Replicated:
    os << "replicated";
    break;
  case Kind::Partial:
    os << "partial";
    break;
  case Kind::Sharded:
  case Kind::Varying:
    os << (isSharded() ? "sharded" : "varying");
    if (dim != kNoDim)
      os << " along " << dim;
    break;
  }
  if (power.isOfSeveral())
    os << " * N^several";
  else if (!power)
    os << " * N^?";
  else if (*power != 0)
    os << " * N^" << *power;
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

void ReplicationInference::setResults(const Replication &replication) {
  for (unsigned i = 0, e = getOperation()->getNumResults(); i != e; ++i)
    setResult(i, replication);
}

std::string mlir::amp::describeDeviation(const Replication &replication) {
  if (replication.isPartial())
    return "is a partial sum over the ranks";
  if (replication.isSharded())
    return "is the part of one rank";
  if (replication.isVarying())
    return "varies between the ranks";
  if (replication.getPower().isOfSeveral())
    return "is multiplied by different powers of N, depending on a condition";
  int power = replication.getPower().value_or(0);
  if (power == 0)
    return "";
  std::string factor = power == 1    ? "N times"
                       : power == -1 ? "1/N of"
                                     : "N^" + std::to_string(power) + " times";
  return "is " + factor + " its value for the whole batch";
}

std::string mlir::amp::describeExpected(const Replication &replication) {
  if (!replication.isReplicated())
    return "a value that all ranks have";
  if (replication.getPower().isOfSeveral())
    return "the value for the whole batch in each case";
  return replication.getPower().value_or(0) > 0
             ? "a division by N, the number of ranks"
             : "one division less by N, the number of ranks";
}

void ReplicationInference::requireReplicated(unsigned index, const Twine &why) {
  Replication replication = getOperand(index);
  std::string deviation = describeDeviation(replication);
  if (!deviation.empty())
    report(index, "operand " + Twine(index) + " " + deviation + ", expected " +
                      describeExpected(replication) + ": " + why);
}

SmallVector<unsigned> mlir::amp::getOperandNumbers(Operation *op) {
  return llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands()));
}

SmallVector<int64_t> mlir::amp::getAlignedDims(int64_t rank,
                                               int64_t resultRank) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim != rank; ++dim)
    dims.push_back(dim + resultRank - rank);
  return dims;
}

/// The dimension of a value that is computed element by element from two
/// values that vary. A value without a dimension is broadcast along it.
static int64_t mixDims(const Replication &a, const Replication &b) {
  if (a.getDim() == Replication::kNoDim)
    return b.getDim();
  if (b.getDim() == Replication::kNoDim || a.getDim() == b.getDim())
    return a.getDim();
  return Replication::kNoDim;
}

Replication mlir::amp::moveReplication(const Replication &replication,
                                       ArrayRef<int64_t> dims) {
  int64_t dim = replication.getDim();
  if (dim == Replication::kNoDim)
    return replication;
  bool isKept = dim < static_cast<int64_t>(dims.size()) && dims[dim] >= 0;
  return replication.withDim(isKept ? dims[dim] : Replication::kNoDim);
}

Replication mlir::amp::reshapeReplication(const Replication &replication,
                                          ShapedType from, ShapedType to) {
  int64_t dim = replication.getDim();
  if (dim == Replication::kNoDim)
    return replication;
  if (!from.hasRank() || !to.hasRank() || dim >= from.getRank())
    return Replication::varying();
  // The dimension is still divided if as many elements precede it as before,
  // and it is split or merged with dimensions that follow.
  auto countBefore = [](ShapedType type, int64_t end) {
    int64_t count = 1;
    for (int64_t extent : type.getShape().take_front(end))
      count = ShapedType::isDynamic(extent) || count < 0 ? -1 : count * extent;
    return count;
  };
  int64_t before = countBefore(from, dim);
  for (int64_t i = 0; before >= 0 && i != to.getRank(); ++i)
    if (to.getDimSize(i) != 1 && countBefore(to, i) == before)
      return replication.withDim(i);
  return replication.withDim(Replication::kNoDim);
}

/// The value that is computed element by element from `a` and `b` if one of
/// them is a part of a tensor. The other one is a part along the same
/// dimension, or has no elements along it.
static std::optional<Replication> joinParts(const Replication &a,
                                            const Replication &b, Power power) {
  if (!a.isSharded() && !b.isSharded())
    return std::nullopt;
  bool hasSum = a.isPartial() || b.isPartial();
  bool isOther = a.isVarying() || b.isVarying();
  if (hasSum || isOther ||
      (a.isSharded() && b.isSharded() && a.getDim() != b.getDim()))
    return Replication::varying();
  Replication part =
      Replication::sharded(a.isSharded() ? a.getDim() : b.getDim(), power);
  return a.isReduced() || b.isReduced() ? part.asReduced() : part;
}

void mlir::amp::inferNormReplication(ReplicationInference &inference) {
  for (unsigned i : getOperandNumbers(inference.getOperation()))
    inference.requireReplicated(i, "the norm needs reduced gradients");
  inference.setResults(Replication::replicated());
}

Replication mlir::amp::gateReplication(const Replication &gate,
                                       const Replication &value) {
  if (gate.isReplicated() || gate.isUnset() || value.isZero())
    return value;
  if (std::optional<Replication> part =
          joinParts(gate, value, value.getPower()))
    return *part;
  return Replication::varying(mixDims(gate, value), value.getPower());
}

static int64_t getRank(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() ? shaped.getRank() : 0;
}

/// Whether operand `index`, a part of a tensor along dimension `dim` of the
/// first result, is combined with all elements of another tensor, or only some
/// of its elements are.
static bool meetsWhole(ReplicationInference &inference, unsigned index,
                       int64_t dim) {
  Operation *op = inference.getOperation();
  if (op->getNumResults() == 0)
    return false;
  auto result = dyn_cast<ShapedType>(op->getResult(0).getType());
  auto getExtent = [&](Type type) -> int64_t {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank() || !result || !result.hasRank())
      return 1;
    int64_t own = dim - (result.getRank() - shaped.getRank());
    return own < 0 || own >= shaped.getRank() ? 1 : shaped.getDimSize(own);
  };
  if (getExtent(op->getOperand(index).getType()) !=
      getExtent(op->getResult(0).getType()))
    return true;
  return llvm::any_of(getOperandNumbers(op), [&](unsigned other) {
    Replication state = inference.getOperand(other);
    return state.isReplicated() && !state.isZero() &&
           getExtent(op->getOperand(other).getType()) != 1 &&
           !getSplatConstant(op->getOperand(other));
  });
}

/// The replication of operand `index`, with its dimension in the result.
static Replication getAligned(ReplicationInference &inference, unsigned index) {
  Operation *op = inference.getOperation();
  int64_t rank = getRank(op->getOperand(index).getType());
  int64_t resultRank =
      op->getNumResults() == 0 ? rank : getRank(op->getResult(0).getType());
  Replication aligned = moveReplication(inference.getOperand(index),
                                        getAlignedDims(rank, resultRank));
  return aligned.isSharded() && meetsWhole(inference, index, aligned.getDim())
             ? Replication::varying()
             : aligned;
}

/// The power of a value computed from two values, if the power of one of them
/// is not known.
static std::optional<Power> combineUnknown(Power a, Power b) {
  if (a && b)
    return std::nullopt;
  return (a || a.isOfSeveral()) && (b || b.isOfSeveral()) ? Power::ofSeveral()
                                                          : Power();
}

/// The power of a value that is computed from two values without a common
/// factor: a factor that one of them should not have remains visible.
static Power mixPowers(Power a, Power b) {
  if (std::optional<Power> known = combineUnknown(a, b))
    return *known;
  if (*a == -*b && *a != 0)
    return std::nullopt;
  return std::abs(*a) >= std::abs(*b) ? a : b;
}

/// `replication` as one of several values that are added to partial ones: each
/// rank adds the same number, so the total has it N times.
static Power getPowerOfSummand(const Replication &replication) {
  Power power = replication.getPower();
  return replication.isPartial() || !power ? power : Power(*power + 1);
}

Replication mlir::amp::addReplication(const Replication &a,
                                      const Replication &b) {
  if (a.isZero() || a.isUnset())
    return b;
  if (b.isZero() || b.isUnset())
    return a;
  Power mixed = mixPowers(a.getPower(), b.getPower());
  if (std::optional<Replication> part = joinParts(a, b, mixed))
    return *part;
  if (a.isVarying() || b.isVarying())
    return Replication::varying(mixDims(a, b),
                                mixPowers(a.getPower(), b.getPower()));
  int64_t count = a.getCount() == b.getCount() ? a.getCount() : 0;
  if (a.isPartial() || b.isPartial())
    return Replication::partial(
               mixPowers(getPowerOfSummand(a), getPowerOfSummand(b)))
        .withCount(count);
  Replication sum =
      Replication::replicated(mixPowers(a.getPower(), b.getPower()));
  return a.isReduced() || b.isReduced() ? sum.asReduced().withCount(count)
                                        : sum;
}

Replication mlir::amp::addReplications(ReplicationInference &inference,
                                       ArrayRef<unsigned> operands) {
  Replication sum = Replication::zero();
  for (unsigned index : operands)
    sum = addReplication(sum, getAligned(inference, index));
  return sum;
}

Replication mlir::amp::chooseReplication(ReplicationInference &inference,
                                         ArrayRef<unsigned> operands) {
  Replication chosen = Replication::zero();
  for (unsigned index : operands) {
    Replication other = getAligned(inference, index);
    bool isPart = chosen.isSharded() || other.isSharded();
    bool mixes = (isPart || chosen.isVarying() != other.isVarying()) &&
                 !chosen.isZero() && !other.isZero();
    // The part of a tensor next to a replicated value is still such a part.
    chosen = mixes && !chosen.isPartial() && !other.isPartial()
                 ? addReplication(chosen, other)
                 : Replication::join(chosen, other);
  }
  return chosen;
}

/// Any function of two values.
static Replication mix(const Replication &a, const Replication &b) {
  if (a.isReplicated() && b.isReplicated()) {
    Replication result =
        Replication::replicated(mixPowers(a.getPower(), b.getPower()));
    return a.isReduced() || b.isReduced() ? result.asReduced() : result;
  }
  Power mixed = mixPowers(a.getPower(), b.getPower());
  if (std::optional<Replication> part = joinParts(a, b, mixed))
    return *part;
  bool isExact = a.getPower() == Power(0) && b.getPower() == Power(0);
  return Replication::varying(mixDims(a, b), isExact ? Power(0) : Power());
}

Replication mlir::amp::mapReplication(const Replication &value) {
  return mix(Replication::replicated(), value);
}

Replication mlir::amp::mapReplications(ReplicationInference &inference,
                                       ArrayRef<unsigned> operands) {
  Replication result = Replication::replicated();
  for (unsigned index : operands)
    result = mix(result, getAligned(inference, index));
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::optional<double> mlir::amp::getSplatConstant(Value value) {
  Attribute constant;
  Operation *op = value.getDefiningOp();
  // In StableHLO a constant is repeated by an operation.
  while (op && !op->isRegistered() && op->getNumOperands() == 1 &&
         op->getName().stripDialect() == "broadcast_in_dim") {
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  if (!matchPattern(value, m_Constant(&constant))) {
    // The constants of unregistered dialects.
    if (!op || op->isRegistered() || op->getNumOperands() != 0)
      return std::nullopt;
    constant = op->getAttr("value");
  }
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(constant))
    constant =
        elements.isSplat() ? elements.getSplatValue<Attribute>() : Attribute();
  if (auto number = dyn_cast_or_null<FloatAttr>(constant))
    return number.getValueAsDouble();
  if (auto number = dyn_cast_or_null<IntegerAttr>(constant))
    return number.getValue().getSExtValue();
  return std::nullopt;
}

static bool isNear(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::abs(b);
}

/// `value` divided by the constant `divisor`. `isDivision` is false for a
/// multiplication by a number less than one, which may have other reasons.
static Replication divideByConstant(const Replication &value, double divisor,
                                    bool isDivision, int64_t ranks) {
  divisor = std::abs(divisor);
  Power power = value.getPower();
  if (!power || !value.isReduced())
    return value;
  if (ranks == 0)
    return isNear(divisor, 1) ? value : value.withPower(std::nullopt);
  if (ranks == 1)
    return value;
  // The mean over the elements of this rank, or over those of all ranks.
  int64_t count = value.getCount();
  if (count > 1 && *power == 0 && isNear(divisor, count))
    return value.withPower(1).withCount(0);
  if (count > 0 && isNear(divisor, static_cast<double>(ranks) * count))
    return value.withCount(0);
  if (isNear(divisor, ranks) && (isDivision || *power > 0))
    return value.withPower(*power - 1);
  if (isNear(1, divisor * ranks) && *power < 0)
    return value.withPower(*power + 1);
  return value;
}

static Power addPowers(Power a, Power b, bool divide) {
  if (std::optional<Power> known = combineUnknown(a, b))
    return *known;
  return divide ? *a - *b : *a + *b;
}

static Replication multiply(const Replication &a, const Replication &b,
                            bool divide) {
  if (a.isZero() || (b.isZero() && !divide))
    return Replication::zero();
  Power power = addPowers(a.getPower(), b.getPower(), divide);
  if (a.isReplicated() && b.isReplicated()) {
    Replication product = Replication::replicated(power);
    return a.isReduced() || b.isReduced() ? product.asReduced() : product;
  }
  if (std::optional<Replication> part = joinParts(a, b, power))
    return *part;
  if (a.isPartial() && b.isReplicated())
    return a.withPower(power).withCount(0);
  if (b.isPartial() && a.isReplicated() && !divide)
    return b.withPower(power).withCount(0);
  return Replication::varying(mixDims(a, b), power);
}

Replication mlir::amp::multiplyReplications(ReplicationInference &inference,
                                            unsigned a, unsigned b,
                                            bool divide) {
  Replication lhs = getAligned(inference, a), rhs = getAligned(inference, b);
  Operation *op = inference.getOperation();
  int64_t ranks = inference.getNumRanks();
  if (std::optional<double> number = getSplatConstant(op->getOperand(b));
      number && *number != 0)
    return divideByConstant(lhs, divide ? *number : 1 / *number, divide, ranks);
  if (std::optional<double> number = getSplatConstant(op->getOperand(a));
      number && *number != 0 && !divide)
    return divideByConstant(rhs, 1 / *number, /*isDivision=*/false, ranks);
  return multiply(lhs, rhs, divide);
}

Replication mlir::amp::contractReplications(const Replication &a,
                                            ArrayRef<int64_t> aDims,
                                            const Replication &b,
                                            ArrayRef<int64_t> bDims) {
  auto isSummed = [](const Replication &operand, ArrayRef<int64_t> dims) {
    int64_t dim = operand.getDim();
    return dim >= 0 && dim < static_cast<int64_t>(dims.size()) &&
           dims[dim] == kSummedDim;
  };
  bool sumsA = isSummed(a, aDims), sumsB = isSummed(b, bDims);
  // A sum over a part needs the same part of the other operand.
  if ((a.isSharded() || b.isSharded()) && (sumsA || sumsB) &&
      !(a.isSharded() && b.isSharded() && sumsA && sumsB))
    return Replication::varying();
  if (!sumsA && !sumsB)
    return multiply(moveReplication(a, aDims), moveReplication(b, bDims),
                    /*divide=*/false);
  // The other operand has the elements of this rank along the same dimension.
  if ((sumsA && b.isVarying() && !sumsB) || (sumsB && a.isVarying() && !sumsA))
    return Replication::varying();
  if (a.isPartial() || b.isPartial())
    return Replication::varying();
  if (a.isZero() || b.isZero())
    return Replication::zero();
  return Replication::partial(
      addPowers(a.getPower(), b.getPower(), /*divide=*/false));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Replication mlir::amp::reduceReplication(const Replication &replication,
                                         ShapedType type,
                                         ArrayRef<int64_t> dims,
                                         RankReduction reduction,
                                         bool keepDims) {
  int64_t dim = replication.getDim();
  if (replication.isPartial() && reduction == RankReduction::Other)
    return Replication::varying();
  if (dim == Replication::kNoDim)
    return replication.withCount(0);
  if (!llvm::is_contained(dims, dim)) {
    if (keepDims)
      return replication;
    return replication.withDim(
        dim - llvm::count_if(dims, [&](int64_t other) { return other < dim; }));
  }
  if (reduction == RankReduction::Other)
    return Replication::varying();
  Power power = replication.getPower();
  // The number of summands of this rank is 1/N of all.
  if (reduction == RankReduction::Mean)
    return Replication::partial(power ? Power(*power + 1) : power);
  int64_t count = 1;
  for (int64_t reduced : dims)
    count = type.isDynamicDim(reduced) ? 0 : count * type.getDimSize(reduced);
  return Replication::partial(power).withCount(count);
}

Replication mlir::amp::sumOverRanks(const Replication &replication) {
  Power power = replication.getPower();
  switch (replication.getKind()) {
  case Kind::Unset:
  case Kind::Zero:
    return replication;
  case Kind::Replicated:
    return replication.withPower(power ? Power(*power + 1) : power).asReduced();
  case Kind::Partial:
    return Replication::replicated(power).asReduced().withCount(
        replication.getCount());
  case Kind::Sharded:
  case Kind::Varying:
    return Replication::replicated(std::nullopt).asReduced();
  }
  return Replication::varying();
}
