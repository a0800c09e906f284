//===- HardConstraints.cpp - Constraints that hold at any cost ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Angles.h"
#include "Differences.h"
#include "Normalization.h"
#include "UpdateOperations.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Precision/Assignment/Optimal.h"
#include "amp/Precision/Assignment/Strategies.h"
#include "amp/Support/RegionFlow.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <tuple>

using namespace mlir;
using namespace mlir::amp;

namespace {

class ConstraintFinder {
public:
  using State = HardConstraints::State;

  ConstraintFinder(const SlotGraph &graph, const CostModel &costs)
      : graph(graph), costs(costs), vertices(graph.getVertices()) {
    result.states.assign(vertices.size(), State::Free);
    result.reasons.assign(vertices.size(), Reason::Cheapest);
    result.causes.assign(vertices.size(), 0);
  }

  HardConstraints run() {
    classify();
    if (graph.keepsPromotions())
      promote();
    findInnerImplications();
    taint();
    holdLimits();
    holdAngles();
    holdDifferences();
    holdUpdates();
    holdUpdateOperations();
    holdNewState();
    holdState();
    applyImplications();
    return std::move(result);
  }

private:
  /// A slot that a flood reached, with the neighbour and the source.
  struct Step {
    VertexId slot, from, root;
  };

  bool isFree(VertexId v) const { return result.states[v] == State::Free; }

  void set(VertexId v, State state, Reason reason, VertexId cause = 0) {
    result.states[v] = state;
    result.reasons[v] = vertices[v].pinned ? Reason::Pinned : reason;
    result.causes[v] = cause;
  }

  void classify() {
    set(0, State::F32, Reason::Fixed);
    for (VertexId v = 1; v < vertices.size(); ++v) {
      const SlotVertex &vertex = vertices[v];
      if (vertex.given != Pin::None && vertex.proof != RangeProof::DoesNotFit)
        set(v, vertex.given == Pin::Low ? State::Low : State::F32,
            Reason::Pinned);
      else if (isInCompositePattern(v) && !vertex.pinned)
        set(v, State::F32, Reason::CompositePattern);
      else if (vertex.opClass == OpClass::Deny)
        set(v, State::F32, getDenial(vertex));
      else if (isUnprovedSquare(v))
        set(v, State::F32, Reason::Range);
      else if (vertex.opClass == OpClass::Allow &&
               (vertex.pinned || (!vertex.isProductResult && !hasChoice(v))))
        set(v, State::Low, Reason::Allowed);
    }
  }

  /// Holds slots of the forward pass that are f32 under autocast because an f32
  /// tensor of the program reaches them. Which operations the lists deny does
  /// not count, because the lists of autocast differ. Of the backward pass, it
  /// holds only the gradients of operations that a pin keeps f32.
  void promote() {
    Assignment autocast = assignAutocast(graph, {/*deniedFollow=*/true});
    std::vector<bool> isBackward = findBackward();
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (!isFree(v) || autocast.low[v] ||
          vertices[v].kind == SlotKind::Compute)
        continue;
      Reason reason = autocast.reasons[v];
      VertexId cause = autocast.causes[v];
      bool isHeld = isBackward[v] ? reason == Reason::FollowsForward &&
                                        isPinnedWide(vertices[cause])
                                  : reason == Reason::WidestOperand;
      if (isHeld)
        set(v, State::F32, reason, cause);
    }
  }

  static bool isPinnedWide(const SlotVertex &vertex) {
    return vertex.given == Pin::F32 ||
           (vertex.pinned && vertex.opClass == OpClass::Deny);
  }

  /// Finds the slots of operations that compute gradients, or read a value of
  /// such an operation, as a sum of two gradients does.
  std::vector<bool> findBackward() const {
    std::vector<bool> found(vertices.size(), false);
    for (VertexId v = 1; v < vertices.size(); ++v) {
      found[v] = vertices[v].slot != SlotVertex::carried &&
                 vertices[v].op->hasAttr(AMPDialect::kBackwardOfAttr);
      for (uint32_t use : graph.getUsesInto(v))
        found[v] = found[v] || found[graph.getUses()[use].producer];
    }
    return found;
  }

  bool isInCompositePattern(VertexId v) const {
    return vertices[v].slot != SlotVertex::carried &&
           graph.isInCompositePattern(vertices[v].op);
  }

  /// Whether `v` is the result of a product that may leave the range of the low
  /// type because it holds sums of squares.
  bool isUnprovedSquare(VertexId v) const {
    const SlotVertex &vertex = vertices[v];
    return vertex.isSquare && graph.getLowType() &&
           vertex.proof != RangeProof::MeasuredFits &&
           !graph.findFittingRange(v);
  }

  /// Whether the operands of an allowed product may stay f32 if this costs
  /// less.
  bool hasChoice(VertexId v) const {
    return costs.getTarget() && vertices[v].kind == SlotKind::Compute &&
           costs.getProductTime(v, /*low=*/false) > 0;
  }

  /// Collects the implications between operand slots and result slots of
  /// operations that are not products. Values flow through these operations.
  void findInnerImplications() {
    auto isInner = [&](std::pair<VertexId, VertexId> implication) {
      auto [premise, conclusion] = implication;
      return conclusion != 0 && vertices[premise].kind != SlotKind::Compute &&
             vertices[conclusion].kind != SlotKind::Compute;
    };
    inner.reserve(llvm::count_if(graph.getImplications(), isInner));
    for (auto implication : graph.getImplications())
      if (isInner(implication))
        inner.push_back({implication.second, implication.first});
    llvm::sort(inner);
    for (auto [premise, conclusion] : graph.getImplications())
      if (conclusion != 0 && vertices[conclusion].kind == SlotKind::Compute)
        productResults[conclusion].push_back(premise);
  }

  template <typename Visit>
  void forEachResultSlot(VertexId v, Visit visit) const {
    for (auto it = llvm::lower_bound(inner, std::make_pair(v, VertexId(0)));
         it != inner.end() && it->first == v; ++it)
      visit(it->second);
  }

  /// Whether the reader of `use` gets a cast, or the value is known to fit.
  bool endsTaint(const SlotUse &use) const {
    if (conducts(use.user))
      return false;
    const SlotVertex &user = vertices[use.user];
    return user.kind == SlotKind::Compute ||
           result.states[use.user] == State::Low ||
           (!normalizers.empty() && normalizers.contains(use.operand)) ||
           (endsAtFitting && bounds(use));
  }
  /// Whether the operation that produces the value of `use` bounds it for all
  /// operands. Range slots and operations that move elements do not.
  bool bounds(const SlotUse &use) const {
    const SlotVertex &producer = vertices[use.producer];
    if (producer.kind == SlotKind::Range)
      return false;
    auto rule = dyn_cast_or_null<FloatRangeOpInterface>(producer.op);
    return rule && rule.getElementFlow() != ElementFlow::Moves &&
           graph.fitsLow(use.operand->get());
  }
  /// Whether `v` is a slot of a product that only an update needs, such as a
  /// norm, a preconditioner or a direction of conjugate gradients. Like the
  /// rest of the update, it stays f32 unless a pin or the policy sets its type.
  bool isUpdateProduct(VertexId v) const {
    return followsUpdates && vertices[v].kind == SlotKind::Compute &&
           !vertices[v].pinned && vertices[v].given == Pin::None &&
           !towardsGradients.contains(vertices[v].op);
  }
  /// Whether a flood continues through the product of which `v` holds the
  /// operands. A product by a constant with a single number is a sum, and the
  /// taint does not end at sums.
  bool conducts(VertexId v) const {
    const SlotVertex &vertex = vertices[v];
    return isUpdateProduct(v) ||
           (endsAtFitting && vertex.addsUp && vertex.given == Pin::None);
  }
  bool isMovement(VertexId v) const {
    return vertices[v].opClass == OpClass::Clear && vertices[v].produces;
  }

  //===--------------------------------------------------------------------===//
  // Taint
  //===--------------------------------------------------------------------===//

  void taint() {
    SmallVector<VertexId> sources;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if ((vertices[v].kind == SlotKind::Range || vertices[v].isSquare) &&
          result.states[v] == State::F32 && vertices[v].produces &&
          !vertices[v].isBounded && !isInCompositePattern(v))
        sources.push_back(v);
    if (sources.empty())
      return;
    for (VertexId source : sources)
      findNormalizations(source);
    endsAtFitting = true;
    flood(sources, Reason::Tainted);
    endsAtFitting = false;
  }

  /// Keeps slots f32 that limit values by a number near 1 or -1, and slots
  /// computed from their results. Rounding would move these results to the pole
  /// of a logarithm or of the derivative of an arc cosine.
  void holdLimits() {
    SmallVector<VertexId> sources;
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (!vertices[v].isLimit)
        continue;
      if (isFree(v))
        set(v, State::F32, Reason::Limit);
      if (result.states[v] == State::F32 && vertices[v].produces)
        sources.push_back(v);
    }
    if (!sources.empty())
      flood(sources, Reason::Limit);
  }

  /// Keeps slots f32 that compute angles of periodic functions.
  void holdAngles() {
    auto isWide = [&](VertexId v) { return result.states[v] == State::F32; };
    for (auto [slot, function] : findAngles(graph, isWide))
      if (isFree(slot) ||
          (vertices[slot].kind == SlotKind::Compute && !vertices[slot].pinned &&
           vertices[slot].given == Pin::None))
        set(slot, State::F32, Reason::Angle, function);
  }

  /// Keeps the differences that steep functions read in f32, those of inputs,
  /// those of parts and sums, and the operands of these differences.
  void holdDifferences() {
    for (auto [slot, function] : findDifferences(graph))
      if (isFree(slot))
        set(slot, State::F32, Reason::Difference, function);
    ValueSlots slots(graph);
    for (auto [slot, difference] : findInputDifferences(graph, slots))
      if (isFree(slot))
        set(slot, State::F32, Reason::InputDifference, difference);
    for (auto [slot, difference] : findPartDifferences(graph, slots))
      if (isFree(slot))
        set(slot, State::F32, Reason::PartDifference, difference);
  }

  /// Keeps slots f32 that are computed from the values of `sources`, for
  /// `reason`.
  void flood(ArrayRef<VertexId> sources, Reason reason) {
    reached.resize(vertices.size(), false);
    result.previous.resize(vertices.size(), 0);
    std::vector<Step> order;
    SmallVector<std::pair<VertexId, VertexId>> worklist;
    for (VertexId source : llvm::reverse(sources)) {
      reached[source] = true;
      worklist.push_back({source, source});
    }
    VertexId v = 0, root = 0;
    auto enter = [&](VertexId slot, VertexId producer) {
      // A measured value fits wherever it comes from.
      bool isMeasured =
          endsAtFitting && vertices[slot].proof == RangeProof::MeasuredFits;
      if (slot == 0 || reached[slot] || isMeasured)
        return;
      reached[slot] = true;
      order.push_back({slot, producer, root});
      if (!vertices[slot].isBounded && !normalized.contains(slot) &&
          !isInCompositePattern(slot))
        worklist.push_back({slot, root});
    };
    while (!worklist.empty()) {
      std::tie(v, root) = worklist.pop_back_val();
      for (uint32_t index : graph.getUsesOf(v)) {
        const SlotUse &use = graph.getUses()[index];
        if ((v != 0 || isGradient[use.value]) && !reached[use.user] &&
            !endsTaint(use))
          enter(use.user, v);
        if (endsAtFitting && use.user == 0 && v != 0)
          forEachCarriedUse(*use.operand, [&](const SlotUse &read) {
            if (!endsTaint(read) && !isShared(read))
              enter(read.user, v);
          });
      }
      forEachResultSlot(v, [&](VertexId slot) { enter(slot, v); });
      if (conducts(v))
        for (VertexId slot : productResults.lookup(v))
          enter(slot, v);
    }
    releaseMovement(order);
    for (const Step &step : order) {
      if (!reached[step.slot])
        continue;
      reached[step.slot] = false;
      // A slot without results only reads a listed gradient, and rounds
      // nothing.
      const bool onlyReads = reason == Reason::Update && step.root != 0 &&
                             !vertices[step.slot].produces &&
                             !conducts(step.slot);
      if ((!isFree(step.slot) && !conducts(step.slot)) || onlyReads)
        continue;
      set(step.slot, State::F32, reason, step.root);
      result.previous[step.slot] = step.from;
    }
    for (VertexId source : sources)
      reached[source] = false;
  }

  /// Calls `visit` for the uses of region arguments and results that keep f32
  /// and as which `operand` is handed on, directly or through other regions.
  /// Visits each argument and each result once. A loop that only a policy
  /// declares has no slots for the values that it changes.
  template <typename Visit>
  void forEachCarriedUse(OpOperand &operand, Visit visit) {
    if (fixedUses.empty())
      for (uint32_t index : graph.getUsesOf(0))
        fixedUses[graph.getUses()[index].operand] = index;
    SmallVector<OpOperand *> worklist = {&operand};
    while (!worklist.empty())
      for (Value input : flow.getInputs(*worklist.pop_back_val())) {
        if (!graph.isEligible(input.getType()) || !carried.insert(input).second)
          continue;
        for (OpOperand &read : input.getUses()) {
          worklist.push_back(&read);
          if (auto it = fixedUses.find(&read); it != fixedUses.end())
            visit(graph.getUses()[it->second]);
        }
      }
  }

  /// Whether `use` passes a value to a function with several callers. The taint
  /// would return to all of them.
  bool isShared(const SlotUse &use) const {
    return isa<FunctionOpInterface>(vertices[use.user].op) &&
           graph.getUsesInto(use.user).size() > 1;
  }

  /// Resets `reached` for clear slots that lead only to products. They may move
  /// the cast values instead.
  void releaseMovement(ArrayRef<Step> order) {
    // Whether a clear slot leads to an operation other than a product.
    std::vector<bool> conducts(vertices.size(), false);
    SmallVector<VertexId> worklist;
    auto mark = [&](VertexId v) {
      if (conducts[v])
        return;
      conducts[v] = true;
      worklist.push_back(v);
    };
    for (const Step &step : order) {
      VertexId v = step.slot;
      if (!isMovement(v) || !isFree(v)) {
        mark(v);
        continue;
      }
      bool leads = graph.getUsesOf(v).empty();
      for (uint32_t use : graph.getUsesOf(v)) {
        const SlotUse &entry = graph.getUses()[use];
        leads |= !endsTaint(entry) &&
                 !(reached[entry.user] && isMovement(entry.user) &&
                   isFree(entry.user));
      }
      if (leads)
        mark(v);
    }
    while (!worklist.empty()) {
      VertexId v = worklist.pop_back_val();
      for (uint32_t use : graph.getUsesInto(v)) {
        const SlotUse &entry = graph.getUses()[use];
        if (reached[entry.producer] && isMovement(entry.producer) &&
            !endsTaint(entry))
          mark(entry.producer);
      }
    }
    for (const Step &step : order)
      if (!conducts[step.slot])
        reached[step.slot] = false;
  }

  /// Finds products with the reciprocal root `source` that normalise. The n
  /// elements of the other operand then become at most the root of n. The
  /// reciprocal root must fit the low type, because the product may read it
  /// low. The number that is added to the variance decides this.
  void findNormalizations(VertexId source) {
    PrecisionOpInterface root = graph.getInterface(vertices[source].op);
    if (!root || root.getArithmetic() != Arithmetic::ReciprocalSqrt)
      return;
    SmallVector<VertexId> worklist = {source};
    while (!worklist.empty()) {
      for (uint32_t index : graph.getUsesOf(worklist.pop_back_val())) {
        const SlotUse &use = graph.getUses()[index];
        auto user = dyn_cast<PrecisionOpInterface>(use.operand->getOwner());
        if (use.user == 0 || !user)
          continue;
        if (user.getArithmetic() == Arithmetic::Move) {
          worklist.push_back(use.user);
        } else if (user.getArithmetic() == Arithmetic::Multiply &&
                   isNormalization(*use.operand) &&
                   (!graph.getLowType() || graph.fitsLow(root->getResult(0)))) {
          normalizers.insert(use.operand);
          normalized.insert(use.user);
        }
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Updates and bookkeeping
  //===--------------------------------------------------------------------===//

  void holdUpdates() {
    // Only gradients whose type the policy fixed or listed count. Others are
    // ordinary values.
    SmallVector<VertexId> sources{0};
    for (VertexId v : graph.getListedGradients())
      if (v != 0)
        sources.push_back(v);
    bool found = sources.size() > 1;
    isGradient.assign(graph.getValues().size(), false);
    for (auto [index, entry] : llvm::enumerate(graph.getValues())) {
      if (entry.vertex != 0)
        continue;
      auto value = dyn_cast<OpResult>(entry.value);
      if (!value)
        continue;
      auto names =
          value.getOwner()->getDiscardableAttrDictionary().getAs<ArrayAttr>(
              AMPDialect::kGradientOfAttr);
      if (!names || value.getResultNumber() >= names.size())
        continue;
      auto name = dyn_cast<StringAttr>(names[value.getResultNumber()]);
      isGradient[index] = name && !name.empty();
      found |= isGradient[index];
    }
    if (!found)
      return;
    // Walk the functions, because the graph does not contain gradients that the
    // step only returns.
    llvm::SmallDenseSet<Operation *> functions;
    for (const SlotVertex &vertex : vertices.drop_front()) {
      // The slots of values that calls carry belong to the function itself.
      auto function = dyn_cast<FunctionOpInterface>(vertex.op);
      if (!function)
        function = vertex.op->getParentOfType<FunctionOpInterface>();
      if (function && functions.insert(function).second)
        function->walk([&](Operation *op) {
          if (op->hasAttr(AMPDialect::kGradientOfAttr))
            addTowardsGradient(op, towardsGradients);
        });
    }
    followsUpdates = true;
    flood(sources, Reason::Update);
    followsUpdates = false;
  }

  /// Keeps slots of operations that only an update needs f32 if `flood` does
  /// not reach them: in loops, after loops, and in called functions.
  void holdUpdateOperations() {
    for (VertexId v = 1; v < vertices.size(); ++v) {
      const SlotVertex &vertex = vertices[v];
      if (vertex.slot == SlotVertex::carried || vertex.pinned ||
          vertex.given != Pin::None || !graph.isUpdateOperation(vertex.op))
        continue;
      bool isHeld =
          vertex.kind == SlotKind::Compute
              ? result.states[v] != State::F32
              : isFree(v) && vertex.kind == SlotKind::Storage &&
                    !isa<FunctionOpInterface>(vertex.op->getParentOp());
      if (isHeld)
        set(v, State::F32, Reason::Update);
    }
  }

  /// Keeps slots f32 that compute new parameters and optimizer state, where no
  /// value is marked as a gradient.
  void holdNewState() {
    for (const SlotValue &entry : graph.getValues())
      if (VertexId v = entry.vertex;
          v != 0 && isFree(v) && graph.isNewState(entry.value) &&
          vertices[v].kind == SlotKind::Storage && !vertices[v].isProductResult)
        set(v, State::F32, Reason::Update);
  }

  /// Keeps slots f32 that are computed from state and hyperparameters alone.
  void holdState() {
    std::vector<bool> isState(graph.getValues().size(), false);
    SmallVector<VertexId> worklist;
    bool found = false;
    for (auto [index, entry] : llvm::enumerate(graph.getValues())) {
      if (entry.vertex != 0 || !isBookkeeping(entry.value))
        continue;
      isState[index] = found = true;
    }
    if (!found)
      return;
    for (uint32_t use : graph.getUsesOf(0))
      if (isState[graph.getUses()[use].value])
        worklist.push_back(graph.getUses()[use].user);
    std::vector<bool> holds(vertices.size(), false);
    auto isKnown = [&](uint32_t use) {
      const SlotUse &entry = graph.getUses()[use];
      return entry.producer == 0
                 ? bool(isState[entry.value])
                 : vertices[entry.producer].isConstant || holds[entry.producer];
    };
    while (!worklist.empty()) {
      VertexId v = worklist.pop_back_val();
      if (v == 0 || holds[v] || vertices[v].kind == SlotKind::Compute ||
          !llvm::all_of(graph.getUsesInto(v), isKnown))
        continue;
      holds[v] = true;
      if (isFree(v)) {
        set(v, State::F32, Reason::State);
        result.previous.resize(vertices.size(), 0);
        for (uint32_t use : graph.getUsesInto(v))
          if (VertexId producer = graph.getUses()[use].producer;
              holds[producer])
            result.previous[v] = producer;
      }
      for (uint32_t use : graph.getUsesOf(v))
        worklist.push_back(graph.getUses()[use].user);
      forEachResultSlot(v, [&](VertexId slot) { worklist.push_back(slot); });
    }
  }

  static bool isBookkeeping(Value value) {
    std::optional<Role> role = getRole(value);
    return role && role != Role::Parameter && role != Role::Batch;
  }

  //===--------------------------------------------------------------------===//
  // Implications
  //===--------------------------------------------------------------------===//

  void applyImplications() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto [premise, conclusion] : graph.getImplications()) {
        if (result.states[conclusion] == State::F32 &&
            result.states[premise] != State::F32) {
          result.states[premise] = State::F32;
          result.reasons[premise] = Reason::Implied;
          result.causes[premise] = conclusion;
          changed = true;
        } else if (result.states[premise] == State::Low && isFree(conclusion)) {
          set(conclusion, State::Low, result.reasons[premise], premise);
          changed = true;
        }
      }
    }
  }

  const SlotGraph &graph;
  const CostModel &costs;
  ArrayRef<SlotVertex> vertices;
  HardConstraints result;
  /// Implications from result slots to operand slots, by the latter.
  std::vector<std::pair<VertexId, VertexId>> inner;
  /// Maps the operand slot of each product to its result slots.
  llvm::DenseMap<VertexId, SmallVector<VertexId, 1>> productResults;
  /// The operations that compute gradients of parameters.
  llvm::DenseSet<Operation *> towardsGradients;
  /// Whether `flood` continues through products of updates.
  bool followsUpdates = false;
  /// Operands through which a normalisation reads a reciprocal root.
  llvm::DenseSet<OpOperand *> normalizers;
  /// The slots of these normalisations.
  llvm::DenseSet<VertexId> normalized;
  /// By value: whether it is a gradient whose type the policy fixed.
  std::vector<bool> isGradient;
  /// Whether a flood ends at values that are proved to fit the low type.
  bool endsAtFitting = false;
  /// The uses of values that keep f32, by operand.
  llvm::DenseMap<OpOperand *, uint32_t> fixedUses;
  /// The region arguments and results through which the taint passed.
  llvm::DenseSet<Value> carried;
  RegionFlow flow;
  /// By vertex, during a flood: whether it was reached.
  std::vector<bool> reached;
};

} // namespace

HardConstraints mlir::amp::findHardConstraints(const SlotGraph &graph,
                                               const CostModel &costs) {
  return ConstraintFinder(graph, costs).run();
}
