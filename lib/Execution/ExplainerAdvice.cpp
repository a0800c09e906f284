//===- ExplainerAdvice.cpp - What helps a step that went wrong ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Explainer.h"

#include "amp/Precision/Policy/Policy.h"
#include "amp/Runtime/Host/RunRecord.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

std::string Explainer::printPolicyHead() const {
  std::string base = variants.getPolicy();
  if (!Policy::getPresetText(base) && !Policy::isInPlace(base))
    base = Policy::quote(base);
  return "version: 1\nextends: " + base + "\n";
}

/// The option that takes a policy of the advice. Its file must not replace the
/// policy of the run, which it extends.
std::string Explainer::printPolicyOption() const {
  const std::string policy = variants.getPolicy();
  llvm::StringRef base = llvm::sys::path::filename(policy);
  unsigned number = 1;
  if (base == "policy.yaml")
    number = 2;
  else if (base.consume_front("policy-") && base.consume_back(".yaml") &&
           !base.getAsInteger(10, number))
    ++number;
  return "--pipeline=policy=policy" +
         (number > 1 ? "-" + std::to_string(number) : "") + ".yaml";
}

/// Finds the largest loss scale below that of the step that makes it finite.
host::Status Explainer::adviseOnScale(Explanation &explanation) {
  if (!explanation.scale || explanation.culprit->part == "forward")
    return host::Status();
  // From f16's range it takes at most this many powers of two.
  constexpr int kMostHalvings = 24;
  for (int exponent = 1; exponent <= kMostHalvings; ++exponent) {
    double smaller = std::ldexp(*explanation.scale, -exponent);
    ReplayedStep run;
    AMP_RETURN_IF_ERROR(variants.replayWithScale(smaller, &run));
    bool isFinite = !findFirstBad(run.records).record;
    if (exponent == 1)
      explanation.finiteAtHalf = isFinite;
    if (!isFinite)
      continue;
    explanation.cause = Cause::LossScale;
    std::string number = host::formatNumber(smaller);
    if (variants.isDynamic()) {
      explanation.advice.push_back(
          {"nothing, if it does not repeat: the scaler lowers the scale. To "
           "skip no step, start with a smaller scale",
           printPolicyOption(),
           printPolicyHead() + "loss-scaling: {init-scale: " + number + "}\n",
           true});
    } else {
      explanation.advice.push_back(
          {"take a smaller loss scale", "--loss-scale=" + number, "", true});
      explanation.advice.push_back({"let the scale follow the gradients",
                                    "--loss-scale=dynamic", "", false});
    }
    return host::Status();
  }
  return host::Status();
}

/// The names that identify the operation of `record` in policies and messages.
static std::string getPin(const WatchedRecord &record) {
  return record.scope.empty() ? record.place : record.scope;
}

/// Prints a policy that pins operations.
std::string Explainer::printPins(llvm::ArrayRef<std::string> pins) const {
  std::string text = printPolicyHead() + "pins:\n";
  for (const std::string &pin : pins) {
    // A place starts with the path of the file, which may change.
    llvm::StringRef name = pin;
    std::string pattern = name.contains('/') && name.contains(".mlir:")
                              ? ("*" + name.substr(name.rfind('/') + 1)).str()
                              : pin;
    text += "  \"" + pattern + "\": f32\n";
  }
  return text;
}

/// Adds to `pins` the operations that must be f32 so that `bad` is: its
/// operation, or the operations that read its cast.
static bool addPins(BadValue bad, llvm::ArrayRef<WatchedRecord> records,
                    std::vector<std::string> &pins) {
  size_t before = pins.size();
  auto add = [&](const WatchedRecord &record) {
    std::string pin = getPin(record);
    if (!pin.empty() && record.op != "argument" &&
        !llvm::is_contained(pins, pin))
      pins.push_back(pin);
  };
  unsigned number = unsigned(bad.record - records.data());
  if (bad.inCast)
    for (const WatchedRecord &reader : records)
      if (llvm::is_contained(reader.operands, number))
        add(reader);
  add(*bad.record);
  return pins.size() != before;
}

/// Pins operations until the step is finite, and tries bf16.
host::Status Explainer::adviseOnPrecision(Explanation &explanation) {
  constexpr int kMostPins = 16;
  const bool wasLost = explanation.cause == Cause::Underflow ||
                       explanation.cause == Cause::SmallScale;
  if (!wasLost)
    explanation.cause = Cause::Precision;
  ReplayedStep run;
  AMP_RETURN_IF_ERROR(variants.replayRun(&run));
  auto isOfCulprit = [&](const WatchedRecord &record) {
    const WatchedRecord &value = explanation.getStepValue();
    return record.position == value.position && record.name == value.name;
  };
  BadValue bad{llvm::find_if(run.records, isOfCulprit) - run.records.begin() +
                   run.records.data(),
               explanation.inCast && !explanation.loop};
  std::vector<std::string> pins;
  if (explanation.loop && explanation.culprit->op != "argument")
    pins.push_back(getPin(*explanation.culprit));
  bool isFixed = false, isWide = false;
  bool isNew = addPins(bad, run.records, pins) || !pins.empty();
  while (isNew && int(pins.size()) < kMostPins) {
    AMP_RETURN_IF_ERROR(
        variants.replayWithPolicy(printPins(pins), &run, &isWide));
    bad = findBadSource(run.records);
    isFixed = !bad.record;
    isNew = !isFixed && addPins(bad, run.records, pins);
  }
  if (!pins.empty() && (isFixed || wasLost)) {
    std::string text = pins.size() == 1 ? "keep the operation in f32"
                                        : "keep these operations in f32";
    // Such a policy is f32 by another name.
    if (isWide)
      text += "; nothing is then in the low type, as with --precision=f32";
    explanation.advice.push_back(
        {text, printPolicyOption(), printPins(pins), isFixed && !wasLost});
  }
  if (variants.getOptions().precision == "bf16")
    return host::Status();
  AMP_RETURN_IF_ERROR(variants.replayIn("bf16", &run));
  if (!findFirstBad(run.records).record)
    explanation.advice.push_back({"take bf16, which has the range of f32",
                                  "--precision=bf16", "", !wasLost});
  return host::Status();
}

/// Lowers all hyperparameters, such as the learning rate, until the step is
/// finite.
host::Status Explainer::adviseOnStep(Explanation &explanation) {
  std::vector<std::pair<std::string, double>> settings =
      variants.getHyperparameters();
  // Each attempt is 16 times smaller.
  for (int exponent = 4; exponent <= 128 && !settings.empty(); exponent += 4) {
    double factor = std::ldexp(1.0, -exponent);
    ReplayedStep run;
    AMP_RETURN_IF_ERROR(variants.replayWithHyperparameters(factor, &run));
    if (findFirstBad(run.records).record)
      continue;
    explanation.cause = Cause::Step;
    std::string options;
    for (const auto &[name, value] : settings)
      options += (options.empty() ? "--set=" : " --set=") + name + "=" +
                 host::formatNumber(value * factor);
    explanation.advice.push_back(
        {"take a smaller learning rate", options, "", true});
    explanation.advice.push_back(
        {"or clip the gradients by their norm before the update", "", "",
         false});
    return host::Status();
  }
  return host::Status();
}

/// Whether products of the operands of `record` are below the normal range of
/// its low type. The square of an operand is its product with itself.
static bool isBelowRange(const WatchedRecord &record,
                         llvm::ArrayRef<WatchedRecord> records) {
  if (record.operands.empty())
    return false;
  double product = 1;
  for (unsigned operand : record.operands)
    product *= records[operand].total.getLargest();
  if (record.operands.size() == 1)
    product *= product;
  return product < std::ldexp(1.0, host::getLowExponents(record.type).normal);
}

/// Follows the zeros of `record` to the value of a low type that rounds nonzero
/// numbers to zero. Returns null if no such value exists.
static const WatchedRecord *
findLostValue(const WatchedRecord *record,
              llvm::ArrayRef<WatchedRecord> records) {
  auto isLow = [](llvm::StringRef type) {
    return type == "f16" || type == "bf16";
  };
  while (record) {
    const WatchedRecord *next = nullptr;
    for (unsigned operand : record->operands) {
      const WatchedRecord &other = records[operand];
      if (other.total.fields[host::kUnderflows] && isLow(other.to))
        return &other;
      if (!next && other.total.fields[host::kZeros])
        next = &other;
    }
    if (!next)
      return isLow(record->type) && isBelowRange(*record, records) ? record
                                                                   : nullptr;
    record = next;
  }
  return nullptr;
}

/// Whether `op` may exceed the range of f32 for moderate operands.
static bool isExponential(llvm::StringRef op) {
  llvm::StringRef name = op.substr(op.rfind('.') + 1);
  static constexpr llvm::StringLiteral names[] = {
      "cosh", "exp", "exp2", "expm1", "exponential", "exponential_minus_one",
      "sinh"};
  return llvm::is_contained(names, name);
}

/// Judges an operation by its operands, in a step that is not finite in f32
/// either. A value beyond the range of an inserted cast is too large.
void Explainer::adviseOnOperands(Explanation &explanation,
                                 llvm::ArrayRef<WatchedRecord> records) const {
  // The f32 program has only the casts of the module.
  if (explanation.inCast && explanation.wide && !explanation.wide->to.empty()) {
    explanation.cause = Cause::Precision;
    explanation.advice.push_back({"the module itself rounds this value to " +
                                      explanation.culprit->to +
                                      ": give it a wider type in the module",
                                  "", "", false});
    return;
  }
  if (!explanation.culprit->badConstant.empty()) {
    explanation.cause = Cause::Domain;
    explanation.advice.push_back({"the constant '" +
                                      explanation.culprit->badConstant +
                                      "' is not finite: replace it by a finite "
                                      "number, such as -1e9 in a "
                                      "mask",
                                  "", "", false});
    return;
  }
  // Products and sums of smaller operands stay in the range of f32.
  constexpr double kHuge = 1e15;
  double largest = 0;
  std::string zero;
  const WatchedRecord *lost = nullptr;
  for (const WatchedRecord &operand : explanation.operands) {
    largest = std::max(largest, operand.total.getLargest());
    // The divisor is the last operand.
    if (!operand.total.fields[host::kZeros])
      continue;
    zero = operand.name;
    const WatchedRecord *same =
        llvm::find_if(records, [&](const WatchedRecord &record) {
          return record.name == operand.name &&
                 record.position == operand.position;
        });
    if (same != records.end())
      lost = findLostValue(same, records);
  }
  if (largest >= kHuge || explanation.inCast) {
    explanation.cause = Cause::Range;
    explanation.advice.push_back(
        {"take a smaller learning rate, clip the gradients, or normalize the "
         "values before this operation",
         "", "", false});
    return;
  }
  const auto &fields = explanation.culprit->total.fields;
  if (isExponential(explanation.culprit->op) && fields[host::kInfinities] &&
      !fields[host::kNaNs]) {
    explanation.cause = Cause::Range;
    explanation.advice.push_back(
        {"clip the operands from above, or subtract the largest of them first, "
         "as a softmax does: the exponential of a number above 88 is beyond "
         "the range of f32",
         "", "", false});
    return;
  }
  if (lost) {
    explanation.cause = Cause::Underflow;
    explanation.advice.push_back(
        {"'" + zero + "' has zeros, because numbers of '" + lost->name +
             "' are 0 in " + (lost->to.empty() ? lost->type : lost->to) +
             ": give that value a wider type in the module, or scale it",
         "", "", false});
    return;
  }
  explanation.cause = Cause::Domain;
  explanation.advice.push_back(
      {zero.empty()
           ? "keep the operands in the domain of the operation: clip them"
           : "'" + zero +
                 "' has zeros: add a small constant to it, or clip it from "
                 "below, before this operation",
       "", "", false});
}
