//===- Common.h - What the external models share ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXTERNALMODELS_COMMON_H
#define AMP_LIB_EXTERNALMODELS_COMMON_H

#include "amp/Interfaces/CastMaterialization.h"
#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include <type_traits>

namespace mlir::amp {

/// The model of an operation with one slot of `kind`, which holds every float
/// tensor.
template <typename OpTy, SlotKind kind,
          Arithmetic arithmetic = Arithmetic::Other>
struct UniformModel
    : PrecisionOpInterface::ExternalModel<UniformModel<OpTy, kind, arithmetic>,
                                          OpTy> {
  void getPrecisionSlots(Operation *op, PrecisionSlots &slots) const {
    getUniformPrecisionSlots(op, kind, slots);
  }
  Arithmetic getArithmetic(Operation *) const { return arithmetic; }
};

/// The models of an addition and of a product of elements.
template <typename OpTy>
using AddModel = UniformModel<OpTy, SlotKind::Storage, Arithmetic::Add>;
template <typename OpTy>
using MultiplyModel =
    UniformModel<OpTy, SlotKind::Storage, Arithmetic::Multiply>;

/// The model of a subtraction.
template <typename OpTy>
using SubtractModel =
    UniformModel<OpTy, SlotKind::Storage, Arithmetic::Subtract>;

/// The model of a periodic function.
template <typename OpTy, SlotKind kind = SlotKind::Storage>
using PeriodicModel = UniformModel<OpTy, kind, Arithmetic::Periodic>;

/// Attaches the model of a steep function to `OpTys`.
template <SlotKind kind, typename... OpTys>
void attachSteep(MLIRContext *context) {
  (OpTys::template attachInterface<
       UniformModel<OpTys, kind, Arithmetic::Steep>>(*context),
   ...);
}

/// Attaches the model of functions that round to an integer to `OpTys`.
template <typename... OpTys>
void attachSteps(MLIRContext *context) {
  (OpTys::template attachInterface<
       UniformModel<OpTys, SlotKind::Storage, Arithmetic::Step>>(*context),
   ...);
}

/// The model of an operation that is one storage slot and reads as many
/// elements of operand 0 as result 0 has.
template <typename OpTy>
struct PartModel : PrecisionOpInterface::ExternalModel<PartModel<OpTy>, OpTy> {
  Type getReadType(Operation *op, unsigned operand) const {
    return operand == 0 ? op->getResult(0).getType()
                        : op->getOperand(operand).getType();
  }
};

/// The model of an operation that reads the extents of its operands alone.
template <typename OpTy>
struct ShapeModel
    : PrecisionOpInterface::ExternalModel<ShapeModel<OpTy>, OpTy> {
  Type getReadType(Operation *, unsigned) const { return Type(); }
};

/// The range of operations each element of whose results is an element of some
/// operand of floats, or of their inputs if they write to a destination.
template <typename OpTy>
struct MoveModel : FloatRangeOpInterface::ExternalModel<MoveModel<OpTy>, OpTy> {
  void inferFloatRanges(Operation *op, ArrayRef<FloatRange> operands,
                        MutableArrayRef<FloatRange> results) const {
    FloatRange all = FloatRange::empty();
    auto style = dyn_cast<DestinationStyleOpInterface>(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isa<FloatType>(getElementTypeOrSelf(operand.get().getType())) &&
          !(style && style.isDpsInit(&operand) && overwrites))
        all = all.join(operands[operand.getOperandNumber()]);
    llvm::fill(results, all);
  }
  ElementFlow getElementFlow(Operation *) const { return ElementFlow::Moves; }

private:
  /// Whether nothing of a destination is left.
  static constexpr bool overwrites =
      !std::is_same_v<OpTy, tensor::InsertSliceOp>;
};

/// Attaches the range of movement to each operation.
template <typename... OpTys>
void attachMovement(MLIRContext *context) {
  (OpTys::template attachInterface<MoveModel<OpTys>>(*context), ...);
}

/// The flow through operations that store a number in addition to moving
/// elements.
template <typename OpTy>
struct StoreModel
    : FloatRangeOpInterface::ExternalModel<StoreModel<OpTy>, OpTy> {
  void inferFloatRanges(Operation *, ArrayRef<FloatRange>,
                        MutableArrayRef<FloatRange>) const {}
  ElementFlow getElementFlow(Operation *) const { return ElementFlow::Moves; }
};

template <typename... OpTys>
void attachStoring(MLIRContext *context) {
  (OpTys::template attachInterface<StoreModel<OpTys>>(*context), ...);
}

/// Attaches a uniform model to each operation.
template <SlotKind kind, typename... OpTys>
void attachUniform(MLIRContext *context) {
  (OpTys::template attachInterface<UniformModel<OpTys, kind>>(*context), ...);
}

/// Attaches the model of operations that build numbers from bits.
template <typename... OpTys>
void attachBits(MLIRContext *context) {
  (OpTys::template attachInterface<
       UniformModel<OpTys, SlotKind::Fixed, Arithmetic::Bits>>(*context),
   ...);
}

/// The model of an operation whose operands and results keep their types.
template <typename OpTy>
using FixedModel = UniformModel<OpTy, SlotKind::Fixed>;

/// Returns the new type of `slot`, or null if it keeps its type.
inline Type getSlotType(ArrayRef<Type> slotTypes, int8_t slot) {
  return slot == PrecisionSlots::none ||
                 slot >= static_cast<int64_t>(slotTypes.size())
             ? Type()
             : slotTypes[slot];
}

/// States in `slots` that `op` stores `scalar` in tensors of `slot`, if it is a
/// constant.
void addStoredScalar(Value scalar, int8_t slot, PrecisionSlots &slots);

/// Casts tensors with arith.extf and arith.truncf, for the dialects that have
/// no cast. Builds a new operation for a tensor without contents
/// (tensor.empty).
class ArithCastInterface : public CastMaterializationInterface {
public:
  using CastMaterializationInterface::CastMaterializationInterface;
  bool isBorrowed() const final { return true; }
  bool canMaterializeCast(Type from, Type to) const final;
  Operation *materializeCast(OpBuilder &builder, Location loc, Value value,
                             Type type) const final;
};

/// Restores the f32 type of `result`, which an assignment made low, and rounds
/// it in a cast that `casts` builds. The operation accumulates in f32, and its
/// result is stored low.
void roundResult(OpResult result, const CastMaterializationInterface &casts,
                 RewriterBase &rewriter);

/// Widens or narrows a scalar with arith. Returns the scalar itself if it has
/// the type.
Value castScalar(OpBuilder &builder, Location loc, Value scalar, Type type);

/// Converts `operand`, a scalar, to `type`. Removes a conversion from this
/// type, or inserts one before the insertion point.
void castOperand(OpOperand &operand, Type type, RewriterBase &rewriter);

/// Adapts the users of the scalar `scalar` after a change of its type. They
/// read it in `type`, its previous type. Removes conversions to the new type,
/// and inserts one conversion for all other users at the insertion point.
void castUses(Value scalar, Type type, RewriterBase &rewriter);

/// Rounds the attribute named `name` of `op` to `type`.
void roundAttributeOf(Operation *op, StringRef name, Type type,
                      RewriterBase &rewriter);

/// Adds the slots of a constant with the elements `value`. They are fixed if
/// these cannot be rounded, and have a range if f16 does not hold them.
void getConstantSlots(Operation *op, Attribute value, PrecisionSlots &slots);

} // namespace mlir::amp

#endif // AMP_LIB_EXTERNALMODELS_COMMON_H
