//===- PrecisionOpInterface.h - What precision passes know ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slots, the units for which the precision passes choose types.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_PRECISIONOPINTERFACE_H
#define AMP_INTERFACES_PRECISIONOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::amp {

/// The reason why a slot may or may not have the low type.
enum class SlotKind : uint8_t {
  /// Feeds tensor cores, which are faster in the low type.
  Compute,
  /// The operation computes in f32 inside. A low slot costs one rounding.
  Storage,
  /// May leave the range of the low type. It is low only if its values provably
  /// fit.
  Range,
  /// Never changes type.
  Fixed,
};

/// Returns the lower-case name of `kind`, as reports print it.
StringRef stringifySlotKind(SlotKind kind);

/// What an operation computes, for the recognition of patterns that bound
/// values.
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
  /// Builds numbers from the bits of operands: shifts and masks of integers,
  /// and floats from their bits.
  Bits,
  /// Gives indices, which depend on no operand.
  Indices,
  /// A periodic function, or an operation that contains one. It reads angles.
  Periodic,
  /// A function whose slope has no bound, such as a logarithm, a power or an
  /// exponential. ReciprocalSqrt is steep too.
  Steep,
  /// Rounds to an integer.
  Step,
  /// Compares operands with each other, or one with a number other than 0.
  Compare,
  /// Converts integers to floats, or floats to integers.
  Convert,
};

/// The slots of one operation. Slots are numbered from 0; an operand or result
/// that belongs to none (because it is not a float) has number `none`.
struct PrecisionSlots {
  static constexpr int8_t none = -1;

  /// Resets to no slots, for the operands and results of `op`.
  void reset(Operation *op) {
    kinds.clear();
    implications.clear();
    constants.clear();
    bounds.clear();
    missing.reset();
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

  /// Adds a slot that holds the given operands and results. One that the
  /// operation does not have becomes `missing`, which
  /// `verifyPrecisionSlots` reports.
  int8_t add(SlotKind kind, ArrayRef<unsigned> operands,
             ArrayRef<unsigned> results) {
    int8_t slot = add(kind);
    assign(operandSlots, operands, slot, /*isResult=*/false);
    assign(resultSlots, results, slot, /*isResult=*/true);
    return slot;
  }

  /// States that slot `premise` can only be low if `conclusion` is low. For a
  /// matmul, a low result implies low operands.
  void addImplication(int8_t premise, int8_t conclusion) {
    implications.push_back({premise, conclusion});
  }

  /// States that the operation may store `number` in a tensor of `slot`, such
  /// as the value of its padding. No operand of the slot has this value.
  void addConstant(int8_t slot, double number) {
    constants.push_back({slot, number});
  }

  /// States that the operation meets the elements of `slot` with `number`, such
  /// as a limit: results need not have it, but depend on it.
  void addBound(int8_t slot, double number) {
    bounds.push_back({slot, number});
  }

  SmallVector<SlotKind, 4> kinds;
  SmallVector<int8_t, 8> operandSlots;
  SmallVector<int8_t, 4> resultSlots;
  SmallVector<std::pair<int8_t, int8_t>, 1> implications;
  SmallVector<std::pair<int8_t, double>, 1> constants;
  SmallVector<std::pair<int8_t, double>, 1> bounds;
  /// The first operand or result of a slot that the operation does not have.
  struct MissingValue {
    int8_t slot;
    unsigned index;
    bool isResult;
  };
  std::optional<MissingValue> missing;
  /// For an operation whose name covers several kinds, such as linalg.generic:
  /// the kind of this one (`contraction`, `elementwise`, `reduction` or
  /// `movement`). Policies classify it as `<name>.<variant>`, and as `<name>`
  /// if they say nothing of that.
  StringRef variant;
  /// Whether the operation depends on no value, such as a constant or an empty
  /// tensor. It takes the types of its readers and connects no slots.
  bool isConstant = false;
  /// The slot, if any, whose results the operation computes in f32 even if the
  /// slot is low. `retype` rounds them in casts after the operation.
  int8_t roundedSlot = none;
  /// The operand, if any, of which the operation reads only the extents.
  int8_t shapeOperand = none;

  static constexpr StringLiteral contraction = "contraction",
                                 elementwise = "elementwise",
                                 reduction = "reduction", movement = "movement";
  static constexpr StringLiteral variants[] = {contraction, elementwise,
                                               reduction, movement};

private:
  void assign(MutableArrayRef<int8_t> entries, ArrayRef<unsigned> indices,
              int8_t slot, bool isResult) {
    for (unsigned index : indices) {
      if (index < entries.size())
        entries[index] = slot;
      else if (!missing)
        missing = MissingValue{slot, index, isResult};
    }
  }
};

/// Returns failure, after an error on `op`, unless `slots` describe an
/// operation with its operands and results: implementations of the interface
/// are code of others.
LogicalResult verifyPrecisionSlots(Operation *op, const PrecisionSlots &slots);

/// Returns the element type of `type` if it is a shaped type of floats that
/// precision passes may change, and null otherwise.
FloatType getPrecisionElementType(Type type);

/// Returns `type` with the element type `elementType`, or null if `type` is not
/// a shaped type or cannot have this element type.
Type getWithElementType(Type type, Type elementType);

/// Returns whether precision passes may change the element type of `type`. It
/// must be a shaped type of any dialect with a known rank and float elements,
/// and neither a vector nor a memref.
bool isPrecisionTensor(Type type);

/// Describes `op` as one slot of `kind` that holds every float operand and
/// result.
void getUniformPrecisionSlots(Operation *op, SlotKind kind,
                              PrecisionSlots &slots);

/// Sets new element types of the results of `op`, whose slots are `slots`, and
/// adapts the operation (`PrecisionOpInterface::retype`). A null type leaves a
/// slot unchanged.
LogicalResult retypeSlots(Operation *op, const PrecisionSlots &slots,
                          ArrayRef<Type> slotTypes, RewriterBase &rewriter);

} // namespace mlir::amp

#include "amp/Interfaces/PrecisionOpInterface.h.inc"

#endif // AMP_INTERFACES_PRECISIONOPINTERFACE_H
