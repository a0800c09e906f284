//===- ReportFunction.h - The report of one function ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of a report: operations, values, casts and causes of one function
// under one assignment, and what other strategies and policies would give.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_REPORTFUNCTION_H
#define AMP_LIB_PRECISION_REPORTFUNCTION_H

#include "amp/Precision/CostModel.h"
#include "amp/Precision/Report.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/JSON.h"

namespace mlir::amp {

/// How the report names a rule.
StringRef stringifyReason(Reason reason);

/// Returns `type` in the spelling of MLIR.
std::string printType(Type type);

/// Returns the bytes of a tensor of `type`, a dynamic extent counting as in the
/// cost model, or 0 for a type without a size.
int64_t getReportBytes(Type type);

/// Writes one attribute whose text may come from the module and need not be
/// UTF-8.
void writeText(llvm::json::OStream &json, StringRef key, const Twine &text);

/// Writes where something comes from: a file, line and column as `location`,
/// the name that a framework gave it as `scope`.
void writeLocation(llvm::json::OStream &json, Location loc);

/// What an assignment amounts to.
struct ReportTotals {
  AssignmentCost cost;
  int64_t slots = 0, lowSlots = 0;
  int64_t values = 0, lowValues = 0;
  int64_t valueBytes = 0, lowValueBytes = 0;
};
ReportTotals getTotals(const CostModel &costs, const Assignment &assignment);

/// Writes the totals of each strategy, with the hard constraints that it
/// violates, as `strategies`.
void writeStrategies(llvm::json::OStream &json,
                     const PrecisionReport::Settings &settings,
                     const PrecisionReport::Decide &decide,
                     const CostModel &costs, const Assignment &assignment);

/// Writes what would be low if an operation stood in another list, as
/// `whatIf`: for those with most bytes in f32.
void writeWhatIf(llvm::json::OStream &json,
                 const PrecisionReport::Settings &settings,
                 const PrecisionReport::Decide &decide,
                 const CallGroup &functions, Policy &policy,
                 const CostModel &costs, const Assignment &assignment);

/// Writes operations, values and casts of functions that are assigned together.
/// Where there are several, each is an operation itself, around its body.
class FunctionReporter {
public:
  FunctionReporter(llvm::json::OStream &json,
                   const PrecisionReport::Settings &settings,
                   ArrayRef<FunctionOpInterface> functions,
                   const CostModel &costs, const Assignment &assignment);

  void write();

private:
  /// Where an operation stands in a training step.
  enum class Part : uint8_t { Forward, Backward, Update };

  void number();
  void findParts();
  void findCauses();
  void writeOperation(unsigned id);
  void writeSlots(llvm::json::OStream &json, Operation *op);
  void writeDecision(llvm::json::OStream &json, VertexId v);
  void writeValue(unsigned id);
  void writeCasts();
  Type getTypeAfter(Value value) const;

  llvm::json::OStream &json;
  const PrecisionReport::Settings &settings;
  ArrayRef<FunctionOpInterface> functions;
  const CostModel &costs;
  const SlotGraph &graph;
  const Assignment &assignment;

  std::vector<Operation *> ops;
  std::vector<Value> values;
  /// The names of values in the printed function.
  std::vector<std::string> names;
  DenseMap<Operation *, unsigned> opIds;
  DenseMap<Value, unsigned> valueIds;
  std::vector<Part> parts;
  /// Forward operations by `amp.id`.
  DenseMap<Attribute, unsigned> forwardIds;
  /// Operations that the policy does not name.
  llvm::DenseSet<Operation *> unlisted;
  /// The first vertex of each operation that has one, carried ones apart.
  DenseMap<Operation *, VertexId> firstVertex, firstCarried;
  DenseMap<Value, VertexId> vertexOf;
  DenseMap<VertexId, SmallVector<Value, 2>> carriedValues;
  /// Whether a use or a value belongs to the vertex; merged ones have none.
  std::vector<bool> inUse;
  /// The slot that a decision follows from, through `next`; 0 if there is none.
  std::vector<VertexId> root, next;
};

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_REPORTFUNCTION_H
