//===- SlotGraph.h - Slots and the values between them ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph on which precision is decided: one vertex per slot, one edge per
// use of a value. It is built in one sweep over a function and kept in flat
// arrays, because the passes have to be as cheap as CSE.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_SLOTGRAPH_H
#define AMP_PRECISION_SLOTGRAPH_H

#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/Precision/CallGroups.h"
#include "amp/Precision/Policy.h"
#include "amp/Precision/Ranges.h"
#include "amp/Precision/ValueNumbers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <memory>

namespace mlir::amp {

/// The number of a vertex. Vertex 0 stands for everything that keeps its type.
using VertexId = uint32_t;

/// What the intervals of values prove of a slot.
enum class RangeProof : uint8_t {
  None,
  /// A range slot whose values fit the low type: it is as a storage slot.
  Fits,
  /// The slot reads, is or stores a constant that becomes infinite in the low
  /// type, or nothing but zeros, or reads a gradient seed, which loss scaling
  /// makes infinite: it is denied, unless a pin asks for something.
  DoesNotFit,
};

/// A slot of an operation, or a value that control flow carries.
struct SlotVertex {
  /// The operation, null for vertex 0. For a carried value, the operation whose
  /// regions it belongs to.
  Operation *op;
  /// The number of the slot within the operation, or `carried`.
  int8_t slot;
  SlotKind kind;
  /// What the policy and pins say of this slot, after its kind.
  OpClass opClass;
  /// Whether some result (or block argument) has the type of this slot; if not,
  /// the operation only reads through it.
  bool produces : 1;
  /// Whether the operation is a product, which reads low operands but can give
  /// f32 as well.
  bool isProductResult : 1;
  /// Whether a pin (`amp.precision`) made the decision.
  bool pinned : 1;
  /// Whether the operation is a constant, which can stand in any type.
  bool isConstant : 1;
  /// Whether an adapter says that the values which the slot produces fit the
  /// low type, whatever the operation reads.
  bool isBounded : 1;
  /// Whether the operation gives the results of this slot in f32 even if it is
  /// low, and rounds them in casts of its own.
  bool isRounded : 1;
  RangeProof proof = RangeProof::None;

  static constexpr int8_t carried = -1;
};

/// A use of an f32 value: the producer's and the user's slot, and the number of
/// the value.
struct SlotUse {
  OpOperand *operand;
  VertexId producer;
  VertexId user;
  uint32_t value;
};

/// An f32 value that some slot produces, or that some slot reads from vertex 0.
struct SlotValue {
  Value value;
  VertexId vertex;
};

/// Slots of all operations of one function, or of functions that call one
/// another, and the f32 values between them.
class SlotGraph {
public:
  /// Builds the graph of `function` under `policy`. Only values whose element
  /// type is f32 take part; everything else keeps its type. With `low`, the low
  /// type, intervals of values free range slots, and deny slots that read
  /// constants which do not fit.
  SlotGraph(FunctionOpInterface function, const Policy &policy,
            FloatType low = {})
      : SlotGraph(CallGroup(function), policy, low) {}

  /// Builds one graph of all functions of a group. Arguments and results of
  /// those that may change their signature are carried values.
  SlotGraph(const CallGroup &group, const Policy &policy, FloatType low = {});

  ArrayRef<SlotVertex> getVertices() const { return vertices; }
  ArrayRef<SlotUse> getUses() const { return uses; }
  ArrayRef<SlotValue> getValues() const { return values; }

  /// Numbers of the uses into vertex `v`, and out of it.
  ArrayRef<uint32_t> getUsesInto(VertexId v) const {
    return slice(intoOffsets, intoUses, v);
  }
  ArrayRef<uint32_t> getUsesOf(VertexId v) const {
    return slice(ofOffsets, ofUses, v);
  }

  /// Pairs (premise, conclusion): the premise can be low only if the conclusion
  /// is.
  ArrayRef<std::pair<VertexId, VertexId>> getImplications() const {
    return implications;
  }

  /// The interface of `op`, or null.
  PrecisionOpInterface getInterface(Operation *op) const {
    auto it = infos.find(op->getName());
    if (it != infos.end() && it->second.slots)
      return PrecisionOpInterface(op, it->second.slots);
    return it == infos.end() || it->second.hasSlots
               ? dyn_cast<PrecisionOpInterface>(op)
               : PrecisionOpInterface();
  }

  /// Describes the slots of `op`, which has a vertex or implements the
  /// interface, before the policy changes their kinds.
  void getSlots(Operation *op, PrecisionSlots &slots) const;

  /// Lets `op`, whose slots now have the types `slotTypes`, follow.
  LogicalResult retype(Operation *op, ArrayRef<Type> slotTypes,
                       RewriterBase &rewriter) const;

  /// Whether the policy contradicts itself or does not fit the function, or
  /// pins contradict each other. There has been an error.
  bool isInvalid() const { return invalid || policy.isContradictory(); }

  /// Operations with f32 tensors that no list of the policy names.
  ArrayRef<Operation *> getUnlisted() const { return unlisted; }

  /// The low type, null if nothing is to be proved of it.
  FloatType getLowType() const { return low; }

  /// Whether some operation is a loop, so that not all operations run equally
  /// often.
  bool hasLoops() const { return loops; }

  /// Operations that are pinned to low precision themselves, and have nothing
  /// that could be low.
  ArrayRef<Operation *> getIgnoredPins() const { return ignoredPins; }

  /// Whether intervals prove that every number which `value` can hold is finite
  /// in the low type, whatever the data and whatever the gradient seed. To be
  /// asked before the function changes; false without a low type.
  bool fitsLow(Value value) const;

  /// The interval of all values of the slot `v` if each of them fits in this
  /// sense.
  std::optional<FloatRange> findFittingRange(VertexId v) const;

  /// Why slot `slot` of `op`, which `slots` describes and which has no vertex,
  /// keeps its type. Empty if it has no tensor of floats.
  std::string explainFixed(Operation *op, int8_t slot,
                           const PrecisionSlots &slots) const;

  /// Whether `op` has slots: by its interface, by an adapter, or since a list
  /// of the policy names it.
  bool hasSlots(Operation *op) const;

  /// The interval that freed `v`, a slot with `RangeProof::Fits`.
  FloatRange getProvenRange(VertexId v) const { return proven.lookup(v); }

  /// Whether `op` is a constant with elements, not one without contents.
  bool holdsElements(Operation *op) const {
    auto it = infos.find(op->getName());
    return op->hasTrait<OpTrait::ConstantLike>() ||
           (it != infos.end() && it->second.adapted &&
            it->second.adapted->isConstant(op));
  }

  /// Whether `op` is part of a unit (see Units.h).
  bool isInUnit(Operation *op) const { return units.contains(op); }

  /// Operations whose regions keep their types because nothing says how they
  /// would follow.
  bool hasUnknownBody(Operation *op) const {
    auto it = infos.find(op->getName());
    return op->getNumRegions() != 0 && it != infos.end() &&
           (!it->second.adapted || !it->second.adapted->hasKnownBody(op));
  }

  /// Whether `value` is a constant of which some low slot makes a mask, so that
  /// it becomes the lowest finite value of the low type there, and not -inf.
  bool isMask(Value value) const { return masks.contains(value); }

private:
  /// What holds for all operations of one name.
  struct OperationInfo {
    OpClass opClass = OpClass::Unlisted;
    /// The implementation of PrecisionOpInterface, unless the dialect supplies
    /// it from operation to operation.
    PrecisionOpInterface::Concept *slots = nullptr;
    bool hasSlots = false;
    /// What an adapter says; it goes before the interface.
    const AdapterOperation *adapted = nullptr;
    bool isFunction = false;
    bool isTerminator = false;
    /// Whether it inserts into what iterations in parallel share.
    bool isCombiner = false;
    bool isConstant = false;
    bool isSeed = false;
  };
  const OperationInfo &getInfo(Operation *op);

  void addOperation(Operation *op, const OperationInfo &info);
  void addCarriedValues(Operation *op, Pin pin);
  void addSignature(FunctionOpInterface function, Pin pin);
  void pinSignature(VertexId vertex, Pin pin, Operation *holder, bool isOwn);
  void reportContested();
  void addCall(Operation *call, FunctionOpInterface callee, Pin pin);
  Pin findPin(Operation *op);
  Pin findOwnPin(Operation *op) const;
  OpClass findClass(Operation *op, OpClass listed,
                    const PrecisionSlots &slots) const;
  void reportConflict(Operation *op, Pin pin, Operation *other, Pin otherPin);
  void addUse(OpOperand &operand, VertexId user);
  void addValue(Value value, VertexId vertex);
  void resolveProducers();
  /// The vertex of `value`, or 0. While the graph is built.
  VertexId lookup(Value value) const {
    uint32_t number = numbers.find(value, values);
    return number == numbers.none ? 0 : values[number].vertex;
  }
  void applyRanges(ArrayRef<FunctionOpInterface> functions);
  void deny(VertexId v);
  void denyReaders(const llvm::DenseSet<Value> &read, bool evenProducts);
  void denySeeds();
  void denyStored();
  ValueRanges &getRanges(Value value) const;
  void freeRangeSlots();
  void denyConstants();
  void denyComputedConstants(FunctionOpInterface function);
  void buildAdjacency();
  VertexId findRoot(VertexId v);

  static ArrayRef<uint32_t> slice(ArrayRef<uint32_t> offsets,
                                  ArrayRef<uint32_t> items, VertexId v) {
    return items.slice(offsets[v], offsets[v + 1] - offsets[v]);
  }
  VertexId addVertex(Operation *op, int8_t slot, SlotKind kind,
                     OpClass opClass);

  std::vector<SlotVertex> vertices;
  std::vector<SlotUse> uses;
  std::vector<SlotValue> values;
  std::vector<uint32_t> intoOffsets, intoUses, ofOffsets, ofUses;
  ValueNumbers<SlotValue> numbers;
  /// Vertices of operands that control flow forwards, by operand.
  llvm::DenseMap<OpOperand *, VertexId> forwarded;
  /// Vertices of the arguments and results of functions that may change them;
  /// 0 for those that are no f32 tensors.
  struct Signature {
    SmallVector<VertexId> arguments, results;
  };
  /// Who pinned a vertex of a signature, and whether by an attribute or pattern
  /// of its own rather than one of what it stands in.
  struct SignaturePin {
    Pin pin;
    Operation *holder;
    bool isOwn;
  };
  llvm::DenseMap<VertexId, SignaturePin> signaturePins;
  /// Pins of regions that contradict those above.
  std::vector<std::pair<VertexId, SignaturePin>> contested;
  llvm::DenseMap<Operation *, Signature> signatures;
  const llvm::DenseMap<Operation *, FunctionOpInterface> *callees = nullptr;
  /// The pin that holds within an operation, for those where there is one.
  llvm::DenseMap<Operation *, Pin> regionPins;
  /// Union-find over carried values; empty without control flow.
  llvm::DenseMap<VertexId, VertexId> parents;
  std::vector<std::pair<VertexId, VertexId>> implications;
  std::vector<Operation *> unlisted;
  std::vector<Operation *> ignoredPins;
  /// Slots that were denied for their kind alone, with their class in the
  /// policy, and constants: what intervals may have something to say about.
  std::vector<std::pair<VertexId, OpClass>> rangeSlots;
  std::vector<Operation *> constants;
  /// Operations that store a constant which does not fit, such as a pad.
  std::vector<Operation *> storing;
  /// Gradient seeds.
  std::vector<Operation *> seeds;
  llvm::DenseMap<VertexId, FloatRange> proven;
  /// Intervals of the values of each function, once something asks for one.
  mutable llvm::DenseMap<Operation *, std::unique_ptr<ValueRanges>> ranges;
  /// Of the last question, since the next one is mostly of the same region.
  mutable Region *lastRegion = nullptr;
  mutable ValueRanges *lastRanges = nullptr;
  llvm::DenseSet<Value> masks;
  /// Sums that loops carry, which keep f32 unless a pin says otherwise.
  llvm::DenseSet<Value> runningSums;
  llvm::DenseSet<Operation *> units;

  const Policy &policy;
  bool invalid = false;
  /// Null if nothing is to be proved.
  FloatType low;
  bool loops = false;
  Type f32;
  StringAttr precisionName, gradientOfName;
  llvm::DenseMap<OperationName, OperationInfo> infos;
  PrecisionSlots scratch;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_SLOTGRAPH_H
