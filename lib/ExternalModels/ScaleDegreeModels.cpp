//===- ScaleDegreeModels.cpp - How a factor passes through upstream ops ---===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LossScaleOpInterface for arith, math, tensor and linalg: a table from rules
// to operations. A structured operation of linalg does what its body does, of
// which every operation is in the table. scf needs no model: the analysis
// follows control flow by itself.
//
//===----------------------------------------------------------------------===//

#include "amp/ExternalModels/ExternalModels.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Sums, maxima and movements: one factor throughout.
static LogicalResult joint(ScaleDegreeInference &inference) {
  return inferJointDegree(inference);
}

/// As `joint`, of some operands; the others are no floats, or give a shape or a
/// sign.
template <unsigned... operands>
static LogicalResult jointOf(ScaleDegreeInference &inference) {
  return inferJointDegree(inference, {operands...});
}

/// As `joint`, of those operands that are floats.
static LogicalResult jointFloats(ScaleDegreeInference &inference) {
  SmallVector<unsigned> floats;
  Operation *op = inference.getOperation();
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (isa<FloatType>(getElementTypeOrSelf(type)))
      floats.push_back(index);
  return floats.empty() ? success() : inferJointDegree(inference, floats);
}

/// An order of operands with one factor, which is positive.
static LogicalResult ordered(ScaleDegreeInference &inference) {
  ScaleDegree degree;
  return inference.join({0, 1}, degree);
}

static LogicalResult product(ScaleDegreeInference &inference) {
  return inferProductDegree(inference);
}

static LogicalResult quotient(ScaleDegreeInference &inference) {
  inference.setResults(inference.getOperand(0) +
                       inference.getOperand(1).power(-1));
  return success();
}

template <int64_t numerator, int64_t denominator>
static LogicalResult power(ScaleDegreeInference &inference) {
  return inferPowerDegree(inference, numerator, denominator);
}

/// A power whose exponent is a constant: of quarters, since nobody writes other
/// ones of a gradient.
static LogicalResult variablePower(ScaleDegreeInference &inference) {
  Attribute constant;
  const ScaleDegree &base = inference.getOperand(0);
  if (base.isUnscaled() ||
      !matchPattern(inference.getOperation()->getOperand(1),
                    m_Constant(&constant)))
    return inferUnscaled(inference);
  if (auto elements = dyn_cast<DenseElementsAttr>(constant))
    if (elements.isSplat())
      constant = elements.getSplatValue<Attribute>();
  double exponent = 0.25 / 2;
  if (auto number = dyn_cast<FloatAttr>(constant))
    exponent = number.getValueAsDouble();
  else if (auto number = dyn_cast<IntegerAttr>(constant))
    exponent = static_cast<double>(number.getValue().getSExtValue());
  if (std::abs(exponent) > 64 || exponent * 4 != std::floor(exponent * 4))
    return inferUnscaled(inference);
  inference.setResults(base.power(static_cast<int64_t>(exponent * 4), 4));
  return success();
}

static LogicalResult nonlinear(ScaleDegreeInference &inference) {
  return inferUnscaled(inference);
}

/// Whether a number is finite is the business of whoever asks.
static LogicalResult ignored(ScaleDegreeInference &) { return success(); }

/// What holds no number yet.
static LogicalResult uninitialized(ScaleDegreeInference &inference) {
  inference.setResults(ScaleDegree::any());
  return success();
}

/// Returns whether multiples of `constant` are `constant`: all its numbers are
/// zero or infinite.
static bool isInvariant(Attribute constant) {
  auto isFixed = [](const APFloat &number) {
    return number.isZero() || number.isInfinity();
  };
  if (auto number = dyn_cast<FloatAttr>(constant))
    return isFixed(number.getValue());
  auto elements = dyn_cast<DenseFPElementsAttr>(constant);
  if (!elements)
    return false;
  if (elements.isSplat())
    return isFixed(elements.getSplatValue<APFloat>());
  return llvm::all_of(elements.getValues<APFloat>(), isFixed);
}

static LogicalResult constant(ScaleDegreeInference &inference) {
  if (isInvariant(cast<arith::ConstantOp>(inference.getOperation()).getValue()))
    inference.setResults(ScaleDegree::any());
  return success();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace {

/// The degrees of the scalars in the body of an operation.
class BodyDegrees {
public:
  explicit BodyDegrees(ScaleDegreeInference &outer) : outer(outer) {}

  ScaleDegree get(Value value) const {
    auto it = degrees.find(value);
    return it == degrees.end() ? outer.getDegree(value) : it->second;
  }
  void set(Value value, ScaleDegree degree) {
    degrees[value] = std::move(degree);
  }

  /// Finds the degrees of all values of `body`, whose arguments have theirs.
  LogicalResult run(Block &body) {
    for (Operation &op : body.without_terminator())
      if (failed(visit(&op)))
        return failure();
    return success();
  }

  /// Reports at the operation that holds the body.
  LogicalResult fail(const Twine &message) {
    Operation *op = outer.getOperation();
    unsigned scaled = 0;
    while (scaled + 1 < op->getNumOperands() &&
           outer.getOperand(scaled).isUnscaled())
      ++scaled;
    return outer.fail(scaled, "does in its body what does not fit: " + message);
  }

private:
  class Inference;
  LogicalResult visit(Operation *op);

  ScaleDegreeInference &outer;
  llvm::DenseMap<Value, ScaleDegree> degrees;
};

/// One operation of a body.
class BodyDegrees::Inference final : public ScaleDegreeInference {
public:
  Inference(BodyDegrees &body, Operation *op) : body(body), op(op) {
    for (Value operand : op->getOperands())
      operands.push_back(body.get(operand));
  }
  Operation *getOperation() const override { return op; }
  const ScaleDegree &getOperand(unsigned index) const override {
    return operands[index];
  }
  ScaleDegree getDegree(Value value) const override { return body.get(value); }
  ScaleDegree getScale(unsigned index) const override {
    return operands[index];
  }
  void setResult(unsigned index, ScaleDegree degree) override {
    body.set(op->getResult(index), std::move(degree));
  }
  LogicalResult fail(unsigned, const Twine &message) override {
    return body.fail("'" + op->getName().getStringRef() + "' " + message);
  }
  std::string describe(const ScaleDegree &degree) const override {
    return body.outer.describe(degree);
  }

private:
  BodyDegrees &body;
  Operation *op;
  SmallVector<ScaleDegree, 4> operands;
};

} // namespace

LogicalResult BodyDegrees::visit(Operation *op) {
  for (Value result : op->getResults())
    set(result, {});
  if (auto iface = dyn_cast<LossScaleOpInterface>(op)) {
    Inference inference(*this, op);
    return iface.inferScaleDegrees(inference);
  }
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() != 0)
    getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Value value : read)
    if (!get(value).isUnscaled())
      return fail("'" + op->getName().getStringRef() +
                  "' reads what is multiplied by " +
                  outer.describe(get(value)) +
                  ", and does not implement LossScaleOpInterface");
  return success();
}

/// A structured operation: its body, with a reduction repeated until what it
/// accumulates has a factor that does not change.
static LogicalResult structured(ScaleDegreeInference &inference) {
  auto op = cast<linalg::LinalgOp>(inference.getOperation());
  Block *block = op.getBlock();
  BodyDegrees body(inference);
  for (OpOperand &operand : op->getOpOperands())
    body.set(op.getMatchingBlockArgument(&operand),
             inference.getOperand(operand.getOperandNumber()));
  bool accumulates = op.getNumReductionLoops() != 0;
  for (bool changed = true; changed;) {
    changed = false;
    if (failed(body.run(*block)))
      return failure();
    for (auto [yielded, argument] : llvm::zip_equal(
             block->getTerminator()->getOperands(), op.getRegionOutputArgs())) {
      if (!accumulates)
        continue;
      ScaleDegree before = body.get(argument), after = body.get(yielded);
      std::optional<ScaleDegree> joined = before.join(after);
      if (!joined)
        return body.fail("it accumulates values that are multiplied by " +
                         inference.describe(after) +
                         " onto one that is multiplied by " +
                         inference.describe(before) + ", expected one factor");
      // Zeros alone take the degree of something else, once.
      changed |= *joined != before;
      body.set(argument, *joined);
    }
  }
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    inference.setResult(index,
                        body.get(block->getTerminator()->getOperand(index)));
  return success();
}

/// Operand 0, and what the region yields beside it.
static LogicalResult yielding(ScaleDegreeInference &inference) {
  Operation *op = inference.getOperation();
  Block &block = op->getRegion(0).front();
  BodyDegrees body(inference);
  if (failed(body.run(block)))
    return failure();
  ScaleDegree degree = body.get(block.getTerminator()->getOperand(0));
  if (isa<tensor::PadOp>(op)) {
    std::optional<ScaleDegree> joined = degree.join(inference.getOperand(0));
    if (!joined)
      return body.fail("it pads a tensor that is multiplied by " +
                       inference.describe(inference.getOperand(0)) +
                       " with a value that is multiplied by " +
                       inference.describe(degree));
    degree = *joined;
  }
  inference.setResults(degree);
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
using Rule = LogicalResult (*)(ScaleDegreeInference &);

template <typename OpTy, Rule rule>
struct Model : LossScaleOpInterface::ExternalModel<Model<OpTy, rule>, OpTy> {
  LogicalResult inferScaleDegrees(Operation *,
                                  ScaleDegreeInference &inference) const {
    return rule(inference);
  }
};
} // namespace

template <Rule rule, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops, rule>>(*context), ...);
}

static void attachArith(MLIRContext *context, arith::ArithDialect *) {
  attach<joint, arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::RemFOp,
         arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
         arith::MinNumFOp, arith::ExtFOp, arith::TruncFOp>(context);
  attach<jointOf<1, 2>, arith::SelectOp>(context);
  attach<ordered, arith::CmpFOp>(context);
  attach<product, arith::MulFOp>(context);
  attach<quotient, arith::DivFOp>(context);
  attach<constant, arith::ConstantOp>(context);
  attach<nonlinear, arith::BitcastOp, arith::FPToSIOp, arith::FPToUIOp,
         arith::SIToFPOp, arith::UIToFPOp, arith::ScalingExtFOp,
         arith::ScalingTruncFOp>(context);
}

static void attachMath(MLIRContext *context, math::MathDialect *) {
  attach<joint, math::AbsFOp, math::ClampFOp>(context);
  attach<jointOf<0>, math::CopySignOp>(context);
  attach<product, math::FmaOp>(context);
  attach<power<1, 2>, math::SqrtOp>(context);
  attach<power<1, 3>, math::CbrtOp>(context);
  attach<power<-1, 2>, math::RsqrtOp>(context);
  attach<variablePower, math::PowFOp, math::FPowIOp>(context);
  attach<ignored, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp>(context);
  attach<nonlinear, math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
         math::AtanOp, math::Atan2Op, math::AtanhOp, math::CeilOp, math::CosOp,
         math::CoshOp, math::SincosOp, math::SinOp, math::SinhOp, math::ErfOp,
         math::ErfcOp, math::ExpOp, math::Exp2Op, math::ExpM1Op, math::FloorOp,
         math::IsNormalOp, math::LogOp, math::Log10Op, math::Log1pOp,
         math::Log2Op, math::RoundOp, math::RoundEvenOp, math::TanOp,
         math::TanhOp, math::TruncOp>(context);
}

static void attachTensor(MLIRContext *context, tensor::TensorDialect *) {
  attach<joint, tensor::ConcatOp, tensor::FromElementsOp>(context);
  attach<jointOf<0>, tensor::CastOp, tensor::CollapseShapeOp,
         tensor::ExpandShapeOp, tensor::ExtractOp, tensor::ExtractSliceOp,
         tensor::GatherOp, tensor::ReshapeOp, tensor::SplatOp>(context);
  attach<jointOf<0, 1>, tensor::InsertOp, tensor::InsertSliceOp,
         tensor::ScatterOp>(context);
  attach<uninitialized, tensor::EmptyOp>(context);
  attach<ignored, tensor::DimOp, tensor::RankOp>(context);
  attach<nonlinear, tensor::BitcastOp>(context);
  attach<yielding, tensor::GenerateOp, tensor::PadOp>(context);
}

static void attachLinalg(MLIRContext *context, linalg::LinalgDialect *) {
  attach<structured,
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
         >(context);
  attach<jointFloats, linalg::PackOp, linalg::UnPackOp,
         linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp,
         linalg::WinogradOutputTransformOp>(context);
  attach<nonlinear, linalg::SoftmaxOp>(context);
}

void mlir::amp::registerScaleDegreeExternalModels(DialectRegistry &registry) {
  registry.addExtension(+attachArith);
  registry.addExtension(+attachMath);
  registry.addExtension(+attachTensor);
  registry.addExtension(+attachLinalg);
}
