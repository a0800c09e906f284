//===- Report.cpp - Every decision, as a file -----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Report/Report.h"

#include "ReportFunction.h"
#include "amp/Support/OutputFile.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::amp;

StringRef mlir::amp::stringifyReason(Reason reason) {
  switch (reason) {
  case Reason::NoLowNeighbour:
    return "no-low-neighbour";
  case Reason::NotBetween:
    return "not-between";
  case Reason::Fixed:
    return "fixed";
  case Reason::Denied:
    return "denied";
  case Reason::DoesNotFit:
    return "does-not-fit";
  case Reason::MeasuredBeyond:
    return "measured-beyond";
  case Reason::MeasuredLost:
    return "measured-lost";
  case Reason::Bits:
    return "bits";
  case Reason::Indices:
    return "indices";
  case Reason::Angle:
    return "angle";
  case Reason::Difference:
    return "difference";
  case Reason::InputDifference:
    return "input-difference";
  case Reason::PartDifference:
    return "part-difference";
  case Reason::RunningSum:
    return "running-sum";
  case Reason::Poisoned:
    return "poisoned";
  case Reason::Allowed:
    return "allowed";
  case Reason::Between:
    return "between";
  case Reason::Grown:
    return "grown";
  case Reason::Follows:
    return "follows";
  case Reason::Sink:
    return "sink";
  case Reason::FollowsOperands:
    return "follows-operands";
  case Reason::WidestOperand:
    return "widest-operand";
  case Reason::FollowsForward:
    return "follows-forward";
  case Reason::Reads:
    return "reads-low";
  case Reason::ReadLow:
    return "read-low";
  case Reason::Implied:
    return "implied";
  case Reason::WideResult:
    return "wide-result";
  case Reason::Pinned:
    return "pinned";
  case Reason::Range:
    return "range";
  case Reason::Tainted:
    return "tainted";
  case Reason::Limit:
    return "limit";
  case Reason::CompositePattern:
    return "composite-pattern";
  case Reason::Update:
    return "update";
  case Reason::State:
    return "state";
  case Reason::Cheapest:
    return "cheapest";
  case Reason::NoGain:
    return "no-gain";
  case Reason::Unprofitable:
    return "unprofitable";
  }
  llvm_unreachable("every reason has a name");
}

/// Writes the rules of the report with their explanations. The rules of slots
/// that no strategy decides come first.
static void writeRules(llvm::json::OStream &json) {
  json.attributeObject("rules", [&] {
    json.attribute("fixed", explain(Reason::Fixed));
    json.attribute("not-f32", "another value of the slot is not f32");
    json.attribute("gradient", "the gradient of a parameter stays f32 "
                               "('gradient-type' of the policy)");
    json.attribute("unlisted", "no list of the policy names the operation");
    json.attribute("kept", "kept by 'amp.precision' or by the operation");
    for (int reason = 0; reason <= static_cast<int>(Reason::Unprofitable);
         ++reason)
      if (auto value = static_cast<Reason>(reason); value != Reason::Fixed)
        json.attribute(stringifyReason(value), explain(value));
  });
}

PrecisionReport::PrecisionReport(Settings settings, Decide decide)
    : settings(std::move(settings)), decide(std::move(decide)) {}

LogicalResult PrecisionReport::checkPath(StringRef path, Location loc) {
  if (path.ends_with(".json") || path.ends_with(".html"))
    return success();
  return emitError(loc) << "report '" << path
                        << "' has no known format, expected a file whose name "
                           "ends in .json or .html";
}

/// Writes the attributes that every group has.
static void writeHead(llvm::json::OStream &json, const CallGroup &group) {
  writeText(json, "name",
            llvm::join(llvm::map_range(group.functions,
                                       [](FunctionOpInterface function) {
                                         return function.getName();
                                       }),
                       ", "));
  writeLocation(json, group.functions.front()->getLoc());
}

LogicalResult PrecisionReport::addGroup(const CallGroup &group, Policy &policy,
                                        const WideValues &wide) {
  SlotGraph graph(group, policy, settings.low, &wide);
  if (graph.isInvalid())
    return failure();
  CostModel costs(graph, settings.costs);
  Assignment assignment = decide(graph, costs, settings.strategy);
  llvm::raw_string_ostream os(functions.emplace_back());
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    writeHead(json, group);
    writeStrategies(json, settings, decide, costs, assignment);
    writeWhatIf(json, settings, decide, group, policy, costs, assignment);
    FunctionReporter(json, settings, group.functions, costs, assignment)
        .write();
  });
  return success();
}

void PrecisionReport::addUntouched(const CallGroup &group, const Twine &why) {
  llvm::raw_string_ostream os(functions.emplace_back());
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    writeHead(json, group);
    writeText(json, "untouched", why);
  });
}

void PrecisionReport::writeJSON(raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("schemaVersion", kReportSchemaVersion);
    json.attribute("pass", "auto-mixed-precision");
    json.attribute("strategy", stringifyStrategy(settings.strategy));
    writeText(json, "policy", settings.policy);
    json.attribute("lowType", printType(settings.low));
    json.attributeBegin("target");
    if (const Target *target = settings.costs.target) {
      json.object([&] {
        writeText(json, "name", target->name);
        json.attribute("lowFlopPerByte", target->lowFlopPerByte);
        json.attribute("f32FlopPerByte", target->f32FlopPerByte);
        json.attribute("alignment", target->alignment);
        json.attribute("castReadShare", target->castReadShare);
        json.attribute("castWriteShare", target->castWriteShare);
      });
    } else {
      json.value(nullptr);
    }
    json.attributeEnd();
    writeRules(json);
    json.attributeArray("functions", [&] {
      for (const std::string &function : functions)
        json.rawValue([&](raw_ostream &os) {
          // The text of the group was written without this indentation.
          for (char c : function) {
            os << c;
            if (c == '\n')
              os << "  ";
          }
        });
    });
  });
  os << '\n';
}

LogicalResult PrecisionReport::write(StringRef path, Location loc) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (path.ends_with(".html"))
    writeHTML(os);
  else
    writeJSON(os);
  llvm::Error error = writeOutputFile(path, text);
  if (!error)
    return success();
  return emitError(loc) << llvm::toString(std::move(error));
}
