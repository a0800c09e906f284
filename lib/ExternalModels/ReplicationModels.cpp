//===- ReplicationModels.cpp - Ranks in upstream dialects -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ReplicationOpInterface for arith, tensor and linalg. The rule of a structured
// operation of linalg follows from its body, whose operations are in the table.
// The model of amp.global_norm is here too, because it creates such operations.
//
//===----------------------------------------------------------------------===//

#include "amp/ExternalModels/ReplicationModels.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Interfaces/ReplicationOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

static void sumOfOperands(ReplicationInference &inference) {
  inference.setResults(
      addReplications(inference, getOperandNumbers(inference.getOperation())));
}

static void productOfOperands(ReplicationInference &inference) {
  inference.setResults(multiplyReplications(inference, 0, 1));
}

static void quotientOfOperands(ReplicationInference &inference) {
  inference.setResults(multiplyReplications(inference, 0, 1, /*divide=*/true));
}

static void selectedOperand(ReplicationInference &inference) {
  inference.setResults(gateReplication(mapReplications(inference, {0}),
                                       chooseReplication(inference, {1, 2})));
}

static void constantOrZero(ReplicationInference &inference) {
  Value result = inference.getOperation()->getResult(0);
  inference.setResults(matchPattern(result, m_AnyZeroFloat())
                           ? Replication::zero()
                           : Replication::replicated());
}

/// A tensor without contents. What is written to it decides.
static void uninitializedTensor(ReplicationInference &inference) {
  inference.setResults(Replication::zero());
}

/// An element or a part of operand 0. All other operands are places.
static void partOfOperand(ReplicationInference &inference) {
  Replication place = Replication::replicated();
  for (unsigned i : getOperandNumbers(inference.getOperation()))
    if (i != 0)
      place = gateReplication(inference.getOperand(i), place);
  Replication part = gateReplication(place, inference.getOperand(0));
  auto getRank = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? tensor.getRank() : 0;
  };
  Operation *op = inference.getOperation();
  if (getRank(op->getOperand(0).getType()) !=
      getRank(op->getResult(0).getType()))
    part = part.withDim(Replication::kNoDim);
  inference.setResults(part);
}

static void reshapedOperand(ReplicationInference &inference) {
  Operation *op = inference.getOperation();
  inference.setResults(reshapeReplication(
      inference.getOperand(0), cast<ShapedType>(op->getOperand(0).getType()),
      cast<ShapedType>(op->getResult(0).getType())));
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

namespace {

/// The replication of the scalars in the body of a structured operation. All
/// values that vary do so along one loop.
class BodyReplication {
public:
  explicit BodyReplication(ReplicationInference &outer)
      : outer(outer), op(cast<linalg::LinalgOp>(outer.getOperation())) {}

  void run();

private:
  class Inference;

  /// The loop along which `operand` is divided, or `kNoDim`.
  int64_t getLoop(OpOperand &operand);
  /// The replication of the value that is yielded for result `index`.
  Replication getYielded(unsigned index, bool &accumulates);
  Replication getResult(unsigned index);
  Replication get(Value value) const {
    auto it = states.find(value);
    return it == states.end() ? Replication::replicated() : it->second;
  }

  ReplicationInference &outer;
  linalg::LinalgOp op;
  llvm::DenseMap<Value, Replication> states;
  int64_t loop = Replication::kNoDim;
};

/// One operation of a body.
class BodyReplication::Inference final : public ReplicationInference {
public:
  Inference(BodyReplication &body, Operation *op) : body(body), op(op) {}
  Operation *getOperation() const override { return op; }
  Replication getOperand(unsigned index) const override {
    return body.get(op->getOperand(index));
  }
  void setResult(unsigned index, const Replication &replication) override {
    body.states[op->getResult(index)] = replication;
  }
  int64_t getNumRanks() const override { return body.outer.getNumRanks(); }
  void report(unsigned, const Twine &) override {}

private:
  BodyReplication &body;
  Operation *op;
};

} // namespace

int64_t BodyReplication::getLoop(OpOperand &operand) {
  int64_t dim = outer.getOperand(operand.getOperandNumber()).getDim();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (dim < 0 || dim >= map.getNumResults())
    return Replication::kNoDim;
  auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim));
  return expr ? static_cast<int64_t>(expr.getPosition()) : Replication::kNoDim;
}

Replication BodyReplication::getYielded(unsigned index, bool &accumulates) {
  Block *block = op.getBlock();
  Value yielded = block->getTerminator()->getOperand(index);
  BlockArgument accumulator = op.getRegionOutputArgs()[index];
  auto sum = yielded.getDefiningOp<arith::AddFOp>();
  accumulates =
      sum && (sum.getLhs() == accumulator || sum.getRhs() == accumulator);
  if (!accumulates)
    return get(yielded);
  return get(sum.getLhs() == accumulator ? sum.getRhs() : sum.getLhs());
}

Replication BodyReplication::getResult(unsigned index) {
  bool accumulates = false;
  Replication value = getYielded(index, accumulates);
  Replication init =
      outer.getOperand(op.getDpsInitOperand(index)->getOperandNumber());
  if (value.isPartial() && !accumulates && op.getNumReductionLoops() != 0)
    return Replication::varying();
  if (value.isVarying() && loop != Replication::kNoDim) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(index));
    bool isSummed =
        op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
    if (isSummed && !accumulates)
      return Replication::varying();
    if (isSummed) {
      value = Replication::partial(value.getPower());
    } else {
      std::optional<unsigned> dim =
          map.getResultPosition(getAffineDimExpr(loop, op.getContext()));
      value =
          value.withDim(dim ? static_cast<int64_t>(*dim) : Replication::kNoDim);
    }
  }
  return accumulates ? addReplication(value, init) : value;
}

void BodyReplication::run() {
  if (!op.hasPureTensorSemantics())
    return;
  bool isFirst = true;
  for (OpOperand &operand : op->getOpOperands()) {
    Replication state = outer.getOperand(operand.getOperandNumber());
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    // The rules below do not follow parts of a state.
    if (state.isSharded())
      state = Replication::varying();
    // A value that nothing reads does not matter.
    if (state.isVarying() && argument && !argument.use_empty()) {
      int64_t own = getLoop(operand);
      loop = isFirst || own == loop ? own : Replication::kNoDim;
      isFirst = false;
    }
    if (argument)
      states[argument] = state.withDim(Replication::kNoDim);
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    Inference inference(*this, &inner);
    if (auto iface = dyn_cast<ReplicationOpInterface>(&inner))
      iface.inferReplication(inference);
    else
      inference.setResults(
          mapReplications(inference, getOperandNumbers(&inner)));
  }
  for (unsigned i = 0, e = op->getNumResults(); i != e; ++i)
    outer.setResult(i, getResult(i));
}

static void structuredOperation(ReplicationInference &inference) {
  BodyReplication(inference).run();
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

namespace {
struct GlobalNormReplication
    : ReplicationOpInterface::ExternalModel<GlobalNormReplication,
                                            GlobalNormOp> {
  void inferReplication(Operation *, ReplicationInference &inference) const {
    inferNormReplication(inference);
  }
  bool combinesParts(Operation *) const { return true; }
  void combineParts(Operation *op, OpBuilder &builder, ValueRange gradients,
                    ArrayRef<bool> isPart,
                    SmallVectorImpl<Value> &results) const {
    Location loc = op->getLoc();
    SmallVector<Value> own, whole;
    for (auto [gradient, part] : llvm::zip_equal(gradients, isPart))
      (part ? own : whole).push_back(gradient);
    Value sum = SquareSumOp::create(builder, loc, own);
    sum = AllReduceOp::create(builder, loc, RankReductionKind::Sum, sum)
              .getReduced()[0];
    if (!whole.empty())
      sum = arith::AddFOp::create(
          builder, loc, SquareSumOp::create(builder, loc, whole), sum);
    sum =
        arith::TruncFOp::create(builder, loc, op->getResult(0).getType(), sum);
    results.push_back(math::SqrtOp::create(builder, loc, sum));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
using UpstreamRule = void (*)(ReplicationInference &);

template <typename OpTy, UpstreamRule rule>
struct UpstreamReplication
    : ReplicationOpInterface::ExternalModel<UpstreamReplication<OpTy, rule>,
                                            OpTy> {
  void inferReplication(Operation *, ReplicationInference &inference) const {
    rule(inference);
  }
};
} // namespace

template <UpstreamRule rule, typename... Ops>
static void attachUpstream(MLIRContext *context) {
  (Ops::template attachInterface<UpstreamReplication<Ops, rule>>(*context),
   ...);
}

static void attachArithReplication(MLIRContext *context,
                                   arith::ArithDialect *) {
  attachUpstream<sumOfOperands, arith::AddFOp, arith::SubFOp, arith::NegFOp,
                 arith::ExtFOp, arith::TruncFOp>(context);
  attachUpstream<productOfOperands, arith::MulFOp>(context);
  attachUpstream<quotientOfOperands, arith::DivFOp>(context);
  attachUpstream<selectedOperand, arith::SelectOp>(context);
  attachUpstream<constantOrZero, arith::ConstantOp>(context);
}

static void attachTensorReplication(MLIRContext *context,
                                    tensor::TensorDialect *) {
  attachUpstream<uninitializedTensor, tensor::EmptyOp>(context);
  attachUpstream<partOfOperand, tensor::ExtractOp, tensor::ExtractSliceOp,
                 tensor::CastOp, tensor::SplatOp>(context);
  attachUpstream<reshapedOperand, tensor::CollapseShapeOp,
                 tensor::ExpandShapeOp>(context);
}

static void attachLinalgReplication(MLIRContext *context,
                                    linalg::LinalgDialect *) {
  attachUpstream<structuredOperation,
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
                 >(context);
}

static void attachNormReplication(MLIRContext *context, AMPDialect *) {
  GlobalNormOp::attachInterface<GlobalNormReplication>(*context);
}

void mlir::amp::registerReplicationExternalModels(DialectRegistry &registry) {
  registry.addExtension(+attachNormReplication);
  registry.addExtension(+attachArithReplication);
  registry.addExtension(+attachTensorReplication);
  registry.addExtension(+attachLinalgReplication);
}
