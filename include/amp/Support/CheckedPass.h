//===- CheckedPass.h - Passes that check their options ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base class of all passes. CheckedPass.td makes it the base class of
// passes that TableGen declares.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_CHECKEDPASS_H
#define AMP_SUPPORT_CHECKEDPASS_H

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace mlir::amp {

/// Returns an error if `text` contains an unknown or repeated option of `pass`,
/// and an empty string otherwise. Options in `lists` may be repeated, because
/// their values accumulate.
std::string checkPassOptions(Pass &pass, StringRef text,
                             ArrayRef<StringRef> lists);

/// Returns the error for a value in `text` that an option of `pass` rejects.
/// `reason` is MLIR's message. It is empty if LLVM has already printed the
/// reason.
std::string describeWrongValues(Pass &pass, StringRef text, StringRef reason);

/// A pass whose errors for wrong options name the pass and suggest an option.
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

  /// Returns the names of list options. MLIR does not print empty lists, so the
  /// names cannot be read from the printed options.
  virtual ArrayRef<StringRef> getListOptions() const { return {}; }
};

} // namespace mlir::amp

#endif // AMP_SUPPORT_CHECKEDPASS_H
