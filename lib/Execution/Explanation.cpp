//===- Explanation.cpp - Explanations as text and JSON --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Explanation.h"

#include "amp/Runtime/Host/RunRecord.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::amp;
using llvm::json::OStream;

llvm::StringRef mlir::amp::stringifyCause(Cause cause) {
  switch (cause) {
  case Cause::Unknown:
    return "unknown";
  case Cause::Data:
    return "data";
  case Cause::State:
    return "state";
  case Cause::LossScale:
    return "loss-scale";
  case Cause::Precision:
    return "precision";
  case Cause::Domain:
    return "domain";
  case Cause::Range:
    return "range";
  case Cause::Step:
    return "step";
  case Cause::Underflow:
    return "underflow";
  case Cause::SmallScale:
    return "small-loss-scale";
  }
  llvm_unreachable("every cause has a name");
}

/// One sentence on a cause.
static llvm::StringRef describe(Cause cause) {
  switch (cause) {
  case Cause::Unknown:
    return "the replay found no cause";
  case Cause::Data:
    return "the data are not finite";
  case Cause::State:
    return "the state was not finite before the step";
  case Cause::LossScale:
    return "the loss scale is too large: with a smaller one the step is finite";
  case Cause::Precision:
    return "the precision: in f32 the step is finite";
  case Cause::Domain:
    return "the operation has no finite result for its operands, in f32 either";
  case Cause::Range:
    return "the values grow beyond the range of f32 too";
  case Cause::Step:
    return "the update is too large: with a smaller one the step is finite";
  case Cause::Underflow:
    return "the values are below the range of the type, but not of f32";
  case Cause::SmallScale:
    return "the gradients are below the range of the type: a larger loss scale "
           "keeps them";
  }
  llvm_unreachable("every cause has a sentence");
}

static std::string describeRange(const WatchedRecord &record) {
  const host::ValueStatistics &total = record.total;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (total.getNonZero())
    os << llvm::format("magnitudes from %.3g to %.3g", total.getSmallest(),
                       total.getLargest());
  else
    os << "no finite element other than 0";
  if (total.fields[host::kZeros])
    os << ", " << total.fields[host::kZeros] << " zeros";
  if (total.getNonFinite())
    os << ", " << total.getNonFinite() << " not finite";
  os << ", of " << total.getCount();
  return text;
}

void Explanation::print(llvm::raw_ostream &os) const {
  os << "step " << step << ": " << event << '\n';
  if (!isExact)
    os << "  the replay did not give the bits of the run\n";
  if (culprit) {
    os << "  first: "
       << (inCast ? "cast to " + culprit->to + " of the result of " : "")
       << culprit->name << ", " << culprit->part << ", "
       << (inCast ? culprit->to : culprit->type);
    if (loop)
      os << ", in a loop";
    if (iteration)
      os << ", iteration " << iteration;
    os << '\n';
    os << "  value: " << describeRange(*culprit) << '\n';
    if (inner)
      os << "  within it: " << inner->op
         << (inner->to.empty() ? "" : ", rounded to " + inner->to) << ", "
         << describeRange(*inner) << '\n';
    for (const WatchedRecord &operand : operands)
      os << "  operand: " << operand.name << ", " << operand.type << ", "
         << describeRange(operand) << '\n';
    if (wide)
      os << "  in f32: " << describeRange(*wide) << '\n';
  }
  if (scale)
    os << "  loss scale: " << host::formatNumber(*scale)
       << (!finiteAtHalf   ? ""
           : *finiteAtHalf ? "; with half of it the step is finite"
                           : "; with half of it the step is not finite either")
       << '\n';
  os << "  cause: " << describe(cause) << '\n';
  for (const Advice &one : advice) {
    os << "  advice: " << one.text
       << (one.isVerified ? " (replayed: this helps)" : "") << '\n';
    if (!one.options.empty())
      os << "    " << one.options << '\n';
    if (one.policy.empty())
      continue;
    os << "    with " << llvm::StringRef(one.options).rsplit('=').second
       << ":\n";
    llvm::StringRef rest = one.policy;
    while (!rest.empty()) {
      auto [line, more] = rest.split('\n');
      os << "      " << line << '\n';
      rest = more;
    }
  }
}

static void writeValue(OStream &json, const WatchedRecord &record) {
  writeWatchedPlace(json, record);
  writeNonEmpty(json, "type", record.type);
  writeNonEmpty(json, "to", record.to);
  json.attribute("largest", record.total.getLargest());
  json.attribute("smallest", record.total.getSmallest());
  json.attribute("zeros", record.total.fields[host::kZeros]);
  json.attribute("notFinite", record.total.getNonFinite());
  json.attribute("elements", record.total.getCount());
}

static void writeExplanation(OStream &json, const Explanation &explanation) {
  json.attribute("step", explanation.step);
  json.attribute("event", llvm::json::fixUTF8(explanation.event));
  json.attribute("exact", explanation.isExact);
  auto value = [&](llvm::StringRef key,
                   const std::optional<WatchedRecord> &record) {
    if (record)
      json.attributeObject(key, [&] { writeValue(json, *record); });
  };
  value("culprit", explanation.culprit);
  json.attribute("inCast", explanation.inCast);
  value("loop", explanation.loop);
  if (explanation.iteration)
    json.attribute("iteration", explanation.iteration);
  value("within", explanation.inner);
  json.attributeArray("operands", [&] {
    for (const WatchedRecord &operand : explanation.operands)
      json.object([&] { writeValue(json, operand); });
  });
  value("f32", explanation.wide);
  if (explanation.finiteInF32)
    json.attribute("finiteInF32", *explanation.finiteInF32);
  if (explanation.scale)
    json.attribute("lossScale", *explanation.scale);
  if (explanation.finiteAtHalf)
    json.attribute("finiteAtHalfScale", *explanation.finiteAtHalf);
  json.attribute("cause", stringifyCause(explanation.cause));
  json.attributeArray("advice", [&] {
    for (const Advice &advice : explanation.advice)
      json.object([&] {
        json.attribute("text", llvm::json::fixUTF8(advice.text));
        writeNonEmpty(json, "options", advice.options);
        writeNonEmpty(json, "policy", advice.policy);
        json.attribute("replayed", advice.isVerified);
      });
  });
}

void mlir::amp::writeExplanations(llvm::ArrayRef<Explanation> explanations,
                                  llvm::StringRef title,
                                  llvm::raw_ostream &os) {
  OStream json(os, 1);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("model", llvm::json::fixUTF8(title));
    json.attributeArray("explanations", [&] {
      for (const Explanation &explanation : explanations)
        json.object([&] { writeExplanation(json, explanation); });
    });
  });
  os << '\n';
}
