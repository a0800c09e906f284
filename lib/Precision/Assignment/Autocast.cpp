//===- Autocast.cpp - Assignment by the rules of torch.autocast -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// torch.autocast visits a program in order and gives each operation the widest
// type of its operands. This is equivalent to starting with every follower low
// and letting f32 flow downstream. The second form is linear, and also defined
// for loops.
//
// Operations with one number of `amp.composite` are one operation of the source
// and have one type: low if a product is among them, otherwise the widest of
// their operands.
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/Composite.h"
#include "amp/Precision/Assignment/Strategies.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// The priority of an operand in torch's type promotion. A tensor has priority
/// over a tensor without dimensions, which has priority over a number in the
/// source. Here such a number is a constant of one value.
enum class Rank : uint8_t { Number, Scalar, Tensor };

/// Returns whether `operand` is where its operation puts the result. Its type
/// then follows the result and does not decide it.
bool isDestination(OpOperand &operand) {
  auto op = dyn_cast<DestinationStyleOpInterface>(operand.getOwner());
  return op && op.isDpsInit(&operand);
}

Rank getRank(OpOperand &operand) {
  if (isDestination(operand))
    return Rank::Number;
  Value value = operand.get();
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)) &&
      isa<SplatElementsAttr>(constant))
    return Rank::Number;
  return cast<ShapedType>(value.getType()).getRank() == 0 ? Rank::Scalar
                                                          : Rank::Tensor;
}

/// One run over a function.
class Autocast {
public:
  Autocast(const SlotGraph &graph, const AutocastOptions &options)
      : graph(graph), options(options), vertices(graph.getVertices()),
        classes(vertices.size(), OpClass::Unlisted),
        forward(vertices.size(), 0), leastRank(vertices.size(), Rank::Number) {
    result.low.assign(vertices.size(), true);
    result.reasons.assign(vertices.size(), Reason::FollowsOperands);
    result.causes.assign(vertices.size(), 0);
  }

  Assignment run() {
    findForward();
    findComposites();
    rankOperands();
    setWide(0, Reason::Fixed, 0);
    for (VertexId v = 1; v < vertices.size(); ++v)
      start(v);
    for (auto [premise, conclusion] : graph.getImplications())
      if (conclusion == 0)
        setWide(premise, Reason::Implied, 0);
    spread();
    followReaders();
    return std::move(result);
  }

private:
  /// The slot whose type is the precision in which an operation ran: the
  /// operand slot of a product, otherwise the result slot, otherwise the
  /// operand slot.
  VertexId preferred(VertexId a, VertexId b) const {
    auto weight = [&](VertexId v) {
      if (vertices[v].kind == SlotKind::Compute)
        return 2;
      return vertices[v].produces ? 1 : 0;
    };
    return a == 0 || weight(b) > weight(a) ? b : a;
  }

  /// Finds the forward operations of backward ones.
  void findForward() {
    llvm::DenseMap<int64_t, VertexId> byId;
    auto number = [&](VertexId v, StringRef name) {
      return vertices[v].slot == SlotVertex::carried
                 ? IntegerAttr()
                 : vertices[v].op->getAttrOfType<IntegerAttr>(name);
    };
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (IntegerAttr id = number(v, AMPDialect::kIdAttr)) {
        VertexId &entry = byId[id.getInt()];
        entry = preferred(entry, v);
      }
    if (byId.empty())
      return;
    for (VertexId v = 1; v < vertices.size(); ++v) {
      // A pin or the range of the slot has priority over the forward operation.
      if (vertices[v].pinned || (vertices[v].kind == SlotKind::Range &&
                                 vertices[v].proof != RangeProof::Fits &&
                                 vertices[v].proof != RangeProof::MeasuredFits))
        continue;
      if (IntegerAttr id = number(v, AMPDialect::kBackwardOfAttr))
        forward[v] = byId.lookup(id.getInt());
      if (forward[v] != 0)
        backward[forward[v]].push_back(v);
    }
  }

  /// Whether a list of the policy or the kind of the slot denies it, and not a
  /// pin or its values.
  static bool isDenied(const SlotVertex &vertex) {
    return vertex.opClass == OpClass::Deny && !vertex.pinned &&
           vertex.given == Pin::None && vertex.proof == RangeProof::None;
  }

  /// Finds the class of each slot. A composite runs where its framework has one
  /// kernel, which computes in f32. The lists and kinds of its parts do not
  /// count.
  void findComposites() {
    llvm::DenseMap<VertexId, int64_t> members;
    llvm::DenseSet<int64_t> products;
    for (VertexId v = 1; v < vertices.size(); ++v) {
      classes[v] = options.deniedFollow && isDenied(vertices[v])
                       ? OpClass::Clear
                       : vertices[v].opClass;
      if (vertices[v].slot == SlotVertex::carried || vertices[v].pinned)
        continue;
      auto number = vertices[v].op->getAttrOfType<IntegerAttr>(kCompositeAttr);
      if (!number)
        continue;
      members[v] = number.getInt();
      if (vertices[v].kind == SlotKind::Compute && classes[v] == OpClass::Allow)
        products.insert(number.getInt());
    }
    for (auto [v, number] : members)
      classes[v] = products.contains(number) ? OpClass::Allow : OpClass::Clear;
  }

  /// Finds the rank that operands of a slot must have to count.
  void rankOperands() {
    for (VertexId v = 1; v < vertices.size(); ++v)
      for (uint32_t use : graph.getUsesInto(v))
        leastRank[v] =
            std::max(leastRank[v], getRank(*graph.getUses()[use].operand));
    // If types are made equal instead of promoted, tensors of any rank count.
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (vertices[v].slot == SlotVertex::carried ||
          classes[v] == OpClass::Infer)
        leastRank[v] = std::min(leastRank[v], Rank::Scalar);
  }

  bool isFollower(VertexId v) const {
    return forward[v] == 0 &&
           (classes[v] == OpClass::Infer || classes[v] == OpClass::Clear);
  }

  void start(VertexId v) {
    if (forward[v] != 0) {
      result.reasons[v] = Reason::FollowsForward;
      return;
    }
    switch (classes[v]) {
    case OpClass::Allow:
      result.reasons[v] = vertices[v].pinned ? Reason::Pinned : Reason::Allowed;
      return;
    case OpClass::Infer:
    case OpClass::Clear:
      // Numbers have no type. Other sources of values are f32, and so are
      // values that are computed from numbers alone.
      if (!isNumber(v) && !isTiedToOperands(v) && !readsValues(v))
        setWide(v, Reason::NoLowNeighbour, 0);
      return;
    default:
      setWide(v, vertices[v].pinned ? Reason::Pinned : getDenial(vertices[v]),
              v);
      return;
    }
  }

  /// Whether some operand of `v` has a type. For a value that a loop carries,
  /// all initial values must have one, because an initial number is an f32
  /// tensor.
  bool readsValues(VertexId v) const {
    auto hasType = [&](uint32_t use) {
      return getRank(*graph.getUses()[use].operand) != Rank::Number;
    };
    ArrayRef<uint32_t> uses = graph.getUsesInto(v);
    return vertices[v].slot == SlotVertex::carried
               ? llvm::all_of(uses, hasType)
               : llvm::any_of(uses, hasType);
  }
  bool isNumber(VertexId v) const {
    Attribute constant;
    if (isEmpty(v))
      return true;
    return vertices[v].isConstant &&
           matchPattern(vertices[v].op, m_Constant(&constant)) &&
           isa<SplatElementsAttr>(constant);
  }
  /// Whether `v` has no contents, but only gives results a place.
  bool isEmpty(VertexId v) const {
    return vertices[v].slot != SlotVertex::carried &&
           llvm::none_of(vertices[v].op->getOperandTypes(),
                         llvm::IsaPred<ShapedType>) &&
           !graph.getUsesOf(v).empty() &&
           llvm::all_of(graph.getUsesOf(v), [&](uint32_t use) {
             return isDestination(*graph.getUses()[use].operand);
           });
  }
  /// Whether `v` follows another slot of its operation.
  bool isTiedToOperands(VertexId v) {
    if (premises.empty() && !graph.getImplications().empty())
      for (auto [premise, conclusion] : graph.getImplications())
        premises[premise].push_back(conclusion);
    return premises.count(v) != 0;
  }

  void setWide(VertexId v, Reason reason, VertexId cause) {
    if (!result.low[v])
      return;
    result.low[v] = false;
    result.reasons[v] = reason;
    result.causes[v] = cause;
    worklist.push_back(v);
  }

  /// Lets f32 flow from f32 slots to their followers.
  void spread() {
    llvm::DenseMap<VertexId, SmallVector<VertexId, 1>> implied;
    for (auto [premise, conclusion] : graph.getImplications())
      if (conclusion != 0)
        implied[conclusion].push_back(premise);
    while (!worklist.empty()) {
      VertexId v = worklist.pop_back_val();
      for (uint32_t number : graph.getUsesOf(v)) {
        const SlotUse &use = graph.getUses()[number];
        if (isFollower(use.user) &&
            getRank(*use.operand) >= leastRank[use.user])
          setWide(use.user, Reason::WidestOperand, v);
      }
      auto implication = implied.find(v);
      if (implication != implied.end())
        for (VertexId premise : implication->second)
          setWide(premise, Reason::Implied, v);
      auto gradients = backward.find(v);
      if (gradients != backward.end())
        for (VertexId gradient : gradients->second)
          setWide(gradient, Reason::FollowsForward, v);
    }
  }

  /// Whether the low type has the value of the number `v`.
  bool isExact(VertexId v) const {
    FloatType low = graph.getLowType();
    SplatElementsAttr elements;
    if (!low || isEmpty(v) ||
        !matchPattern(vertices[v].op, m_Constant(&elements)))
      return true;
    APFloat number = elements.getSplatValue<APFloat>();
    bool losesInfo = false;
    number.convert(low.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return !losesInfo;
  }

  /// Gives numbers the type of their readers, or f32 if these disagree or the
  /// number would be rounded: PyTorch computes with it in f32.
  void followReaders() {
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (!result.low[v] || !isNumber(v) || vertices[v].pinned)
        continue;
      bool allLow = !graph.getUsesOf(v).empty() && isExact(v);
      for (uint32_t use : graph.getUsesOf(v))
        allLow &= result.low[graph.getUses()[use].user];
      result.low[v] = allLow;
      result.reasons[v] = allLow ? Reason::ReadLow : Reason::NoLowNeighbour;
    }
  }

  const SlotGraph &graph;
  const AutocastOptions options;
  ArrayRef<SlotVertex> vertices;
  Assignment result;
  SmallVector<VertexId> worklist;
  /// By vertex. That of a part of a composite is the class of the composite.
  std::vector<OpClass> classes;
  /// The slot of the forward operation that a backward one follows, or 0, and
  /// the other way round.
  std::vector<VertexId> forward;
  llvm::DenseMap<VertexId, SmallVector<VertexId, 2>> backward;
  /// The slots that a slot implies.
  llvm::DenseMap<VertexId, SmallVector<VertexId, 1>> premises;
  std::vector<Rank> leastRank;
};

} // namespace

Assignment mlir::amp::assignAutocast(const SlotGraph &graph,
                                     const AutocastOptions &options) {
  return Autocast(graph, options).run();
}
