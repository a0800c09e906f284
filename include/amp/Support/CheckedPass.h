//===- CheckedPass.h - Passes that name wrong options -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base class of the passes. CheckedPass.td makes it the base of those that
// TableGen declares.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_CHECKEDPASS_H
#define AMP_SUPPORT_CHECKEDPASS_H

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace mlir::amp {

/// Returns why `text` cannot set the options of `pass`, or an empty string: an
/// option is unknown, or given twice. Values of `lists` accumulate, and may be
/// given in parts.
std::string checkPassOptions(Pass &pass, StringRef text,
                             ArrayRef<StringRef> lists);

/// Returns the error for values in `text` that the options of `pass` reject,
/// from the reason that MLIR gives. It is empty if LLVM has printed the reason.
std::string describeWrongValues(Pass &pass, StringRef text, StringRef reason);

/// A pass whose errors of options name the pass and the option that was meant.
template <typename OpT = void>
class CheckedPass : public OperationPass<OpT> {
public:
  using ErrorHandler = function_ref<LogicalResult(const Twine &)>;

  LogicalResult initializeOptions(StringRef text,
                                  ErrorHandler reportError) override {
    std::string wrong = checkPassOptions(*this, text, getListOptions());
    if (!wrong.empty())
      return reportError(wrong);
    return Pass::initializeOptions(text, [&](const Twine &reason) {
      return reportError(describeWrongValues(*this, text, reason.str()));
    });
  }

protected:
  using OperationPass<OpT>::OperationPass;

  /// The options that are lists. MLIR does not tell those that are empty.
  virtual ArrayRef<StringRef> getListOptions() const { return {}; }
};

} // namespace mlir::amp

#endif // AMP_SUPPORT_CHECKEDPASS_H
