//===- Report.cpp - Every decision, as a file -----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Report.h"

#include "ReportFunction.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::amp;

/// Grows with every change after which an old reader would misread a report.
static constexpr int64_t kSchemaVersion = 1;

StringRef mlir::amp::stringifyStrategy(Strategy strategy) {
  switch (strategy) {
  case Strategy::Autocast:
    return "autocast";
  case Strategy::Grappler:
    return "grappler";
  case Strategy::Optimal:
    return "optimal";
  }
  llvm_unreachable("every strategy has a name");
}

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
  case Reason::Poisoned:
    return "poisoned";
  case Reason::Allowed:
    return "allowed";
  case Reason::Between:
    return "between";
  case Reason::Grown:
    return "grown";
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
  }
  llvm_unreachable("every reason has a name");
}

/// The rules of this report, with a phrase that explains each: first those of
/// slots that no strategy decides on.
static void writeRules(llvm::json::OStream &json) {
  json.attributeObject("rules", [&] {
    json.attribute("fixed", explain(Reason::Fixed));
    json.attribute("not-f32", "another value of the slot is not f32");
    json.attribute("gradient", "the gradient of a parameter stays f32 "
                               "('gradient-type' of the policy)");
    json.attribute("unlisted", "no list of the policy names the operation");
    json.attribute("kept", "kept by 'amp.precision' or by the operation");
    for (int reason = 0; reason <= static_cast<int>(Reason::Pinned); ++reason)
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

/// Writes what every function has.
static void writeHead(llvm::json::OStream &json, FunctionOpInterface function) {
  writeText(json, "name", function.getName());
  writeLocation(json, function.getLoc());
}

void PrecisionReport::addFunction(FunctionOpInterface function, Policy &policy,
                                  const SlotGraph &graph,
                                  const Assignment &assignment) {
  llvm::raw_string_ostream os(functions.emplace_back());
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    writeHead(json, function);
    writeStrategies(json, settings, decide, graph, assignment);
    writeWhatIf(json, settings, decide, function, policy, graph, assignment);
    FunctionReporter(json, settings, function, graph, assignment).write();
  });
}

void PrecisionReport::addUntouched(FunctionOpInterface function,
                                   const Twine &why) {
  llvm::raw_string_ostream os(functions.emplace_back());
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    writeHead(json, function);
    writeText(json, "untouched", why);
  });
}

void PrecisionReport::writeJSON(raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("schemaVersion", kSchemaVersion);
    json.attribute("pass", "auto-mixed-precision");
    json.attribute("strategy", stringifyStrategy(settings.strategy));
    writeText(json, "policy", settings.policy);
    json.attribute("lowType", printType(settings.low));
    json.attributeBegin("target");
    if (const Target *target = settings.target) {
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
          // Written apart, it is indented now.
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
  // A temporary file takes the place of the old one when it is complete.
  llvm::Error error =
      llvm::writeToOutput(path, [&](raw_ostream &os) -> llvm::Error {
        if (path.ends_with(".html"))
          writeHTML(os);
        else
          writeJSON(os);
        return llvm::Error::success();
      });
  if (!error)
    return success();
  // The error names the file again.
  std::string why;
  llvm::handleAllErrors(
      std::move(error),
      [&](const llvm::FileError &error) {
        why = error.messageWithoutFileInfo();
      },
      [&](const llvm::ErrorInfoBase &error) { why = error.message(); });
  return emitError(loc) << "cannot write report '" << path << "': " << why;
}
