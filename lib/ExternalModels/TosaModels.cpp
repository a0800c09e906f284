//===- TosaModels.cpp - The TOSA dialect ----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The floating-point profile of the TOSA specification restricts the
// combinations of types. Zero points and the limits of a clamp have the type of
// their tensor. A convolution of f16 has an f16 result and an f32 accumulator
// (`acc_type`, which stays f32). A matmul of f16 has an f32 result, and a
// tosa.cast rounds it if it is stored low.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "amp/ExternalModels/ExternalModels.h"
#include "amp/Interfaces/Rounding.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// tosa.cast, or a rounded constant.
class TosaCastInterface : public CastMaterializationInterface {
public:
  using CastMaterializationInterface::CastMaterializationInterface;
  bool canMaterializeCast(Type from, Type to) const final {
    return isTensor(from) && isTensor(to);
  }
  Operation *materializeCast(OpBuilder &builder, Location loc, Value value,
                             Type type) const final {
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    // Zero points must be constants, and a cast of one is not a constant.
    if (auto constant = value.getDefiningOp<tosa::ConstOp>())
      if (canRoundAttribute(constant.getValues()))
        return tosa::ConstOp::create(
            builder, loc, type,
            cast<ElementsAttr>(roundAttribute(constant.getValues(), element)));
    return tosa::CastOp::create(builder, loc, type, value);
  }

private:
  static bool isTensor(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor &&
           isa<Float32Type, Float16Type, BFloat16Type>(tensor.getElementType());
  }
};

struct ConstModel
    : PrecisionOpInterface::ExternalModel<ConstModel, tosa::ConstOp> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    getConstantSlots(op, cast<tosa::ConstOp>(op).getValues(), slots);
  }
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const {
    if (Type type = getSlotType(slotTypes, 0))
      roundAttributeOf(op, cast<tosa::ConstOp>(op).getValuesAttrName(), type,
                       rewriter);
    return success();
  }
};

} // namespace

/// Returns whether f16 and bf16 represent the limit `attribute`, so it can
/// change to them and back. The largest number of f32 means no limit.
static bool isExactLimit(Attribute attribute) {
  auto number = dyn_cast<FloatAttr>(attribute);
  if (!number)
    return true;
  APFloat value = number.getValue();
  if (!value.isFinite())
    return false;
  if (value.isLargest())
    return true;
  return llvm::all_of(
      ArrayRef<const llvm::fltSemantics *>{&APFloat::IEEEhalf(),
                                           &APFloat::BFloat()},
      [&](const llvm::fltSemantics *semantics) {
        APFloat rounded = value;
        bool losesInfo = false;
        rounded.convert(*semantics, APFloat::rmNearestTiesToEven, &losesInfo);
        return !losesInfo;
      });
}

namespace {

struct ClampModel
    : PrecisionOpInterface::ExternalModel<ClampModel, tosa::ClampOp> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    auto clamp = cast<tosa::ClampOp>(op);
    bool isLow = !getElementTypeOrSelf(op->getOperand(0)).isF32();
    bool isExact = isLow || (isExactLimit(clamp.getMinVal()) &&
                             isExactLimit(clamp.getMaxVal()));
    getUniformPrecisionSlots(op, isExact ? SlotKind::Storage : SlotKind::Fixed,
                             slots);
  }
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const {
    Type type = getSlotType(slotTypes, 0);
    if (!type)
      return success();
    auto clamp = cast<tosa::ClampOp>(op);
    for (StringAttr name :
         {clamp.getMinValAttrName(), clamp.getMaxValAttrName()}) {
      roundAttributeOf(op, name, type, rewriter);
      // No limit is infinity in a low type, and the largest number in f32.
      auto limit = dyn_cast<FloatAttr>(op->getAttr(name));
      if (limit && type.isF32() && limit.getValue().isInfinity())
        rewriter.modifyOpInPlace(op, [&] {
          op->setAttr(name,
                      FloatAttr::get(type, APFloat::getLargest(
                                               APFloat::IEEEsingle(),
                                               limit.getValue().isNegative())));
        });
    }
    return success();
  }
};

/// Multiplications and additions of a product with `count` output elements and
/// `depth` products each.
int64_t countFlops(Value output, int64_t depth) {
  auto type = dyn_cast<ShapedType>(output.getType());
  return type && type.hasStaticShape() && depth > 0
             ? 2 * type.getNumElements() * depth
             : 0;
}

struct MatMulModel
    : PrecisionOpInterface::ExternalModel<MatMulModel, tosa::MatMulOp> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    slots.reset(op);
    if (!getPrecisionElementType(op->getOperand(0).getType()))
      return;
    int8_t operands = slots.add(SlotKind::Compute, {0, 1, 2, 3}, {});
    // With low operands the result is rounded already.
    bool isWide = getElementTypeOrSelf(op->getOperand(0)).isF32();
    int8_t result =
        slots.add(isWide ? SlotKind::Storage : SlotKind::Fixed, {}, {0});
    slots.addImplication(result, operands);
    slots.roundedSlot = result;
  }
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const {
    if (getSlotType(slotTypes, 1) &&
        !getElementTypeOrSelf(op->getResult(0)).isF32())
      roundResult(op->getResult(0),
                  *op->getDialect()
                       ->getRegisteredInterface<CastMaterializationInterface>(),
                  rewriter);
    return success();
  }
  int64_t getProductFlops(Operation *op) const {
    auto a = dyn_cast<ShapedType>(op->getOperand(0).getType());
    return a && a.hasStaticShape()
               ? countFlops(op->getResult(0), a.getDimSize(2))
               : 0;
  }
};

template <typename OpTy>
struct ConvModel : PrecisionOpInterface::ExternalModel<ConvModel<OpTy>, OpTy> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    getUniformPrecisionSlots(op, SlotKind::Compute, slots);
  }
  int64_t getProductFlops(Operation *op) const {
    auto weight = dyn_cast<ShapedType>(cast<OpTy>(op).getWeight().getType());
    if (!weight || !weight.hasStaticShape())
      return 0;
    // The weights are [OC, KH, KW, IC], and [KH, KW, C, M] for a depthwise
    // convolution.
    int64_t channels = std::is_same_v<OpTy, tosa::DepthwiseConv2DOp>
                           ? weight.getDimSize(2) * weight.getDimSize(3)
                           : weight.getDimSize(0);
    return countFlops(op->getResult(0),
                      channels ? weight.getNumElements() / channels : 0);
  }
};

} // namespace

void mlir::amp::registerTosaPrecisionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *dialect) {
    dialect->addInterfaces<TosaCastInterface>();
    tosa::ConstOp::attachInterface<ConstModel>(*context);
    tosa::ClampOp::attachInterface<ClampModel>(*context);
    tosa::MatMulOp::attachInterface<MatMulModel>(*context);
    tosa::Conv2DOp::attachInterface<ConvModel<tosa::Conv2DOp>>(*context);
    tosa::Conv3DOp::attachInterface<ConvModel<tosa::Conv3DOp>>(*context);
    tosa::DepthwiseConv2DOp::attachInterface<
        ConvModel<tosa::DepthwiseConv2DOp>>(*context);
    tosa::TransposeConv2DOp::attachInterface<
        ConvModel<tosa::TransposeConv2DOp>>(*context);
    tosa::AddOp::attachInterface<AddModel<tosa::AddOp>>(*context);
    tosa::SubOp::attachInterface<SubtractModel<tosa::SubOp>>(*context);
    tosa::MulOp::attachInterface<MultiplyModel<tosa::MulOp>>(*context);
    tosa::SinOp::attachInterface<PeriodicModel<tosa::SinOp>>(*context);
    tosa::CosOp::attachInterface<PeriodicModel<tosa::CosOp>>(*context);
    tosa::SliceOp::attachInterface<PartModel<tosa::SliceOp>>(*context);
    tosa::GatherOp::attachInterface<PartModel<tosa::GatherOp>>(*context);
    attachMovement<tosa::ConcatOp, tosa::GatherOp, tosa::IdentityOp,
                   tosa::PadOp, tosa::ReshapeOp, tosa::ReverseOp,
                   tosa::ScatterOp, tosa::SelectOp, tosa::SliceOp, tosa::TileOp,
                   tosa::TransposeOp>(context);
    attachUniform<
        SlotKind::Storage, tosa::AbsOp, tosa::ArgMaxOp, tosa::AvgPool2dOp,
        tosa::ConcatOp, tosa::EqualOp, tosa::ErfOp, tosa::GreaterEqualOp,
        tosa::GreaterOp, tosa::IdentityOp, tosa::MaxPool2dOp, tosa::MaximumOp,
        tosa::MinimumOp, tosa::NegateOp, tosa::PadOp, tosa::ReduceMaxOp,
        tosa::ReduceMinOp, tosa::ReshapeOp, tosa::ResizeOp, tosa::ReverseOp,
        tosa::ScatterOp, tosa::SelectOp, tosa::SigmoidOp, tosa::TanhOp,
        tosa::TileOp, tosa::TransposeOp>(context);
    attachSteps<tosa::CeilOp, tosa::FloorOp>(context);
    attachSteep<SlotKind::Storage, tosa::LogOp>(context);
    attachSteep<SlotKind::Range, tosa::ExpOp, tosa::PowOp, tosa::ReciprocalOp,
                tosa::RsqrtOp>(context);
    attachUniform<SlotKind::Range, tosa::ReduceProductOp, tosa::ReduceSumOp>(
        context);
    // Casts that the user wrote, operations of f32 or integers alone, state
    // and control flow.
    attachUniform<SlotKind::Fixed, tosa::CastOp, tosa::CastFromBlockScaledOp,
                  tosa::CastToBlockScaledOp, tosa::MatmulTBlockScaledOp,
                  tosa::CustomOp, tosa::DimOp, tosa::FFT2dOp, tosa::RFFT2dOp,
                  tosa::RescaleOp, tosa::TableOp, tosa::VariableReadOp,
                  tosa::VariableWriteOp>(context);
  });
}
