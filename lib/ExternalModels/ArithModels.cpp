//===- ArithModels.cpp - arith and math on tensors ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "amp/ExternalModels/ExternalModels.h"
#include "amp/Interfaces/Rounding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// The value of a constant changes with its type.
struct ConstantModel
    : PrecisionOpInterface::ExternalModel<ConstantModel, arith::ConstantOp> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    getConstantSlots(op, cast<arith::ConstantOp>(op).getValue(), slots);
  }
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const {
    if (Type type = getSlotType(slotTypes, 0))
      roundAttributeOf(op, cast<arith::ConstantOp>(op).getValueAttrName(), type,
                       rewriter);
    return success();
  }
};

/// A multiplication of a value with itself is a square here too.
struct FmaModel : PrecisionOpInterface::ExternalModel<FmaModel, math::FmaOp> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    bool isSquare = op->getOperand(0) == op->getOperand(1);
    getUniformPrecisionSlots(op, isSquare ? SlotKind::Range : SlotKind::Storage,
                             slots);
  }
};

} // namespace

void mlir::amp::registerArithPrecisionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context,
                            arith::ArithDialect *dialect) {
    dialect->addInterfaces<ArithCastInterface>();
    arith::ConstantOp::attachInterface<ConstantModel>(*context);
    // Casts that the user wrote are part of the semantics.
    attachUniform<SlotKind::Fixed, arith::ExtFOp, arith::TruncFOp,
                  arith::ScalingExtFOp, arith::ScalingTruncFOp>(context);
    attachBits<arith::BitcastOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
               arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(context);
    arith::AddFOp::attachInterface<AddModel<arith::AddFOp>>(*context);
    arith::MulFOp::attachInterface<MultiplyModel<arith::MulFOp>>(*context);
    attachMovement<arith::SelectOp>(context);
    arith::SubFOp::attachInterface<SubtractModel<arith::SubFOp>>(*context);
    attachUniform<SlotKind::Storage, arith::DivFOp, arith::RemFOp,
                  arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
                  arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp,
                  arith::SelectOp, arith::FPToSIOp, arith::FPToUIOp>(context);
    attachUniform<SlotKind::Range, arith::SIToFPOp, arith::UIToFPOp>(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *dialect) {
    context->getOrLoadDialect<arith::ArithDialect>();
    dialect->addInterfaces<ArithCastInterface>();
    attachUniform<SlotKind::Storage, math::AbsFOp, math::CopySignOp,
                  math::ClampFOp, math::CbrtOp, math::TanhOp, math::ErfOp,
                  math::ErfcOp, math::AsinOp, math::AcosOp, math::AtanOp,
                  math::Atan2Op, math::AsinhOp, math::AcoshOp, math::IsFiniteOp,
                  math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(context);
    attachSteps<math::CeilOp, math::FloorOp, math::RoundOp, math::RoundEvenOp,
                math::TruncOp>(context);
    attachSteep<SlotKind::Storage, math::SqrtOp, math::LogOp, math::Log10Op,
                math::Log1pOp, math::Log2Op>(context);
    attachSteep<SlotKind::Range, math::ExpOp, math::Exp2Op, math::ExpM1Op,
                math::PowFOp, math::RsqrtOp>(context);
    math::FmaOp::attachInterface<FmaModel>(*context);
    math::SinOp::attachInterface<PeriodicModel<math::SinOp>>(*context);
    math::CosOp::attachInterface<PeriodicModel<math::CosOp>>(*context);
    math::SincosOp::attachInterface<PeriodicModel<math::SincosOp>>(*context);
    math::TanOp::attachInterface<PeriodicModel<math::TanOp, SlotKind::Range>>(
        *context);
    attachUniform<SlotKind::Range, math::FPowIOp, math::SinhOp, math::CoshOp,
                  math::AtanhOp>(context);
  });
}
