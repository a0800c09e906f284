//===- CostModel.h - Costs of slots and casts -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The objective that the optimal strategy minimises and that all reports print.
// It counts bytes that operations read and write, bytes that casts move, and
// the time of products expressed in bytes.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_COSTMODEL_H
#define AMP_PRECISION_ASSIGNMENT_COSTMODEL_H

#include "amp/Precision/Assignment/Assignment.h"
#include "amp/Precision/Policy/Target.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::amp {

/// The cost of an assignment, in bytes and numbers of casts. Only slots that
/// have a choice count. The cost of the others is constant.
struct AssignmentCost {
  /// The objective: `bytes` and the time of products as bytes.
  int64_t cost = 0;
  /// Bytes that operations read and write and that casts move.
  int64_t bytes = 0;
  /// The part of `bytes` that casts move.
  int64_t castBytes = 0;
  /// Distinct casts: one per value and type.
  int64_t casts = 0;
};

/// The settings on which costs depend.
struct CostOptions {
  /// If null, products take no time in either type.
  const Target *target = nullptr;
  /// Whether parameters have low copies that the update writes. The low version
  /// of a parameter then costs only its write.
  bool masterCopies = false;
};

/// Costs of slots and casts in one graph.
///
/// - A slot costs the bytes of its operands and results. Values that control
///   flow carries cost nothing, since they do not move.
/// - The operands of a product also cost its time, if there is a target.
/// - A cast costs the bytes that it reads and writes, 6 an element. Rounding a
///   constant is free, because it happens at compile time, and so is a tensor
///   without contents in another type.
/// - A low slot whose operation rounds its own results (linalg and tosa
///   products) costs their f32 bytes and the casts.
///
/// An operation in a loop counts once for each iteration. A cast counts in the
/// block of its value. Both sides of a branch count. A function counts once,
/// however many calls it has.
///
/// A dynamic extent and an unknown number of iterations count as
/// `dynamicExtent`.
class CostModel {
public:
  static constexpr int64_t dynamicExtent = 32;

  /// `graph` and the target must outlive the model.
  explicit CostModel(const SlotGraph &graph, const CostOptions &options = {});

  /// Bytes that slot `v` reads and writes, and its share of product time, when
  /// it is low or f32.
  int64_t getSlotCost(VertexId v, bool low) const {
    return getSlotBytes(v, low) + getRounding(v, low).bytes +
           (options.target ? getProductTime(v, low) : 0);
  }
  /// Bytes that slot `v` reads and writes alone.
  int64_t getSlotBytes(VertexId v, bool low) const {
    return slotElements[v] * (low && !graph.getVertices()[v].isRounded ? 2 : 4);
  }
  /// The operation's own casts that round the results of slot `v`.
  struct Rounding {
    int64_t casts = 0, bytes = 0;
  };
  Rounding getRounding(VertexId v, bool low) const {
    return low && graph.getVertices()[v].isRounded ? roundings.lookup(v)
                                                   : Rounding();
  }
  /// The floating-point operations of the product that slot `v` feeds, in all
  /// its runs, at most 2^62; 0 if its size is not known.
  int64_t getProductFlops(VertexId v) const;
  /// The time of the product that slot `v` feeds, as bytes that memory would
  /// move meanwhile; 0 without a target or if its size is not known.
  int64_t getProductTime(VertexId v, bool low) const;
  /// Bytes that a cast of the value with number `value` moves, to low or back
  /// to f32.
  int64_t getCastCost(uint32_t value, bool toLow) const {
    CheapCast kind = cheap[value];
    if (kind == CheapCast::Empty || (toLow && kind == CheapCast::Free))
      return 0;
    if (toLow && kind == CheapCast::Write)
      return 2 * valueElements[value];
    return valueElements[value] * (toLow ? narrowingBytes : wideningBytes);
  }

  /// Recounts the whole assignment.
  AssignmentCost evaluate(const Assignment &assignment) const;

  const SlotGraph &getGraph() const { return graph; }
  const Target *getTarget() const { return options.target; }

private:
  enum class CheapCast : uint8_t { None, Write, Free, Empty };

  const SlotGraph &graph;
  CostOptions options;
  /// By vertex, how often its operation runs. Empty without loops.
  std::vector<int64_t> slotRuns;
  /// Bytes that casts move per element.
  int64_t narrowingBytes, wideningBytes;
  /// The elements that a cast of a value reads in all iterations, and the
  /// elements that a slot reads and writes.
  std::vector<int64_t> valueElements;
  std::vector<int64_t> slotElements;
  std::vector<CheapCast> cheap;
  /// The roundings of low slots whose operations round their own results.
  llvm::DenseMap<VertexId, Rounding> roundings;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_COSTMODEL_H
