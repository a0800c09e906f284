//===- Adapter.h - Dialects that only the policy knows ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a policy file says of a dialect that implements no interface, linked in
// or not: the operation that casts, the slots of operations, the attributes
// that mention element types, and what becomes of regions.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ADAPTER_H
#define AMP_PRECISION_ADAPTER_H

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

/// What becomes of the regions of an operation when its slots change type.
enum class RegionRule : uint8_t {
  /// Nothing is said: an operation with regions keeps its types.
  None,
  /// The regions stay as they are.
  Keep,
  /// Every f32 value within becomes low.
  Follow,
};

/// An index into operands or results, and where it stands in the policy.
struct AdapterIndex {
  unsigned index;
  Location loc;
};

/// A slot of an adapted operation.
struct AdapterSlot {
  SlotKind kind;
  std::vector<AdapterIndex> operands, results;
  /// The slot that must be low for this one to be.
  std::optional<unsigned> implies;
  /// Whether the operation goes on giving the results in f32, which a cast
  /// behind it rounds.
  bool isRounded = false;
};

/// One operation of an adapted dialect.
struct AdapterOperation {
  std::string name;
  Location loc;
  /// Without any, one slot of `kind` holds all float tensors.
  std::vector<AdapterSlot> slots;
  SlotKind kind = SlotKind::Storage;
  /// Attributes that follow the type of the first result: types, and elements
  /// or numbers that are rounded.
  std::vector<std::string> typeAttributes;
  RegionRule regions = RegionRule::None;
  /// The kind of the one slot by the operations in the regions: of several, the
  /// least free. With any other operation there the types stay. Empty where the
  /// regions do not matter.
  std::vector<std::pair<std::string, SlotKind>> bodies;
  /// Whether results fit any low type, whatever the operation reads.
  bool isBounded = false;

  /// Returns whether the regions of `op` are of a known sort: if not, it keeps
  /// its types.
  bool hasKnownBody(Operation *op) const;

  /// Describes the slots of `op`, which has this name. Returns failure, after a
  /// diagnostic at the entry, if the entry does not fit the operation. If the
  /// regions cannot follow there are no slots, and `kept`, if any, says why.
  LogicalResult getSlots(Operation *op, PrecisionSlots &slots,
                         std::string *kept = nullptr) const;

  /// Whether the regions of `op` are its own business: no value from outside
  /// that could change type is read there.
  bool ownsRegions(Operation *op) const;

  /// Lets attributes and regions of `op` follow a change of its slots.
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes) const;

  /// Whether `op` is a constant: its only content is an attribute that follows.
  bool isConstant(Operation *op) const {
    return !typeAttributes.empty() && op->getNumOperands() == 0 &&
           op->getNumRegions() == 0;
  }

private:
  std::optional<SlotKind> getBodyKind(Operation *op) const;
  LogicalResult assignSlots(Operation *op, PrecisionSlots &slots) const;
  void retypeContents(Operation *op, const PrecisionSlots &slots,
                      ArrayRef<Type> slotTypes) const;
  LogicalResult verifyRetyped(Operation *op, const PrecisionSlots &slots,
                              ArrayRef<Type> slotTypes,
                              std::string &reason) const;
};

/// Operations of an adapted dialect in which softmax, normalisations and the
/// like are written out (see Units.h).
struct AdapterUnits {
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
  AdapterUnits units;
  /// If not empty: why operations of the dialect are an error.
  std::string rejection;
  /// Globs of operations that are an error unless a list names them.
  std::vector<std::string> rejectedOperations;

  /// Builds the cast of `value` to `type` at the insertion point.
  Operation *buildCast(OpBuilder &builder, Location loc, Value value,
                       Type type) const;

  /// Returns failure, after a diagnostic at the entry, if the cast of a value
  /// at `loc` from `from` to `to` cannot be built.
  LogicalResult checkCast(Location loc, Type from, Type to) const;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ADAPTER_H
