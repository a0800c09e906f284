//===- Common.h - What the external models share ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXTERNALMODELS_COMMON_H
#define AMP_LIB_EXTERNALMODELS_COMMON_H

#include "amp/Interfaces/CastMaterialization.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::amp {

/// The model of an operation that is one slot of `kind`, which holds every
/// float tensor.
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

/// The model of an addition.
template <typename OpTy>
using AddModel = UniformModel<OpTy, SlotKind::Storage, Arithmetic::Add>;

/// Attaches a uniform model to each operation.
template <SlotKind kind, typename... OpTys>
void attachUniform(MLIRContext *context) {
  (OpTys::template attachInterface<UniformModel<OpTys, kind>>(*context), ...);
}

/// The model of an operation whose operands and results keep their types.
template <typename OpTy>
using FixedModel = UniformModel<OpTy, SlotKind::Fixed>;

/// The type of `slot` after a change, null if it keeps its own.
inline Type getSlotType(ArrayRef<Type> slotTypes, int8_t slot) {
  return slot == PrecisionSlots::none ||
                 slot >= static_cast<int64_t>(slotTypes.size())
             ? Type()
             : slotTypes[slot];
}

/// States in `slots` that `op` stores `scalar` in tensors of `slot`, if it is a
/// constant.
void addStoredScalar(Value scalar, int8_t slot, PrecisionSlots &slots);

/// Casts of tensors by arith.extf and arith.truncf, for the dialects that have
/// none of their own. What has no contents (tensor.empty) is made anew.
class ArithCastInterface : public CastMaterializationInterface {
public:
  using CastMaterializationInterface::CastMaterializationInterface;
  bool isBorrowed() const final { return true; }
  bool canMaterializeCast(Type from, Type to) const final;
  Operation *materializeCast(OpBuilder &builder, Location loc, Value value,
                             Type type) const final;
};

/// Gives the f32 result `result`, which an assignment made low, its f32 type
/// back and rounds it in a cast that `casts` builds: the operation accumulates
/// in f32 and its result is stored low.
void roundResult(OpResult result, const CastMaterializationInterface &casts,
                 RewriterBase &rewriter);

/// Widens or narrows a scalar by arith; returns it as it is if it has the type.
Value castScalar(OpBuilder &builder, Location loc, Value scalar, Type type);

/// Gives `operand`, a scalar, the type `type`, by undoing a conversion from it
/// or by a new one before the insertion point.
void castOperand(OpOperand &operand, Type type, RewriterBase &rewriter);

/// Lets the users of the scalar `scalar`, which has got another type, read it
/// in `type`, the one that they knew: conversions to its new type go away, for
/// all others there is one at the insertion point.
void castUses(Value scalar, Type type, RewriterBase &rewriter);

/// Rounds the attribute named `name` of `op` to `type`.
void roundAttributeOf(Operation *op, StringRef name, Type type,
                      RewriterBase &rewriter);

} // namespace mlir::amp

#endif // AMP_LIB_EXTERNALMODELS_COMMON_H
