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

#ifndef AMP_PRECISION_ASSIGNMENT_SLOTGRAPH_H
#define AMP_PRECISION_ASSIGNMENT_SLOTGRAPH_H

#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/Precision/Assignment/CallGroups.h"
#include "amp/Precision/Assignment/Ranges.h"
#include "amp/Precision/Assignment/ValueNumbers.h"
#include "amp/Precision/Assignment/WideValues.h"
#include "amp/Precision/Policy/Policy.h"
#include "amp/Support/ArgumentSources.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <memory>

namespace mlir::amp {

/// The number of a vertex. Vertex 0 represents everything that keeps its type.
using VertexId = uint32_t;

/// The property of a slot that intervals of values prove.
enum class RangeProof : uint8_t {
  None,
  /// A range slot whose values fit the low type. It counts as a storage slot.
  Fits,
  /// The slot is denied, even if a pin says otherwise. It is, reads or stores a
  /// constant that becomes infinite or all zero in the low type, or it reads a
  /// gradient seed, which loss scaling makes infinite.
  DoesNotFit,
  /// The slot is denied, unless a pin decides. It reads or produces values made
  /// of integer bits, such as random numbers.
  Bits,
  /// The slot is denied, unless a pin decides. Its values are computed from
  /// indices and constants alone.
  Indices,
  /// All values of the slot fit the low type in the data of a calibration. If
  /// it is a range slot, it counts as a storage slot.
  MeasuredFits,
  /// The slot is denied, unless a pin decides: in the data of a calibration,
  /// some value leaves the range of the low type, or loses too much below it.
  MeasuredBeyond,
  MeasuredLost,
};

/// A slot of an operation, or a value that control flow carries.
struct SlotVertex {
  /// The operation, null for vertex 0. For a carried value, the operation whose
  /// regions it belongs to.
  Operation *op;
  /// The number of the slot within the operation, or `carried`.
  int8_t slot;
  SlotKind kind;
  /// The class of this slot by the policy and pins. Its kind may override the
  /// policy.
  OpClass opClass;
  /// Whether some result (or block argument) has the type of this slot. If not,
  /// the operation only reads through it.
  bool produces : 1;
  /// Whether the operation is a product, which can return f32 for low operands.
  bool isProductResult : 1;
  /// Whether a pin (`amp.precision`) made the decision.
  bool pinned : 1;
  /// Whether the operation is a constant, which can have any type.
  bool isConstant : 1;
  /// Whether an adapter declares that the values of the slot fit the low type
  /// for all operands.
  bool isBounded : 1;
  /// Whether the operation returns f32 even if this slot is low, and its own
  /// casts round the results.
  bool isRounded : 1;
  /// Whether it is or produces a sum that a loop carries.
  bool isSum : 1;
  /// Whether the operation limits values by a number near 1 or -1 that the low
  /// type rounds to 1 or -1, or reads a limited value.
  bool isLimit : 1;
  /// Whether it is the result of a product whose factors are proportional to
  /// one value, so that it holds sums of squares.
  bool isSquare : 1;
  /// Whether it holds the operands of a product by a constant with a single
  /// number, which is a sum.
  bool addsUp : 1;
  RangeProof proof = RangeProof::None;
  /// The type that the policy gives to this slot alone, or `None`.
  Pin given = Pin::None;

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
  /// Builds the graph of `function` under `policy`. Only values with the
  /// element type f32 take part. All others keep their types. With the low type
  /// `low`, intervals of values free range slots, and deny slots that read
  /// constants that do not fit.
  SlotGraph(FunctionOpInterface function, const Policy &policy,
            FloatType low = {})
      : SlotGraph(CallGroup(function), policy, low) {}

  /// Builds one graph of all functions of a group. Arguments and results of
  /// those that may change their signature are carried values.
  /// `wide`, which may be null and must live as long as the graph, are values
  /// of the module that stay f32.
  SlotGraph(const CallGroup &group, const Policy &policy, FloatType low = {},
            const WideValues *wide = nullptr);

  ArrayRef<SlotVertex> getVertices() const { return vertices; }
  ArrayRef<SlotUse> getUses() const { return uses; }
  ArrayRef<SlotValue> getValues() const { return values; }

  /// Whether values of `type` take part, so that the passes can cast them.
  bool isEligible(Type type) const;

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
  /// Returns the slots of gradients of parameters that are low because the
  /// policy lists their operations. 0 for a slot that keeps its type.
  ArrayRef<VertexId> getListedGradients() const { return listedGradients; }

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
  /// pins contradict each other. An error has been emitted.
  bool isInvalid() const { return invalid || policy.isContradictory(); }

  /// Operations with f32 tensors that no list of the policy names.
  ArrayRef<Operation *> getUnlisted() const { return unlisted; }

  /// The low type. Null if no intervals are computed.
  FloatType getLowType() const { return low; }

  /// Whether the policy says that operations that autocast promotes to f32 stay
  /// f32.
  bool keepsPromotions() const {
    return policy.settings.promotions == Promotions::Keep;
  }

  /// Whether some operation is a loop, so that not all operations run equally
  /// often.
  bool hasLoops() const { return loops; }

  /// Operations that have a pin to low precision, and no value that could be
  /// low.
  ArrayRef<Operation *> getIgnoredPins() const { return ignoredPins; }

  /// Slots that a pin asked to be low, and that stay f32 because a number there
  /// does not fit (RangeProof::DoesNotFit).
  ArrayRef<VertexId> getOverriddenPins() const { return overriddenPins; }

  /// Whether intervals prove that every number which `value` can hold is finite
  /// in the low type, for all data and gradient seeds. To be called before the
  /// function changes. Returns false without a low type.
  bool fitsLow(Value value) const;

  /// The interval of all values of the slot `v` if each of them fits in this
  /// sense.
  std::optional<FloatRange> findFittingRange(VertexId v) const;

  /// Why slot `slot` of `op`, which `slots` describes and which has no vertex,
  /// keeps its type. Empty if it has no tensor of floats.
  std::string explainFixed(Operation *op, int8_t slot,
                           const PrecisionSlots &slots) const;

  /// Whether `op` has slots: by its interface, by an adapter, or because a list
  /// of the policy names it.
  bool hasSlots(Operation *op) const;

  /// The measured ranges of the values of the module, or null.
  const MeasuredValues *getMeasured() const {
    return wide ? wide->measured : nullptr;
  }
  /// The values of slot `v` that were measured.
  SmallVector<Value> getMeasuredValues(VertexId v) const;

  /// The interval that freed `v`, a slot with `RangeProof::Fits`.
  FloatRange getProvenRange(VertexId v) const { return proven.lookup(v); }

  /// Whether `op` is a loop, by its interface or by the policy.
  bool isLoop(Operation *op) const;

  /// How often `loop`, which consists of a condition and a body, runs. None if
  /// it has another form, or if the number depends on data.
  std::optional<int64_t> findTripCount(Operation *loop) const;

  /// The type of the part of its value that `use` reads. Null if it reads only
  /// the shape.
  Type getReadType(const SlotUse &use) const;

  /// Whether `op` is a constant with elements, not one without contents.
  bool holdsElements(Operation *op) const {
    auto it = infos.find(op->getName());
    return op->hasTrait<OpTrait::ConstantLike>() ||
           (it != infos.end() && it->second.adapted &&
            it->second.adapted->isConstant(op));
  }

  /// Whether `op` is part of a composite pattern (see CompositePatterns.h).
  bool isInCompositePattern(Operation *op) const {
    return compositePatternOps.contains(op);
  }

  /// Operations whose regions keep their types because nothing says how they
  /// would follow.
  bool hasUnknownBody(Operation *op) const {
    auto it = infos.find(op->getName());
    return op->getNumRegions() != 0 && it != infos.end() &&
           (!it->second.adapted || !it->second.adapted->hasKnownBody(op));
  }

  /// Whether a new parameter or optimizer state is computed from `value`.
  bool isNewState(Value value) const {
    return wide && wide->newState.contains(value);
  }

  /// Whether only the update of parameters needs `op`.
  bool isUpdateOperation(Operation *op) const {
    return wide && wide->updateOperations.contains(op);
  }

  /// Whether `value` is a constant that some low slot uses as a mask. It
  /// becomes the lowest finite value of the low type there, not -inf.
  bool isMask(Value value) const { return masks.contains(value); }

  /// Whether `op` is or contains a periodic function, whose operands are
  /// angles.
  bool isPeriodic(Operation *op) const;

  /// Returns Add or Subtract if `op` adds two operands or subtracts one from
  /// the other, element by element, and Other otherwise.
  Arithmetic getSum(Operation *op) const;

  /// Whether `op` subtracts operand 1 from operand 0, or adds a negative
  /// constant to an operand.
  bool subtracts(Operation *op) const;

  /// Whether `op` subtracts a value or a constant from another one, or adds a
  /// negative constant. Unlike `subtracts`, this includes a row minus its own
  /// maximum or mean.
  bool subtractsValues(Operation *op) const;

  /// Whether `op` compares two floats, neither of which is 0.
  bool comparesValues(Operation *op) const;

  /// Whether `op` computes with an integer of more than 8 bits that was
  /// converted to a float.
  bool computesFromInteger(Operation *op) const;

  /// Whether a small relative error of an operand may be a large error of the
  /// result of `op`: a steep function, a function that rounds to integers, or
  /// the construction of complex numbers.
  bool amplifiesErrors(Operation *op) const;

  /// Whether `value` has the elements of an integer tensor of more than 8 bits,
  /// converted to floats and moved.
  bool isConvertedInteger(Value value) const;

  /// Whether `op` has no regions, or a body that its interface describes.
  bool hasKnownBody(Operation *op) const;

  /// Whether `op` is a product, by the policy or by its slots.
  bool isProduct(Operation *op) const;

  /// Whether `op` adds a constant to an operand.
  bool addsConstant(Operation *op) const;

  /// Whether the result of the operation is a steep function of `operand`, such
  /// as a logarithm or the reciprocal of a divisor.
  bool isSteep(OpOperand &operand) const;

  /// Whether a factor of the value of `operand` is one of the result, by the
  /// interface of the operation or by a rule of the policy.
  bool isProportional(OpOperand &operand) const;

  /// Whether `op` only moves elements of its operands.
  bool movesElements(Operation *op) const;

  /// The sums that loops carry (see RunningSums.h).
  const llvm::DenseSet<Value> &getRunningSums() const;

  /// The operand that `op` negates, or multiplies or divides by a constant or
  /// by one number for all elements. Null for another operation.
  OpOperand *findScaled(Operation *op) const;

  /// Whether `op` moves or multiplies elements, so that the result has the
  /// relative error of an operand.
  bool keepsRelativeErrors(Operation *op) const;

  /// Whether the policy says that `op` gives another view of its operand and
  /// moves nothing.
  bool isView(Operation *op) const;

private:
  /// The properties of all operations of one name.
  struct OperationInfo {
    OpClass opClass = OpClass::Unlisted;
    /// The implementation of PrecisionOpInterface, unless the dialect supplies
    /// it from operation to operation.
    PrecisionOpInterface::Concept *slots = nullptr;
    bool hasSlots = false;
    /// The description by an adapter. It has priority over the interface.
    const AdapterOperation *adapted = nullptr;
    bool isFunction = false;
    bool isTerminator = false;
    /// Whether it inserts into a tensor that parallel iterations share.
    bool isCombiner = false;
    bool isConstant = false;
    bool isSeed = false;
    bool isCall = false;
    /// Whether it is a loop by the policy alone.
    bool isForeignLoop = false;
    /// Properties from the adapter of the dialect, which need not describe the
    /// operation.
    bool moves = false, readsPart = false, isView = false;
    /// The adapter whose cast it is, or null.
    const Adapter *castBy = nullptr;
    /// Whether the policy lists it among the operations that give gradients of
    /// parameters in the type of their operands.
    bool givesLowGradients = false;
  };
  const OperationInfo &getInfo(Operation *op);

  void addOperation(Operation *op, const OperationInfo &info);
  /// The description of an operation: it has slots, it forwards values of
  /// control flow, or its description is invalid, which has been reported.
  enum class Description : uint8_t { Slots, Forwards, Invalid };
  Description describeSlots(Operation *op, const OperationInfo &info,
                            OpClass opClass, Pin pin);
  void addForwarded(Operation *op);
  Value raiseKinds(Operation *op, const OperationInfo &info, OpClass opClass);
  bool fixOtherTypes(Operation *op);
  void noteOperation(Operation *op, const OperationInfo &info, OpClass opClass,
                     Pin pin, bool mayBeLow);
  SmallVector<int8_t, 1> fixParameterGradients(Operation *op,
                                               const OperationInfo &info);
  Value findMoved(Operation *op) const;
  bool movesListedGradient(Operation *op) const;
  bool leadsToGradient(Value value) const;
  SmallVector<VertexId, 8> addSlotVertices(Operation *op,
                                           const OperationInfo &info,
                                           OpClass opClass, Pin pin);
  void denyNumbers(Operation *op, const OperationInfo &info,
                   ArrayRef<VertexId> slotVertices);
  void connectSlots(Operation *op, ArrayRef<VertexId> slotVertices);
  void addCarriedValues(Operation *op, const OperationInfo &info, Pin pin);
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
  /// The vertex of `value`, or 0. Only valid while the graph is built.
  VertexId lookup(Value value) const {
    uint32_t number = numbers.find(value, values);
    return number == numbers.none ? 0 : values[number].vertex;
  }
  void applyRanges();
  void deny(VertexId v);
  void denyReaders(const llvm::DenseSet<Value> &read, bool evenProducts);
  void denyWide(const llvm::DenseSet<Value> &found);
  void denyBits();
  void denyIndices();
  void denyStored();
  ValueRanges &getRanges(Value value) const;
  void freeRangeSlots();
  void applyMeasured(const MeasuredValues &measured);
  Value findSquared(Operation *op, const OperationInfo &info,
                    OpClass opClass) const;
  void collectFactors(Value value, SmallVectorImpl<Value> &factors) const;
  Value findCommonFactor(Operation *op) const;
  Value findCommonMinuend(Operation *op) const;
  bool isDifference(Operation *op) const;
  bool isForeign(Operation *op) const;
  bool isRepeatedNumber(Value value) const;
  bool isComputedFrom(Value value, Value source) const;
  std::optional<FloatRange> findConstant(Value value, int depth = 8) const;
  bool areSame(Value a, Value b, int depth = 4) const;
  bool isUniform(Value value, int depth = 8) const;
  void
  collectProductFactors(Value value,
                        SmallVectorImpl<std::pair<Value, bool>> &factors) const;
  bool givesSquares(Operation *product) const;
  bool addsUp(Operation *product) const;
  bool hasBoundedSquare(Value value) const;
  void freeSquares();
  bool reduces(Operation *op, Value operand) const;
  bool isPlain(Value value) const;
  bool readsSum(Operation *square) const;
  bool isSummed(Operation *square) const;
  void denyConstants();
  std::optional<ConstantElements> readConstant(Operation *op) const;
  FloatRange inferComputed(OpResult result,
                           ArrayRef<FloatRange> operands) const;
  class ComputedConstants;
  void denyComputedConstants();
  void markLimits();
  void applySlotTypes(const CallGroup &group);
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
  /// Vertices of the arguments and results of functions that may change them. 0
  /// for those that are not f32 tensors.
  struct Signature {
    SmallVector<VertexId> arguments, results;
  };
  /// The operation that pinned a vertex of a signature, and whether its own
  /// attribute or pattern did so rather than that of an enclosing operation.
  struct SignaturePin {
    Pin pin;
    Operation *holder;
    bool isOwn;
  };
  llvm::DenseMap<VertexId, SignaturePin> signaturePins;
  /// Pins of regions that contradict the pins above.
  std::vector<std::pair<VertexId, SignaturePin>> contested;
  llvm::DenseMap<Operation *, Signature> signatures;
  const llvm::DenseMap<Operation *, FunctionOpInterface> *callees = nullptr;
  /// The values that calls and control flow pass as arguments.
  mutable ArgumentSources sources;
  /// The pin that holds within an operation, if there is one.
  llvm::DenseMap<Operation *, Pin> regionPins;
  /// Union-find over carried values; empty without control flow.
  llvm::DenseMap<VertexId, VertexId> parents;
  std::vector<std::pair<VertexId, VertexId>> implications;
  std::vector<VertexId> listedGradients;
  std::vector<Operation *> unlisted;
  std::vector<Operation *> ignoredPins;
  std::vector<VertexId> overriddenPins;
  /// Slots that intervals may free or deny: constants, and slots that were
  /// denied only for their kind, with their class in the policy.
  std::vector<std::pair<VertexId, OpClass>> rangeSlots;
  std::vector<Operation *> constants;
  /// Operations with range slots because they are squares, with the value to
  /// which both factors are proportional.
  llvm::DenseMap<Operation *, Value> squares;
  /// Operations that store a constant which does not fit, such as a pad.
  std::vector<Operation *> storing;
  /// Gradient seeds.
  std::vector<Operation *> seeds;
  llvm::DenseMap<VertexId, FloatRange> proven;
  /// Intervals of the values of each function, computed on demand.
  mutable llvm::DenseMap<Operation *, std::unique_ptr<ValueRanges>> ranges;
  /// The region of the last query. The next query usually has the same region.
  mutable Region *lastRegion = nullptr;
  mutable ValueRanges *lastRanges = nullptr;
  llvm::DenseSet<Value> masks;
  /// Sums that loops carry, unless `wide` has those of the module. They stay
  /// f32 unless a pin decides otherwise.
  llvm::DenseSet<Value> ownSums;
  llvm::DenseSet<Operation *> compositePatternOps;

  const Policy &policy;
  const WideValues *wide;
  bool invalid = false;
  /// Null if no intervals are computed.
  FloatType low;
  bool loops = false;
  Type f32;
  StringAttr precisionName, gradientOfName;
  llvm::DenseMap<OperationName, OperationInfo> infos;
  PrecisionSlots scratch;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_SLOTGRAPH_H
