//===- PrecisionOpInterface.h - What precision passes know ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slots: the unit in which precision is decided.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_PRECISIONOPINTERFACE_H
#define AMP_INTERFACES_PRECISIONOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::amp {

/// Why a slot may or may not be stored in a low-precision type.
enum class SlotKind : uint8_t {
  /// Feeds tensor cores: low precision is where the speed is.
  Compute,
  /// The operation computes in f32 inside; storing low costs one rounding.
  Storage,
  /// May leave the range of the low type: low only when something proves that
  /// it fits.
  Range,
  /// Never changes type.
  Fixed,
};

/// Returns the lower-case name of `kind`, as it stands in reports.
StringRef stringifySlotKind(SlotKind kind);

/// What an operation computes, as far as patterns that bound values need to
/// know.
enum class Arithmetic : uint8_t {
  Other,
  /// Moves or repeats the elements of operand 0.
  Move,
  Add,
  Subtract,
  Multiply,
  Square,
  /// The mean of operand 0 over some dimensions.
  Mean,
  ReciprocalSqrt,
};

/// The slots of one operation. Slots are numbered from 0; an operand or result
/// that belongs to none (because it is not a float) has number `none`.
struct PrecisionSlots {
  static constexpr int8_t none = -1;

  /// Starts over for `op`: no slot, every operand and result without one.
  void reset(Operation *op) {
    kinds.clear();
    implications.clear();
    constants.clear();
    variant = {};
    isConstant = false;
    roundedSlot = none;
    shapeOperand = none;
    operandSlots.assign(op->getNumOperands(), none);
    resultSlots.assign(op->getNumResults(), none);
  }

  /// Adds a slot and returns its number.
  int8_t add(SlotKind kind) {
    kinds.push_back(kind);
    return static_cast<int8_t>(kinds.size() - 1);
  }

  /// Adds a slot that holds the given operands and results.
  int8_t add(SlotKind kind, ArrayRef<unsigned> operands,
             ArrayRef<unsigned> results) {
    int8_t slot = add(kind);
    for (unsigned operand : operands)
      operandSlots[operand] = slot;
    for (unsigned result : results)
      resultSlots[result] = slot;
    return slot;
  }

  /// States that slot `premise` low is only possible with `conclusion` low:
  /// for a matmul, a low result implies low operands.
  void addImplication(int8_t premise, int8_t conclusion) {
    implications.push_back({premise, conclusion});
  }

  /// States that the operation may store `number`, which no operand in the slot
  /// brings, in a tensor of `slot`: what it pads or fills with.
  void addConstant(int8_t slot, double number) {
    constants.push_back({slot, number});
  }

  SmallVector<SlotKind, 4> kinds;
  SmallVector<int8_t, 8> operandSlots;
  SmallVector<int8_t, 4> resultSlots;
  SmallVector<std::pair<int8_t, int8_t>, 1> implications;
  SmallVector<std::pair<int8_t, double>, 1> constants;
  /// For an operation of which one name stands for several things, such as
  /// linalg.generic: what this one is (`contraction`, `elementwise`,
  /// `reduction` or `movement`). Policies classify it as `<name>.<variant>`,
  /// and as `<name>` if they say nothing of that.
  StringRef variant;
  /// Whether the operation depends on no value, such as a constant or an empty
  /// tensor: it follows its readers, and connects nothing.
  bool isConstant = false;
  /// The slot, if any, whose results the operation goes on giving in f32 when
  /// the slot is low: `retype` rounds them in casts after the operation.
  int8_t roundedSlot = none;
  /// The operand, if any, that is read for its extents alone.
  int8_t shapeOperand = none;

  static constexpr StringLiteral contraction = "contraction",
                                 elementwise = "elementwise",
                                 reduction = "reduction", movement = "movement";
  static constexpr StringLiteral variants[] = {contraction, elementwise,
                                               reduction, movement};
};

/// Returns the element type of `type` if it is a shaped type of floats that
/// precision passes may change, and null otherwise.
FloatType getPrecisionElementType(Type type);

/// Returns `type` with the element type `elementType`, or null if it is not a
/// shaped type or has no such form.
Type getWithElementType(Type type, Type elementType);

/// Returns whether precision passes may give `type` another element type: a
/// shaped type of any dialect with a known rank whose elements are floats, and
/// neither a vector nor a memref.
bool isPrecisionTensor(Type type);

/// Describes `op` as one slot of `kind` that holds every float operand and
/// result.
void getUniformPrecisionSlots(Operation *op, SlotKind kind,
                              PrecisionSlots &slots);

/// Gives the results of `op`, whose slots are `slots`, new element types, and
/// lets the operation follow (`PrecisionOpInterface::retype`). Null types leave
/// a slot alone.
LogicalResult retypeSlots(Operation *op, const PrecisionSlots &slots,
                          ArrayRef<Type> slotTypes, RewriterBase &rewriter);

} // namespace mlir::amp

#include "amp/Interfaces/PrecisionOpInterface.h.inc"

#endif // AMP_INTERFACES_PRECISIONOPINTERFACE_H
