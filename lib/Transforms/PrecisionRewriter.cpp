//===- PrecisionRewriter.cpp - Apply an assignment ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/PrecisionRewriter.h"

#include "PrecisionRecord.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Caches tensor types with one element type. A graph has many values but few
/// types, so a cache is cheaper than uniquing the types again.
class TypesOf {
public:
  explicit TypesOf(FloatType elementType) : elementType(elementType) {}

  FloatType getElementType() const { return elementType; }

  /// Returns `type` with this element type.
  Type get(Type type) {
    Type &entry = types[type];
    if (!entry)
      entry = getWithElementType(type, elementType);
    return entry;
  }

private:
  FloatType elementType;
  DenseMap<Type, Type> types;
};

class PrecisionRewriter {
public:
  PrecisionRewriter(const SlotGraph &graph, const Assignment &assignment,
                    const CastRules &rules, FloatType low, CastSharing sharing)
      : graph(graph), assignment(assignment), rules(rules), sharing(sharing),
        rewriter(low.getContext()), lowTypes(low),
        wideTypes(Float32Type::get(low.getContext())) {}

  FailureOr<RewriteCounts> run() {
    if (failed(retypeValues()))
      return failure();
    if (failed(insertCasts()))
      return failure();
    return counts;
  }

private:
  /// Gives the values of all low slots the low type, and updates their
  /// operations.
  LogicalResult retypeValues() {
    ArrayRef<SlotVertex> vertices = graph.getVertices();
    for (SlotValue value : graph.getValues()) {
      if (!assignment.low[value.vertex])
        continue;
      value.value.setType(lowTypes.get(value.value.getType()));
      // The operation will round it in a cast.
      counts.casts += vertices[value.vertex].isRounded;
    }

    SmallVector<Type, 4> slotTypes;
    for (size_t v = 1; v < vertices.size();) {
      // The vertices of an operation are consecutive.
      Operation *op = vertices[v].op;
      bool carried = vertices[v].slot == SlotVertex::carried;
      bool retype = false;
      slotTypes.clear();
      for (; v < vertices.size() && vertices[v].op == op &&
             (vertices[v].slot == SlotVertex::carried) == carried;
           ++v) {
        if (assignment.reasons[v] == Reason::WideResult)
          ++counts.wideProducts;
        if (!assignment.low[v])
          continue;
        ++counts.lowSlots;
        if (carried)
          continue;
        retype = true;
        slotTypes.resize(
            std::max<size_t>(slotTypes.size(), vertices[v].slot + 1));
        slotTypes[vertices[v].slot] = lowTypes.getElementType();
      }
      if (!retype)
        continue;
      bool isConstant = vertices[v - 1].isConstant;
      Attribute input = isConstant ? getConstantValue(op) : Attribute();
      if (failed(graph.retype(op, slotTypes, rewriter)))
        return failure();
      if (input)
        recordConstant(op, input);
    }
    return success();
  }

  /// Records that `copy` is a copy of `original`, and moves it after
  /// `original`. Its place identifies the original.
  static void markCopy(Operation *copy, Operation *original) {
    copy->moveAfter(original);
    recordCopy(copy, original);
  }

  /// Marks `copy`, and the operations that were created as its operands, such
  /// as the tensor that it fills.
  static void markCopies(Operation *copy, Operation *original) {
    markCopy(copy, original);
    for (auto [made, known] :
         llvm::zip_equal(copy->getOperands(), original->getOperands())) {
      Operation *inner = made.getDefiningOp(), *of = known.getDefiningOp();
      if (made == known || !inner || !of)
        continue;
      if (inner->getName() == of->getName())
        markCopy(inner, of);
      else if (inner->getBlock() == copy->getBlock() &&
               copy->isBeforeInBlock(inner))
        inner->moveBefore(copy);
    }
  }

  /// Returns a copy of `constant`, a mask, in the low type. A cast would turn
  /// it into -inf.
  FailureOr<Value> cloneLow(Operation *constant) {
    Operation *copy = rewriter.clone(*constant);
    Value result = copy->getResult(0);
    result.setType(lowTypes.get(result.getType()));
    if (failed(graph.retype(copy, lowTypes.getElementType(), rewriter)))
      return failure();
    markCopy(copy, constant);
    return result;
  }

  /// Whether all uses of `value` share a cast.
  bool isShared(Value value) const {
    if (sharing == CastSharing::Value)
      return true;
    Operation *producer = value.getDefiningOp();
    return getRole(value) == Role::Parameter ||
           (producer && producer->hasTrait<OpTrait::ConstantLike>());
  }

  LogicalResult insertCasts() {
    std::vector<Value> casts(graph.getValues().size());
    for (const SlotUse &use : graph.getUses()) {
      bool userLow = assignment.low[use.user];
      if (assignment.low[use.producer] == userLow)
        continue;
      // The graph may have another value, because an operation may have rounded
      // its result.
      Value value = use.operand->get();
      Value own;
      Value &converted = isShared(value) ? casts[use.value] : own;
      if (!converted) {
        // Uses come in program order. The first one dominates the others if it
        // is in the block of the value. In unstructured control flow it may be
        // in another block.
        Operation *user = use.operand->getOwner();
        if (Operation *first =
                value.getParentBlock()->findAncestorOpInBlock(*user))
          rewriter.setInsertionPoint(first);
        else
          rewriter.setInsertionPointAfterValue(value);
        if (userLow && graph.isMask(value)) {
          FailureOr<Value> copy = cloneLow(value.getDefiningOp());
          if (failed(copy))
            return failure();
          converted = *copy;
          use.operand->set(converted);
          continue;
        }
        TypesOf &types = userLow ? lowTypes : wideTypes;
        converted = rules.get(use.value).build(rewriter, value.getLoc(), value,
                                               types.get(value.getType()));
        // Some dialects create the constant, or a tensor without contents, in
        // the other type.
        Operation *made = converted.getDefiningOp();
        Operation *producer = value.getDefiningOp();
        if (producer && made->getName() == producer->getName() &&
            !llvm::is_contained(made->getOperands(), value))
          markCopies(made, producer);
        ++counts.casts;
      }
      use.operand->set(converted);
    }
    return success();
  }

  const SlotGraph &graph;
  const Assignment &assignment;
  const CastRules &rules;
  CastSharing sharing;
  IRRewriter rewriter;
  TypesOf lowTypes, wideTypes;
  RewriteCounts counts;
};

} // namespace

FailureOr<RewriteCounts> mlir::amp::rewritePrecision(
    const SlotGraph &graph, const Assignment &assignment,
    const CastRules &casts, FloatType low, CastSharing sharing) {
  return PrecisionRewriter(graph, assignment, casts, low, sharing).run();
}
