//===- ScaleExponentModels.cpp - How a factor passes through upstream ops -===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LossScaleOpInterface for arith, math, tensor and linalg: a table from rules
// to operations. The rule of a structured operation of linalg follows from its
// body, whose operations are in the table. scf needs no model, because the
// analysis follows control flow. TosaScaleExponents.cpp has the rules of TOSA.
//
//===----------------------------------------------------------------------===//

#include "ScaleExponentRules.h"

#include "amp/ExternalModels/ExternalModels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::exponent;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace {

/// The exponents of the scalars in the body of an operation.
class BodyExponents {
public:
  explicit BodyExponents(ScaleExponentInference &outer) : outer(outer) {}

  ScaleExponent get(Value value) const {
    auto it = exponents.find(value);
    return it == exponents.end() ? outer.getExponent(value) : it->second;
  }
  void set(Value value, ScaleExponent exponent) {
    exponents[value] = std::move(exponent);
  }

  /// Finds the exponents of all values of `body`. Those of its arguments are
  /// known.
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

  ScaleExponentInference &outer;
  llvm::DenseMap<Value, ScaleExponent> exponents;
};

/// One operation of a body.
class BodyExponents::Inference final : public ScaleExponentInference {
public:
  Inference(BodyExponents &body, Operation *op) : body(body), op(op) {
    for (Value operand : op->getOperands())
      operands.push_back(body.get(operand));
  }
  Operation *getOperation() const override { return op; }
  const ScaleExponent &getOperand(unsigned index) const override {
    return operands[index];
  }
  ScaleExponent getExponent(Value value) const override {
    return body.get(value);
  }
  ScaleExponent getScale(unsigned index) const override {
    return operands[index];
  }
  // Bodies compute on scalars, and only tensors are quantised.
  ScaleExponent getFactor(unsigned) const override { return {}; }
  void setResult(unsigned index, ScaleExponent exponent) override {
    body.set(op->getResult(index), std::move(exponent));
  }
  LogicalResult fail(unsigned, const Twine &message) override {
    return body.fail("'" + op->getName().getStringRef() + "' " + message);
  }
  std::string describe(const ScaleExponent &exponent) const override {
    return body.outer.describe(exponent);
  }

private:
  BodyExponents &body;
  Operation *op;
  SmallVector<ScaleExponent, 4> operands;
};

} // namespace

LogicalResult BodyExponents::visit(Operation *op) {
  for (Value result : op->getResults())
    set(result, {});
  if (auto iface = dyn_cast<LossScaleOpInterface>(op)) {
    Inference inference(*this, op);
    return iface.inferScaleExponents(inference);
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

/// An operation on buffers must not read scaled values, by operands or in its
/// body.
static LogicalResult refuseScaled(ScaleExponentInference &inference,
                                  BodyExponents &body) {
  Operation *op = inference.getOperation();
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Value value : read)
    if (ScaleExponent exponent = body.get(value); !exponent.isUnscaled())
      return body.fail(
          "it writes to a buffer, and reads what is multiplied by " +
          inference.describe(exponent) + ", expected an operation on tensors");
  return success();
}

/// A structured operation follows its body. A reduction repeats the body until
/// the factor of the accumulator does not change.
static LogicalResult structured(ScaleExponentInference &inference) {
  auto op = cast<linalg::LinalgOp>(inference.getOperation());
  Block *block = op.getBlock();
  BodyExponents body(inference);
  // A buffer has no exponent, so the exponent of a written value would be lost.
  if (!op.hasPureTensorSemantics())
    return refuseScaled(inference, body);
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
      ScaleExponent before = body.get(argument), after = body.get(yielded);
      std::optional<ScaleExponent> joined = before.join(after);
      if (!joined)
        return body.fail("it accumulates values that are multiplied by " +
                         inference.describe(after) +
                         " onto one that is multiplied by " +
                         inference.describe(before) + ", expected one factor");
      // Only zeros may take the exponent of another value, once.
      changed |= *joined != before;
      body.set(argument, *joined);
    }
  }
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    inference.setResult(index,
                        body.get(block->getTerminator()->getOperand(index)));
  return success();
}

/// Joins operand 0 and the value that the region yields.
static LogicalResult yielding(ScaleExponentInference &inference) {
  Operation *op = inference.getOperation();
  Block &block = op->getRegion(0).front();
  BodyExponents body(inference);
  if (failed(body.run(block)))
    return failure();
  ScaleExponent exponent = body.get(block.getTerminator()->getOperand(0));
  if (isa<tensor::PadOp>(op)) {
    std::optional<ScaleExponent> joined =
        exponent.join(inference.getOperand(0));
    if (!joined)
      return body.fail("it pads a tensor that is multiplied by " +
                       inference.describe(inference.getOperand(0)) +
                       " with a value that is multiplied by " +
                       inference.describe(exponent));
    exponent = *joined;
  }
  inference.setResults(exponent);
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

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
  // The angle does not change with a factor of both.
  attach<ordered, math::Atan2Op>(context);
  attach<product, math::FmaOp>(context);
  attach<power<1, 2>, math::SqrtOp>(context);
  attach<power<1, 3>, math::CbrtOp>(context);
  attach<power<-1, 2>, math::RsqrtOp>(context);
  attach<variablePower, math::PowFOp, math::FPowIOp>(context);
  attach<ignored, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp>(context);
  attach<nonlinear, math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
         math::AtanOp, math::AtanhOp, math::CeilOp, math::CosOp, math::CoshOp,
         math::SincosOp, math::SinOp, math::SinhOp, math::ErfOp, math::ErfcOp,
         math::ExpOp, math::Exp2Op, math::ExpM1Op, math::FloorOp,
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

void mlir::amp::registerScaleExponentExternalModels(DialectRegistry &registry) {
  registry.addExtension(+attachArith);
  registry.addExtension(+attachMath);
  registry.addExtension(+attachTensor);
  registry.addExtension(+attachLinalg);
  registerTosaScaleExponentModels(registry);
}
