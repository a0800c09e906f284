//===- Adapter.h - Dialects that only the policy knows ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description in a policy file of a dialect that implements no interface,
// linked in or not: the operation that casts, the slots of operations, the
// attributes that mention element types, and the treatment of regions.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_POLICY_ADAPTER_H
#define AMP_PRECISION_POLICY_ADAPTER_H

#include "amp/Interfaces/PrecisionOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::amp {

/// The treatment of the regions of an operation when its slots change type.
enum class RegionRule : uint8_t {
  /// No rule is given. An operation with regions keeps its types.
  None,
  /// The regions stay as they are.
  Keep,
  /// Every f32 value within becomes low.
  Follow,
};

/// An operand or result, with its location in the policy: its number, or the
/// name of operands if `name` is not empty.
struct AdapterIndex {
  unsigned index;
  Location loc;
  std::string name = {};
};

/// A slot of an adapted operation.
struct AdapterSlot {
  SlotKind kind;
  std::vector<AdapterIndex> operands, results;
  /// The slot that must be low if this one is.
  std::optional<unsigned> implies;
  /// Whether the results stay f32 and a cast after the operation rounds them.
  bool isRounded = false;
  /// Whether operations may lack operands and results of the slot, or have
  /// something else than a tensor of floats in their place.
  bool isOptional = false;
};

/// One operation of an adapted dialect.
struct AdapterOperation {
  std::string name;
  Location loc;
  /// If empty, one slot of `kind` holds all float tensors.
  std::vector<AdapterSlot> slots;
  SlotKind kind = SlotKind::Storage;
  /// Attributes that change with the type of the first result: types, and
  /// elements or numbers that are rounded.
  std::vector<std::string> typeAttributes;
  RegionRule regions = RegionRule::None;
  /// The kind of the only slot, by the operations in the regions. The most
  /// restrictive kind wins. With any other operation in a region the types do
  /// not change. Empty if the regions do not matter.
  std::vector<std::pair<std::string, SlotKind>> bodies;
  /// Whether results fit any low type, for any operands.
  bool isBounded = false;
  /// Whether results are random numbers or built from the bits of operands.
  bool isBits = false;
  /// Whether results are indices, which depend on no operand.
  bool givesIndices = false;
  /// Whether results are a periodic function of the operands, such as a sine.
  bool isPeriodic = false;
  /// Whether `kind` was given.
  bool hasKind = false;
  /// The attribute with a string for each operand, its name. Several operands
  /// may have one name. Empty if operands have no names.
  std::string operandNames = {};

  /// Whether the entry gives the kind of the slots.
  bool describesKind() const {
    return hasKind || !slots.empty() || !bodies.empty();
  }

  /// Returns whether `bodies` covers the regions of `op`. Otherwise it keeps
  /// its types.
  bool hasKnownBody(Operation *op) const;

  /// Describes the slots of `op`, which has this name. Emits a diagnostic at
  /// the entry and returns failure if the entry does not fit the operation. If
  /// the regions cannot become low, there are no slots, and the reason is
  /// written to `kept` unless it is null.
  LogicalResult getSlots(Operation *op, PrecisionSlots &slots,
                         std::string *kept = nullptr) const;

  /// Whether the regions of `op` read no outside value that could change type.
  bool ownsRegions(Operation *op) const;

  /// Adapts attributes and regions of `op` to new types of its slots.
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes) const;

  /// Whether `op` is a constant: its only content is an attribute that changes
  /// with its type.
  bool isConstant(Operation *op) const {
    return !typeAttributes.empty() && op->getNumOperands() == 0 &&
           op->getNumRegions() == 0;
  }

private:
  std::optional<SlotKind> getBodyKind(Operation *op) const;
  LogicalResult assignSlots(Operation *op, PrecisionSlots &slots) const;
  LogicalResult assignDescribedSlots(Operation *op,
                                     PrecisionSlots &slots) const;
  void retypeContents(Operation *op, const PrecisionSlots &slots,
                      ArrayRef<Type> slotTypes) const;
  LogicalResult verifyRetyped(Operation *op, const PrecisionSlots &slots,
                              ArrayRef<Type> slotTypes,
                              std::string &reason) const;
};

/// Operations of an adapted dialect that form composite patterns, such as
/// softmax and normalizations (see CompositePatterns.h).
struct AdapterCompositePatterns {
  /// Reduce rows to statistics.
  llvm::StringSet<> reduce;
  /// Repeat elements of operand 0.
  llvm::StringSet<> repeat;
  /// Move elements of operand 0.
  llvm::StringSet<> move;
  /// Compute element by element.
  llvm::StringSet<> elementwise;

  bool empty() const {
    return reduce.empty() && repeat.empty() && move.empty() &&
           elementwise.empty();
  }
};

/// The operation that casts in an adapted dialect.
struct AdapterCast {
  std::string op;
  Location loc;
  struct CastAttribute {
    std::string name;
    /// Null for `$type`, the element type of the result.
    Attribute value;
  };
  std::vector<CastAttribute> attributes;
};

/// One dialect as the policy describes it.
struct Adapter {
  std::string dialect;
  Location loc;
  std::optional<AdapterCast> cast;
  llvm::StringMap<AdapterOperation> operations;
  AdapterCompositePatterns compositePatterns;
  /// Operations each element of whose results is one of some operand.
  llvm::StringSet<> moves;
  /// Operations that read as many elements of operand 0 as result 0 has.
  llvm::StringSet<> readsPart;
  /// Operations whose results are other views of the memory of operand 0. They
  /// move nothing.
  llvm::StringSet<> views;
  /// The attribute of operations that names their operands.
  std::string operandNames;
  /// If not empty: why operations of the dialect are an error.
  std::string rejection;
  /// Globs of operations that are an error unless a list names them.
  std::vector<std::string> rejectedOperations;

  /// Whether `op` is the cast of the dialect and does not change the type. JAX
  /// emits such casts of arguments.
  bool isNoOpCast(Operation *op) const;

  /// Whether each element of the results of `op` is one of some operand, by
  /// `moves` or because it is a no-op cast.
  bool movesElements(Operation *op) const;

  /// Builds the cast of `value` to `type` at the insertion point.
  Operation *buildCast(OpBuilder &builder, Location loc, Value value,
                       Type type) const;

  /// Emits a diagnostic at the entry and returns failure if the cast of a value
  /// at `loc` from `from` to `to` cannot be built.
  LogicalResult checkCast(Location loc, Type from, Type to) const;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_POLICY_ADAPTER_H
