//===- ForeignRules.cpp - Rules for operations without interfaces ---------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForeignRules.h"
#include "amp/Precision/Policy/Policy.h"

using namespace mlir;
using namespace mlir::amp;

LogicalResult ForeignRules::read(StringRef pass, Operation *module,
                                 StringRef policy, ArrayRef<std::string> linear,
                                 ArrayRef<std::string> intervals) {
  linearTexts.assign(linear.begin(), linear.end());
  intervalTexts.assign(intervals.begin(), intervals.end());
  if (!policy.empty()) {
    FailureOr<Policy> loaded = Policy::load(policy, module->getLoc());
    if (failed(loaded))
      return failure();
    llvm::append_range(linearTexts, loaded->settings.linear);
    llvm::append_range(intervalTexts, loaded->settings.intervals);
  }
  auto readList = [&](StringRef option, ArrayRef<std::string> texts, auto parse,
                      auto &rules) {
    for (const std::string &text : texts) {
      std::string expected;
      auto rule = parse(text, expected);
      if (failed(rule)) {
        module->emitError() << pass << ": expected '" << option << "' to be "
                            << expected << ", got '" << text << "'";
        return failure();
      }
      rules.push_back(std::move(*rule));
    }
    return success();
  };
  return failure(failed(readList("linear", linearTexts, LinearRule::parse,
                                 this->linear)) ||
                 failed(readList("intervals", intervalTexts,
                                 FloatRangeRule::parse, this->intervals)));
}
