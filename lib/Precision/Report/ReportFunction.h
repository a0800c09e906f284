//===- ReportFunction.h - The report of one function ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of a report: operations, values, casts and causes of one function
// under one assignment, and the results of other strategies and policies.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_REPORT_REPORTFUNCTION_H
#define AMP_LIB_PRECISION_REPORT_REPORTFUNCTION_H

#include "amp/Precision/Assignment/CostModel.h"
#include "amp/Precision/Report/Report.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/JSON.h"

namespace mlir::amp {

/// Increases with every change that makes an old reader misread a report.
inline constexpr int64_t kReportSchemaVersion = 1;

/// Writes the page that shows the report with the JSON text `data`.
void writeReportPage(raw_ostream &os, StringRef data);

/// Returns the name of a rule in the report.
StringRef stringifyReason(Reason reason);

/// Returns `type` in the spelling of MLIR.
std::string printType(Type type);

/// Returns the bytes of a tensor of `type`, or 0 for a type without a size. A
/// dynamic extent counts as in the cost model.
int64_t getReportBytes(Type type);

/// Writes one attribute. Its text may come from the module and may not be valid
/// UTF-8.
void writeText(llvm::json::OStream &json, StringRef key, const Twine &text);

/// Writes a location: file, line and column as `location`, and the name that a
/// framework gave as `scope`.
void writeLocation(llvm::json::OStream &json, Location loc);

/// The totals of an assignment.
struct ReportTotals {
  AssignmentCost cost;
  int64_t slots = 0, lowSlots = 0;
  int64_t values = 0, lowValues = 0;
  int64_t valueBytes = 0, lowValueBytes = 0;
  /// Floating-point operations of products.
  int64_t flops = 0, lowFlops = 0;
};
ReportTotals getTotals(const CostModel &costs, const Assignment &assignment);

/// Writes the totals of each strategy, with the hard constraints that it
/// violates, as `strategies`.
void writeStrategies(llvm::json::OStream &json,
                     const PrecisionReport::Settings &settings,
                     const PrecisionReport::Decide &decide,
                     const CostModel &costs, const Assignment &assignment);

/// Writes as `whatIf` what would be low if an operation were in another list,
/// for the operations with most bytes in f32.
void writeWhatIf(llvm::json::OStream &json,
                 const PrecisionReport::Settings &settings,
                 const PrecisionReport::Decide &decide,
                 const CallGroup &functions, Policy &policy,
                 const CostModel &costs, const Assignment &assignment);

/// Writes operations, values and casts of functions that are assigned together.
/// If there are several, each function is an operation that contains its body.
class FunctionReporter {
public:
  FunctionReporter(llvm::json::OStream &json,
                   const PrecisionReport::Settings &settings,
                   ArrayRef<FunctionOpInterface> functions,
                   const CostModel &costs, const Assignment &assignment);

  void write();

private:
  /// The part of a training step to which an operation belongs.
  enum class Part : uint8_t { Forward, Backward, Update };

  void number();
  void findParts();
  void findCauses();
  void writeOperation(unsigned id);
  void writeSlots(llvm::json::OStream &json, Operation *op);
  void writeDecision(llvm::json::OStream &json, VertexId v);
  void writeValue(unsigned id);
  void writeMeasured(llvm::json::OStream &json, Value value) const;
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
  /// The first vertex of each operation that has one, without carried values.
  DenseMap<Operation *, VertexId> firstVertex, firstCarried;
  DenseMap<Value, VertexId> vertexOf;
  DenseMap<VertexId, SmallVector<Value, 2>> carriedValues;
  /// Whether a use or a value belongs to the vertex. Merged vertices have none.
  std::vector<bool> inUse;
  /// The slot that implies this decision, through `next`. 0 for an independent
  /// decision.
  std::vector<VertexId> root, next;
};

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_REPORT_REPORTFUNCTION_H
