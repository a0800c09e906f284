//===- StableHLORules.cpp - Ranks in StableHLO ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations are known by their names, and their attributes by their text,
// because the dialect is not linked in. A loss in StableHLO is a sum that is
// divided by a constant. In the backward pass the same constant divides 1. The
// number of elements that it counts tells whether it belongs to one rank or to
// all ranks.
//
//===----------------------------------------------------------------------===//

#include "StableHLORules.h"

#include "amp/Support/StableHLOText.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

static StringRef getShortName(Operation *op) {
  return op->getName().stripDialect();
}

static RankedTensorType getTensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static RankedTensorType getOperandTensor(ReplicationInference &inference,
                                         unsigned index) {
  return getTensorType(inference.getOperation()->getOperand(index));
}

//===----------------------------------------------------------------------===//
// Means in backward passes
//===----------------------------------------------------------------------===//

/// Whether `op` is of StableHLO and keeps the magnitude of equal elements.
static bool keepsMagnitude(Operation *op) {
  return llvm::StringSwitch<bool>(op->getName().getStringRef())
      .Cases({"stablehlo.negate", "stablehlo.convert", "stablehlo.reshape"},
             true)
      .Cases({"stablehlo.broadcast_in_dim", "stablehlo.transpose"}, true)
      .Default(false);
}

/// The number that divides 1 in `value`, which is 1 for a constant 1 or -1.
/// None if the value is not computed from constants like this.
static std::optional<double> getSeedDivisor(Value value) {
  constexpr unsigned kMaxDepth = 16;
  double divisor = 1;
  for (unsigned depth = 0; depth != kMaxDepth; ++depth) {
    if (std::optional<double> one = getSplatConstant(value))
      return std::abs(*one) == 1 ? std::optional(divisor) : std::nullopt;
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (op->getName().getStringRef() == "stablehlo.divide") {
      std::optional<double> by = getSplatConstant(op->getOperand(1));
      if (!by || *by == 0)
        return std::nullopt;
      divisor *= *by;
    } else if (!keepsMagnitude(op)) {
      return std::nullopt;
    }
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// The power of a gradient that is `seed`, 1 divided by a constant, times a
/// value that is divided along a dimension of `extent`: 1 if the constant is a
/// mean over elements of one rank, 0 over those of all ranks. None if `seed` is
/// no such quotient.
static std::optional<Replication::Power>
getPowerOfMean(Value seed, int64_t extent, int64_t ranks) {
  std::optional<double> divisor = getSeedDivisor(seed);
  RankedTensorType type = getTensorType(seed);
  if (!divisor || !type || !type.hasStaticShape() || ranks == 0)
    return std::nullopt;
  double count = std::abs(*divisor);
  // The seed of a sum.
  if (count == 1)
    return std::nullopt;
  double elements = static_cast<double>(type.getNumElements());
  for (double own : {elements, static_cast<double>(extent)}) {
    if (count == own)
      return Replication::Power(1);
    if (count == own * ranks)
      return Replication::Power(0);
  }
  return std::fmod(count, extent) == 0
             ? std::optional<Replication::Power>(Replication::Power())
             : std::nullopt;
}

/// Adds to `product` the power of a mean that operand `seed` is part of, if
/// operand `data` varies.
static Replication withMean(ReplicationInference &inference, unsigned seed,
                            unsigned data, const Replication &product) {
  Replication varying = inference.getOperand(data);
  RankedTensorType type = getOperandTensor(inference, data);
  if (!inference.getOperand(seed).isReplicated() || !varying.isVarying() ||
      !type || varying.getDim() == Replication::kNoDim ||
      varying.getDim() >= type.getRank())
    return product;
  std::optional<Replication::Power> mean = getPowerOfMean(
      inference.getOperation()->getOperand(seed),
      type.getDimSize(varying.getDim()), inference.getNumRanks());
  if (!mean)
    return product;
  Replication::Power power = product.getPower();
  return product.withPower(power && *mean ? Replication::Power(*power + **mean)
                                          : Replication::Power());
}

static Replication withMeans(ReplicationInference &inference,
                             const Replication &product) {
  return withMean(inference, 1, 0, withMean(inference, 0, 1, product));
}

//===----------------------------------------------------------------------===//
// Products and reductions
//===----------------------------------------------------------------------===//

static Replication inferDotGeneral(ReplicationInference &inference) {
  Operation *op = inference.getOperation();
  std::string text = getText(op, "dot_dimension_numbers");
  RankedTensorType lhs = getOperandTensor(inference, 0),
                   rhs = getOperandTensor(inference, 1);
  if (!lhs || !rhs)
    return Replication::varying();
  int64_t next = 0;
  auto place = [&](RankedTensorType type, StringRef side) {
    SmallVector<int64_t> batch =
        getField(text, (side + "_batching_dimensions").str());
    SmallVector<int64_t> summed =
        getField(text, (side + "_contracting_dimensions").str());
    SmallVector<int64_t> dims(type.getRank(), kLostDim);
    for (auto [to, from] : llvm::enumerate(batch))
      dims[from] = to;
    for (int64_t from : summed)
      dims[from] = kSummedDim;
    next = std::max<int64_t>(next, batch.size());
    for (int64_t dim = 0; dim != type.getRank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(summed, dim))
        dims[dim] = next++;
    return dims;
  };
  SmallVector<int64_t> a = place(lhs, "lhs"), b = place(rhs, "rhs");
  return contractReplications(inference.getOperand(0), a,
                              inference.getOperand(1), b);
}

/// The position of each dimension of `layout`, such as `[b, 0, 1, f]`, by its
/// label.
static SmallVector<StringRef> getLabels(StringRef layout) {
  SmallVector<StringRef> labels;
  layout.trim("[]").split(labels, ',');
  for (StringRef &label : labels)
    label = label.trim();
  return labels;
}

static Replication inferConvolution(ReplicationInference &inference) {
  // `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`
  std::string text = getText(inference.getOperation(), "dimension_numbers");
  auto [operands, result] =
      StringRef(text).split('<').second.rsplit('>').first.split("->");
  auto [lhs, rhs] = operands.split('x');
  SmallVector<StringRef> to = getLabels(result);
  auto place = [&](StringRef layout, StringRef kept, StringRef as,
                   StringRef summed) {
    SmallVector<int64_t> dims;
    for (StringRef label : getLabels(layout)) {
      const auto *at = llvm::find(to, as);
      dims.push_back(label == summed ? kSummedDim
                     : label == kept && at != to.end()
                         ? static_cast<int64_t>(at - to.begin())
                         : kLostDim);
    }
    return dims;
  };
  SmallVector<int64_t> a = place(lhs, "b", "b", "f"),
                       b = place(rhs, "o", "f", "i");
  return contractReplications(inference.getOperand(0), a,
                              inference.getOperand(1), b);
}

/// The name of the only operation in the body of `op` other than its
/// terminator, without its dialect. Empty if there are more.
static StringRef getBodyName(Operation *op) {
  if (op->getNumRegions() == 0 || op->getRegions().back().empty())
    return {};
  Block &body = op->getRegions().back().front();
  return body.getOperations().size() == 2 ? getShortName(&body.front())
                                          : StringRef();
}

/// Each result reduces one input. The initial values are the second half of the
/// operands.
static void inferReduce(ReplicationInference &inference) {
  Operation *op = inference.getOperation();
  auto dims = getNumbers(op, "dimensions");
  bool isSum = getBodyName(op) == "add";
  for (unsigned i = 0, e = op->getNumResults(); i != e; ++i) {
    RankedTensorType type = getOperandTensor(inference, i);
    if (!dims || !type)
      return;
    Replication reduced =
        reduceReplication(inference.getOperand(i), type, *dims,
                          isSum ? RankReduction::Sum : RankReduction::Other);
    // The sum of a constant may count the elements of a rank.
    Operation *input = op->getOperand(i).getDefiningOp();
    if (isSum && reduced.isReplicated() && !reduced.isZero() && input &&
        getShortName(input) == "broadcast_in_dim")
      reduced = reduced.withPower(std::nullopt);
    if (isSum)
      reduced = addReplication(reduced, inference.getOperand(i + e));
    inference.setResult(i, reduced);
  }
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static Replication inferGather(ReplicationInference &inference) {
  Operation *op = inference.getOperation();
  std::string text = getText(op, "dimension_numbers");
  Replication indices = inference.getOperand(1);
  SmallVector<int64_t> offsets = getField(text, "offset_dims");
  RankedTensorType type = getOperandTensor(inference, 1),
                   result = getTensorType(op->getResult(0));
  StringRef number = StringRef(text)
                         .split("index_vector_dim = ")
                         .second.take_while(llvm::isDigit);
  int64_t vectorDim;
  if (!type || !result || number.getAsInteger(10, vectorDim))
    return Replication::varying();
  // The indices have the dimensions of the result that are not offsets.
  SmallVector<int64_t> dims(type.getRank(), kLostDim);
  int64_t to = 0;
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    if (dim == vectorDim)
      continue;
    while (llvm::is_contained(offsets, to))
      ++to;
    dims[dim] = to++;
  }
  return gateReplication(moveReplication(indices, dims),
                         inference.getOperand(0).withDim(Replication::kNoDim));
}

/// A scatter of updates that the ranks divide gives partial sums.
static Replication inferScatter(ReplicationInference &inference) {
  Operation *op = inference.getOperation();
  Replication init = inference.getOperand(0), indices = inference.getOperand(1),
              updates = inference.getOperand(2);
  if (init.isReplicated() && indices.isReplicated() && updates.isReplicated())
    return chooseReplication(inference, {0, 2});
  if (getBodyName(op) != "add" || op->getNumOperands() != 3)
    return Replication::varying();
  if (updates.isPartial() && indices.isReplicated())
    return addReplication(init, updates);
  if (!indices.isVarying() || updates.isPartial())
    return Replication::varying();
  return addReplication(init, Replication::partial(updates.getPower()));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Whether the collective `op` combines all of the `ranks`, whose number is 0
/// if it is unknown. Otherwise groups of ranks have different results. A group
/// may be padded with -1.
static bool combinesAll(Operation *op, int64_t ranks) {
  auto groups = op->getAttrOfType<DenseIntElementsAttr>("replica_groups");
  if (!groups || groups.getType().getRank() != 2 || groups.empty())
    return true;
  if (groups.getType().getDimSize(0) > 1)
    return false;
  return llvm::count_if(groups.getValues<APInt>(), [](const APInt &rank) {
           return !rank.isNegative();
         }) >= ranks;
}

static void inferCollective(ReplicationInference &inference, StringRef name) {
  Operation *op = inference.getOperation();
  if (!combinesAll(op, inference.getNumRanks()))
    return inference.setResults(Replication::varying());
  bool isSum = name == "cross-replica-sum" || getBodyName(op) == "add";
  for (unsigned i = 0, e = op->getNumResults(); i != e; ++i) {
    Replication value = inference.getOperand(i);
    Replication total = isSum || value.isReplicated()
                            ? (isSum ? sumOverRanks(value) : value)
                            : Replication::replicated(std::nullopt);
    if (name == "reduce_scatter") {
      auto dim = op->getAttrOfType<IntegerAttr>("scatter_dimension");
      total = Replication::varying(dim ? dim.getInt() : Replication::kNoDim,
                                   total.getPower())
                  .asReduced();
    } else if (name == "all_gather") {
      auto dim = op->getAttrOfType<IntegerAttr>("all_gather_dim");
      bool isKnown = value.isReplicated() || (dim && value.isVarying() &&
                                              value.getDim() == dim.getInt());
      total = Replication::replicated(isKnown ? value.getPower() : std::nullopt)
                  .asReduced();
    }
    inference.setResult(i, total);
  }
}

bool mlir::amp::isStableHLOCollective(Operation *op) {
  return llvm::StringSwitch<bool>(op->getName().getStringRef())
      .Cases({"stablehlo.all_reduce", "stablehlo.all_gather",
              "stablehlo.reduce_scatter", "stablehlo.all_to_all"},
             true)
      .Cases({"stablehlo.collective_permute", "stablehlo.collective_broadcast",
              "stablehlo.cross-replica-sum"},
             true)
      .Default(false);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Movements: one operand, whose elements the result has.
static std::optional<Replication> inferMovement(ReplicationInference &inference,
                                                StringRef name) {
  Operation *op = inference.getOperation();
  Replication value = inference.getOperand(0);
  RankedTensorType from = getOperandTensor(inference, 0),
                   to = getTensorType(op->getResult(0));
  if (name == "reshape" && from && to)
    return reshapeReplication(value, from, to);
  if (name == "transpose") {
    auto order = getNumbers(op, "permutation");
    if (!order)
      return std::nullopt;
    SmallVector<int64_t> dims(order->size(), kLostDim);
    for (auto [result, operand] : llvm::enumerate(*order))
      if (operand >= 0 && operand < static_cast<int64_t>(dims.size()))
        dims[operand] = result;
    return moveReplication(value, dims);
  }
  if (name == "broadcast_in_dim") {
    auto dims = getNumbers(op, "broadcast_dimensions");
    return dims ? std::optional(moveReplication(value, *dims)) : std::nullopt;
  }
  if (name == "dynamic_slice") {
    SmallVector<unsigned> starts =
        llvm::to_vector(llvm::seq<unsigned>(1, op->getNumOperands()));
    return gateReplication(
        mapReplications(inference, starts).withDim(Replication::kNoDim), value);
  }
  if (name == "dynamic_update_slice") {
    SmallVector<unsigned> starts =
        llvm::to_vector(llvm::seq<unsigned>(2, op->getNumOperands()));
    return gateReplication(
        mapReplications(inference, starts).withDim(Replication::kNoDim),
        chooseReplication(inference, {0, 1}));
  }
  bool keeps =
      llvm::StringSwitch<bool>(name)
          .Cases({"slice", "reverse", "convert", "negate", "real"}, true)
          .Cases({"imag", "reduce_precision", "bitcast"}, true)
          .Default(false);
  return keeps ? std::optional(value) : std::nullopt;
}

static std::optional<Replication> inferValue(ReplicationInference &inference,
                                             StringRef name) {
  Operation *op = inference.getOperation();
  if (name == "constant") {
    bool isZero = getSplatConstant(op->getResult(0)) == 0.0;
    return isZero ? Replication::zero() : Replication::replicated();
  }
  if (name == "partition_id" || name == "replica_id" || name == "rng" ||
      name == "all_to_all" || name == "collective_permute")
    return Replication::varying();
  if (name == "add" || name == "subtract" || name == "complex")
    return addReplications(inference, {0, 1});
  if (name == "multiply")
    return withMeans(inference, multiplyReplications(inference, 0, 1));
  if (name == "divide")
    return withMean(inference, 0, 1,
                    multiplyReplications(inference, 0, 1, /*divide=*/true));
  if (name == "dot_general")
    return withMeans(inference, inferDotGeneral(inference));
  if (name == "convolution")
    return inferConvolution(inference);
  if (name == "gather")
    return inferGather(inference);
  if (name == "scatter")
    return inferScatter(inference);
  if (name == "select")
    return gateReplication(mapReplications(inference, {0}),
                           chooseReplication(inference, {1, 2}));
  if (name == "concatenate")
    return chooseReplication(inference, getOperandNumbers(op));
  if (name == "pad")
    return inference.getOperand(1).isZero()
               ? inference.getOperand(0)
               : chooseReplication(inference, {0, 1});
  if (name == "reduce_window" && op->getNumOperands() == 2 &&
      getBodyName(op) == "add" && inference.getOperand(1).isZero())
    return inference.getOperand(0);
  if (name == "select_and_scatter")
    return gateReplication(mapReplication(inference.getOperand(0)),
                           inference.getOperand(1));
  if (op->getNumOperands() != 0 && op->getNumResults() == 1)
    return inferMovement(inference, name);
  return std::nullopt;
}

bool mlir::amp::inferStableHLOReplication(ReplicationInference &inference) {
  Operation *op = inference.getOperation();
  StringRef name = getShortName(op);
  if (name == "optimization_barrier") {
    for (unsigned i = 0, e = op->getNumResults(); i != e; ++i)
      inference.setResult(i, inference.getOperand(i));
    return true;
  }
  if (name == "reduce") {
    inferReduce(inference);
    return true;
  }
  if (name == "all_reduce" || name == "all_gather" ||
      name == "reduce_scatter" || name == "cross-replica-sum") {
    inferCollective(inference, name);
    return true;
  }
  if (op->getNumResults() == 0)
    return true;
  std::optional<Replication> value = inferValue(inference, name);
  if (value)
    inference.setResults(*value);
  return value.has_value();
}
